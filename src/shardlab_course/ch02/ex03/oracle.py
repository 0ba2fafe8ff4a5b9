"""Chapter 2, exercise 2.3: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from typing import Any

from shardlab_course.ch02.shared import HOPS, LINKS, time_all_gather


def crossover_bytes(n: int, bandwidth: float, latency: float) -> float:
    """Bytes from which on the gather is slower than an empty one, found by halving an interval."""
    idle = time_all_gather(0, n, bandwidth, latency, True)
    low, high = 0.0, 1e18
    for _ in range(200):
        middle = (low + high) / 2
        low, high = (low, middle) if time_all_gather(middle, n, bandwidth, latency, True) > idle else (middle, high)
    return high


def crossover_rows(columns: int, itemsize: int, n: int, bandwidth: float, latency: float) -> int:
    """The first number of rows whose hops are not shorter than their latency, found by adding row after row."""
    rows = 1
    while rows * columns * itemsize / n / bandwidth < latency:
        rows += 1
    return rows


def draw_crossover(rng: random.Random) -> tuple[Any, ...]:
    """A ring and its links."""
    return rng.randint(2, 32), rng.choice(LINKS), rng.choice(HOPS)


def draw_rows(rng: random.Random) -> tuple[Any, ...]:
    """Columns, bytes an element and a ring; a third of them such that a whole number of rows meets the crossover exactly."""
    if rng.random() < 1 / 3:
        # Powers of two, so that no order of the operations rounds.
        columns, itemsize = 2 ** rng.randint(5, 11), rng.choice((1, 2, 4))
        return columns, itemsize, rng.choice((2, 4, 8, 16)), 2.0**35, 2.0 ** -rng.randint(19, 21)
    if rng.random() < 1 / 4:  # so wide that one row is enough
        return rng.choice((3, 4, 5)) * 2**17 + rng.randint(0, 9), 4, rng.choice((2, 4)), LINKS[0], HOPS[0]
    while True:
        n, bandwidth, latency = rng.choice((2, 4, 8, 16)), rng.choice(LINKS), rng.choice(HOPS)
        columns, itemsize = rng.randint(32, 16384), rng.choice((1, 2, 4))
        if 0.1 < (n * bandwidth * latency / (columns * itemsize)) % 1 < 0.9:
            return columns, itemsize, n, bandwidth, latency
