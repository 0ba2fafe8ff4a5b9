"""Chapter 12, exercise 12.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from shardlab_course.ch12.shared import COLUMNS, ROWS, product, waited_for, waiting
from shardlab_course.shared.rings import devices, each
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def mlp(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """Two products with a relu between them."""
    return product(np.maximum(product(X, W1), 0), W2)


def linear(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The same without the relu."""
    return product(product(X, W1), W2)


def relu_last(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The same with the relu behind both."""
    return np.maximum(linear(X, W1, W2), 0)


def mlp_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Tokens cut outside, hidden units inside."""
    return Case(mesh, (Input((t, d), ROWS), Input((d, f), COLUMNS), Input((f, d), ROWS)), (ROWS,))


def crowded(o: Observed, work: int) -> float:
    """The larger of both parts."""
    return max(waiting(o, work), waited_for(o, work))


def in_arrival_order(o: Observed) -> bool:
    """Whether the block took tokens for those of the chunk's number, and they were as many hops away."""
    X, W1, W2 = o.inputs
    n = devices(o)
    tokens, up, down = np.split(X, n), np.split(W1, n, axis=1), np.split(W2, n)

    def made(d: int, s: int) -> np.ndarray:
        return np.sum([np.maximum(tokens[(j + s * d) % n] @ up[j], 0) @ down[j] for j in range(n)], axis=0)

    return each(o, lambda d: made(d, 1)) or each(o, lambda d: made(d, -1))


def hidden_terms(o: Observed) -> np.ndarray:
    """For device j and tokens c what j has to add to the sum of c."""
    X, W1, W2 = o.inputs
    n = devices(o)
    units = zip(np.split(W1, n, axis=1), np.split(W2, n))
    return np.array([[np.maximum(tokens @ up, 0) @ down for tokens in np.split(X, n)] for up, down in units])


def mixed_tokens(o: Observed) -> bool:
    """Whether each sum has one term of each device, of tokens that change evenly from one to the next."""
    made, n = hidden_terms(o), devices(o)

    def total(d: int, turn: int, step: int, start: int) -> np.ndarray:
        return np.sum([made[j, (turn * d + step * j + start) % n] for j in range(n)], axis=0)

    choices = itertools.product((0, 1, -1, 2, -2), (1, -1, 2, -2), range(n))
    return any(each(o, _of_device(total, *choice)) for choice in choices)


def lacks_a_term(o: Observed) -> bool:
    """Whether each sum is of one device's tokens and lacks one device's term, as many places away on all."""
    made, n = hidden_terms(o), devices(o)
    sums = made.sum(axis=0)

    def total(d: int, tokens: int, without: int) -> np.ndarray:
        c = (d + tokens) % n
        return sums[c] - made[(d + without) % n, c]

    return any(each(o, _of_device(total, *choice)) for choice in itertools.product(range(n), range(n)))


def _of_device(made: Callable[..., np.ndarray], *choice: int) -> Callable[[int], np.ndarray]:
    return lambda d: made(d, *choice)


def own_tokens(o: Observed) -> bool:
    """Whether each device put its own tokens through its own hidden units, and nobody added anything."""
    X, W1, W2 = o.inputs
    n = devices(o)
    tokens, up, down = np.split(X, n), np.split(W1, n, axis=1), np.split(W2, n)
    return each(o, lambda d: np.maximum(tokens[d] @ up[d], 0) @ down[d])
