"""Chapter 16, exercise 16.8: its oracle, its cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from shardlab_course.ch16.shared import devices, drawn_mesh
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

LEVELS = 127
"""The largest int8."""
NEAR = 0.04
"""How near to a known wrong answer is the same, as a share of the largest sum: all roundings together are less."""
FACTORS = 2.0**-40, 2.0**40
"""By these single precision multiplies without rounding."""
Round = Callable[[np.ndarray], np.ndarray]
Values = Callable[[np.random.Generator, tuple[int, ...], Sequence[np.ndarray]], np.ndarray]


def total(parts: np.ndarray) -> np.ndarray:
    """The sum of what the devices add."""
    return np.asarray(parts.sum(0))


def scale(numbers: np.ndarray, levels: int = LEVELS) -> float:
    """One step of the numbers that int8 can say."""
    return float(np.abs(numbers).max() / levels)


def quantised(numbers: np.ndarray, step: float, rounded: Round = np.round) -> np.ndarray:
    """As int8 says it, multiplied back."""
    return np.asarray(rounded(numbers / step) * step)


def coarse(parts: np.ndarray) -> np.ndarray:
    """With steps so large that int8 holds the sum of all devices."""
    step = scale(parts, LEVELS // len(parts))
    return quantised(parts, step).sum(0)


def near(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its slice of this, but for what rounding does."""
    far = NEAR * np.abs(wanted).max()
    return all(block.shape == wanted[at].shape and np.abs(block - wanted[at]).max() <= far for _, at, block in o.shards[0])


def wrapped(o: Observed) -> bool:
    """Whether sums beyond int8 came back from the other end."""
    step = scale(o.inputs[0])
    sums = np.round(o.inputs[0] / step).sum(0)
    return near(o, ((sums + 128) % 256 - 128) * step)


def own_scales(o: Observed) -> bool:
    """Whether each device's numbers were multiplied back by the scale of the device that sums them."""
    steps = np.abs(o.inputs[0]).max(1, keepdims=True) / LEVELS
    sums = np.split(np.round(o.inputs[0] / steps).sum(0), devices(o))
    return near(o, np.concatenate([step * part for step, part in zip(steps, sums)]))


def scale_missing(o: Observed) -> bool:
    """Whether the sum was not multiplied by the first scale, by the second, or by both."""
    sums, first = total(o.inputs[0]), scale(o.inputs[0])
    second = scale(sums)
    return any(near(o, sums / missing) for missing in (first, second, first * second))


def truncated(o: Observed) -> bool:
    """Whether both times numbers were cut off towards zero: a last digit may differ in single precision."""
    sums = quantised(o.inputs[0], scale(o.inputs[0]), np.trunc).sum(0)
    cut, right = quantised(sums, scale(sums), np.trunc), total(o.inputs[0])
    return all(3 * np.abs(block - cut[at]).mean() < np.abs(block - right[at]).mean() for _, at, block in o.shards[0])


def gathered(o: Observed) -> bool:
    """Whether every device receives all numbers of every other, as int8."""
    parts, gathers = o.inputs[0], (c for c in o.collectives if c.kind == "all-gather" and c.dtype == "s8")
    return len(parts) > 2 and any(c.payload_bytes >= parts.size for c in gathers)


def floats_move(o: Observed) -> bool:
    """Whether more than scales moves in numbers of several bytes."""
    beyond = 4 * len(o.inputs[0])
    return any(c.dtype != "s8" and max(c.payload_bytes, c.operand_bytes) > beyond for c in o.collectives)


def scale_fixed(o: Observed) -> bool:
    """Whether much smaller or larger numbers give another sum, and not the first one times or by their factor."""
    if o.on is None:
        return False
    first, *others = (o.on((o.inputs[0] * by,)).shards[0][0][2] for by in (1, *FACTORS))

    def follows(power: int) -> bool:
        return all(np.array_equal(first * by**power, made, equal_nan=True) for by, made in zip(FACTORS, others))

    return not any(map(follows, (1, 0, -1)))


def most(o: Observed) -> float:
    """How far from the right one a sum may be: the number of devices times the scale."""
    return len(o.inputs[0]) * scale(o.inputs[0])


def partial_sums(largest: float) -> Values:
    """Numbers of which nearly all are positive, large on the first device and smaller on the others."""

    def drawn(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
        parts = rng.uniform(-0.05, 1, shape) * rng.uniform(0.3, 0.8, (shape[0], 1))
        parts[0] /= np.abs(parts[0]).max()
        return np.asarray(parts * rng.uniform(0.85, 0.95) * largest)

    return drawn


SMALL, LARGE, HUGE = SIZES = tuple(partial_sums(largest) for largest in (0.02, 10.0, 3000.0))
"""So far apart that no scale is nearly right for two of them, and none of the scales that it takes is nearly 1."""


def case(mesh: Axes, width: int, values: Values) -> Case:
    """A row from each device along x, and the sum of the rows whole."""
    return Case(mesh, (Input((dict(mesh)["x"], width), ("x",), values=values),), ((),))


def draw(rng: random.Random) -> Case:
    """Another mesh, another width and numbers of another size."""
    mesh, n = drawn_mesh(rng)
    return case(mesh, n * rng.randint(24, 60), rng.choice(SIZES))


def scales(o: Observed) -> int:
    """Bytes beyond two all-reduces of a scale that two gathers of one from each device take."""
    return max(0, 8 * dict(o.case.axes)["x"] - 16)
