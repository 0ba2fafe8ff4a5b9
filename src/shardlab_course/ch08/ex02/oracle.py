"""Chapter 8, exercise 8.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools

import numpy as np

from shardlab_course.ch08.shared import chunks, summed
from shardlab_course.shared.rings import Made, devices, each
from shardlab_judge.cases import Observed


def same_chunk_everywhere(o: Observed) -> bool:
    """Whether in each round every device added its chunk of the same number, so that different chunks met."""
    n, all_terms = devices(o), o.inputs[0]
    parts = [np.split(term, n) for term in all_terms]

    def made(start: int, turn: int, way: int) -> Made:
        return lambda d: np.sum([parts[(d - way * (n - 1 - i)) % n][(start + turn * i) % n] for i in range(n)], axis=0)

    return any(each(o, made(*choice)) for choice in itertools.product(range(n), (1, -1), (1, -1)))


def miscounted(o: Observed, sign: int) -> bool:
    """Whether every sum has one device's term once more (`sign` 1) or not at all (-1)."""
    n, total = devices(o), chunks(o, summed(o.inputs[0]))
    parts = [np.split(term, n) for term in o.inputs[0]]

    def made(chunk: int, device: int) -> Made:
        return lambda d: total[(d + chunk) % n] + sign * parts[(d + device) % n][(d + chunk) % n]

    return any(each(o, made(*choice)) for choice in itertools.product((-1, 0, 1), repeat=2))
