"""Chapter 8, exercise 8.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools

import numpy as np

from shardlab_course.ch08.shared import chunks, scattered, summed
from shardlab_course.shared.rings import devices, each, hops, whole
from shardlab_judge.cases import Observed


def one_chunk(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device has its own chunk where it belongs, and zeros for the others."""
    parts, n = chunks(o, wanted), devices(o)
    return each(o, lambda d: np.concatenate([parts[i] if i == d else np.zeros_like(parts[i]) for i in range(n)]))


def short_sums(o: Observed) -> bool:
    """Whether every device has sums of all chunks, each in its place or the next one's, and each lacks a device's term."""
    n, total = devices(o), chunks(o, summed(o.inputs[0]))
    parts = [np.split(term, n) for term in o.inputs[0]]

    def held(chunk: int, device: int) -> np.ndarray:
        return np.concatenate([total[(p + chunk) % n] - parts[(p + device) % n][(p + chunk) % n] for p in range(n)])

    return any(whole(o, held(*choice)) for choice in itertools.product((-1, 0, 1), repeat=2))


def tally(o: Observed) -> np.ndarray:
    """How often each device's term is in each chunk that a device holds; empty where nobody can tell."""
    n, counts = devices(o), []
    parts = [np.stack(np.split(term, n)).reshape(n, -1) for term in o.inputs[0]]
    for _, _, block in o.shards[0]:
        for chunk, held in enumerate(np.split(block, n)):
            terms = np.stack([part[chunk] for part in parts], axis=1)
            if len(terms) <= n or held.size != len(terms):
                return np.empty(0)
            found = np.round(np.linalg.lstsq(terms, held.ravel())[0])
            if not np.allclose(terms @ found, held.ravel(), atol=1e-4):
                return np.empty(0)
            counts.append(found)
    return np.array(counts)


def ends_halfway(o: Observed) -> bool:
    """Whether every device has one finished chunk alone, and no more moved than it takes for that."""
    return hops(o) < 2 * (devices(o) - 1) and (scattered(o) or one_chunk(o, summed(o.inputs[0])))
