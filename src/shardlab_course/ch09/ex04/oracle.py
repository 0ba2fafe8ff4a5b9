"""Chapter 9, exercise 9.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from shardlab_course.ch09.shared import COLUMNS, ROWS, block, mlp, normed, off_by, same, size, slices, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def block_without_norm(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` with the tokens as they come."""
    return X + mlp(X, W1, W2) + b2


def block_without_bias(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` without the second bias."""
    return block(X, scale, W1, W2, np.zeros_like(b2))


def block_without_epsilon(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` whose norm divides by the root of the mean square as it is."""
    return X + mlp(X / np.sqrt((X * X).mean(-1, keepdims=True)) * scale, W1, W2) + b2


def block_on_norm(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` with the residual taken after the norm."""
    return block(X, scale, W1, W2, b2) - X + normed(X, scale)


def steps(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name."""
    even = normed(X, scale)
    hidden = np.maximum(even @ W1, 0)
    names = "norm(X, scale)", "norm(X, scale) @ W1", "relu(norm(X, scale) @ W1)", "relu(norm(X, scale) @ W1) @ W2"
    return dict(zip(names, (even, even @ W1, hidden, hidden @ W2))) | {"the output": X + hidden @ W2 + b2}


def some_small(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Normal numbers, in every fourth token so small that what the norm adds under its root shows."""
    numbers = rng.standard_normal(shape)
    numbers[::4] *= 1e-3
    return numbers


def block_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Tokens over `model` outside, hidden units over `model` inside."""
    weights = (Input((d,)), Input((d, f), COLUMNS), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d), ROWS, values=some_small), *weights), (ROWS,))


def block_bias_each(o: Observed) -> bool:
    """Whether the bias was added on each device before the sum, in the block with its residual."""
    return off_by(o, block(*wide(o)), wide(o)[4])


def residual_each(o: Observed) -> bool:
    """Whether X was added on each device before the sum."""
    X, *_, b2 = wide(o)
    right = block(*wide(o))
    return off_by(o, right, X) or off_by(o, right, X + b2)


def own_tokens_added(o: Observed) -> bool:
    """Whether terms of different tokens were added: each device's own tokens, through its own hidden units."""
    X, scale, W1, W2, b2 = wide(o)
    n = size(o)
    parts = zip(slices(normed(X, scale), n, 0), slices(W1, n, 1), slices(W2, n, 0))
    return same(o, X + b2 + np.concatenate([sum(mlp(*part) for part in parts)] * n))


def residual_forgotten(o: Observed) -> bool:
    """Whether X is not added at all."""
    return same(o, block(*wide(o)) - wide(o)[0])


def right_block(o: Observed) -> bool:
    """Whether the values are right, wherever they lie."""
    return same(o, block(*wide(o)))
