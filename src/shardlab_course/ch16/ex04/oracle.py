"""Chapter 16, exercise 16.4: its oracle, its cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

import numpy as np

from shardlab_course.ch16.shared import devices, drawn_mesh, same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

POSITIONS: Spec = (None, None, "x")
Combine = Callable[[list[np.ndarray], np.ndarray], np.ndarray]
"""The blocks of the scores, -inf from `length` on, and the values: what comes of them."""


def attend(q: np.ndarray, K: np.ndarray, V: np.ndarray, length: np.ndarray) -> np.ndarray:
    """Attention head by head over the valid positions alone."""
    out = np.empty(q.shape)
    for b, h in np.ndindex(q.shape[:2]):
        scores = K[b, h, : int(length)] @ q[b, h] / np.sqrt(q.shape[-1])
        weights = np.exp(scores - scores.max())
        out[b, h] = weights / weights.sum() @ V[b, h, : int(length)]
    return out


def attend_with(*, masked: str = "yes", scaled: bool = True) -> Callable[..., np.ndarray]:
    """The same with something wrong: padding that takes part or has scores of zero, or no scale."""

    def wrong(q: np.ndarray, K: np.ndarray, V: np.ndarray, length: np.ndarray) -> np.ndarray:
        scores = scored(q, K, length if masked == "yes" else K.shape[2], scaled)
        if masked == "zero":
            scores[..., int(length) :] = 0
        return softmax(scores) @ V

    return lambda *inputs: wrong(*inputs)[:, :, 0]


def scored(q: np.ndarray, K: np.ndarray, length: np.ndarray | int, scaled: bool = True) -> np.ndarray:
    """Scores as rows, [B, H, 1, S], -inf from `length` on."""
    scores = np.swapaxes(K @ q[..., None], 2, 3).astype(np.float64) / (np.sqrt(q.shape[-1]) if scaled else 1)
    scores[..., int(length) :] = -np.inf
    return scores


def steps(q: np.ndarray, K: np.ndarray, V: np.ndarray, length: np.ndarray) -> dict[str, np.ndarray]:
    """The scores against all positions, the padding's too."""
    return {"the scores": scored(q, K, K.shape[2])[:, :, 0]}


def softmax(scores: np.ndarray) -> np.ndarray:
    """Of rows."""
    weights = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def combined(combine: Combine) -> Callable[[Observed], bool]:
    """A recogniser: whether the output is what devices make of their blocks in this way."""

    def recognises(o: Observed) -> bool:
        q, K, V, length = o.inputs
        blocks = np.split(scored(q, K, length), devices(o), axis=-1)
        if not all(np.isfinite(block).any() for block in blocks):
            return False
        return same(o, [combine(blocks, V)[:, :, 0]])

    return recognises


def outputs(blocks: Sequence[np.ndarray], V: np.ndarray) -> list[np.ndarray]:
    """For each device the attention over its own positions."""
    return [softmax(block) @ part for block, part in zip(blocks, np.split(V, len(blocks), axis=2), strict=True)]


def averages(blocks: list[np.ndarray], V: np.ndarray) -> np.ndarray:
    """The mean of the devices' attentions."""
    return np.asarray(sum(outputs(blocks, V)) / len(blocks))


def adds(blocks: list[np.ndarray], V: np.ndarray) -> np.ndarray:
    """Their sum."""
    return np.asarray(sum(outputs(blocks, V)))


def own_maximum(blocks: list[np.ndarray], V: np.ndarray) -> np.ndarray:
    """Numerators and denominators added, each with the maximum of its own block."""
    weights = np.concatenate([np.exp(block - block.max(-1, keepdims=True)) for block in blocks], axis=-1)
    return np.asarray(weights @ V / weights.sum(-1, keepdims=True))


def largest(o: Observed, filled: bool = True) -> np.ndarray:
    """Of each row the largest score of the filled positions, or of all; [B, H]."""
    q, K, _, length = o.inputs
    return np.asarray(scored(q, K, length if filled else K.shape[2]).max(-1)[..., 0])


def missing(o: Observed, excess: np.ndarray | float) -> bool:
    """Whether what is not a number are the rows of which exp would be infinite, or always 0, with this exponent."""
    numbers = [np.isfinite(block).all(-1) for _, _, block in o.shards[0]]
    over = np.broadcast_to(excess, numbers[0].shape)
    most = np.log(np.finfo(np.float32).max)
    return bool((over > most).any()) and all(
        not rows[over > most + 16].any() and rows[over < most - 6].all() for rows in numbers
    )


