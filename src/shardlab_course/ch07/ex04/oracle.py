"""Chapter 7, exercise 7.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from shardlab_course.ch07.shared import case, devices, same
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes

TALL = axes(x=2, y=4)


def normalized(x: np.ndarray) -> np.ndarray:
    """Each row with mean 0 and standard deviation 1."""
    return np.stack([(row - row.mean()) / row.std() for row in np.asarray(x, np.float64)])


def is_normalized(x: list[list[float]], y: list[list[float]]) -> bool:
    """Whether `y` is `x` with each row normalized, to three digits."""
    return bool(np.allclose(y, normalized(np.asarray(x)), atol=1e-3))


def moments(x: list[list[float]], y: list[list[float]], axis: int | None = None) -> bool:
    """Whether `y` has mean 0 and standard deviation 1, as a whole or in each row: what a weak test looks at."""
    made = np.asarray(y)
    return bool(np.allclose(made.mean(axis), 0, atol=1e-3) and np.allclose(made.std(axis), 1, atol=1e-3))


def not_below(x: list[list[float]], y: list[list[float]], sign: int = 1) -> bool:
    """Whether no entry of `y` is smaller than it should be, or with the other sign larger: half of a comparison."""
    return bool((sign * (normalized(np.asarray(x)) - np.asarray(y)) < 1e-3).all())


def in_order(x: list[list[float]], y: list[list[float]]) -> bool:
    """Whether rows of `y` have mean 0 and standard deviation 1, and their entries the order of those of `x`."""
    return moments(x, y, 1) and bool((np.argsort(x, 1) == np.argsort(y, 1)).all())


def correlated(x: list[list[float]], y: list[list[float]], least: float = 0.95) -> bool:
    """Whether each row of `y` is correlated with that of `x`."""
    return all(np.corrcoef(a, b)[0, 1] > least for a, b in zip(x, y))


def deviating(x: list[list[float]], y: list[list[float]]) -> bool:
    """Whether rows are correlated and have standard deviation 1."""
    return correlated(x, y) and bool(np.allclose(np.std(y, 1), 1, atol=1e-2))


def one_place(x: np.ndarray, by: float) -> np.ndarray:
    """Normalized, with one entry that is wrong."""
    made = normalized(x)
    made[-1, 1] += by
    return made


def exchanged(x: np.ndarray) -> np.ndarray:
    """Normalized, with two neighbours in size exchanged in the last row: its mean and its deviation stay."""
    made = normalized(x)
    order = made[-1].argsort()
    gaps = np.diff(made[-1][order])
    first = int(np.where(gaps > 0.05, gaps, np.inf).argmin())
    made[-1, order[[first, first + 1]]] = made[-1, order[[first + 1, first]]]
    return made


def across_devices(x: np.ndarray, n: int) -> np.ndarray:
    """Normalized over devices only: each place of a block with the same place of the other blocks of its row."""
    blocks = x.reshape(len(x), n, -1)
    return ((blocks - blocks.mean(1, keepdims=True)) / blocks.std(1, keepdims=True)).reshape(x.shape)


ATTEMPTS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "right": normalized,
    "two devices": lambda x: across_devices(x, 2),
    "four devices": lambda x: across_devices(x, 4),
    "blocks": lambda x: normalized(x.reshape(2 * len(x), -1)).reshape(x.shape),
    "columns": lambda x: normalized(x.T).T,
    "everything": lambda x: (x - x.mean()) / x.std(),
    "other rows": lambda x: normalized(x)[::-1],
    "sign": lambda x: -normalized(x),
    "not divided": lambda x: x - x.mean(1, keepdims=True),
    "same order": lambda x: normalized(normalized(x) ** 3),
    "shifted": lambda x: normalized(x) + 0.3,
    "one degree less": lambda x: normalized(x) * np.sqrt(1 - 1 / x.shape[1]),
    "exchanged": exchanged,
    "one too large": lambda x: one_place(x, 0.5),
    "one too small": lambda x: one_place(x, -0.5),
    "last row": lambda x: np.concatenate([normalized(x)[:-1], across_devices(x, 2)[-1:]]),
}


def attempt(kind: str, rng: random.Random) -> tuple[list[list[float]], list[list[float]]]:
    """An array and what an attempt at normalizing its rows makes of it, both as lists."""
    rows, columns = rng.randint(2, 4), 4 * rng.randint(2, 3)
    x = np.array([[round(rng.gauss(3 * k, 1 + k), 3) for _ in range(columns)] for k in range(1, rows + 1)])
    return x.tolist(), ATTEMPTS[kind](x).round(6).tolist()


def draw_attempt(rng: random.Random) -> tuple[list[list[float]], list[list[float]]]:
    """As `attempt`, of a drawn kind; every third time a right one."""
    return attempt("right" if rng.random() < 1 / 3 else rng.choice(sorted(ATTEMPTS)), rng)


def grid_case(mesh: Axes, rows: int, columns: int) -> Case:
    """A matrix in blocks over both axes, as it is to stay."""
    return case(mesh, Input((rows, columns), ("x", "y"), values=rows_apart), outputs=[("x", "y")])


def rows_apart(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Rows with means and spreads of their own, which rise or fall from block to block."""
    rows, columns = shape
    slope = np.linspace(-1, 1, columns) * rng.uniform(-2, 2, (rows, 1))
    spread, level = rng.uniform(0.5, 2, (rows, 1)), rng.uniform(-5, 5, (rows, 1))
    return np.asarray(level + slope + spread * rng.standard_normal(shape))


