"""Chapter 2, exercise 2.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from fractions import Fraction
from typing import Any

from shardlab_course.ch02.shared import gather_steps


def exchange_load(n: int, both: bool) -> Fraction:
    """Blocks over the busiest link of an all-to-all, every block walked to its device; a tie is walked half each way."""
    loads: dict[tuple[int, int], Fraction] = {}
    for source in range(n):
        for target in range(n):
            for way, part in _ways((target - source) % n, n, both):
                here = source
                while here != target:
                    loads[here, way] = loads.get((here, way), Fraction(0)) + part
                    here = (here + way) % n
    return max(loads.values(), default=Fraction(0))


def _ways(ahead: int, n: int, both: bool) -> tuple[tuple[int, Fraction], ...]:
    if both and 2 * ahead == n:
        return (1, Fraction(1, 2)), (-1, Fraction(1, 2))
    return ((-1 if both and 2 * ahead > n else 1, Fraction(1)),)


def all_to_all_link_bytes(V: float, n: int, bidirectional: bool) -> float:
    """Bytes over the busiest link in one direction."""
    return float(exchange_load(n, bidirectional) * Fraction(V) / n**2)


def all_to_all_factor(n: int, bidirectional: bool) -> float:
    """Bytes over a link as a share of an all-gather's."""
    return float(exchange_load(n, bidirectional) / n / gather_steps(n, bidirectional))


def draw_exchange(rng: random.Random) -> tuple[Any, ...]:
    """Bytes, a ring and its directions."""
    return 2.0 ** rng.randint(10, 30), *draw_ring(rng)


def draw_ring(rng: random.Random) -> tuple[Any, ...]:
    """A ring and its directions."""
    return rng.randint(2, 17), rng.random() < 0.5
