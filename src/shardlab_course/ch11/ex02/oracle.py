"""Chapter 11, exercise 11.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable, Sequence

import numpy as np

from shardlab_course.ch11.shared import FIRST, LINE, PLANE, ROWS, SECOND, STEPS, Arrays, moved
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def tied_slopes(x: np.ndarray, y: np.ndarray, e: np.ndarray, w: np.ndarray) -> Arrays:
    """Both terms of E's gradient, of its first use and of its second, and the gradient of W."""
    first, second, inner = np.zeros_like(e), np.zeros_like(e), np.zeros_like(w)
    for sample, wanted in zip(x, y):
        seen = sample @ e
        hidden = np.tanh(seen @ w)
        error = 2 * (e @ hidden - wanted) / y.size
        back = (error @ e) * (1 - hidden**2)
        second += np.outer(error, hidden)
        inner += np.outer(seen, back)
        first += np.outer(sample, w @ back)
    return first, second, inner


@functools.cache
def trained(
    *, uses: tuple[int, int] = (1, 1), steps: int = STEPS, corrected: bool = True, factor: float = 1.0, memory: bool = True
) -> Callable[..., Arrays]:
    """A function that returns weights and Adam's state after some steps, with a mistake if one is asked for.

    Args:
        uses: how often each of E's two uses counts in its gradient.
        steps: of Adam.
        corrected: for the zeros that the state begins with.
        factor: on the gradients.
        memory: whether the state is kept from step to step.
    """

    def train(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> Arrays:
        state = [(np.zeros_like(a), np.zeros_like(a)) for a in weights]
        for step in range(1, steps + 1):
            first, second, inner = tied_slopes(x, y, *weights)
            found = (factor * (uses[0] * first + uses[1] * second), factor * inner)
            state = [(a, b) if memory else (0 * a, 0 * b) for a, b in state]
            state = [(FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2) for (m, v), g in zip(state, found)]
            steps_done = step if corrected else np.inf
            weights = tuple(moved(w, m, v, steps_done) for w, (m, v) in zip(weights, state))
        return weights[0], weights[1], *state[0], *state[1]

    return train


def named(x: np.ndarray, y: np.ndarray, *weights: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name, step by step; a step moves weights by too little to tell wrong ones."""
    found: dict[str, np.ndarray] = {}
    names = ("E", "W")
    state = [(np.zeros_like(a), np.zeros_like(a)) for a in weights]
    for n in range(1, STEPS + 1):
        first, second, inner = tied_slopes(x, y, *weights)
        slopes = first + second, inner
        state = [(FIRST * m + (1 - FIRST) * g, SECOND * v + (1 - SECOND) * g**2) for (m, v), g in zip(state, slopes)]
        weights = tuple(moved(w, m, v, n) for w, (m, v) in zip(weights, state))
        for name, gradient, (m, v) in reversed([*zip(names, slopes, state)]):  # E, which is used twice, last
            term = "the gradient's term in " if n == 1 else ""  # there is no other yet
            held = {f"the gradient of {name}": gradient, f"{term}m of {name}": m, f"{term}v of {name}": v}
            found |= {f"{part} in step {n} of {STEPS}": value for part, value in held.items()}
    return found


def state_whole(o: Observed) -> bool:
    """Whether some of the optimizer's state lies whole on every device."""
    return any(block.shape == where.shape for shards, where in zip(o.shards[2:], o.placements[2:]) for _, _, block in shards)


def weights_cut(o: Observed) -> bool:
    """Whether a trained weight is not whole on every device."""
    return any(block.shape != a.shape for shards, a in zip(o.shards[:2], o.inputs[2:]) for _, _, block in shards)


def state_by_columns(o: Observed) -> bool:
    """Whether some of the optimizer's state is cut by columns."""
    return any(b.shape[1] < where.shape[1] for shards, where in zip(o.shards[2:], o.placements[2:]) for _, _, b in shards)


def only_gradients_moved(o: Observed) -> bool:
    """Whether no step moves more than sums of gradients: of E once for each of its uses, of W, and some numbers."""
    e, w = (a.nbytes for a in o.inputs[2:])
    moved = sum(c.payload_bytes * c.executions for c in o.collectives)
    return o.kinds == {"all-reduce"} and moved <= STEPS * (2 * e + w + 8)


def updated_whole(o: Observed) -> bool:
    """Whether a device takes the roots of all of a second moment, in some step: then it updates all of that weight."""
    sizes = {a.size for a in o.inputs[2:]}
    rooted = re.findall(r"= f32\[([\d,]+)\]\S* (?:sqrt|rsqrt|power)\(", o.hlo)
    return any(math.prod(map(int, shape.split(","))) in sizes for shape in rooted)


def training(mesh: Axes, batch: int, words: int, width: int) -> Case:
    """Tied weights that lie whole, a batch that is cut, and state that is to be cut."""
    weights = Input((words, width), values=unsaturated), Input((width, width), values=unsaturated)
    inputs = (Input((batch, words), ROWS), Input((batch, words), ROWS), *weights)
    return Case(mesh, inputs, ((), (), ROWS, ROWS, ROWS, ROWS))


def unsaturated(rng: np.random.Generator, shape: tuple[int, ...], _: Sequence[np.ndarray]) -> np.ndarray:
    """Weights of which tanh gets numbers of about one.

    Where tanh is nearly one, float32 has few digits left of its slope, and Adam makes large steps of small gradients.
    """
    return rng.standard_normal(shape) / np.sqrt(shape[0])


def draw_training(rng: random.Random) -> Case:
    """The same on other sizes."""
    mesh = rng.choice((LINE, PLANE))
    n = dict(mesh)["data"]
    # A device's rows of E are never as many numbers as W: `updated_whole` could not tell them apart.
    return training(mesh, n * rng.randint(2, 4), n * rng.randint(5, 7), n * rng.randint(1, 2))
