"""Chapter 9's oracles, drawn cases, and recognisers of known wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardlab.placement import Axes, Spec
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.layout import Situation
from shardlab_judge.items.program import ProgramItem, unequal
from shardlab_judge.verdict import Finding

COLUMNS: Spec = (None, "model")
ROWS: Spec = ("model", None)
WHOLE: Spec = ()
TOKENS: Spec = ("data", None)
LINE, FOUR = axes(model=8), axes(model=4)
WIDE, TALL = axes(data=4, model=2), axes(data=2, model=4)
MESHES = (LINE, WIDE, TALL)
KEEP = 0.75
EPSILON = 1e-6
MASK = 0.2
"""How far a mask's share of kept elements may lie from `KEEP`; a block has 128 elements, so that is five deviations."""


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


def bias_case(mesh: Axes, t: int, d: int, f: int, tokens: Spec = WHOLE) -> Case:
    """Both biases where they belong; `tokens` is the spec of X and of the output."""
    weights = (Input((d, f), COLUMNS), Input((f,), ("model",)), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d), tokens), *weights), (tokens,))


def grid_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """The same with the tokens over `data`."""
    return bias_case(mesh, t, d, f, TOKENS)


def block_case(mesh: Axes, t: int, d: int, f: int) -> Case:
    """Tokens over `model` outside, hidden units over `model` inside."""
    weights = (Input((d,)), Input((d, f), COLUMNS), Input((f, d), ROWS), Input((d,)))
    return Case(mesh, (Input((t, d), ROWS), *weights), (ROWS,))


def dropout_case(mesh: Axes, spec: Spec) -> Case:
    """A seed, and an array with blocks of 8 x 16 under this spec."""
    sizes, entries = dict(mesh), [*spec, None, None][:2]
    t, f = (n * sizes.get(str(entry), 1) for n, entry in zip((8, 16), entries))
    return Case(mesh, (Input((), (), "int32"), Input((t, f), spec)), (spec,))


def drawing(make: Callable[..., Case], meshes: tuple[Axes, ...], sizes: int) -> Callable[[random.Random], Case]:
    """A function that draws a case with this many sizes: first tokens and width, then wider layers."""

    def draw(rng: random.Random) -> Case:
        narrow = [8 * rng.randint(1, 4), 8 * rng.randint(2, 5)]
        wide = [16 * rng.randint(4, 8) for _ in range(sizes - 2)]
        return make(rng.choice(meshes), *narrow, *wide)

    return draw


def plain_mlp(X: Any, W1: Any, W2: Any) -> Any:
    """The block of the page, for the judge to compile."""
    import jax

    return jax.nn.relu(X @ W1) @ W2


def gated_mlp(X: Any, Wg: Any, Wu: Any, Wd: Any) -> Any:
    """The gated block, for the judge to compile."""
    import jax

    return (jax.nn.silu(X @ Wg) * (X @ Wu)) @ Wd


def attention(X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any) -> Any:
    """Causal attention with grouped heads, for the judge to compile."""
    import jax
    import jax.numpy as jnp

    t, (_, kv, size) = len(X), Wk.shape
    q = jnp.einsum("td,dhc->thc", X, Wq).reshape(t, kv, -1, size)
    k, v = jnp.einsum("td,dgc->tgc", X, Wk), jnp.einsum("td,dgc->tgc", X, Wv)
    scores = jnp.einsum("tgrc,sgc->grts", q, k) / size**0.5
    weights = jax.nn.softmax(jnp.where(jnp.tri(t, dtype=bool), scores, -jnp.inf), axis=-1)
    heads = jnp.einsum("grts,sgc->tgrc", weights, v).reshape(t, -1, size)
    return jnp.einsum("thc,hcd->td", heads, Wo)


def plain_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `plain_mlp`."""
    return Situation((("X", (t, d)), ("W1", (d, f)), ("W2", (f, d))), mesh, devices=dict(mesh)["model"])


def gated_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `gated_mlp`."""
    shapes = (("X", (t, d)), ("Wg", (d, f)), ("Wu", (d, f)), ("Wd", (f, d)))
    return Situation(shapes, mesh, devices=dict(mesh)["model"])


def head_sizes(mesh: Axes, t: int, d: int, heads: int, size: int) -> Situation:
    """The arrays of `attention`, with one key and value head for each position on the axis `kv`."""
    kv = dict(mesh)["kv"]
    keys = (d, kv, size)
    return Situation((("X", (t, d)), ("Wq", (d, heads, size)), ("Wk", keys), ("Wv", keys), ("Wo", (heads, size, d))), mesh)


def draw_plain(rng: random.Random) -> Situation:
    """Other sizes."""
    return plain_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))