def overflows(o: Observed) -> bool:
    """Whether exp of a row's scores overflowed."""
    return missing(o, largest(o))


def one_for_all(o: Observed) -> bool:
    """Whether one maximum was subtracted from all rows, and those far below it have only zeros."""
    return missing(o, largest(o).max() - largest(o))


def unfilled(o: Observed) -> bool:
    """Whether the maximum of all positions was subtracted, filled or not: told where nothing else explains it."""
    return not some_empty(o) and missing(o, largest(o, filled=False) - largest(o))


def some_empty(o: Observed) -> bool:
    """Whether a device has no filled position."""
    return int(o.inputs[3]) <= o.inputs[1].shape[2] // devices(o) * (devices(o) - 1)


def empty(o: Observed) -> bool:
    """Whether all outputs are no numbers, and some are numbers where every position is filled."""
    if not (some_empty(o) and missing(o, np.inf) and o.on):
        return False
    return not missing(o.on((*o.inputs[:3], np.asarray(o.inputs[1].shape[2], o.inputs[3].dtype))), np.inf)


def sent(o: Observed) -> set[int]:
    """Bytes that collectives make which bring together what devices have."""
    return {c.payload_bytes for c in o.collectives if c.kind in ("all-gather", "all-to-all", "collective-permute")}


def cache_moves(o: Observed) -> bool:
    """Whether a block of keys or values is sent, or all of them."""
    return any(size >= o.inputs[1].nbytes // devices(o) for size in sent(o) - set(parts(o)))


def scores_move(o: Observed) -> bool:
    """Whether the scores of all positions are gathered; what n devices make may be as large, but not as long."""
    *_, length, width = o.inputs[1].shape
    size = o.inputs[1].nbytes // width
    gathered = (c for c in o.collectives if c.kind == "all-gather" and c.payload_bytes == size)
    return any(size not in parts(o) or length in c.shape for c in gathered)


def parts(o: Observed) -> list[int]:
    """Bytes of what n devices make, gathered: outputs, or outputs with one or two numbers beside each."""
    q = o.inputs[0]
    return [devices(o) * q.nbytes * (q.shape[-1] + beside) // q.shape[-1] for beside in range(3)]


def parts_gathered(o: Observed) -> bool:
    """Whether the outputs of all devices are gathered."""
    return bool(sent(o) & set(parts(o)))


def long(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A length that ends in the last of up to eight blocks."""
    positions = before[1].shape[2]
    return np.asarray(positions - rng.integers(1, positions // 8))


def short(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A length of at most a quarter, so that some of more than four blocks are empty."""
    return np.asarray(rng.integers(1, before[1].shape[2] // 4))


LENGTHS = {"long": long, "short": short}


def uneven(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Queries of which the first row has much larger scores than the others: one maximum for all would be too large."""
    queries = rng.standard_normal(shape, "float32")
    queries[0] += 5
    return queries


def reused(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Keys of which the last, which is never valid, is left from before and has the largest score by far."""
    keys = rng.standard_normal(shape, "float32")
    keys[:, :, -1] = 300 * before[0] / np.linalg.norm(before[0], axis=-1, keepdims=True)
    return keys


def far(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The same, and all other keys make large scores with large queries."""
    keys = reused(rng, shape, before)
    keys[:, :, :-1] += 5
    return keys


def case(mesh: Axes, batch: int, heads: int, length: int, width: int, valid: str, large: bool = False) -> Case:
    """Queries on every device, keys and values with their positions cut over x, and how many of them are valid."""
    cache = (batch, heads, length, width)
    queries, keys = (uneven, far) if large else (None, reused)
    return Case(
        mesh,
        (
            Input((batch, heads, width), values=queries), Input(cache, POSITIONS, values=keys), Input(cache, POSITIONS),
            Input((), (), "int32", values=LENGTHS[valid]),
        ),
        ((),),
    )  # fmt: skip


def draw(rng: random.Random) -> Case:
    """Another mesh, other sizes, and a long or a short cache."""
    mesh, n = drawn_mesh(rng)
    length = max(n, 4) * rng.choice((4, 6, 8)) * 2
    return case(mesh, rng.randint(1, 3), rng.randint(1, 5), length, 8, rng.choice(("long", "short")))