def attempts() -> Iterator[tuple[Any, Any]]:
    """The public calls of exercise 7.4's test: each kind once, the right one three times."""
    rng = random.Random(74)
    for kind in ("right", *ATTEMPTS, "right"):
        yield attempt(kind, rng)


def by_columns(o: Observed) -> bool:
    """Whether each block was reduced over its rows, and then over y."""
    x = o.inputs[0].astype(np.float64)
    rows, columns = dict(o.case.axes)["x"], dict(o.case.axes)["y"]
    blocks = x.reshape(rows, len(x) // rows, columns, -1)
    centred = blocks - blocks.mean((1, 2), keepdims=True)
    return same(o, (centred / np.sqrt((centred**2).mean((1, 2), keepdims=True))).reshape(x.shape))


def mean_of_spreads(o: Observed) -> bool:
    """Whether rows were divided by the mean of their blocks' own standard deviations."""
    x = o.inputs[0].astype(np.float64)
    spread = x.reshape(len(x), dict(o.case.axes)["y"], -1).std(2).mean(1, keepdims=True)
    return same(o, (x - x.mean(1, keepdims=True)) / spread)


def own_mean(o: Observed) -> bool:
    """Whether each block's own mean was subtracted, and what is left divided by its spread in the row, or the row's."""
    x, n = o.inputs[0].astype(np.float64), devices(o, "y")
    blocks = x.reshape(len(x), n, -1)
    left = blocks - blocks.mean(2, keepdims=True)
    spreads = (np.sqrt((left**2).mean((1, 2), keepdims=True)), x.std(1)[:, None, None])
    return any(same(o, (left / spread).reshape(x.shape)) for spread in spreads)


def sums_as_means(o: Observed) -> bool:
    """Whether means over a row were sums of the blocks' means."""
    x, n = o.inputs[0].astype(np.float64), dict(o.case.axes)["y"]
    centred = x - n * x.mean(1, keepdims=True)
    return same(o, centred / np.sqrt(n * (centred**2).mean(1, keepdims=True)))


def mixed_rows(o: Observed) -> bool:
    """Whether means were taken over x too: over the rows in the same place of their blocks, or over everything."""
    x = o.inputs[0].astype(np.float64)
    blocks = x.reshape(devices(o), -1, x.shape[1])
    together = (blocks - blocks.mean((0, 2), keepdims=True)) / blocks.std((0, 2), keepdims=True)
    return same(o, together.reshape(x.shape)) or same(o, (x - x.mean()) / x.std())


def normalized_by(o: Observed, spread: Callable[[np.ndarray, int], np.ndarray]) -> bool:
    """Whether each row is centred, and divided by this function of its blocks [rows, devices, columns] and their number."""
    x, n = o.inputs[0].astype(np.float64), devices(o, "y")
    return same(o, (x - x.mean(1, keepdims=True)) / spread(x.reshape(len(x), n, -1), n)[:, None])
