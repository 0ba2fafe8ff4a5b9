"""Chapter 10's oracles: gradients by hand, one sample after another; with cases and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab.placement import Axes, Spec
from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes

LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
MODEL_LINE = axes(model=8)
ROWS: Spec = ("data", None)
RATE, STEPS, LIMIT, TINY = 0.1, 5, 12.0, 1e-5
NETWORK: tuple[Spec, ...] = ((None, "model"), ("model",), ("model", None), ())


def slopes(x: np.ndarray, y: np.ndarray, w1: np.ndarray, b1: np.ndarray, w2: np.ndarray, b2: np.ndarray) -> Arrays:
    """Gradients of the mean squared error of two layers with a relu between, summed sample by sample."""
    totals = tuple(np.zeros_like(w) for w in (w1, b1, w2, b2))
    for sample, wanted in zip(x, y):
        hidden = sample @ w1 + b1
        active = np.maximum(hidden, 0)
        error = 2 * (active @ w2 + b2 - wanted) / y.size
        back = (w2 @ error) * (hidden > 0)
        for total, term in zip(totals, (np.outer(sample, back), back, np.outer(active, error), error)):
            total += term
    return totals


def descended(*, rate: float = RATE, steps: int = 1, summed: bool = False, outputs: bool = False) -> Callable[..., Arrays]:
    """A function that returns the weights after some steps of gradient descent.

    With a mistake: on the sum of squares, over samples and outputs (`summed`) or over `outputs` only.
    """

    def descend(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> Arrays:
        for _ in range(steps):
            found = slopes(x, y, *weights)
            factor = y.size if summed else y.shape[1] if outputs else 1
            weights = tuple(w - rate * g * factor for w, g in zip(weights, found))
        return weights

    return descend


def unbiased(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> Arrays:
    """Gradients of both weights of a network without biases."""
    found = slopes(x, y, w1, np.zeros(w1.shape[1]), w2, np.zeros(w2.shape[1]))
    return found[0], found[2]


def unbiased_own(at: Mapping[str, int], x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    """The first weight's gradient of the device's own samples."""
    return unbiased(x, y, w1, w2)[0]


def stacked(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Gradient of the squared error of tanh layers, summed over microbatches and samples."""
    total = np.zeros_like(w)
    for sample, wanted in zip(x.reshape(-1, x.shape[-1]), y.reshape(-1, y.shape[-1])):
        held = [sample]
        for layer in w:
            held.append(np.tanh(held[-1] @ layer))
        back = 2 * (held[-1] - wanted)
        for i in reversed(range(len(w))):
            back = back * (1 - held[i + 1] ** 2)
            total[i] += np.outer(held[i], back)
            back = w[i] @ back
    return total


