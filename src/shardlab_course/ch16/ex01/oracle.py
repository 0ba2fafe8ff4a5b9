"""Chapter 16, exercise 16.1: its oracle, drawn arguments, and the formulas with something wrong."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable

import numpy as np


def cached(layers: int, heads: int, kv_heads: int, width: int, length: int) -> int:
    """Bytes of one sequence's cache, added up array by array, with 16 bits for each number."""
    position = sum(np.empty((kv_heads, width), np.float16).nbytes for _ in range(layers) for _ in ("key", "value"))
    return position * length


def cached_with(*, arrays: int = 2, layered: bool = True, queries: bool = False, size: int = 2) -> Callable[..., int]:
    """The bytes with something wrong: what is kept, in how many layers, for which heads, and the bytes of a number."""

    def wrong(layers: int, heads: int, kv_heads: int, width: int, length: int) -> int:
        return arrays * size * width * length * (layers if layered else 1) * (heads if queries else kv_heads)

    return wrong


def draw_cached(rng: random.Random) -> tuple[int, ...]:
    """Layers, query heads and fewer key heads, width, and length."""
    kv_heads = rng.randint(1, 8)
    return rng.randint(2, 80), kv_heads * rng.randint(2, 8), kv_heads, 16 * rng.randint(1, 8), rng.randint(1, 9000)


def seconds(parameters: int, cache: int, batch: int, flops: float, bandwidth: float) -> float:
    """Time of a step, with its bytes and its FLOPs counted sequence by sequence."""
    read, multiplied = 2 * parameters, 0
    for _ in range(batch):
        read += cache
        multiplied += parameters + parameters
    reading, multiplying = read / bandwidth, multiplied / flops
    return reading if reading > multiplying else multiplying


def seconds_with(
    *,
    weights_each: bool = False,
    caches: str = "each",
    combine: Callable[[Iterable[float]], float] = max,
    flops: int = 2,
    rows: bool = True,
    size: int = 2,
) -> Callable[..., float]:
    """The time with something wrong: how often weights and caches are read, how times combine, and the two factors."""
    flops_each = flops

    def wrong(parameters: int, cache: int, batch: int, flops: float, bandwidth: float) -> float:
        weights = size * parameters * (batch if weights_each else 1)
        read = weights + cache * {"each": batch, "one": 1, "none": 0}[caches]
        return combine((read / bandwidth, flops_each * parameters * (batch if rows else 1) / flops))

    return wrong


def draw_seconds(rng: random.Random) -> tuple[int, int, int, float, float]:
    """A model, its cache, a batch on either side of the balance, and a chip."""
    flops, bandwidth = rng.choice(((1.97e14, 8.2e11), (4.59e14, 2.8e12), (9.9e14, 3.4e12)))
    cache = 10 ** rng.randint(5, 9) * rng.randint(1, 9)
    return 10**9 * rng.randint(1, 90), cache, 2 ** rng.randint(0, 11) + rng.randint(0, 3), flops, bandwidth
