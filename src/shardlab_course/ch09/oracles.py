"""Chapter 9's oracles: blocks in NumPy, token by token; with drawn cases and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec

COLUMNS: Spec = (None, "model")
ROWS: Spec = ("model", None)
WHOLE: Spec = ()
TOKENS: Spec = ("data", None)
LINE, FOUR = axes(model=8), axes(model=4)
WIDE, TALL = axes(data=4, model=2), axes(data=2, model=4)
MESHES = (LINE, WIDE, TALL)
EPSILON = 1e-6


def mlp(X: np.ndarray, W1: np.ndarray, W2: np.ndarray) -> np.ndarray:
    """The block in NumPy, hidden unit by hidden unit."""
    return np.sum([np.outer(np.maximum(X @ W1[:, f], 0), W2[f]) for f in range(len(W2))], axis=0)


def three_layers(X: np.ndarray, W1: np.ndarray, W2: np.ndarray, W3: np.ndarray) -> np.ndarray:
    """Three layers with a relu between each two."""
    return np.maximum(mlp(X, W1, W2), 0) @ W3


def biased(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The block with both biases."""
    return np.maximum(X @ W1 + b1, 0) @ W2 + b2


def straight(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The same without a relu."""
    return np.asarray((X @ W1 + b1) @ W2 + b2)


def bias_after(X: np.ndarray, W1: np.ndarray, b1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """The same with the first bias after the relu."""
    return np.asarray((np.maximum(X @ W1, 0) + b1) @ W2 + b2)


def block(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """Norm, block, bias and residual, token by token."""
    return X + mlp(normed(X, scale), W1, W2) + b2


def normed(X: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Every token divided by the root of its mean square."""
    return np.array([x / np.sqrt((x @ x) / len(x) + EPSILON) * scale for x in X])


def block_without_norm(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` with the tokens as they come."""
    return X + mlp(X, W1, W2) + b2


def block_without_bias(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` without the second bias."""
    return block(X, scale, W1, W2, np.zeros_like(b2))


def block_on_norm(X: np.ndarray, scale: np.ndarray, W1: np.ndarray, W2: np.ndarray, b2: np.ndarray) -> np.ndarray:
    """`block` with the residual taken after the norm."""
    return block(X, scale, W1, W2, b2) - X + normed(X, scale)


def mlp_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Column, then row; everything else whole."""
    return Case(mesh, (Input((t, d)), Input((d, f), COLUMNS), Input((f, d), ROWS)), (WHOLE,))


def three_case(mesh: Axes, t: int, d: int, f: int, e: int) -> Case:
    """Column, row, row."""
    weights = (Input((d, f), COLUMNS), Input((f, e), ROWS), Input((e, d), ROWS))
    return Case(mesh, (Input((t, d)), *weights), (WHOLE,))


def bias_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Both biases where they belong."""
    weights = (Input((d, f), COLUMNS), Input((f,), ("model",)), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d)), *weights), (WHOLE,))


def block_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Tokens over `model` outside, hidden units over `model` inside."""
    weights = (Input((d,)), Input((d, f), COLUMNS), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d), ROWS), *weights), (ROWS,))


def drawing(make: Callable[..., Case], meshes: tuple[Axes, ...], sizes: int) -> Callable[[random.Random], Case]:
    """A function that draws a case with this many sizes: first tokens and width, which differ, then wider layers."""

    def draw(rng: random.Random) -> Case:
        tokens = rng.randint(1, 4)
        narrow = [8 * tokens, 8 * rng.choice([n for n in range(2, 6) if n != tokens])]
        wide = [16 * rng.randint(4, 8) for _ in range(sizes - 2)]
        return make(rng.choice(meshes), *narrow, *wide)

    return draw


def same(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its slice of `wanted`."""
    return len(o.shards) == 1 and all(
        block.shape == wanted[index].shape and np.allclose(block, wanted[index], rtol=1e-3, atol=1e-3)
        for _, index, block in o.shards[0]
    )


def wide(o: Observed) -> list[np.ndarray]:
    """The inputs in double precision."""
    return [x.astype(np.float64) for x in o.inputs]


def size(o: Observed) -> int:
    """Devices along `model`."""
    return dict(o.case.axes)["model"]


def slices(x: np.ndarray, n: int, axis: int) -> list[np.ndarray]:
    """n equal blocks along a dimension."""
    return np.split(x, n, axis=axis)


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


def moves_weights(o: Observed) -> bool:
    """Whether a whole weight matrix is gathered."""
    return gathers(o, [x.shape for x in o.inputs[1:] if x.ndim == 2])


def moves_parameters(o: Observed) -> bool:
    """Whether a whole weight or bias is gathered."""
    return gathers(o, [x.shape for x in o.inputs[1:]])


def gathers(o: Observed, shapes: Iterable[tuple[int, ...]]) -> bool:
    """Whether an all-gather makes an array of one of these shapes, or of one that is turned."""
    wanted = {tuple(sorted(shape)) for shape in shapes}
    return any(c.kind == "all-gather" and tuple(sorted(c.shape)) in wanted for c in o.collectives)


def reduces(o: Observed, elements: int) -> bool:
    """Whether an all-reduce carries this many elements."""
    return any(c.kind == "all-reduce" and c.payload_bytes == 4 * elements for c in o.collectives)


def all_of_second(o: Observed) -> bool:
    """Whether the second layer's output is all-reduced."""
    return reduces(o, len(o.inputs[0]) * o.inputs[2].shape[1])


def off_by(o: Observed, right: np.ndarray, term: np.ndarray) -> bool:
    """Whether the output has `term` n times instead of once, for n devices along `model` or along all axes."""
    counts = {size(o), int(np.prod([n for _, n in o.case.axes]))}
    return any(same(o, right + (n - 1) * term) for n in counts)


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


def cut(o: Observed, argument: int, dimension: int) -> bool:
    """Whether a dimension of an argument is sharded."""
    spec = o.case.inputs[argument].spec
    return len(spec) > dimension and spec[dimension] is not None


def weights_whole(o: Observed) -> bool:
    """Whether no argument after the first is sharded."""
    return not any(cut(o, i, d) for i in range(1, len(o.case.inputs)) for d in (0, 1))


def swapped(o: Observed) -> bool:
    """Whether the query heads are cut by `rep` first, and the heads that they read by `kv`."""
    queries, keys = (o.case.inputs[i].spec[1:2] for i in (1, 2))
    return queries == (("rep", "kv"),) and keys == ("kv",)
