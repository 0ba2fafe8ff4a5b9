"""Chapter 10, exercise 10.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import collections
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_course.ch10.shared import LINE, PLANE, ROWS, slopes
from shardlab_course.shared.agreement import Arrays, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def unbiased(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> Arrays:
    """Gradients of both weights of a network without biases."""
    found = slopes(x, y, w1, np.zeros(w1.shape[1]), w2, np.zeros(w2.shape[1]))
    return found[0], found[2]


def steps(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name: layers forward, and gradients backward."""
    hidden = np.maximum(x @ w1, 0)
    first, second = unbiased(x, y, w1, w2)
    forward = {"X @ W1": x @ w1, "relu(X @ W1)": hidden, "relu(X @ W1) @ W2": hidden @ w2}
    return forward | {"the gradient of W2": second, "the gradient of W1": first}


def unbiased_own(at: Mapping[str, int], x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> tuple[Any, ...]:
    """Both weights' gradients of the device's own samples."""
    return tuple(unbiased(x, y, w1, w2))


def by_hand(mesh: Axes, samples: int, sizes: tuple[int, int, int]) -> Case:
    """Samples over data, and two weights without biases."""
    inner, hidden, outer = sizes
    data = Input((samples, inner), ROWS), Input((samples, outer), ROWS)
    return Case(mesh, (*data, Input((inner, hidden)), Input((hidden, outer))), ((), ()))


def draw_by_hand(rng: random.Random) -> Case:
    """As `draw_training`."""
    sizes = rng.randint(4, 7), 8, rng.randint(2, 5)
    return by_hand(rng.choice((LINE, PLANE)), 8 * rng.randint(10, 14), sizes)


def reduced_twice(o: Observed) -> bool:
    """Whether arrays of each weight's shape are reduced at least twice."""
    reductions = [(c, shape) for c in o.collectives if c.kind == "all-reduce" for _, shape in c.arrays]
    times = collections.Counter(shape for c, shape in reductions for _ in range(c.executions or 0))
    shapes = collections.Counter(w.shape for w in o.inputs[2:])
    return all(times[shape] >= 2 * count for shape, count in shapes.items())


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
