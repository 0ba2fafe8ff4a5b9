"""Chapter 3, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

LINE, WIDE = axes(x=8), axes(x=4, y=2)


def gathers(o: Observed, *, of: int) -> bool:
    """Whether an argument, or an array as large, is brought together."""
    return any(c.kind == "all-gather" and c.payload_bytes == o.inputs[of].nbytes for c in o.collectives)


def rows_case(mesh: Axes, rows: int, columns: int, out: Spec = ("x", None)) -> Case:
    """An array whose rows are cut over x."""
    return Case(mesh, (Input((rows, columns), ("x", None)),), (out,))


def drawing_rows(out: Spec) -> Callable[[random.Random], Case]:
    """A function that draws a case of `rows_case`."""
    return lambda rng: rows_case(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 8), 8 * rng.randint(2, 8), out)
