"""Chapter 16, exercise 16.6: its oracle, which has no cache, its cases, and recognisers of wrong answers."""

from __future__ import annotations

import functools
import math
import random
import re
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from shardlab_course.ch16.shared import devices, drawn_mesh
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.rights import computed, returned
from shardlab_judge.verdict import Finding
from shardlens import Axes

STEPS, LAYERS, KEY_HEADS, WIDTH = 32, 2, 8, 4
LEAD = 1e-3
"""By how much the largest logit leads in every step: a hundred times what rounding in float32 makes of such logits."""
Weights = Sequence[np.ndarray]


def norm(x: np.ndarray) -> np.ndarray:
    """Vectors divided by the root of their mean square."""
    return np.asarray(x / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6))


def rotate(x: np.ndarray, positions: np.ndarray) -> np.ndarray:
    """Pairs of numbers of [B, T, heads, width] as complex ones, turned by position times frequency."""
    half = x.shape[-1] // 2
    angles = positions[:, None] * 100.0 ** -(np.arange(half) / half)
    turned = (x[..., :half] + 1j * x[..., half:]) * np.exp(1j * angles)[:, None]
    return np.concatenate([turned.real, turned.imag], -1)


def logits(tokens: np.ndarray, weights: Weights, *, behind: int = 1, everywhere: bool = False) -> np.ndarray:
    """Logits for the token that follows tokens [B, T], computed without a cache.

    With something wrong if asked for: `behind` is 0 if a token sees an empty position in its own place; empty positions may
    take part `everywhere`.
    """
    E, Wq, Wk, Wv, Wo, Wg, Wu, Wd, U = weights
    count = tokens.shape[1]
    positions = np.arange(count)
    x = E[tokens]
    for layer in range(len(Wq)):
        h = norm(x)
        q, k, v = (np.einsum("btD,Dhd->bthd", h, W[layer]) for W in (Wq, Wk, Wv))
        q, k = rotate(q, positions), rotate(k, positions)
        k, v = (np.repeat(each, q.shape[2] // k.shape[2], axis=2) for each in (k, v))
        scores = np.einsum("bthd,bshd->bhts", q, k) / np.sqrt(q.shape[-1])
        seen = np.arange(count)[:, None] + behind > np.arange(count)
        shifted = np.where(seen, scores, -np.inf)
        top = np.maximum(shifted.max(-1, keepdims=True), 0.0)
        e = np.exp(shifted - top)
        empty = (STEPS - np.arange(count))[:, None] - 1 if everywhere else 1 - behind
        share = e.sum(-1, keepdims=True) + empty * np.exp(-top)
        x = x + np.einsum("bhtd,hdD->btD", np.einsum("bhts,bshd->bhtd", e / share, v), Wo[layer])
        h = norm(x)
        gate = h @ Wg[layer]
        x = x + (gate / (1 + np.exp(-gate)) * (h @ Wu[layer])) @ Wd[layer]
    return np.asarray(norm(x[:, -1]) @ U)


def decoded(first: np.ndarray, *weights: np.ndarray) -> np.ndarray:
    """The 32 tokens after the first, each from all that come before it."""
    return decoded_with()(first, *weights)


def decoded_with(**wrong: object) -> Callable[..., np.ndarray]:
    """The same with something wrong, as `logits` has it."""

    def decode(first: np.ndarray, *weights: np.ndarray) -> np.ndarray:
        tokens = first[:, None]
        for _ in range(STEPS):
            following = logits(tokens, weights, **wrong).argmax(-1)  # type: ignore[arg-type]
            tokens = np.concatenate([tokens, following[:, None]], axis=1)
        return tokens[:, 1:].astype(np.int32)

    return decode


def leads(first: np.ndarray, weights: Weights) -> bool:
    """Whether in every step the largest logit leads by more than rounding."""
    tokens = first[:, None]
    for _ in range(STEPS):
        found = logits(tokens, weights)
        second, largest = np.sort(found, axis=-1)[:, -2:].T
        if (largest - second).min() < LEAD:
            return False
        tokens = np.concatenate([tokens, found.argmax(-1)[:, None]], axis=1)
    return True


def told_apart(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The last weight, drawn until each token leads: programs that round otherwise choose the same ones."""
    first, *weights = before
    wide = [each.astype(np.float64) for each in weights]
    while True:
        drawn = rng.standard_normal(shape).astype(np.float32)
        if leads(first, [*wide, drawn.astype(np.float64)]):
            return drawn


def scaled(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """Normal numbers, such that the product with a vector of ones is about as large as these."""
    summed = shape[1:3] if shape[2] == WIDTH else shape[1:2]
    return np.asarray(rng.standard_normal(shape) / math.sqrt(math.prod(summed)))


def tokens(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """First tokens, of the 64 that there are."""
    return np.asarray(rng.integers(0, 64, shape))


def case(mesh: Axes, batch: int, model: int, hidden: int) -> Case:
    """Heads, hidden units and the vocabulary cut over x; two query heads for each of eight key heads.

    Few sequences and many hidden units: to gather a weight once costs more than the sums of all steps.
    """
    columns = (None, None, "x")
    up, keys = (Input((LAYERS, model, *sizes), columns, values=scaled) for sizes in ((hidden,), (KEY_HEADS, WIDTH)))
    return Case(
        mesh,
        (
            Input((batch,), (), "int32", values=tokens),
            Input((64, model)),
            Input((LAYERS, model, 16, WIDTH), columns, values=scaled), keys, keys,
            Input((LAYERS, 16, WIDTH, model), (None, "x"), values=scaled),
            up, up,
            Input((LAYERS, hidden, model), (None, "x"), values=scaled),
            Input((model, 64), (None, "x"), values=told_apart),
        ),
        ((),),
    )  # fmt: skip


def draw(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh, _ = drawn_mesh(rng)
    return case(mesh, rng.randint(1, 2), 8 * rng.randint(2, 3), 32 * rng.randint(3, 5))


def answered(o: Observed, tokens: np.ndarray) -> bool:
    """Whether every device holds these tokens."""
    return all(np.array_equal(block, tokens) for _, _, block in o.shards[0])


def numbered_in_the_part(o: Observed) -> bool:
    """Whether each token is the right one's number within a device's part of the vocabulary."""
    return _numbered(o, 0)


def other_part_size(o: Observed) -> bool:
    """Whether the numbers of each part begin at a multiple of something else than its size: what the first tokens say."""
    first, *weights = o.inputs
    part = weights[-1].shape[1] // devices(o)
    place, own = np.divmod(logits(first[:, None], [each.astype(np.float64) for each in weights]).argmax(-1), part)
    made = o.shards[0][0][2][:, 0]
    sizes = {int(size) for size in (made - own)[place > 0] // place[place > 0]}
    return len(sizes) == 1 and 0 < min(sizes) != part and _numbered(o, *sizes)


def _numbered(o: Observed, size: int) -> bool:
    """Whether each token is its number within a part, and so many more for each part before it."""
    return answered(o, *computed(_numbering(size), o))


@functools.cache
def _numbering(size: int) -> Callable[[Observed], np.ndarray]:
    def made(o: Observed) -> np.ndarray:
        first, *weights = o.inputs
        part = weights[-1].shape[1] // devices(o)
        wide = [each.astype(np.float64) for each in weights]
        tokens = first[:, None]
        for _ in range(STEPS):
            place, own = np.divmod(logits(np.minimum(tokens, len(wide[0]) - 1), wide).argmax(-1), part)
            tokens = np.concatenate([tokens, (own + place * size)[:, None]], axis=1)
        return tokens[:, 1:]

    return made


def one_late(o: Observed) -> bool:
    """Whether the tokens begin with the first one."""
    (right,) = returned(decoded, o)
    return answered(o, np.concatenate([o.inputs[0][:, None], right], axis=1)[:, :STEPS])


def weights_move(o: Observed) -> bool:
    """Whether a gather makes a whole weight, or a layer of it."""
    sizes = {each.nbytes // layers for each in o.inputs[2:-1] for layers in (1, LAYERS)} | {o.inputs[-1].nbytes}
    return any(c.kind in ("all-gather", "all-to-all") and c.payload_bytes in sizes for c in o.collectives)


def logits_move(o: Observed) -> bool:
    """Whether a gather makes all logits: rows as long as the vocabulary, or parts of such rows."""
    words = o.inputs[-1].shape[1]
    sizes, rows = 4 * len(o.inputs[0]) * words, (words, words // devices(o))
    return any(c.kind == "all-gather" and c.payload_bytes == sizes and c.shape[-1] in rows for c in o.collectives)


def everything_anew(o: Observed) -> bool:
    """Whether sums carry all positions."""
    size = 4 * len(o.inputs[0]) * o.inputs[1].shape[1]
    return any(c.kind == "all-reduce" and c.payload_bytes >= STEPS * size for c in o.collectives)


def _cache(o: Observed, heads: int) -> int:
    """Numbers of the keys of this many heads in one layer."""
    return len(o.inputs[0]) * STEPS * heads * WIDTH


def too_much_held(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """What is wrong where temporary arrays take more than a copy of the arguments and four of a device's own cache."""
    limit = o.memory + 4 * 4 * 2 * LAYERS * _cache(o, KEY_HEADS // devices(o))
    if o.held > limit:
        what = "A device holds too much at one time."
        yield Finding(item.name, "M", what, f"at most {limit:,} B of temporary arrays", f"{o.held:,} B")


def holds_all_heads(o: Observed) -> bool:
    """Whether a device has an array with a place for every key head at every position."""
    shapes = ([int(n) for n in dims.split(",")] for dims in re.findall(r"f32\[([\d,]+)\]", o.hlo))
    return any({STEPS, KEY_HEADS} <= set(dims) and math.prod(dims) >= _cache(o, KEY_HEADS) for dims in shapes)