def stacked_own(at: Mapping[str, int], w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the device's own samples."""
    return stacked(w, x, y)


def last_microbatch(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The gradient of the last microbatch alone."""
    return stacked(w, x[-1:], y[-1:])


def normalised(x: np.ndarray, scale: np.ndarray, shift: np.ndarray, axis: int = 0) -> np.ndarray:
    """Columns with mean 0 and variance 1, scaled and shifted."""
    mean = x.mean(axis, keepdims=True)
    variance = ((x - mean) ** 2).mean(axis, keepdims=True)
    return np.asarray((x - mean) / np.sqrt(variance + TINY) * scale + shift)


def normalised_own(at: Mapping[str, int], x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The same with the statistics of the device's own rows."""
    return normalised(x, scale, shift)


def normalised_rows(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """The same along the other dimension."""
    return normalised(x, scale, shift, 1)


def without_root(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Divided by the variance instead of its root."""
    return np.asarray((x - x.mean(0)) / (x.var(0) + TINY) * scale + shift)


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


def clipped_by(norm: float, arrays: Arrays) -> Arrays:
    """The arrays, made smaller where their norm is above the limit."""
    return tuple(a * min(1.0, LIMIT / norm) for a in arrays)


def clipped(*arrays: np.ndarray) -> Arrays:
    """The arrays clipped by the norm of all their elements together."""
    return clipped_by(np.sqrt(sum((a.ravel() ** 2).sum() for a in arrays)), arrays)


def clipped_apart(*arrays: np.ndarray) -> Arrays:
    """Each array clipped by its own norm."""
    return tuple(clipped(a)[0] for a in arrays)


def clipped_without_last(*arrays: np.ndarray) -> Arrays:
    """All arrays clipped by the norm of those that are cut."""
    return clipped_by(np.sqrt(sum((a**2).sum() for a in arrays[:-1])), arrays)


def clipped_by_square(*arrays: np.ndarray) -> Arrays:
    """All arrays clipped by the square of their norm."""
    return clipped_by(float(sum((a**2).sum() for a in arrays)), arrays)


def squares_averaged(o: Observed) -> bool:
    """Whether squares of the cut arrays are averaged over the devices."""
    arrays = wide(o)
    cut, whole = sum((a**2).sum() for a in arrays[:-1]), (arrays[-1] ** 2).sum()
    n = dict(o.case.axes)["model"]
    return any(agrees(o, clipped_by(np.sqrt(s), arrays)) for s in (cut / n + whole, (cut / n + whole) / n))


def always_scaled(*arrays: np.ndarray) -> Arrays:
    """The arrays scaled to the limit, larger ones and smaller ones."""
    norm = np.sqrt(sum((a**2).sum() for a in arrays))
    return tuple(a * LIMIT / norm for a in arrays)


def clipped_own(at: Mapping[str, int], *arrays: np.ndarray) -> np.ndarray:
    """One device's block, clipped by the norm of what this device holds."""
    return clipped(*arrays)[0]


def copies_counted(o: Observed) -> bool:
    """Whether squares of what lies on several devices are counted several times."""
    arrays = tuple(a.astype(np.float64) for a in o.inputs)
    cut, whole = sum((a**2).sum() for a in arrays[:-1]), (arrays[-1] ** 2).sum()
    sizes = dict(o.case.axes)
    n, others = sizes["model"], sizes.get("data", 1)
    sums = (cut + n * whole, others * (cut + whole), others * (cut + n * whole))
    return not agrees(o, clipped(*arrays)) and any(agrees(o, clipped_by(np.sqrt(s), arrays)) for s in sums)


def norms_added(o: Observed) -> bool:
    """Whether the devices' norms are added instead of their squares."""
    arrays = tuple(a.astype(np.float64) for a in o.inputs)
    n = dict(o.case.axes)["model"]
    blocks = zip(np.split(arrays[0], n), np.split(arrays[1], n, axis=1))
    own = [((a**2).sum(), (b**2).sum()) for a, b in blocks]
    whole = (arrays[2] ** 2).sum()
    together = sum(np.sqrt(a + b) for a, b in own)
    each = sum(np.sqrt(a + b + whole) for a, b in own)
    norms = (np.sqrt(together**2 + whole), together + np.sqrt(whole), each, together)
    return any(agrees(o, clipped_by(norm, arrays)) for norm in norms)


def noise(key: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Normal numbers of this key and shape, made on one device."""
    import jax

    return np.asarray(jax.random.normal(jax.random.wrap_key_data(jax.numpy.asarray(key, np.uint32)), shape))


def folded(key: Any, number: int) -> Any:
    """The key with a number folded in."""
    import jax

    wrapped = jax.random.wrap_key_data(jax.numpy.asarray(key, np.uint32))
    return np.asarray(jax.random.key_data(jax.random.fold_in(wrapped, number)))


def noisy(key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The array with noise of its whole shape."""
    return np.asarray(x + noise(key, x.shape))


def noisy_blocks(at: Mapping[str, int], key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One device's block with noise of the block's shape from the key as it is."""
    return np.asarray(x + noise(key, x.shape))


def noisy_folded(at: Mapping[str, int], key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One device's block with noise of its own key."""
    return np.asarray(x + noise(folded(key, at["data"]), x.shape))


def apart(key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Each entry of the first dimension with noise of its own key."""
    return np.stack([block + noise(folded(key, i), block.shape) for i, block in enumerate(x)])


def alike(key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Each entry of the first dimension with the same noise."""
    return np.asarray(x + noise(key, x.shape[1:]))


def training(mesh: Axes, samples: int, sizes: tuple[int, int, int], placed: tuple[Spec, ...] = ((),) * 4) -> Case:
    """Samples over data; the weights of two layers, whole, and how they must lie in the end."""
    inner, hidden, outer = sizes
    shapes = ((inner, hidden), (hidden,), (hidden, outer), (outer,))
    data = Input((samples, inner), ROWS), Input((samples, outer), ROWS)
    return Case(mesh, (*data, *(Input(shape) for shape in shapes)), placed)


def draw_training(rng: random.Random) -> Case:
    """Many samples and small weights, so that the batch is dearer to move than the gradients."""
    sizes = rng.randint(4, 7), rng.randint(4, 9), rng.randint(2, 5)
    return training(rng.choice((LINE, PLANE)), 8 * rng.randint(10, 14), sizes)


def draw_network(rng: random.Random) -> Case:
    """Hidden units that every model axis divides."""
    sizes = rng.randint(5, 12), 8 * rng.randint(2, 4), rng.randint(3, 7)
    return training(rng.choice((PLANE, TALL)), 8 * rng.randint(3, 5), sizes, NETWORK)


def by_hand(mesh: Axes, samples: int, sizes: tuple[int, int, int]) -> Case:
    """Samples over data, and two weights without biases."""
    inner, hidden, outer = sizes
    data = Input((samples, inner), ROWS), Input((samples, outer), ROWS)
    return Case(mesh, (*data, Input((inner, hidden)), Input((hidden, outer))), ((), ()))


def draw_by_hand(rng: random.Random) -> Case:
    """As `draw_training`."""
    sizes = rng.randint(4, 7), rng.randint(4, 9), rng.randint(2, 5)
    return by_hand(rng.choice((LINE, PLANE)), 8 * rng.randint(10, 14), sizes)


def microbatches(mesh: Axes, layers: int, width: int, count: int, samples: int) -> Case:
    """Stacked weights, whole; microbatches one after another, the samples of each over data; Explicit axes."""
    data = Input((count, samples, width), (None, "data", None))
    return Case(mesh, (Input((layers, width, width)), data, data), ((),), explicit=True)


def draw_microbatches(rng: random.Random) -> Case:
    """Two to four layers, and more microbatches than layers."""
    layers = rng.randint(2, 4)
    mesh = rng.choice((LINE, PLANE))
    return microbatches(mesh, layers, rng.randint(5, 9), layers + rng.randint(1, 3), 8 * rng.randint(2, 4))


def columns(mesh: Axes, rows: int, width: int) -> Case:
    """A batch over data; scale and shift of its columns."""
    return Case(mesh, (Input((rows, width), ROWS), Input((width,)), Input((width,))), (ROWS,))


def draw_columns(rng: random.Random) -> Case:
    """At least three rows on each device."""
    return columns(rng.choice((LINE, PLANE)), 8 * rng.randint(3, 7), rng.randint(3, 9))


def clipping(mesh: Axes, rows: int, width: int, height: int, wide: int, whole: int) -> Case:
    """Two gradients cut over model, by rows and by columns, and a whole one."""
    specs: tuple[Spec, ...] = (("model", None), (None, "model"), ())
    shapes = (rows, width), (height, wide), (whole,)
    return Case(mesh, tuple(Input(shape, spec) for shape, spec in zip(shapes, specs)), specs)


def draw_clipping(rng: random.Random) -> Case:
    """So many elements that the first array's norm alone is above the limit, and that of what one device holds."""
    mesh = rng.choice((MODEL_LINE, PLANE))
    return clipping(mesh, 32, rng.randint(6, 9), rng.randint(5, 8), 24, 8 * rng.randint(21, 24))


def random_rows(mesh: Axes, rows: int, width: int) -> Case:
    """A key's two words, and an array with rows over data."""
    return Case(mesh, (Input((2,), (), "uint32"), Input((rows, width), ROWS)), (ROWS,))


def draw_random_rows(rng: random.Random) -> Case:
    """Rows that 8 divides."""
    return random_rows(rng.choice((LINE, PLANE)), 8 * rng.randint(2, 4), rng.randint(3, 9))


def random_blocks(mesh: Axes, rows: int, width: int) -> Case:
    """A key's two words, and an array with one entry of the first dimension for each device along data."""
    spec: Spec = ("data", None, None)
    return Case(mesh, (Input((2,), (), "uint32"), Input((dict(mesh)["data"], rows, width), spec)), (spec,))


def draw_random_blocks(rng: random.Random) -> Case:
    """Blocks of any size."""
    return random_blocks(rng.choice((LINE, PLANE)), rng.randint(2, 6), rng.randint(3, 9))


def times(o: Observed, oracle: Callable[..., Any], factor: Callable[[int], float]) -> bool:
    """Whether the outputs are `factor(n)` times the oracle's, for n devices along data."""
    found = oracle(*wide(o))
    found = found if isinstance(found, tuple) else (found,)
    most = factor(dict(o.case.axes)["data"])
    return agrees(o, tuple(most * a for a in found), 1e-4 * max(1.0, most))


def steps_too_long(o: Observed) -> bool:
    """Whether the weights moved n times as far as one step, for n devices along data."""
    return agrees(o, descended(rate=RATE * dict(o.case.axes)["data"])(*wide(o)))


def reduced(o: Observed) -> float:
    """How often the bytes of the two weights are reduced."""
    sizes = sum(w.nbytes for w in o.inputs[2:])
    moved = sum(c.payload_bytes * (c.executions or 0) for c in o.collectives if c.kind == "all-reduce")
    return float(moved / sizes)


def scalars_reduced(o: Observed) -> bool:
    """Whether an all-reduce carries a single number, alone or with others."""
    return any(shape == () for c in o.collectives if c.kind == "all-reduce" for _, shape in c.arrays)


def runs(o: Observed) -> int:
    """How many collectives run, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives)


def overflows(o: Observed) -> bool:
    """Whether some numbers are not finite, as after steps that are too long."""
    return not all(np.isfinite(block).all() for shards in o.shards for _, _, block in shards)


def is_whole(o: Observed, output: int) -> bool:
    """Whether every device holds all of an output."""
    placement = o.placements[output]
    return placement.shard_shape == placement.shape
