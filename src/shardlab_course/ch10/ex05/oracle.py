"""Chapter 10, exercise 10.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence

import numpy as np

from shardlab_course.ch10.shared import LINE, PLANE, ROWS, TINY
from shardlab_course.shared.agreement import agrees, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def normalised(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, axis: int = 0) -> np.ndarray:
    """Columns with mean 0 and variance 1, scaled and shifted."""
    mean = x.mean(axis, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + TINY) * scale + shift)


def steps(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    mean, variance = x.mean(0), x.var(0)
    return {
        "the mean": mean, "the variance": variance, "the normalised columns": (x - mean) / np.sqrt(variance + TINY),
        "the output": normalised(x, scale, shift),
    }  # fmt: skip


def normalised_own(at: Mapping[str, int], x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The same with the statistics of the device's own rows."""
    return normalised(x, scale, shift)


def normalised_rows(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The same along the other dimension."""
    return normalised(x, scale, shift, 1)


def without_root(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Divided by the variance instead of its root."""
    return np.asarray((x - x.mean(0)) / (x.var(0) + TINY) * scale + shift)


def without_epsilon(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Divided by the root of the variance as it is."""
    return np.asarray((x - x.mean(0)) / x.std(0) * scale + shift)


def epsilon_outside(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """With the small number added to the root."""
    return np.asarray((x - x.mean(0)) / (x.std(0) + TINY) * scale + shift)


def unbiased_variance(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """With the squares' sum divided by one less than the number of rows."""
    return np.asarray((x - x.mean(0)) / np.sqrt(x.var(0, ddof=1) + TINY) * scale + shift)


def own_mean(o: Observed) -> bool:
    """Whether each device subtracts the mean of its own rows, and divides by what it takes for everybody's deviation."""
    x, scale, shift = wide(o)
    blocks = np.split(x, dict(o.case.axes)["data"])
    centred = np.concatenate([b - b.mean(0) for b in blocks])
    spreads = (centred.var(0), x.var(0))
    return any(agrees(o, (centred / np.sqrt(v + TINY) * scale + shift,), 1e-3) for v in spreads)


def mean_of_variances(o: Observed, root: bool = False) -> bool:
    """Whether the variance is the mean of the devices' own variances; with `root` their standard deviations' mean."""
    x, scale, shift = (a.astype(np.float64) for a in o.inputs)
    blocks = np.split(x, dict(o.case.axes)["data"])
    spread = [np.sqrt(b.var(0)) if root else b.var(0) for b in blocks]
    mean = np.mean(spread, 0)
    return agrees(o, ((x - x.mean(0)) / np.sqrt((mean**2 if root else mean) + TINY) * scale + shift,), 1e-3)


def mean_summed(o: Observed) -> bool:
    """Whether n times the mean is subtracted: means are summed over the devices instead of averaged."""
    x, scale, shift = (a.astype(np.float64) for a in o.inputs)
    centred = x - dict(o.case.axes)["data"] * x.mean(0)
    many = [np.sqrt((centred**2).mean(0) * factor + TINY) for factor in (1, dict(o.case.axes)["data"])]
    return any(agrees(o, (centred / spread * scale + shift,), 1e-3) for spread in [*many, np.sqrt(x.var(0) + TINY)])


def hardly_varying(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Normal numbers with a first column so small that its variance is about the small number added to it."""
    drawn = rng.standard_normal(shape)
    drawn[:, 0] *= np.sqrt(TINY)
    return drawn


def columns(mesh: Axes, rows: int, width: int) -> Case:
    """A batch over data; scale and shift of its columns."""
    return Case(mesh, (Input((rows, width), ROWS, values=hardly_varying), Input((width,)), Input((width,))), (ROWS,))


def draw_columns(rng: random.Random) -> Case:
    """At least three rows on each device."""
    return columns(rng.choice((LINE, PLANE)), 8 * rng.randint(3, 7), rng.randint(3, 9))
