"""Chapter 17, exercise 17.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from shardlab_course.ch17.shared import IN_PARTS, LINE, MESHES
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes

BLOCK = 64
Parts = tuple[np.ndarray, np.ndarray, np.ndarray]


def merge(m: np.ndarray, z: np.ndarray, y: np.ndarray, M: np.ndarray, Z: np.ndarray, Y: np.ndarray) -> Parts:
    """The maximum, the sum and the weighted sum of both parts, one query after the other."""
    most, total, sums = np.empty_like(m), np.empty_like(z), np.empty_like(y)
    for i in range(len(m)):
        most[i] = max(m[i], M[i])
        total[i] = z[i] * np.exp(m[i] - most[i]) + Z[i] * np.exp(M[i] - most[i])
        sums[i] = y[i] * np.exp(m[i] - most[i]) + Y[i] * np.exp(M[i] - most[i])
    return most, total, sums


def added(m: np.ndarray, z: np.ndarray, y: np.ndarray, M: np.ndarray, Z: np.ndarray, Y: np.ndarray) -> Parts:
    """As if both parts had one maximum."""
    return np.maximum(m, M), z + Z, y + Y


def total_alone(m: np.ndarray, z: np.ndarray, y: np.ndarray, M: np.ndarray, Z: np.ndarray, Y: np.ndarray) -> Parts:
    """Only the sums of exponentials are brought to the new maximum."""
    most, total, _ = merge(m, z, y, M, Z, Y)
    return most, total, y + Y


def divided(m: np.ndarray, z: np.ndarray, y: np.ndarray, M: np.ndarray, Z: np.ndarray, Y: np.ndarray) -> Parts:
    """The weighted sum is divided at once."""
    most, total, sums = merge(m, z, y, M, Z, Y)
    return most, total, sums / total[:, None]


def upside_down(m: np.ndarray, z: np.ndarray, y: np.ndarray, M: np.ndarray, Z: np.ndarray, Y: np.ndarray) -> Parts:
    """Each part is multiplied with the other's factor."""
    most = np.maximum(m, M)
    a, b = np.exp(M - most), np.exp(m - most)
    return most, z * a + Z * b, y * a[:, None] + Y * b[:, None]


def blocks_averaged(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """A softmax in each block of keys, and the mean of their outputs."""
    outs = []
    for k, v in zip(*(np.split(array, len(K) // BLOCK) for array in (K, V))):
        scores = Q @ k.T / np.sqrt(Q.shape[1])
        weights = np.exp(scores - scores.max(1, keepdims=True))
        outs.append(weights @ v / weights.sum(1, keepdims=True))
    return np.asarray(np.mean(outs, 0))


def _scores(Q: np.ndarray, K: np.ndarray) -> np.ndarray:
    return np.asarray(Q @ K.T / np.sqrt(Q.shape[1]))


def unscaled(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each block's exponentials are taken under the maximum so far, and what was added before stays as it was."""
    most, total, sums = np.full(len(Q), -np.inf), np.zeros(len(Q)), np.zeros_like(Q)
    for k, v in zip(*(np.split(array, len(K) // BLOCK) for array in (K, V))):
        scores = _scores(Q, k)
        most = np.maximum(most, scores.max(1))
        weights = np.exp(scores - most[:, None])
        total, sums = total + weights.sum(1), sums + weights @ v
    return np.asarray(sums / total[:, None])


def undivided(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The weighted sum under the maximum of the row."""
    scores = _scores(Q, K)
    return np.asarray(np.exp(scores - scores.max(1, keepdims=True)) @ V)


def maxima(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """Largest scores; those of two parts are several units apart."""
    return np.asarray(rng.uniform(-6, 6, shape))


def sums(rng: np.random.Generator, shape: tuple[int, ...], _: Sequence[np.ndarray]) -> np.ndarray:
    """Sums of exponentials, of which the largest is 1."""
    return np.asarray(1 + rng.uniform(0, 9, shape))


def merge_case(mesh: Axes, s: int, d: int) -> Case:
    """Two parts of each query, cut over x."""
    one = Input((s,), ("x",), values=maxima), Input((s,), ("x",), values=sums), Input((s, d), ("x", None))
    return Case(mesh, (*one, *one), (("x",), ("x",), ("x", None)))


def draw_merge(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    return merge_case(rng.choice(MESHES), 8 * rng.randint(2, 6), rng.randint(3, 12))


def draw_blocks(rng: random.Random) -> Case:
    """As many keys as make several blocks."""
    return IN_PARTS(LINE, BLOCK * rng.randint(7, 12), rng.randint(5, 12))


def overflowed(o: Observed) -> bool:
    """Whether those queries got no numbers for which float32 does not hold an exponential: its logarithm may be 88.7."""
    Q, K, _ = (array.astype(np.float64) for array in o.inputs)
    largest = (Q @ K.T / np.sqrt(Q.shape[1])).max(1)
    lost = np.zeros(len(Q), bool)
    for _, (rows, *_), block in o.shards[0]:
        lost[rows] |= ~np.isfinite(block).all(1)
    return bool(lost.any() and lost[largest > 89].all() and not lost[largest < 82].any())
