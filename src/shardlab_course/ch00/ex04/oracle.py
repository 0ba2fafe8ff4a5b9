"""Chapter 0, exercise 0.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from typing import Any

from shardlab_course.ch00.shared import operations

PEAKS = (4.59e14, 1.97e14, 1e12, 2e11)


def rate(m: int, k: int, n: int, seconds: float) -> float:
    """FLOPs a second."""
    return operations(m, k, n) / seconds


def believable(m: int, k: int, n: int, seconds: float, peak: float) -> bool:
    """Whether a chip of this peak could have done it."""
    return operations(m, k, n) <= peak * seconds


def draw_rate(rng: random.Random) -> tuple[Any, ...]:
    """Three sizes and a time; half of them so small and slow that the rate is a few FLOPs a second, and no whole number."""
    if rng.random() < 1 / 2:
        return (*(rng.randint(3, 9) for _ in range(3)), rng.uniform(10, 100))
    return (*(rng.randint(3, 4000) for _ in range(3)), 10.0 ** rng.uniform(-6, 1))


def draw_claim(rng: random.Random) -> tuple[Any, ...]:
    """Three sizes, a time and a peak; half of the claims are within a factor of two of the peak, on either side.

    Some are exactly at it, and some above by as much as the additions that the count of a sum's last term adds; some are a
    fiftieth above a peak of a few FLOPs a second, where that is less than one, and less than a last addition.
    """
    if rng.random() < 0.25:
        few, seconds = [rng.randint(3, 9) for _ in range(3)], rng.uniform(10, 100)
        return (*few, seconds, operations(*few) / seconds / 1.02)
    m, k, n = sizes = [rng.randint(3, 4000) for _ in range(3)]
    if rng.random() < 0.3:
        # A power of two, so that no order of the operations rounds.
        seconds = 2.0 ** -rng.randint(0, 12)
        return (*sizes, seconds, (operations(*sizes) - rng.choice((0, m * n))) / seconds)
    peak = rng.choice(PEAKS)
    ratio = rng.choice((0.01, 0.3, 0.6, 0.9, 1.1, 1.5, 1.9, 40.0))
    return (*sizes, operations(*sizes) / peak / ratio, peak)
