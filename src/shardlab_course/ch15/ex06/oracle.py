"""Chapter 15, exercise 15.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch15.shared import WHOLE
from shardlab_judge.cases import Case, Input, axes
from shardlens import Axes

WIDE_XY, TALL_XY = axes(x=2, y=4), axes(x=4, y=2)
RATE = 0.1


def stepped(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both weights after one step down the mean squared error, the gradient summed sample by sample."""
    g1, g2 = np.zeros_like(w1), np.zeros_like(w2)
    for sample, wanted in zip(x, y):
        hidden = np.tanh(sample @ w1)
        error = 2 * (hidden @ w2 - wanted) / y.size
        g1 += np.outer(sample, (w2 @ error) * (1 - hidden**2))
        g2 += np.outer(hidden, error)
    return w1 - RATE * g1, w2 - RATE * g2


def steps(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    hidden = np.tanh(x @ w1)
    error = 2 * (hidden @ w2 - y) / y.size
    back = (error @ w2.T) * (1 - hidden**2)
    named = {"tanh(X @ W1)": hidden, "the output": hidden @ w2, "the output's gradient": error}
    return named | {"the gradient of W2": hidden.T @ error, "the gradient of W1": x.T @ back}


def stepped_often(
    x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray, *, factor: float
) -> tuple[np.ndarray, np.ndarray]:
    """The step with a gradient that is some times too large."""
    one, two = stepped(x, y, w1, w2)
    return w1 + factor * (one - w1), w2 + factor * (two - w2)


def free(over: Axes, batch: int, d: int, f: int, o: int) -> Case:
    """A training step's arrays, which lie where the design says."""
    return Case(over, tuple(Input(shape, WHOLE) for shape in ((batch, d), (batch, o), (d, f), (f, o))), (None, None))
