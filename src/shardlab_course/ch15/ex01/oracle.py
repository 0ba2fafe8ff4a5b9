"""Chapter 15, exercise 15.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable

import numpy as np

from shardlab_course.ch15.shared import moved, softmax
from shardlab_course.shared.agreement import Arrays, wide
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.rights import returned
from shardlens import Axes, Spec

PLANE, TALL = axes(data=4, model=2), axes(data=2, model=4)
RATE, KEEP, STEPS, TINY = 0.5, 0.9, 5, 1e-5
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


@functools.cache
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


def steps(tokens: np.ndarray, *weights: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way, by name, step by step; gradients in the order in which they are.

    Weights are not among it: a step moves them by so little that wrong ones are near the right ones.
    """
    named: dict[str, np.ndarray] = {}
    speeds, names = tuple(map(np.zeros_like, weights)), ("E", "A", "C", "W1", "W2", "U")
    for n in range(1, STEPS + 1):
        kept, (loss, found) = forward(tokens, weights), slopes(tokens, weights)
        held = {"the heads' answers": kept.attended[4], "the hidden layer": kept.active, "the logits": kept.logits}
        held |= {"the loss": np.array(loss)}
        held |= {f"the gradient of {name}": gradient for name, gradient in reversed([*zip(names, found)])}
        speeds = tuple(KEEP * v + g for v, g in zip(speeds, found))
        weights = tuple(w - RATE * v for w, v in zip(weights, speeds))
        held |= {f"the speed of {name}": v for name, v in zip(names, speeds)}
        named |= {f"{name} in step {n} of {STEPS}": value for name, value in held.items()}
    return named


def losses_like(o: Observed, oracle: Callable[..., Arrays]) -> bool:
    """Whether the five losses are those of another training."""
    losses = returned(oracle, o)[0]
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
    return all(any(np.isclose(block.flat[0], x, rtol=2e-5) for x in losses) for _, _, block in o.shards[0])


def right_losses(o: Observed) -> bool:
    """Whether the five losses are right."""
    return losses_like(o, trained())


def right_first_loss(o: Observed) -> bool:
    """Whether the first of five losses is right, and others are not."""
    right = returned(trained(), o)[0]
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


def training(mesh: Axes, batch: int, length: int, sizes: tuple[int, int, int, int]) -> Case:
    """Token sequences over data; the weights where the exercise wants them; speeds anywhere."""
    depth, heads, key, hidden = sizes
    shapes = (
        (VOCABULARY, depth), (3, depth, heads, key), (heads, key, depth), (depth, hidden), (hidden, depth),
        (depth, VOCABULARY),
    )  # fmt: skip
    given = (Input((batch, length + 1), ("data", None), "int32"), *map(Input, shapes, WEIGHTS))
    return Case(mesh, given, ((), *WEIGHTS, *(None,) * 6))


def own_sums(o: Observed) -> int:
    """Bytes that numbers a token cost beyond three sums a step: at most two from every device along model."""
    sizes, (batch, length) = dict(o.case.axes), o.inputs[0].shape
    tokens = batch // sizes["data"] * (length - 1)
    arrays = [
        (c.kind, math.prod(shape), c.executions or 0)
        for c in o.collectives
        if c.axes == ("model",)
        for dtype, shape in c.arrays
        if dtype == "f32"
    ]
    summed = sum(runs for kind, size, runs in arrays if kind == "all-reduce" and size == tokens)
    apart = sum(
        runs
        for kind, size, runs in arrays
        if (kind, size) in (("all-gather", tokens * sizes["model"]), ("reduce-scatter", tokens))
    )
    numbers = 2 * (summed - 3 * STEPS) + sizes["model"] * apart
    return 4 * tokens * max(0, min(numbers, 2 * sizes["model"] * STEPS))


def draw_training(rng: random.Random) -> Case:
    """Heads and hidden units that every model axis divides."""
    sizes = rng.randint(20, 26), 4, rng.randint(3, 5), 4 * rng.randint(12, 16)
    return training(rng.choice((PLANE, TALL)), 4 * rng.randint(3, 5), rng.randint(5, 7), sizes)
