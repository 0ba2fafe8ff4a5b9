"""Chapter 2, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

LINKS, HOPS = (4.5e10, 9e10, 4.5e11), (5e-7, 1e-6, 2e-6)


def gather_steps(n: int, both: bool) -> int:
    """Steps of an all-gather until every device of the ring holds every shard, each passed on whole."""
    held = [{device} for device in range(n)]
    steps = 0
    while any(len(shards) < n for shards in held):
        steps += 1
        for device, shards in enumerate(held):
            shards.add((device - steps) % n)
            if both:
                shards.add((device + steps) % n)
    return steps


def time_all_gather(V: float, n: int, bandwidth: float, latency: float, bidirectional: bool) -> float:
    """Seconds, one step after the other: each takes as long as its bytes or its latency, whichever is longer."""
    shard = V / n
    return sum(max(latency, shard / bandwidth) for _ in range(gather_steps(n, bidirectional)))


Formula = Callable[..., Any]


def said_other(card: str, *right: str) -> Callable[[Mapping[str, Any]], bool]:
    """Whether a card is answered, with something else than these."""
    return lambda said: said[card] is not None and said[card] not in right
