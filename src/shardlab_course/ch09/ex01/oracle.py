"""Chapter 9, exercise 9.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from typing import Any

from shardlab_course.ch09.shared import FOUR, LINE, cut
from shardlab_judge.cases import Observed
from shardlab_judge.items.layout import Situation
from shardlens import Axes


def weights_whole(o: Observed) -> bool:
    """Whether no argument after the first is sharded."""
    return not any(cut(o, i, d) for i in range(1, len(o.case.inputs)) for d in (0, 1))


def whole(o: Observed, argument: int) -> bool:
    """Whether an argument is not sharded."""
    return not cut(o, argument, 0) and not cut(o, argument, 1)


def first_whole(o: Observed) -> bool:
    """Whether no weight but the last is sharded."""
    last = len(o.case.inputs) - 1
    return not whole(o, last) and all(whole(o, i) for i in range(1, last))


def last_whole(o: Observed) -> bool:
    """Whether the last weight alone is not sharded."""
    last = len(o.case.inputs) - 1
    return whole(o, last) and not any(whole(o, i) for i in range(1, last))


def plain_mlp(X: Any, W1: Any, W2: Any) -> Any:
    """The block of the page, for the judge to compile."""
    import jax

    return jax.nn.relu(X @ W1) @ W2


def gated_mlp(X: Any, Wg: Any, Wu: Any, Wd: Any) -> Any:
    """The gated block, for the judge to compile."""
    import jax

    return (jax.nn.silu(X @ Wg) * (X @ Wu)) @ Wd


def plain_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `plain_mlp`."""
    return Situation((("X", (t, d)), ("W1", (d, f)), ("W2", (f, d))), mesh, devices=dict(mesh)["model"])


def gated_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `gated_mlp`."""
    shapes = (("X", (t, d)), ("Wg", (d, f)), ("Wu", (d, f)), ("Wd", (f, d)))
    return Situation(shapes, mesh, devices=dict(mesh)["model"])


def draw_plain(rng: random.Random) -> Situation:
    """Other sizes."""
    return plain_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))


def draw_gated(rng: random.Random) -> Situation:
    """Other sizes."""
    return gated_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))
