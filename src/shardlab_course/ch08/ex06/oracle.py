"""Chapter 8, exercise 8.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any


def steps(n: int) -> dict[str, int]:
    """Dependent steps of an all-reduce: a ring walked twice, and a tree whose groups merge in pairs, up and down."""
    chunks, groups, rounds = 0, n, 0
    for _phase in ("reduce-scatter", "all-gather"):
        chunks += len(range(1, n))
    while groups > 1:
        groups, rounds = len(range(0, groups, 2)), rounds + 1
    return {"ring": chunks, "tree": rounds + rounds}


def seconds(V: float, n: int, bandwidth: float, latency: float) -> dict[str, float]:
    """Seconds of both, hop after hop: each takes its latency or as long as its bytes need, whichever is longer."""
    sizes = {"ring": V / n, "tree": V}
    return {way: sum(max(latency, sizes[way] / bandwidth) for _ in range(count)) for way, count in steps(n).items()}


def crossover(n: int, bandwidth: float, latency: float) -> float:
    """The size from which on the ring is not slower, found by halving an interval."""
    low, high = 0.0, 1e18
    for _ in range(200):
        middle = (low + high) / 2
        times = seconds(middle, n, bandwidth, latency)
        low, high = (middle, high) if times["tree"] < times["ring"] else (low, middle)
    return high


def steps_with(*, once: bool = False, linear: bool = False, rounded: bool = False, more: int = 0) -> Callable[..., Any]:
    """The counts with one of them wrong: one phase, a tree without logarithm, rounded down, hops too many."""

    def steps(n: int) -> dict[str, int]:
        depth = n - 1 if linear else int(math.log2(n)) if rounded else math.ceil(math.log2(n))
        times = 1 if once else 2
        return {"ring": times * (n - 1 + more), "tree": times * depth}

    return steps


def seconds_with(*, whole: bool = False, cut: bool = False, added: bool = False) -> Callable[..., Any]:
    """The times with one of them wrong: a ring of whole arrays, a tree of chunks, latency added to the bytes' time."""

    def seconds(nbytes: float, n: int, bandwidth: float, latency: float) -> dict[str, float]:
        sizes = {"ring": nbytes if whole else nbytes / n, "tree": nbytes / n if cut else nbytes}
        join: Callable[[float, float], float] = (lambda a, b: a + b) if added else max
        return {way: count * join(latency, sizes[way] / bandwidth) for way, count in steps(n).items()}

    return seconds


def draw_ring(rng: random.Random) -> tuple[float, int, float, float]:
    """Bytes, devices, bandwidth and latency."""
    bandwidth, latency = rng.choice((4.5e10, 9e10, 4.5e11)), rng.choice((5e-7, 1e-6, 5e-6))
    return float(2 ** rng.randint(6, 28)), rng.randint(4, 64), bandwidth, latency


def draw_devices(rng: random.Random) -> tuple[int]:
    """A number of devices."""
    return (rng.randint(2, 200),)


def draw_link(rng: random.Random) -> tuple[int, float, float]:
    """Devices, bandwidth and latency."""
    return draw_ring(rng)[1:]
