"""Chapter 15, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import math

import numpy as np

from shardlab_judge.cases import Observed

ROWS, COLUMNS, WHOLE = ("data", None), (None, "data"), (None, None)


def softmax(x: np.ndarray) -> np.ndarray:
    """Exponentials that add up to 1."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


def moved(o: Observed, kind: str) -> list[tuple[int, ...]]:
    """Shapes that collectives of a kind bring to each device."""
    return [shape for c in o.collectives if c.kind == kind for _, shape in c.arrays or ((c.dtype, c.shape),)]


CARRY = r"(?s)carry.*manual axis types do not match"
"In the error of a loop: what comes out varies over other mesh axes than what went in."


def sizes(o: Observed) -> tuple[int, ...]:
    """How many devices there are along each mesh axis, and in all."""
    sizes = tuple(size for _, size in o.case.axes)
    return (*sizes, math.prod(sizes))
