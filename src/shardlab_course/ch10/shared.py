"""Chapter 10, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from shardlab_course.shared.agreement import Arrays, agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.question import Misconception, WrongCost
from shardlens import Axes, Spec

LINE, PLANE, TALL = axes(data=8), axes(data=4, model=2), axes(data=2, model=4)
ROWS: Spec = ("data", None)
RATE, STEPS, TINY = 0.1, 5, 1e-5


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


def times(o: Observed, oracle: Callable[..., Any], factor: Callable[[int], float]) -> bool:
    """Whether the outputs are `factor(n)` times the oracle's, for n devices along data."""
    found = oracle(*wide(o))
    found = found if isinstance(found, tuple) else (found,)
    most = factor(dict(o.case.axes)["data"])
    return agrees(o, tuple(most * a for a in found), 1e-4 * max(1.0, most))


def gathers_an_argument(o: Observed) -> bool:
    """Whether an all-gather makes the whole of an argument that is cut, or of one entry of its first dimension."""
    cut = [x.shape for x, given in zip(o.inputs, o.case.inputs) if any(given.spec)]
    made = {tuple(sorted(shape)) for c in o.collectives if c.kind == "all-gather" for _, shape in c.arrays}
    return any(tuple(sorted(part)) in made for shape in cut for part in (shape, shape[1:]) if len(part) > 1)


def gathers(cause: str) -> Misconception:
    """An argument that is cut, or a microbatch of it, is brought together, and may stay where it is."""
    return WrongCost("gathers", cause, 2, when=gathers_an_argument)


SUMS = "float32 sums over the batch, in another order"
