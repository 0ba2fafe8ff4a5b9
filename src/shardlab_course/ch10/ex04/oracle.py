"""Chapter 10, exercise 10.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping

import numpy as np

from shardlab_course.ch10.shared import LINE, PLANE
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


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


def microbatches(mesh: Axes, layers: int, width: int, count: int, samples: int) -> Case:
    """Stacked weights, whole; microbatches one after another, the samples of each over data; Explicit axes."""
    data = Input((count, samples, width), (None, "data", None))
    return Case(mesh, (Input((layers, width, width)), data, data), ((),), explicit=True)


def draw_microbatches(rng: random.Random) -> Case:
    """Two to four layers, and more microbatches than layers."""
    layers = rng.randint(2, 4)
    mesh = rng.choice((LINE, PLANE))
    return microbatches(mesh, layers, rng.randint(5, 9), layers + rng.randint(1, 3), 8 * rng.randint(2, 4))


def runs(o: Observed) -> int:
    """How many all-reduces run, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-reduce")
