"""Chapter 9, exercise 9.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch09.shared import COLUMNS, LINE, ROWS, WHOLE, gathers, off_by, same, size, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def biased(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The block with both biases."""
    return np.maximum(X @ W1 + b1, 0) @ W2 + b2


def straight(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The same without a relu."""
    return np.asarray((X @ W1 + b1) @ W2 + b2)


def bias_after(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The same with the first bias after the relu."""
    return np.asarray((np.maximum(X @ W1, 0) + b1) @ W2 + b2)


def steps(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    hidden = np.maximum(X @ W1 + b1, 0)
    names = "X @ W1", "X @ W1 + b1", "relu(X @ W1 + b1)", "relu(X @ W1 + b1) @ W2", "relu(X @ W1 + b1) @ W2 + b2"
    return dict(zip(names, (X @ W1, X @ W1 + b1, hidden, hidden @ W2, hidden @ W2 + b2)))


def bias_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Both biases where they belong."""
    weights = (Input((d, f), COLUMNS), Input((f,), ("model",)), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d)), *weights), (WHOLE,))


def moves_parameters(o: Observed) -> bool:
    """Whether a whole weight or bias is gathered."""
    return gathers(o, [x.shape for x in o.inputs[1:]])


def by_a_constant(o: Observed) -> bool:
    """Whether each device added an eighth of b2 before the sum, and there are not eight of them."""
    right, b2, n = biased(*wide(o)), wide(o)[4], size(o)
    return n != LINE[0][1] and same(o, right + (n / LINE[0][1] - 1) * b2)


def second_bias_each(o: Observed) -> bool:
    """Whether b2 was added on each device, before the sum."""
    return off_by(o, biased(*wide(o)), wide(o)[4])


def bias_forgotten(o: Observed) -> bool:
    """Whether one of the biases, or both, are missing."""
    X, W1, b1, W2, b2 = wide(o)
    pairs = ((0 * b1, b2), (b1, 0 * b2), (0 * b1, 0 * b2))
    return any(same(o, biased(X, W1, first, W2, second)) for first, second in pairs)
