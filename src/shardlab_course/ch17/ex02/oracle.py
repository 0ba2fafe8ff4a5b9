"""Chapter 17, exercise 17.2: recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch17.shared import attention, masked, parts
from shardlab_course.shared import rings
from shardlab_judge.cases import Observed


def unmasked(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Every query sees all keys."""
    return attention(Q, K, V, causal=False)


def local_mask(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each block of scores is masked as if both blocks began at position 0."""
    return masked(np.tile(np.tri(len(Q) // n, dtype=bool), (n, n)), Q, K, V)


def whole_blocks(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Blocks up to the device's own are seen whole, the own one too."""
    block = np.arange(len(Q)) // (len(Q) // n)
    return masked(block[:, None] >= block, Q, K, V)


def backwards(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """The block that comes from the device d - i is taken for that of d + i."""
    m = len(Q) // n
    at = np.arange(len(Q))
    device, place = at // m, at % m
    taken = (2 * device[:, None] - device) % n * m + place
    return masked(at[:, None] >= taken, Q, K, V)


def own_key_unseen(o: Observed) -> bool:
    """Whether each query sees the keys before its own alone, so that the first gets no number."""
    wanted = masked(np.tri(len(o.inputs[0]), k=-1, dtype=bool), *(array.astype(float) for array in o.inputs))
    return all(np.allclose(block, wanted[index], 1e-3, 1e-3, equal_nan=True) for _, index, block in o.shards[0])


def own_block(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each device uses its own keys and values alone."""
    return np.concatenate([attention(q, k, v) for q, k, v in parts(n, Q, K, V)])


def values_stay(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Keys travel, and each block of weights meets the device's own values."""
    m, out = len(Q) // n, []
    for d, own in enumerate(np.split(V, n)):
        rows = slice(d * m, d * m + m)
        out.append(masked(np.tri(len(Q), dtype=bool)[rows], Q[rows], K, np.tile(own, (n, 1))))
    return np.concatenate(out)


def one_hop_more(o: Observed) -> bool:
    """Whether keys and values went round and came home."""
    return rings.only_permutes(o) and rings.hops(o) == 2 * rings.devices(o)
