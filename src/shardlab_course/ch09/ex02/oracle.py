"""Chapter 9, exercise 9.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch09.shared import COLUMNS, ROWS, WHOLE, mlp, reduces, same, size, slices, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def three_layers(X: np.ndarray, W1: np.ndarray, W2: np.ndarray, W3: np.ndarray) -> np.ndarray:
    """Three layers with a relu between each two."""
    return np.maximum(mlp(X, W1, W2), 0) @ W3


def mlp_steps(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    hidden = np.maximum(X @ W1, 0)
    return {"X @ W1": X @ W1, "relu(X @ W1)": hidden, "relu(X @ W1) @ W2": hidden @ W2}


def three_steps(X: np.ndarray, W1: np.ndarray, W2: np.ndarray, W3: np.ndarray) -> dict[str, np.ndarray]:
    """The same of three layers."""
    steps = mlp_steps(X, W1, W2)
    second = np.maximum(steps["relu(X @ W1) @ W2"], 0)
    return steps | {"relu(relu(X @ W1) @ W2)": second, "relu(relu(X @ W1) @ W2) @ W3": second @ W3}


def mlp_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Column, then row; everything else whole."""
    return Case(mesh, (Input((t, d)), Input((d, f), COLUMNS), Input((f, d), ROWS)), (WHOLE,))


def three_case(mesh: Axes, t: int, d: int, f: int, e: int) -> Case:
    """Column, row, row."""
    weights = (Input((d, f), COLUMNS), Input((f, e), ROWS), Input((e, d), ROWS))
    return Case(mesh, (Input((t, d)), *weights), (WHOLE,))


def columns_summed(o: Observed) -> bool:
    """Whether finished columns of the hidden layer were added to other columns, before the relu."""
    X, W1, W2 = wide(o)
    hidden = np.maximum(sum(slices(X @ W1, size(o), 1)), 0)
    return same(o, sum(hidden @ w for w in slices(W2, size(o), 0)))


def averaged(o: Observed) -> bool:
    """Whether the terms were averaged."""
    return same(o, mlp(*wide(o)) / size(o))


def multiplied(o: Observed) -> bool:
    """Whether every value is the right one times the number of devices along some axis."""
    return any(same(o, n * mlp(*wide(o))) for _, n in o.case.axes if n > 1)


def relu_on_terms(o: Observed) -> bool:
    """Whether the second relu was applied to terms of the sum."""
    X, W1, W2, W3 = wide(o)
    h, n = np.maximum(X @ W1, 0), size(o)
    terms = [a @ b for a, b in zip(slices(h, n, 1), slices(W2, n, 0))]
    return same(o, sum(np.maximum(term, 0) for term in terms) @ W3)


def never_summed(o: Observed) -> bool:
    """Whether each device went on with its own term, as if that were its slice."""
    X, W1, W2, W3 = wide(o)
    h, n = np.maximum(X @ W1, 0), size(o)
    terms = [np.maximum(a @ b, 0) for a, b in zip(slices(h, n, 1), slices(W2, n, 0))]
    own = [slices(term, n, 1)[i] for i, term in enumerate(terms)]
    return same(o, sum(a @ b for a, b in zip(own, slices(W3, n, 0))))


def all_of_second(o: Observed) -> bool:
    """Whether the second layer's output is all-reduced."""
    return reduces(o, len(o.inputs[0]) * o.inputs[2].shape[1])
