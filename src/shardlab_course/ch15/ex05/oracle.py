"""Chapter 15, exercise 15.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence

import numpy as np

from shardlab_course.ch15.shared import COLUMNS, ROWS, WHOLE
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
ROUNDS, CLASSES, TINY = 4, 100, 1e-6


def zeros(w1: np.ndarray, w2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Moments before the first step."""
    return np.zeros_like(w1), np.zeros_like(w2)


def predictions(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """One row of outputs for each row of the batch."""
    return np.stack([np.tanh(row @ w) for row in x])


def predictions_mixed(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """The right rows in the order in which slices with every fourth row have them."""
    right = predictions(x, w)
    return right.reshape(len(x) // ROUNDS, ROUNDS, -1).swapaxes(0, 1).reshape(right.shape)


def counts(labels: np.ndarray) -> np.ndarray:
    """How often each class occurs."""
    found = np.zeros(CLASSES, np.int32)
    for label in labels.ravel():
        found[label] += 1
    return found


def counts_own(at: Mapping[str, int], labels: np.ndarray) -> np.ndarray:
    """How often each class occurs in the device's own part."""
    return counts(labels.astype(int))


def labels_moved(o: Observed) -> bool:
    """Whether all-gathers return as many bytes as there are labels, all rounds together."""
    (labels,) = o.case.inputs
    gathered = sum(c.payload_bytes * (c.executions or 0) for c in o.collectives if c.kind == "all-gather")
    return gathered >= 4 * np.prod(labels.shape)


def slope(x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Gradient of the squared error of a root-mean-square norm by its scale, summed token by token."""
    total = np.zeros_like(scale)
    for token, wanted in zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])):
        normed = token / np.sqrt((token**2).mean() + TINY)
        total += 2 * (normed * scale - wanted) * normed
    return total


def slope_own(at: Mapping[str, int], x: np.ndarray, y: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """The gradient of the device's own tokens."""
    return slope(x, y, scale)


def slope_over(o: Observed, axis: str) -> bool:
    """Whether each device has the gradient of the tokens along one mesh axis only."""
    x, y, scale = (given.astype(np.float64) for given in o.inputs)
    sizes = dict(o.case.axes)
    dimension = 1 if axis == "data" else 0
    other = next(name for name in sizes if name != axis)
    parts = [slope(a, b, scale) for a, b in zip(*(np.split(z, sizes[other], dimension) for z in (x, y)))]
    held = [block for _, _, block in o.shards[0]]
    return all(any(np.allclose(block, part, rtol=1e-3, atol=1e-3) for part in parts) for block in held)


def slope_times(o: Observed, times: float) -> bool:
    """Whether the output is a multiple of the right one."""
    right = times * slope(*(given.astype(np.float64) for given in o.inputs))
    return all(np.allclose(block, right, rtol=1e-3, atol=1e-3) for _, _, block in o.shards[0])


def rows(table: np.ndarray, ids: np.ndarray) -> np.ndarray:
    """The row of each id."""
    return np.stack([table[int(id)] for id in ids])


def rescaled(x: np.ndarray, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Product with weights of whole numbers, each column times its scale."""
    return x @ (q.astype(np.float64) * s)


def unscaled(x: np.ndarray, q: np.ndarray, s: np.ndarray) -> np.ndarray:
    """Without the scales."""
    return x @ q.astype(np.float64)


def wholes_moved(o: Observed) -> bool:
    """Whether the weights travel as floats."""
    size = o.inputs[1].size * 4 if o.inputs else np.prod(o.case.inputs[1].shape) * 4
    return any(c.kind == "all-gather" and c.payload_bytes >= size for c in o.collectives)


def moments(over: Axes, d: int, f: int, o: int) -> Case:
    """Two weights, one cut by rows and one by columns; so must their moments be."""
    return Case(over, (Input((d, f), ROWS), Input((f, o), COLUMNS)), (ROWS, COLUMNS))


def sliced(over: Axes, batch: int, d: int, o: int) -> Case:
    """A batch by rows, and weights that are whole."""
    return Case(over, (Input((batch, d), ROWS), Input((d, o), WHOLE)), (ROWS,))


def counted(over: Axes, steps: int, batch: int) -> Case:
    """Labels, one row for each step, the batch cut."""
    return Case(over, (Input((steps, batch), COLUMNS, "int32"),), ((None,),))


def normed(over: Axes, batch: int, tokens: int, d: int) -> Case:
    """Tokens over both mesh axes, and the scale that they share."""
    spec: Spec = ("data", "model", None)
    given = Input((batch, tokens, d), spec, values=some_near_zero), Input((batch, tokens, d), spec), Input((d,), (None,))
    return Case(over, given, ((None,),))


def some_near_zero(rng: np.random.Generator, shape: tuple[int, ...], _: Sequence[np.ndarray]) -> np.ndarray:
    """Tokens of which every third is so small that the norm's constant counts."""
    x = rng.standard_normal(shape)
    x.reshape(-1, shape[-1])[::3] *= 1e-3
    return x


def another_sum(o: Observed) -> int:
    """Bytes that an all-reduce of the scale's gradient costs, if there is one for each mesh axis."""
    summed = [c.axes for c in o.collectives if c.kind == "all-reduce"]
    return 2 * o.inputs[2].nbytes if sorted(summed) == [("data",), ("model",)] else 0


def looked_up(over: Axes, size: int, d: int, batch: int) -> Case:
    """A table cut by columns, and a batch of ids."""
    return Case(over, (Input((size, d), COLUMNS), Input((batch,), ("data",), "int32")), (ROWS,))


def pairs(o: Observed) -> int:
    """Bytes of one more number an id, where ids travel as pairs."""
    arrays = [array for c in o.collectives for array in c.arrays]
    return sum(4 * math.prod(shape) // 2 for dtype, shape in arrays if dtype == "s32" and shape[1:] == (2,))


def quantised(over: Axes, batch: int, d: int, o: int) -> Case:
    """A batch, weights of whole numbers cut by rows, and the scales."""
    return Case(over, (Input((batch, d), ROWS), Input((d, o), ROWS, "int8"), Input((o,), (None,))), (ROWS,))


def draw_moments(rng: random.Random) -> Case:
    """Another mesh, another size."""
    return moments(rng.choice((LINE, PLANE, TALL)), 8 * rng.randint(4, 9), rng.randint(5, 12), 8 * rng.randint(2, 5))


def draw_sliced(rng: random.Random) -> Case:
    """Another mesh, another size."""
    return sliced(rng.choice((LINE, PLANE)), 32 * rng.randint(2, 5), rng.randint(5, 12), rng.randint(3, 7))


def draw_counted(rng: random.Random) -> Case:
    """Another number of steps."""
    return counted(rng.choice((LINE, PLANE)), rng.randint(5, 20), 8 * rng.randint(2, 6))


def draw_normed(rng: random.Random) -> Case:
    """Another mesh, another size."""
    return normed(rng.choice((PLANE, TALL)), 4 * rng.randint(1, 3), 4 * rng.randint(2, 5), rng.randint(5, 12))


def draw_looked_up(rng: random.Random) -> Case:
    """Another table."""
    return looked_up(rng.choice((LINE, PLANE)), rng.randint(128, 400), 8 * rng.randint(2, 5), 8 * rng.randint(3, 8))


def draw_quantised(rng: random.Random) -> Case:
    """Another layer."""
    return quantised(rng.choice((LINE, PLANE)), 8 * rng.randint(6, 9), 8 * rng.randint(8, 12), rng.randint(60, 120))
