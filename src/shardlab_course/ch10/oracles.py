"""Chapter 10's oracles: gradients by hand, one sample after another; with cases and recognisers of wrong answers."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
MODEL_LINE = axes(model=8)
ROWS: Spec = ("data", None)
RATE, STEPS, TINY = 0.1, 5, 1e-5
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


def unbiased_own(at: Mapping[str, int], x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> tuple[Any, ...]:
    """Both weights' gradients of the device's own samples."""
    return tuple(unbiased(x, y, w1, w2))


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


def training(mesh: Axes, samples: int, sizes: tuple[int, int, int], placed: tuple[Spec, ...] = ((),) * 4) -> Case:
    """Samples over data; the weights of two layers, whole, and how they must lie in the end."""
    inner, hidden, outer = sizes
    shapes = ((inner, hidden), (hidden,), (hidden, outer), (outer,))
    data = Input((samples, inner), ROWS), Input((samples, outer), ROWS)
    return Case(mesh, (*data, *(Input(shape, values=modest) for shape in shapes)), placed)


def modest(rng: np.random.Generator, shape: tuple[int, ...], _: Sequence[np.ndarray]) -> np.ndarray:
    """Weights with which units stay about as large as what they are made of.

    With plain normal numbers steps of rate 0.1 jump about: in one of 400 draws float32 was 42 tolerances off; with these it
    is within a hundredth of one in all.
    """
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def draw_training(rng: random.Random) -> Case:
    """Many samples and small weights, so that moving the batch costs more than moving the gradients.

    Devices divide the elements of all weights, so that a flat array of these need not be padded to be scattered. There are
    more outputs than devices along data, so that to forget the one is not to forget the other.
    """
    sizes = rng.randint(4, 7), 8, 16
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
    sizes = rng.randint(4, 7), 8, rng.randint(2, 5)
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


def random_rows(mesh: Axes, rows: int, width: int) -> Case:
    """A key's two words, and an array with rows over data."""
    return Case(mesh, (Input((2,), (), "uint32"), Input((rows, width), ROWS)), (ROWS,))


def draw_random_rows(rng: random.Random) -> Case:
    """Rows that 8 divides."""
    return random_rows(rng.choice((LINE, PLANE)), 8 * rng.randint(2, 4), rng.randint(3, 9))


def times(o: Observed, oracle: Callable[..., Any], factor: Callable[[int], float]) -> bool:
    """Whether the outputs are `factor(n)` times the oracle's, for n devices along data."""
    found = oracle(*wide(o))
    found = found if isinstance(found, tuple) else (found,)
    most = factor(dict(o.case.axes)["data"])
    return agrees(o, tuple(most * a for a in found), 1e-4 * max(1.0, most))


def steps_too_long(o: Observed) -> bool:
    """Whether the weights moved n times as far as one step, for n devices along data."""
    return agrees(o, descended(rate=RATE * dict(o.case.axes)["data"])(*wide(o)))


def reduced_twice(o: Observed) -> bool:
    """Whether arrays of each weight's shape are reduced at least twice."""
    reductions = [(c, shape) for c in o.collectives if c.kind == "all-reduce" for _, shape in c.arrays]
    times = collections.Counter(shape for c, shape in reductions for _ in range(c.executions or 0))
    shapes = collections.Counter(w.shape for w in o.inputs[2:])
    return all(times[shape] >= 2 * count for shape, count in shapes.items())


def gathers_an_argument(o: Observed) -> bool:
    """Whether an all-gather makes the whole of an argument that is cut, or of one entry of its first dimension."""
    cut = [x.shape for x, given in zip(o.inputs, o.case.inputs) if any(given.spec)]
    made = {tuple(sorted(shape)) for c in o.collectives if c.kind == "all-gather" for _, shape in c.arrays}
    return any(tuple(sorted(part)) in made for shape in cut for part in (shape, shape[1:]) if len(part) > 1)


def one_left_out(o: Observed) -> bool:
    """Whether one gradient is right, and the other that of each device's own samples."""
    x, y, *weights = wide(o)
    n = dict(o.case.axes)["data"]
    own = [unbiased(*part, *weights) for part in zip(np.split(x, n), np.split(y, n))]
    names, sizes = zip(*o.case.axes)

    def made(output: int, device: int) -> np.ndarray:
        return own[np.unravel_index(device, sizes)[names.index("data")]][output]

    wanted = unbiased(x, y, *weights)

    def equal(output: int, made: Callable[[int, int], np.ndarray]) -> bool:
        return all(np.allclose(block, made(output, d), rtol=1e-4, atol=1e-5) for d, _, block in o.shards[output])

    right = [equal(i, lambda output, _: wanted[output]) for i in range(len(o.shards))]
    alone = [equal(i, made) for i in range(len(o.shards))]
    return any(right) and any(alone) and all(a or b for a, b in zip(right, alone))


def scalars_reduced(o: Observed) -> bool:
    """Whether an all-reduce carries a single number, alone or with others."""
    return any(shape == () for c in o.collectives if c.kind == "all-reduce" for _, shape in c.arrays)


def runs(o: Observed) -> int:
    """How many all-reduces run, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-reduce")


def gathers_in_steps(o: Observed) -> bool:
    """Whether all-gathers run in every step, and not only once."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather") >= STEPS


def overflows(o: Observed) -> bool:
    """Whether some numbers are not finite, as after steps that are too long."""
    return not all(np.isfinite(block).all() for shards in o.shards for _, _, block in shards)


def is_whole(o: Observed, output: int) -> bool:
    """Whether every device holds all of an output."""
    placement = o.placements[output]
    return placement.shard_shape == placement.shape
