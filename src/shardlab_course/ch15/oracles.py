"""Chapter 15's oracles, cases, and recognisers of known wrong answers: a transformer's gradients, and routing, in NumPy."""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab.placement import Axes, Spec
from shardlab_course.ch10.oracles import agrees, wide
from shardlab_judge.cases import Case, Input, Observed, axes

Arrays = tuple[np.ndarray, ...]
PLANE, TALL = axes(data=4, model=2), axes(data=2, model=4)
STAGES, FEW_STAGES = axes(stage=8), axes(data=2, stage=4)
EXPERTS, FEW_EXPERTS = axes(expert=8), axes(data=2, expert=4)
RATE, KEEP, STEPS, TINY, ROOM = 0.5, 0.9, 5, 1e-5, 1.25
VOCABULARY = 104
WEIGHTS: tuple[Spec, ...] = (
    (), (None, None, "model", None), ("model", None, None), (None, "model"), ("model", None), (None, "model"),
)  # fmt: skip


def normed(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Vectors with mean square 1, and what each was divided by."""
    size = np.sqrt((x**2).mean(-1, keepdims=True) + TINY)
    return x / size, size


def unnormed(y: np.ndarray, size: np.ndarray, back: np.ndarray) -> np.ndarray:
    """The gradient before the norm, from the one after it."""
    return np.asarray((back - y * (back * y).mean(-1, keepdims=True)) / size)


def softmax(x: np.ndarray) -> np.ndarray:
    """Exponentials that add up to 1."""
    e = np.exp(x - x.max(-1, keepdims=True))
    return np.asarray(e / e.sum(-1, keepdims=True))


@dataclasses.dataclass(frozen=True)
class Pass:
    """What a forward pass keeps for the way back.

    Args:
        attended: queries, keys, values, shares and the heads' answers.
        vectors: normed vectors and their sizes, three times: before the heads, the hidden units and the vocabulary.
    """

    vectors: tuple[tuple[np.ndarray, np.ndarray], ...]
    attended: Arrays
    active: np.ndarray
    logits: np.ndarray
    scales: tuple[float, float, float]


def forward(tokens: np.ndarray, weights: Arrays, shares: tuple[float, float] = (1, 1)) -> Pass:
    """The transformer, layer by layer, up to the logits.

    With a mistake: the scales of sums over heads and over hidden units are those of a share of them.
    """
    e, a, c, w1, w2, u = weights
    given = tokens[:, :-1]
    narrow, key = math.sqrt(e.shape[1]), c.shape[1]
    mixed, hidden = math.sqrt(len(c) * key * shares[0]), math.sqrt(len(w2) * shares[1])
    x = e[given]
    first = normed(x)
    q, k, v = np.einsum("bsd,xdhk->xbshk", first[0], a) / narrow
    scores = np.einsum("bqhk,bshk->bhqs", q, k) / math.sqrt(key)
    share = softmax(np.where(np.tri(given.shape[1]) > 0, scores, -np.inf))
    found = np.einsum("bhqs,bshk->bqhk", share, v)
    x = x + np.einsum("bqhk,hkd->bqd", found, c) / mixed
    second = normed(x)
    active = np.maximum(second[0] @ w1 / narrow, 0)
    third = normed(x + active @ w2 / hidden)
    return Pass((first, second, third), (q, k, v, share, found), active, third[0] @ u / narrow, (narrow, mixed, hidden))


def loss_of(logits: np.ndarray, tokens: np.ndarray) -> float:
    """The mean over tokens of how surprising the next token is."""
    chances = np.take_along_axis(softmax(logits), tokens[:, 1:, None], -1)
    return float(-np.log(chances).mean())


def slopes(tokens: np.ndarray, weights: Arrays, shares: tuple[float, float] = (1, 1)) -> tuple[float, Arrays]:
    """The transformer's loss and its gradients, from the last layer to the first."""
    e, a, c, w1, w2, u = weights
    kept = forward(tokens, weights, shares)
    narrow, mixed, hidden = kept.scales
    (n0, r0), (n1, r1), (n2, r2) = kept.vectors
    wanted = np.eye(u.shape[1])[tokens[:, 1:]]
    d = (softmax(kept.logits) - wanted) / tokens[:, 1:].size / narrow
    du = np.einsum("bsd,bsv->dv", n2, d)
    d2 = unnormed(n2, r2, d @ u.T)
    dw2 = np.einsum("bsf,bsd->fd", kept.active, d2) / hidden
    d = d2 @ w2.T / hidden * (kept.active > 0) / narrow
    dw1 = np.einsum("bsd,bsf->df", n1, d)
    d1 = d2 + unnormed(n1, r1, d @ w1.T)
    dc = np.einsum("bqhk,bqd->hkd", kept.attended[4], d1) / mixed
    dqkv = attention_slopes(kept.attended, np.einsum("bqd,hkd->bqhk", d1, c) / mixed) / narrow
    da = np.einsum("bsd,xbshk->xdhk", n0, dqkv)
    d0 = d1 + unnormed(n0, r0, np.einsum("xbshk,xdhk->bsd", dqkv, a))
    de = np.zeros_like(e)
    np.add.at(de, tokens[:, :-1], d0)
    return loss_of(kept.logits, tokens), (de, da, dc, dw1, dw2, du)


def attention_slopes(attended: Arrays, back: np.ndarray) -> np.ndarray:
    """Gradients of queries, keys and values, stacked, from that of the heads' answers."""
    q, k, v, share, _ = attended
    dshare = np.einsum("bqhk,bshk->bhqs", back, v)
    scores = share * (dshare - (dshare * share).sum(-1, keepdims=True)) / math.sqrt(q.shape[-1])
    dq, dk = np.einsum("bhqs,bshk->bqhk", scores, k), np.einsum("bhqs,bqhk->bshk", scores, q)
    return np.stack([dq, dk, np.einsum("bhqs,bqhk->bshk", share, back)])


def trained(
    *, rate: float = RATE, keep: float = KEEP, times: float = 1.0, after: bool = False, shares: tuple[float, float] = (1, 1)
) -> Callable[..., Arrays]:
    """A function that returns five losses, the weights and the speeds after five steps of gradient descent with momentum.

    With a mistake: gradients `times` too large, losses from `after` each step, or scales of a share of what is summed.
    """

    def train(tokens: np.ndarray, *weights: np.ndarray) -> Arrays:
        losses, speeds = [], tuple(map(np.zeros_like, weights))
        for _ in range(STEPS):
            loss, found = slopes(tokens, weights, shares)
            speeds = tuple(keep * v + times * g for v, g in zip(speeds, found))
            weights = tuple(w - rate * v for w, v in zip(weights, speeds))
            losses.append(slopes(tokens, weights, shares)[0] if after else loss)
        return np.array(losses), *weights, *speeds

    return train


def losses_like(o: Observed, oracle: Callable[..., Arrays]) -> bool:
    """Whether the five losses are those of another training."""
    losses = oracle(o.inputs[0], *wide(o)[1:])[0]
    return all(block.shape == (STEPS,) and np.allclose(block, losses, rtol=2e-4) for _, _, block in o.shards[0])


def too_large(o: Observed) -> bool:
    """Whether gradients are as many times too large as there are devices along data, or along model, or both."""
    sizes = dict(o.case.axes)
    return any(losses_like(o, trained(times=t)) for t in (sizes["data"], sizes["model"], sizes["data"] * sizes["model"]))


def scaled_by_share(o: Observed) -> bool:
    """Whether a scale is that of the device's own heads or hidden units."""
    share = 1 / dict(o.case.axes)["model"]
    return any(losses_like(o, trained(shares=pair)) for pair in ((share, 1.0), (1.0, share), (share, share)))


def own_terms(o: Observed) -> bool:
    """Whether devices went on with their own terms of a sum over heads, or over hidden units, each to its own logits.

    The scale of such terms may be that of the whole sum, or of the device's part.
    """
    tokens, weights, parts = o.inputs[0], wide(o)[1:], dict(o.case.axes)["model"]
    shares = (1.0, 1 / parts)
    ways = [(heads, hidden) for heads in (None, *shares) for hidden in (None, *shares) if (heads, hidden) != (None, None)]
    return any(first_loss_is(o, loss_of(apart(tokens, weights, parts, *way), tokens)) for way in ways)


def apart(tokens: np.ndarray, weights: Arrays, parts: int, heads: float | None, hidden: float | None) -> np.ndarray:
    """The logits where devices along `model` do not add up their terms over heads, or over hidden units.

    Args:
        heads: of what share of the sum the scale is, where the terms are not added up; `None` where they are.
        hidden: the same for hidden units.
    """
    e, _, c, w1, w2, u = weights
    kept = forward(tokens, weights)
    narrow, scale, wide_scale = kept.scales
    terms = [np.einsum("bqhk,hkd->bqd", kept.attended[4], _only(c, p, parts)) / scale for p in range(parts)]
    xs = _gone_on([e[tokens[:, :-1]]] * parts, terms, heads)
    active = [np.maximum(normed(x)[0] @ w1 / narrow, 0) for x in xs]
    xs = _gone_on(xs, [a @ _only(w2, p, parts) / wide_scale for p, a in enumerate(active)], hidden)
    return np.concatenate([normed(x)[0] @ cut / narrow for x, cut in zip(xs, np.split(u, parts, -1))], -1)


def _gone_on(xs: list[np.ndarray], terms: list[np.ndarray], share: float | None) -> list[np.ndarray]:
    """Each device's vectors with the sum of all terms, or with its own alone, at the scale of a share."""
    if share is None:
        return [x + sum(terms) for x in xs]
    return [x + term / math.sqrt(share) for x, term in zip(xs, terms)]


def _only(w: np.ndarray, part: int, parts: int) -> np.ndarray:
    """A weight with zeros in all rows but one part of them."""
    return np.asarray(np.where((np.arange(len(w)) * parts // len(w) == part).reshape(-1, *(1,) * (w.ndim - 1)), w, 0))


def own_vocabulary(o: Observed) -> bool:
    """Whether each device's exponentials are summed over its own part of the vocabulary alone."""
    tokens, parts = o.inputs[0], dict(o.case.axes)["model"]
    logits = forward(tokens, wide(o)[1:]).logits
    own = np.mean([np.log(np.exp(block).sum(-1)).mean() for block in np.split(logits, parts, -1)])
    right = float(np.take_along_axis(logits, tokens[:, 1:, None], -1).mean())
    return first_loss_is(o, float(own) - right, float(own) - right / parts)


def own_token_numbers(o: Observed) -> bool:
    """Whether each device looks up the next token's number among its own columns, counted from zero."""
    tokens, parts = o.inputs[0], dict(o.case.axes)["model"]
    logits = forward(tokens, wide(o)[1:]).logits
    wanted = tokens[:, 1:, None]
    found = sum(np.where(wanted == np.arange(b.shape[-1]), b, 0).sum(-1) for b in np.split(logits, parts, -1))
    return first_loss_is(o, float((np.log(np.exp(logits).sum(-1)) - found).mean()))


def first_loss_is(o: Observed, *losses: float) -> bool:
    """Whether the first of the five losses is one of these numbers on every device."""
    return all(any(np.isclose(block.flat[0], x, rtol=2e-4) for x in losses) for _, _, block in o.shards[0])


def right_losses(o: Observed) -> bool:
    """Whether the five losses are right."""
    return losses_like(o, trained())


def right_first_loss(o: Observed) -> bool:
    """Whether the first of five losses is right, and others are not."""
    right = trained()(o.inputs[0], *wide(o)[1:])[0]
    return all(block.shape == (STEPS,) for _, _, block in o.shards[0]) and first_loss_is(o, right[0]) and not right_losses(o)


def summed_loss(o: Observed) -> bool:
    """Whether the first loss is as many times too large as there are devices along an axis, or along both."""
    right = slopes(o.inputs[0], wide(o)[1:])[0]
    data, model = dict(o.case.axes)["data"], dict(o.case.axes)["model"]
    return any(first_loss_is(o, right * times) for times in (data, model, data * model))


def gathered_weight(o: Observed) -> bool:
    """Whether some all-gather brings as many numbers as a weight has that is cut."""
    cut = {math.prod(given.shape) for given in o.case.inputs[1:] if any(given.spec)}
    return any(math.prod(shape) in cut for shape in moved(o, "all-gather"))


def whole_speeds(o: Observed) -> bool:
    """Whether some device holds all of a speed whose weight is cut."""
    return any(p.shard_shape == p.shape for p in o.placements[8:])


def moved(o: Observed, kind: str) -> list[tuple[int, ...]]:
    """Shapes that collectives of a kind bring to each device."""
    return [shape for c in o.collectives if c.kind == kind for _, shape in c.arrays or ((c.dtype, c.shape),)]


def training(mesh: Axes, batch: int, length: int, sizes: tuple[int, int, int, int]) -> Case:
    """Token sequences over data; the weights where the exercise wants them; speeds anywhere."""
    depth, heads, key, hidden = sizes
    shapes = (
        (VOCABULARY, depth), (3, depth, heads, key), (heads, key, depth), (depth, hidden), (hidden, depth),
        (depth, VOCABULARY),
    )  # fmt: skip
    given = (Input((batch, length + 1), ("data", None), "int32"), *map(Input, shapes, WEIGHTS))
    return Case(mesh, given, ((), *WEIGHTS, *(None,) * 6))


def draw_training(rng: random.Random) -> Case:
    """Heads and hidden units that every model axis divides."""
    sizes = rng.randint(20, 26), 4, rng.randint(3, 5), 4 * rng.randint(12, 16)
    return training(rng.choice((PLANE, TALL)), 4 * rng.randint(3, 5), rng.randint(5, 7), sizes)


# The mesh: a bill, and a choice.


def bill(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    """Bytes that each device holds, and bytes that it moves over `model` and over `data` in a step."""
    shared, cut = vocabulary * depth, 12 * layers * depth**2 + depth * vocabulary
    weights = shared + cut // model
    tokens = batch // data * length
    held = 6 * weights + 2 * tokens * depth * layers
    over_model = 0 if model == 1 else 2 * (4 * layers + 1) * tokens * depth
    over_data = 0 if data == 1 else 2 * weights
    return [held, over_model, over_data]


def choice(
    devices: int, memory: float, batch: int, length: int, depth: int, layers: int, vocabulary: int
) -> list[int] | None:
    """The mesh that fits and moves the fewest bytes, or None."""
    fits = []
    for model in (m for m in range(1, devices + 1) if devices % m == 0):
        data = devices // model
        if batch % data:
            continue
        held, *travels = bill(data, model, batch, length, depth, layers, vocabulary)
        if held <= memory:
            fits.append((sum(travels), model))
    return [devices // min(fits)[1], min(fits)[1]] if fits else None


CHOICES = (
    (8, 1.6e10, 8, 2048, 4096, 4, 32000),
    (8, 1.6e10, 256, 2048, 1024, 8, 32000),
    (8, 2e9, 256, 512, 2048, 4, 32000),
    (8, 1.6e10, 12, 2048, 1024, 8, 32000),
    (16, 9.5e10, 48, 2048, 4096, 16, 32000),
    (8, 1e9, 64, 512, 2048, 8, 32000),
    (4, 3.2e10, 2, 512, 4096, 8, 8192),
    (4, 1.6e10, 4, 512, 512, 1, 2048),
)
"""Devices, memory, batch, length, depth, layers, vocabulary: what the public calls of `choose` are given."""


def draw_bill(rng: random.Random) -> tuple[Any, ...]:
    """A mesh, and a model that it divides."""
    data, model = (2 ** rng.randint(0, 4) for _ in range(2))
    sizes = 128 * rng.randint(1, 16), 128 * rng.randint(4, 32), rng.randint(1, 24), 1024 * rng.randint(4, 64)
    return data, model, data * rng.randint(1, 32), *sizes


def draw_choice(rng: random.Random) -> tuple[Any, ...]:
    """A slice, its memory, and a task that some of its meshes can do."""
    sizes = 128 * rng.randint(2, 16), 512 * rng.randint(2, 8), rng.randint(2, 12), 1024 * rng.randint(8, 64)
    return rng.choice((4, 8, 16)), rng.choice((8e9, 1.6e10, 3.2e10, 9.6e10)), rng.choice((4, 8, 12, 32, 128, 512)), *sizes


# GPipe: stages, microbatches, ticks.


def piped(w: np.ndarray, x: np.ndarray, y: np.ndarray) -> Arrays:
    """The mean squared error of tanh stages over all microbatches, and the gradient of every stage's weights."""
    return staged(w, x, y, tuple(range(len(x))))


def staged(w: np.ndarray, x: np.ndarray, y: np.ndarray, counted: tuple[int, ...], divisor: int = 0) -> Arrays:
    """The same, with the squares of some microbatches only, over a `divisor`; that of all unless given."""
    loss, found = 0.0, np.zeros_like(w)
    divisor, narrow = divisor or y.size, math.sqrt(w.shape[-1])
    for i in counted:
        held = [x[i]]
        for stage in w:
            held.append(np.tanh(held[-1] @ stage / narrow))
        error = held[-1] - y[i]
        loss += float((error**2).sum()) / divisor
        back = 2 * error / divisor
        for s in reversed(range(len(w))):
            back = back * (1 - held[s + 1] ** 2) / narrow
            found[s] += held[s].T @ back
            back = back @ w[s].T
    return np.array(loss), found


def loss_is(o: Observed, *losses: float) -> bool:
    """Whether the first output is one of these numbers on every device."""
    return all(block.shape == () and any(np.isclose(block, x, rtol=1e-4) for x in losses) for _, _, block in o.shards[0])


def missing_end(o: Observed) -> bool:
    """Whether the loss leaves out the microbatches that are still under way after M rounds."""
    w, x, y = wide(o)
    done = tuple(range(max(len(x) - len(w) + 1, 0)))
    ones = y.size, max(len(done), 1) * y[0].size
    return any(loss_is(o, float(staged(w, x, y, done, d)[0])) for d in ones)


def warming_up(o: Observed) -> bool:
    """Whether outputs from before the first microbatch's arrival, made of zeros, are compared with targets too."""
    w, x, y = wide(o)
    right, early = float(piped(w, x, y)[0]), len(w) - 1
    clipped = sum(float((y[0] ** 2).sum()) for _ in range(early)) / y.size
    wrapped = sum(float((y[(t - early) % len(y)] ** 2).sum()) for t in range(early)) / y.size
    return loss_is(o, right + clipped, right + wrapped)


def outputs(w: np.ndarray, x: np.ndarray) -> np.ndarray:
    """What every stage makes of every microbatch: stages by microbatches."""
    made = [x]
    for stage in w:
        made.append(np.tanh(made[-1] @ stage / math.sqrt(w.shape[-1])))
    return np.stack(made[1:])


def every_stage(o: Observed) -> bool:
    """Whether all stages' outputs are compared with targets: each with its microbatch's, or all with the last stage's."""
    w, x, y = wide(o)
    made, stages, count = outputs(w, x), len(w), len(x)
    own = float(((made - y) ** 2).sum()) / y.size
    ahead = [[min(m + stages - 1 - s, count - 1) for m in range(count)] for s in range(stages)]
    same = sum(float(((made[s][m] - y) ** 2).sum()) for s, m in enumerate(ahead)) / y.size
    return loss_is(o, own, own / stages, same, same / stages)


def one_missing(o: Observed) -> bool:
    """Whether the first or the last microbatch does not count."""
    w, x, y = wide(o)
    size, every = len(x), tuple(range(len(x)))
    found = [float(staged(w, x, y, some)[0]) for some in (every[1:], every[:-1])]
    return loss_is(o, *found, *(loss * size / (size - 1) for loss in found))


def other_targets(o: Observed) -> bool:
    """Whether the last stage's outputs are compared with targets of the tick's number."""
    w, x, y = wide(o)
    late = np.arange(len(x)) + len(w) - 1
    found = [((outputs(w, x)[-1] - y[i]) ** 2).mean() for i in (late % len(y), np.minimum(late, len(y) - 1))]
    return loss_is(o, *map(float, found))


def wrong_gradient(o: Observed) -> bool:
    """Whether the loss is right, of an answer that is not."""
    return loss_is(o, float(piped(*wide(o))[0])) and not agrees(o, piped(*wide(o)), 1e-3)


def scaled_loss(o: Observed) -> bool:
    """Whether loss and gradients are right but for one factor, that of a mean taken over another number."""
    loss, found = piped(*wide(o))
    ratio = float(o.shards[0][0][2]) / float(loss)
    return not math.isclose(ratio, 1, rel_tol=1e-3) and agrees(o, (loss * ratio, found * ratio), 1e-3 * max(1.0, ratio))


def scaled_gradient(o: Observed) -> bool:
    """Whether the loss is right, and the gradients are right but for one factor."""
    loss, found = piped(*wide(o))
    index, block = o.shards[1][0][1:]
    ratio = float(np.median(block / found[index]))
    return not math.isclose(ratio, 1, rel_tol=1e-3) and agrees(o, (loss, found * ratio), 1e-3 * max(1.0, ratio))


def permuted(o: Observed) -> int:
    """Bytes that hops bring to each device, all rounds counted."""
    return sum(c.payload_bytes * (c.executions or 0) for c in o.collectives if c.kind == "collective-permute")


def hop_elements(o: Observed) -> int:
    """The most numbers that one hop carries."""
    return max((math.prod(shape) for shape in moved(o, "collective-permute")), default=0)


def microbatches(mesh: Axes, count: int, rows: int, width: int) -> Case:
    """One weight for each stage, over stage; all microbatches and their targets on every device."""
    data = Input((count, rows, width))
    stages: Spec = ("stage", None, None)
    return Case(mesh, (Input((dict(mesh)["stage"], width, width), stages), data, data), ((), stages))


def draw_microbatches(rng: random.Random) -> Case:
    """More microbatches than stages, or fewer; few rows, so that weights are dearer to move."""
    return microbatches(rng.choice((STAGES, FEW_STAGES)), rng.choice((3, 11, 13)), rng.randint(2, 4), rng.randint(18, 22))


# A mixture of experts: who takes which token, and how many.


def room(tokens: int, experts: int) -> int:
    """How many of a device's tokens one expert takes."""
    return math.ceil(ROOM * tokens / experts)


def mixed(
    x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray, blocks: int, most: int | None = None,
    *, residual: bool = True, weighted: bool = True,
) -> np.ndarray:  # fmt: skip
    """Every token with its expert's answer added, where the expert has room; token by token.

    Args:
        blocks: on how many devices the tokens lie, each with its own places.
        most: places that an expert has for each block's tokens.
    """
    chances = softmax(x @ g)
    out = x.copy() if residual else np.zeros_like(x)
    size = len(x) // blocks
    most = room(size, len(w1)) if most is None else most
    for start in range(0, len(x), size):
        taken = [0] * len(w1)
        for t in range(start, start + size):
            e = int(chances[t].argmax())
            taken[e] += 1
            if taken[e] <= most:
                answer = np.maximum(x[t] @ w1[e], 0) @ w2[e]
                out[t] += answer * (chances[t, e] if weighted else 1)
    return out


def mixture(o_devices: int) -> Callable[..., np.ndarray]:
    """The oracle for tokens that lie on so many devices."""

    def moe(x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> np.ndarray:
        return mixed(x, g, w1, w2, o_devices)

    return moe


DEVICES = 8


def mixed_as(o: Observed, blocks: int = DEVICES, most: Callable[[int, int], int] | None = None, **mistakes: bool) -> bool:
    """Whether the output is that of a mixture with other places or with mistakes."""
    x, g, w1, w2 = wide(o)
    places = most(len(x) // blocks, len(w1)) if most else None
    return agrees(o, (mixed(x, g, w1, w2, blocks, places, **mistakes),))


def routing(mesh: Axes, tokens: int, width: int, hidden: int, each: int = 1) -> Case:
    """Tokens over all axes, the router whole, experts over expert, `each` to a device."""
    everywhere: Spec = (tuple(name for name, _ in mesh), None)
    experts = dict(mesh)["expert"] * each
    cut: Spec = ("expert", None, None)
    given = (
        Input((DEVICES * tokens, width), everywhere), Input((width, experts)),
        Input((experts, width, hidden), cut), Input((experts, hidden, width), cut),
    )  # fmt: skip
    return Case(mesh, given, (everywhere,))


def draw_routing(rng: random.Random) -> Case:
    """Many tokens on each device, one or two experts."""
    mesh, each = rng.choice(((EXPERTS, 1), (FEW_EXPERTS, 2)))
    return routing(mesh, 8 * rng.randint(5, 7), rng.randint(5, 7), rng.randint(4, 9), each)


def neighbours(o: Observed) -> bool:
    """Whether a token without a place has the answer that its expert gave to the last token with one."""
    x, g, w1, w2 = wide(o)
    chances, size = softmax(x @ g), len(x) // DEVICES
    asked, out, most = chances.argmax(-1), x.copy(), room(len(x) // DEVICES, len(w1))
    for t, e in enumerate(asked):
        start = t // size * size
        earlier = [s for s in range(start, t + 1) if asked[s] == e]
        given = x[earlier[min(len(earlier), most) - 1]]
        out[t] += chances[t, e] * (np.maximum(given @ w1[e], 0) @ w2[e])
    return agrees(o, (out,))


def added_up(o: Observed) -> bool:
    """Whether answers to tokens that lie on the same row of the devices along `expert` are added up."""
    x, g, w1, w2 = wide(o)
    chances, along = softmax(x @ g), dict(o.case.axes)["expert"]
    kept = mixed(x, g, w1, w2, DEVICES, residual=False, weighted=False)
    answers = kept, mixed(x, g, w1, w2, 1, len(x), residual=False, weighted=False)
    best = chances.max(-1, keepdims=True)
    at = np.arange(len(x)) // (len(x) // DEVICES) % along
    own = (chances.argmax(-1) // (len(w1) // along) == at)[:, None]
    sums = [(_over(a * some, along) * best, _over(a * some * best, along)) for a in answers for some in (own, True)]
    return any(agrees(o, (x + s,)) for pair in sums for s in pair)


def _over(rows: np.ndarray, along: int) -> np.ndarray:
    """Rows, summed over so many devices in a row, on each of them."""
    apart = rows.reshape(DEVICES // along, along, -1, rows.shape[-1])
    return np.broadcast_to(apart.sum(1, keepdims=True), apart.shape).reshape(rows.shape)


def gathers_tokens(o: Observed) -> bool:
    """Whether an all-gather over `expert` brings tokens."""
    width = o.case.inputs[0].shape[1]
    gathered = [c for c in o.collectives if c.kind == "all-gather" and "expert" in c.axes]
    shapes = [shape for c in gathered for _, shape in c.arrays or ((c.dtype, c.shape),)]
    return any(len(shape) >= 2 and shape[-1] == width for shape in shapes)


def own_experts(at: Mapping[str, int], x: np.ndarray, g: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> np.ndarray:
    """One device's tokens, with the answers of the experts that it holds itself, as if these were all."""
    first = at["expert"] * len(w1)
    return mixed(x, g[:, first : first + len(w1)], w1, w2, 1)


def shifted_back(o: Observed) -> bool:
    """Whether every token got an expert's answer to some token of the same device or none, and not all to themselves."""
    x, g, w1, w2 = wide(o)
    right = mixed(x, g, w1, w2, DEVICES) - x
    others = False
    for _, index, block in o.shards[0]:
        if block.shape != x[index].shape:
            return False
        rows, found = _directions(right[index]), _directions(block - x[index])
        others = others or _elsewhere(right[index], block - x[index])
        if not len(rows) or (found @ rows.T).max(-1, initial=0).min(initial=1) < 0.9999:
            return False
    return others


def _elsewhere(right: np.ndarray, found: np.ndarray) -> bool:
    """Whether some row that is not zero has another direction than the right one."""
    sizes = np.linalg.norm(found, axis=-1) * np.linalg.norm(right, axis=-1)
    return bool(((found * right).sum(-1) < 0.999 * sizes).any())


def _directions(rows: np.ndarray) -> np.ndarray:
    """The rows that are not zero, with length 1."""
    sizes = np.linalg.norm(rows, axis=-1)
    return np.asarray(rows[sizes > 1e-4] / sizes[sizes > 1e-4, None])