def draw_gated(rng: random.Random) -> Situation:
    """Other sizes."""
    return gated_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))


def draw_heads(rng: random.Random) -> Situation:
    """Other sizes."""
    kv = rng.choice((2, 4))
    return head_sizes(axes(kv=kv, rep=8 // kv), 8 * rng.randint(1, 2), 32, 8 * rng.randint(1, 2), 4)


def heads(q: int, kv: int, n: int) -> list[list[list[int]]]:
    """For each of n devices, its query heads, and the key and value heads that these read, found head by head."""
    owner = {head: head * n // q for head in range(q)}
    reads = {head: head * kv // q for head in range(q)}
    mine = [[head for head in range(q) if owner[head] == device] for device in range(n)]
    return [[own, sorted({reads[head] for head in own})] for own in mine]


def heads_with(*, reads: str = "group", keys: str = "read") -> Callable[[int, int, int], list[list[list[int]]]]:
    """`heads` with a mistake: query heads read kv heads in turn, or `keys` are all, an even share, the first, repeated."""

    def wrong(q: int, kv: int, n: int) -> list[list[list[int]]]:
        found = []
        for device in range(n):
            own = list(range(device * q // n, (device + 1) * q // n))
            each = [head % kv if reads == "turn" else head * kv // q for head in own]
            read = sorted(set(each))
            even = list(range(device * kv // n, (device + 1) * kv // n))
            found.append([own, {"read": read, "all": list(range(kv)), "even": even, "first": read[:1], "each": each}[keys]])
        return found

    return wrong


def draw_heads_call(rng: random.Random) -> tuple[int, int, int]:
    """Query heads, key and value heads, devices: each divides the first, and of the others one divides the other."""
    n, kv = 2 ** rng.randint(0, 4), 2 ** rng.randint(0, 4)
    return max(n, kv) * rng.randint(1, 4), kv, n


def step_bytes(t: int, d: int, f: int, data: int, model: int) -> dict[str, int]:
    """Price by axis of one block, forward and backward, added up array by array in float32."""
    tokens = np.empty((t // data, d), np.float32)
    gradients = (np.empty((d, f // model), np.float32), np.empty((f // model, d), np.float32))
    return {
        "data": sum(2 * g.nbytes for g in gradients) if data > 1 else 0,
        "model": sum(2 * tokens.nbytes for _ in ("forward", "backward")) if model > 1 else 0,
    }


def step_with(
    *, reductions: int = 2, passes: int = 2, tokens: bool = True, weights: bool = True, free: bool = True
) -> Callable[..., Any]:
    """`step_bytes` with one of its factors wrong; `free`: whether an axis of size 1 costs nothing."""

    def wrong(t: int, d: int, f: int, data: int, model: int) -> dict[str, float]:
        moved = 4 * t * d / (data if tokens else 1)
        held = 8 * d * f / (model if weights else 1)
        paid = {"data": data > 1 or not free, "model": model > 1 or not free}
        return {"data": reductions * held * paid["data"], "model": reductions * passes * moved * paid["model"]}

    return wrong


def step_swapped(t: int, d: int, f: int, data: int, model: int) -> dict[str, float]:
    """Each axis with the other's bill."""
    right = step_bytes(t, d, f, data, model)
    return {"data": right["model"], "model": right["data"]}


def best_mesh(t: int, d: int, f: int, n: int, larger: bool = False, powers: bool = False) -> list[int]:
    """The [data, model] of n devices that moves least, by trying all; of equal ones the one with the smaller `model`.

    With a mistake: the `larger` of equal ones; only `powers` of two tried.
    """
    sizes = [m for m in range(1, n + 1) if n % m == 0 and not (powers and m & (m - 1))]
    meshes = [(n // model, model) for model in (reversed(sizes) if larger else sizes)]
    data, model = min(meshes, key=lambda mesh: sum(step_bytes(t, d, f, *mesh).values()))
    return [data, model]


def draw_step(rng: random.Random) -> tuple[int, ...]:
    """Tokens, widths, and a mesh that divides them."""
    return (*(16 * rng.randint(1, 64) for _ in range(3)), 2 ** rng.randint(0, 4), 2 ** rng.randint(0, 4))


def draw_sizes(rng: random.Random) -> tuple[int, ...]:
    """Tokens, widths, and a number of devices."""
    return (*(64 * 2 ** rng.randint(0, 6) for _ in range(2)), 256 * rng.randint(1, 16), 2 ** rng.randint(1, 6))


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
    """Whether a collective carries as much as a whole weight matrix."""
    weights = {x.nbytes for x in o.inputs[1:] if x.ndim == 2}
    return any(c.kind == "all-gather" and c.payload_bytes in weights for c in o.collectives)


def reduces(o: Observed, elements: int) -> bool:
    """Whether an all-reduce carries this many elements."""
    return any(c.kind == "all-reduce" and c.payload_bytes == 4 * elements for c in o.collectives)


def all_of_second(o: Observed) -> bool:
    """Whether the second layer's output is all-reduced."""
    return reduces(o, len(o.inputs[0]) * o.inputs[2].shape[1])


def over(o: Observed, axis: str) -> bool:
    """Whether a collective runs over this axis."""
    return any(axis in c.axes for c in o.collectives)


def off_by(o: Observed, right: np.ndarray, term: np.ndarray) -> bool:
    """Whether the output has `term` n times instead of once, for n devices along `model` or along all axes."""
    counts = {size(o), int(np.prod([n for _, n in o.case.axes]))}
    return any(same(o, right + (n - 1) * term) for n in counts)


def second_bias_each(o: Observed) -> bool:
    """Whether b2 was added on each device, before the sum."""
    return off_by(o, biased(*wide(o)), wide(o)[4])


def bias_forgotten(o: Observed) -> bool:
    """Whether one of the biases, or both, are missing."""
    X, W1, b1, W2, b2 = wide(o)
    pairs = ((0 * b1, b2), (b1, 0 * b2), (0 * b1, 0 * b2))
    return any(same(o, biased(X, W1, first, W2, second)) for first, second in pairs)


def tokens_mixed(o: Observed) -> bool:
    """Whether the outputs of different tokens were added up: a sum over `data`."""
    X, *weights = wide(o)
    parts = [biased(x, *weights) for x in slices(X, dict(o.case.axes).get("data", 1), 0)]
    b2 = weights[3]
    total = np.concatenate([sum(part - b2 for part in parts) + b2] * len(parts))
    return len(parts) > 1 and (same(o, total) or off_by(o, total, b2))


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


def swapped(o: Observed) -> bool:
    """Whether the query heads are cut by `rep` first."""
    spec = o.case.inputs[1].spec
    return len(spec) > 1 and spec[1] == ("rep", "kv")


def assembled(o: Observed) -> np.ndarray:
    """The output, each slice as the first of its holders has it."""
    whole = np.full(o.inputs[1].shape, np.nan)
    for _, index, part in reversed(o.shards[0]):
        whole[index] = part
    return whole


def masks(o: Observed) -> list[np.ndarray]:
    """Which elements are kept, for each distinct slice of the output."""
    whole = assembled(o)
    kept = {str(index): whole[index] != 0 for _, index, _ in o.shards[0]}
    return list(kept.values())


def dropped(o: Observed) -> np.ndarray:
    """The right output nearest to the observed one: its own mask, if every slice has one of its own, of the right share.

    And if every mask is another one for another seed. Else a mask that no program has.
    """
    array = o.inputs[1].astype(np.float64) / KEEP
    if len(o.shards) != 1 or o.placements[0].shape != array.shape:
        return array
    found = masks(o)
    fair = all(abs(mask.mean() - KEEP) < MASK for mask in found)
    if fair and distinct(o) == len(found) and not seed_ignored(o):
        return np.where(assembled(o) != 0, array, 0)
    return np.where(np.random.default_rng(9).random(array.shape) < KEEP, array, 0)


def not_dropped(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Where the output is none that is right."""
    yield from unequal(item, o, dropped(o))


def distinct(o: Observed) -> int:
    """How many different masks there are."""
    return len({mask.tobytes() for mask in masks(o)})


def seed_ignored(o: Observed) -> bool:
    """Whether a slice has the same mask for another seed."""
    return o.again is not None and any(np.array_equal(a, b) for a, b in zip(masks(o), masks(o.again), strict=True))


def repeats(o: Observed) -> bool:
    """Whether slices share a mask."""
    return distinct(o) < len(masks(o))


def copies_differ(o: Observed) -> bool:
    """Whether two holders of the same slice hold different values."""
    whole = assembled(o)
    return any(not np.array_equal(part, whole[index]) for _, index, part in o.shards[0])


def kept_share(o: Observed, share: float) -> bool:
    """Whether about this share of all elements is kept."""
    return abs(float(np.mean(assembled(o) != 0)) - share) < MASK / 2


def scaled_otherwise(o: Observed) -> bool:
    """Whether all kept elements are the old values times some number, and another one than 1 / KEEP."""
    whole = assembled(o)
    ratios = (whole / o.inputs[1])[whole != 0]
    return bool(np.allclose(ratios, ratios[0], rtol=1e-4) and not np.isclose(ratios[0], 1 / KEEP, rtol=1e-4))
