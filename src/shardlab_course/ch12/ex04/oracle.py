"""Chapter 12, exercise 12.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable


def finish(compute: list[float], hops: list[float]) -> list[float]:
    """When each product ends, found by small steps of a clock's two hands: one of the wires, one of the arithmetic."""
    wire, unit, ends = 0.0, 0.0, []
    for i, seconds in enumerate(compute):
        if i:
            wire += hops[i - 1]
        unit = seconds + (unit if unit > wire else wire)
        ends.append(unit)
    return ends


def finish_with(how: str) -> Callable[[list[float], list[float]], list[float]]:
    """The simulator with something wrong: "blocking", "serial", "free-wires", "no-waiting", "late", "lockstep",
    "no-queue", "starts"."""

    def finish(compute: list[float], hops: list[float]) -> list[float]:
        wire = sum(hops) if how == "blocking" else 0.0
        unit, ends = 0.0, []
        for i, seconds in enumerate(compute):
            hop = hops[i - 1] if i else 0.0
            if how in ("serial", "free-wires"):
                wire = hop + (unit if how == "serial" else 0.0)
            elif how == "lockstep":
                wire = max(unit, wire + hop)
            elif how == "late":
                wire += hops[i] if i < len(hops) else 0.0
            elif how != "blocking":
                wire += hop
            begun = {"no-waiting": unit, "no-queue": wire}.get(how, max(unit, wire))
            unit = begun + seconds
            ends.append(begun if how == "starts" else unit)
        return ends

    return finish


def draw_schedule(rng: random.Random) -> tuple[list[float], list[float]]:
    """Times of products and hops in whole microseconds."""
    n, slow = rng.randint(2, 8), rng.choice((4, 10, 25))
    return [float(rng.randint(1, 12)) for _ in range(n)], [float(rng.randint(1, slow)) for _ in range(n - 1)]


def most_devices(F: int, flops: float, bandwidth: float, both: bool) -> int:
    """The most devices for which no product has to wait for a chunk, tried one after the other with an arbitrary block."""
    T, D, n = 4096, 8192, 1
    lanes = 2 if both else 1
    while 2 * T * (D / (n + 1)) * (F / (n + 1)) / flops >= 2 * T * (D / (n + 1)) / (lanes * bandwidth):
        n += 1
    return n


def most_with(
    *, times: float = 1, ways: float = 2, up: bool = False, nearest: bool = False, least: int = 1
) -> Callable[..., int]:
    """The formula with something wrong: a factor, what two directions give, how it is rounded, the least that it may be."""

    def most(F: int, flops: float, bandwidth: float, both: bool) -> int:
        n = F * times * bandwidth * (ways if both else 1) / flops
        return max(least, round(n) if nearest else int(n) + up)

    return most


def draw_chip(rng: random.Random) -> tuple[int, float, float, bool]:
    """Hidden width, FLOPs and bytes a second, and whether both directions carry."""
    flops, bandwidth = rng.choice(((1.97e14, 4.5e10), (4.59e14, 9e10), (9.2e14, 9e10)))
    return 64 * rng.randint(150, 1200), flops, bandwidth, rng.random() < 0.5
