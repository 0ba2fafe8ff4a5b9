"""Chapter 17, what several exercises use: cases, oracles and recognisers."""

from __future__ import annotations

import functools
import random
from collections.abc import Callable, Iterator

import numpy as np

from shardlab_course.shared.rings import devices, whole
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.question import Check, Item
from shardlab_judge.verdict import Finding
from shardlens import Axes, Spec

TOKENS: Spec = ("x", None)
LINE, WIDE = axes(x=8), axes(x=4, y=2)
MESHES = (LINE, WIDE)
Wrong = Callable[..., np.ndarray]
"""A wrong attention: of the number of devices along x, and of Q, K and V."""
ROUNDING = "exponentials of float32 scores up to 110"


def attention(Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = True) -> np.ndarray:
    """What each query takes from all keys, or from those up to its own, one query after the other."""
    out = np.empty_like(V)
    for i, q in enumerate(Q):
        seen = slice(i + 1) if causal else slice(None)
        scores = K[seen] @ q / np.sqrt(len(q))
        weights = np.exp(scores - scores.max())
        out[i] = weights @ V[seen] / weights.sum()
    return out


def masked(seen: np.ndarray, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The same with any mask; a query that sees nothing gets no number."""
    scores = np.where(seen, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    with np.errstate(invalid="ignore"):
        weights = np.exp(scores - scores.max(1, keepdims=True))
    return np.asarray(weights @ V / weights.sum(1, keepdims=True))


def queries(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Queries whose first feature is large."""
    q = rng.standard_normal(shape)
    q[:, 0] += 10
    return np.asarray(q)


def keys(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Keys whose first feature lies from -30 to 30, so that float32 does not hold the exponentials of all scores."""
    k = rng.standard_normal(shape)
    k[:, 0] = rng.uniform(-30, 30, shape[0])
    return np.asarray(k)


def attention_case(mesh: Axes, s: int, d: int, others: Spec = TOKENS) -> Case:
    """Queries cut over x, keys and values placed by `others`, the output like the queries."""
    inputs = Input((s, d), TOKENS, values=queries), Input((s, d), others, values=keys), Input((s, d), others)
    return Case(mesh, inputs, (TOKENS,))


def states(Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = True) -> dict[str, np.ndarray]:
    """What every query has after its last key, in any order of the keys."""
    scores = np.where(np.tri(len(Q)) > 0 if causal else True, Q @ K.T / np.sqrt(Q.shape[1]), -np.inf)
    most = scores.max(1)
    weights = np.exp(scores - most[:, None])
    return {"the largest scores": most, "the sums of exponentials": weights.sum(1), "the weighted sums": weights @ V}


def without_root(Q: np.ndarray, K: np.ndarray, V: np.ndarray, causal: bool = True) -> np.ndarray:
    """Attention whose scores are not divided by the root of the number of features."""
    return attention(Q * np.sqrt(Q.shape[1]), K, V, causal)


def of_devices(wrong: Wrong) -> Callable[[Observed], bool]:
    """Whether the output is that of a wrong attention, which depends on how many devices there are."""
    return lambda o: whole(o, wrong(devices(o), *_wide(o)))


def _wide(o: Observed) -> list[np.ndarray]:
    return [array.astype(np.float64) for array in o.inputs]


def parts(n: int, *arrays: np.ndarray) -> Iterator[tuple[np.ndarray, ...]]:
    """The blocks of all arrays, one device after the other."""
    return zip(*(np.split(array, n) for array in arrays), strict=True)


def scores_bytes(o: Observed) -> int:
    """Bytes of the scores of a device's queries against all keys, in float32."""
    return 4 * len(o.inputs[0]) ** 2 // devices(o)


def too_large(item: Item, o: Observed) -> Iterator[Finding]:
    """What is wrong where a device holds an array of half as many bytes as all scores of its queries."""
    limit = scores_bytes(o) // 2
    if o.largest > limit:
        what = "A device holds an array that is too large: the scores were not made block by block."
        yield Finding(item.name, "M", what, f"at most {limit:,} bytes", f"{o.largest:,}")


def overflowed(o: Observed) -> bool:
    """Whether some values are no numbers."""
    return any(not np.isfinite(block).all() for _, _, block in o.shards[0])


def draw_attention(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    return attention_case(rng.choice(MESHES), 32 * rng.randint(5, 9), rng.randint(5, 12))


UNSEEN = (Check("M", too_large),)
IN_PARTS = functools.partial(attention_case, others=())
