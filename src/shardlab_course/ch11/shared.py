"""Chapter 11, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable

import numpy as np

from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.products import slice_met
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.question import WrongCost, WrongProgram, WrongValues
from shardlens import Axes, Spec

Arrays = tuple[np.ndarray, ...]
LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
MESHES = (LINE, PLANE, TALL)
ROWS: Spec = ("data", None)
RATE, FIRST, SECOND, TINY, STEPS = 0.01, 0.9, 0.999, 1e-4, 5


def moved(w: np.ndarray, m: np.ndarray, v: np.ndarray, step: float, tiny: float = TINY) -> np.ndarray:
    """A weight after Adam's step number `step`."""
    return np.asarray(w - RATE * (m / (1 - FIRST**step)) / (np.sqrt(v / (1 - SECOND**step)) + tiny))


def slopes(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> Arrays:
    """Gradients of the mean squared error of layers with tanh after each, summed sample by sample."""
    totals = [np.zeros_like(w) for w in weights]
    for sample, wanted in zip(x, y):
        held = [sample]
        for w in weights:
            held.append(np.tanh(held[-1] @ w))
        back = 2 * (held[-1] - wanted) / y.size
        for i in reversed(range(len(weights))):
            back = back * (1 - held[i + 1] ** 2)
            totals[i] += np.outer(held[i], back)
            back = weights[i] @ back
    return tuple(totals)


def steps(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way to these gradients, by name: layers forward, and gradients backward."""
    named, held = {}, x
    for n, w in enumerate(weights, 1):
        held = np.tanh(held @ w)
        named[f"the output of layer {n}"] = held
    gradients = [*enumerate(slopes(x, y, *weights), 1)]
    return named | {f"the gradient of W{n}": gradient for n, gradient in reversed(gradients)}


def wide(o: Observed) -> Arrays:
    """The inputs in double precision."""
    return tuple(a.astype(np.float64) if a.dtype.kind == "f" else a for a in o.inputs)


def agrees(o: Observed, outputs: Arrays, tolerance: float = 1e-4) -> bool:
    """Whether every device holds its part of these outputs."""
    return all(
        np.shape(right[index]) == block.shape and np.allclose(block, right[index], rtol=1e-3, atol=tolerance)
        for shards, right in zip(o.shards, outputs, strict=True)
        for _, index, block in shards
    )


def times(o: Observed, factor: Callable[[int], float]) -> bool:
    """Whether the outputs are the right gradients times `factor(n)`, n devices being along data."""
    n = dict(o.case.axes)["data"]
    return agrees(o, tuple(factor(n) * g for g in slopes(*wide(o))), 1e-5)


def own_parts(o: Observed, average: bool = False) -> bool:
    """Whether each device has its own slice of its own samples' gradient; with `average`, all slices' mean or sum."""
    n = dict(o.case.axes)["data"]
    x, y, *weights = wide(o)
    own = [slopes(a, b, *weights) for a, b in zip(np.split(x, n), np.split(y, n))]
    if average:
        mean = [np.mean(np.split(g, n), 0) for g in slopes(x, y, *weights)]
        return any(agrees(o, tuple(factor * np.concatenate([a] * n) for a in mean), 1e-5) for factor in (1, n, n * n))
    cut = [np.concatenate([np.split(g, n)[i] for i, g in enumerate(each)]) for each in zip(*own)]
    return any(agrees(o, tuple(factor * a for a in cut), 1e-5) for factor in (1, 1 / n))


def right(o: Observed) -> bool:
    """Whether these are the right gradients."""
    return times(o, lambda n: 1)


def stacked(o: Observed) -> bool:
    """Whether each device's whole gradients are stacked."""
    n = dict(o.case.axes)["data"]
    return all(w.shape == (n * a.shape[0], *a.shape[1:]) for w, a in zip(o.placements, o.inputs[2:]))


def gathered_again(o: Observed) -> bool:
    """Whether some weight is gathered more than once, all rounds counted."""
    weights, found = [a.shape for a in o.inputs[2:]], collections.Counter[tuple[int, ...]]()
    for c in o.collectives:
        if c.kind == "all-gather":
            for _, shape in c.arrays or ((c.dtype, c.shape),):
                found[tuple(shape)] += c.executions or 0
    return any(found[shape] > weights.count(shape) for shape in weights)


def count(o: Observed, name: str) -> int:
    """How often a StableHLO operation is written in the exported program."""
    return dict(o.operations).get(f"stablehlo.{name}", 0)


def large_all_reduce(o: Observed) -> bool:
    """Whether more than a number is reduced."""
    return any(c.kind == "all-reduce" and c.payload_bytes > 8 for c in o.collectives)


def batch_gathered(o: Observed) -> bool:
    """Whether an all-gather brings the batch together."""
    batch, weights = ({a.nbytes for a in arrays} for arrays in (o.inputs[:2], o.inputs[2:]))
    return any(c.kind == "all-gather" and c.payload_bytes in batch - weights for c in o.collectives)


def layers(mesh: Axes, batch: int, widths: tuple[int, ...]) -> Case:
    """Layers whose weights are cut by rows, as the batch is; their gradients are to lie so too."""
    weights = tuple(Input(shape, ROWS) for shape in zip(widths, widths[1:]))
    ends = (Input((batch, widths[0]), ROWS), Input((batch, widths[-1]), ROWS))
    return Case(mesh, (*ends, *weights), (ROWS,) * len(weights))


def draw_layers(number: int) -> Callable[[random.Random], Case]:
    """The same with so many layers, on other sizes."""

    def draw(rng: random.Random) -> Case:
        mesh = rng.choice(MESHES)
        n = dict(mesh)["data"]
        widths = tuple(n * k for k in rng.sample((1, 2, 3, 4, 5, 6, 7), number + 1))
        return layers(mesh, n * rng.choice((11, 13)), widths)

    return draw


GRADIENTS = (
    LEFT,
    WrongProgram(
        "not-gathered",
        "Two factors do not fit. A device has some rows of each weight, and a product needs all of them. Use all_gather "
        "first, along axis 0 and with tiled=True. If you did, look at the order of the factors.",
        1, error=slice_met),
    WrongValues(
        "sum-of-means",
        "The gradients are n times too large. The backward pass adds up what n devices contribute, so each device must "
        "contribute an n-th of the gradient of its own samples' mean.",
        3, when=lambda o: times(o, lambda n: n)),
    WrongValues(
        "slices-averaged",
        "All devices have the same rows, a mean or a sum of rows that do not belong together. Perhaps pmean or psum follows "
        "the reduce-scatter, which leaves each device with rows of its own.",
        2, when=lambda o: own_parts(o, average=True)),
    WrongValues(
        "never-reduced",
        "Each device kept its rows of its own samples' gradient. Differentiate through the all_gather, or scatter the sum "
        "yourself.",
        2, when=own_parts),
    WrongValues(
        "eight-devices", "The gradients are too small by the same factor as if they were divided by 8. Perhaps they are: "
        "the number of devices is axis_size('data').",
        2, when=lambda o: not right(o) and times(o, lambda n: n / 8)),
    WrongValues(
        "whole-for-slices",
        "Each device returns a whole gradient, and out_specs stacks them all. Each device must return its own rows of "
        "their sum.",
        2, when=stacked),
    WrongValues(
        "averaged-twice", "The gradients are an n-th of the right ones. Perhaps the mean over devices was taken twice.",
        2, when=lambda o: times(o, lambda n: 1 / n)),
    WrongCost(
        "gradients-whole", "Every device ends with a gradient that is whole, and takes n times the memory of its own rows.",
        1, when=lambda o: any(b.shape == w.shape for s, w in zip(o.shards, o.placements) for _, _, b in s)),
    WrongCost(
        "all-reduce-and-slice",
        "Every device receives the summed gradients whole, and then cuts them. The all-gather in this all-reduce is "
        "unnecessary.",
        2, letters="H", when=lambda o: large_all_reduce(o) and "reduce-scatter" not in o.kinds and right(o)),
    WrongCost(
        "batch-gathered", "The batch is gathered too. Only the weights have to be gathered.",
        1, letters="H", when=batch_gathered),
    WrongCost(
        "gathered-twice", "Weights are gathered more than once. Here each may be kept for the backward pass.",
        1, letters="H", when=gathered_again),
)  # fmt: skip

SUMS = "float32 sums over the batch, in another order"
