"""Chapter 2's oracles: slow, shards and blocks passed on hop by hop and counted; with drawn arguments."""

from __future__ import annotations

import random
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from shardlens import chip

Layer = Mapping[str, Any]
ChipNumbers = Mapping[str, float]
BF16 = 2
LINKS, HOPS = (4.5e10, 9e10, 4.5e11), (5e-7, 1e-6, 2e-6)
CHIPS: tuple[ChipNumbers, ...] = tuple(
    {"flops": c.flops, "hbm": c.hbm_bandwidth, "link": c.link_bandwidth, "hop": c.hop_latency}
    for c in map(chip, ("v5e", "v5p"))
)


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


def time_all_gather(nbytes: float, n: int, bandwidth: float, latency: float, bidirectional: bool) -> float:
    """Seconds, one step after the other: each takes as long as its bytes or its latency, whichever is longer."""
    shard = nbytes / n
    return sum(max(latency, shard / bandwidth) for _ in range(gather_steps(n, bidirectional)))


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


def all_to_all_link_bytes(nbytes: float, n: int, bidirectional: bool) -> float:
    """Bytes over the busiest link in one direction."""
    return float(exchange_load(n, bidirectional) * Fraction(nbytes) / n**2)


def all_to_all_factor(n: int, bidirectional: bool) -> float:
    """Bytes over a link as a share of an all-gather's."""
    return float(exchange_load(n, bidirectional) / n / gather_steps(n, bidirectional))


def layer_seconds(layer: Layer, chip: ChipNumbers) -> dict[str, float]:
    """Compute, memory and communication of one layer on one chip; sizes from the blocks that it multiplies."""
    b, d, f, n = (layer[name] for name in ("B", "D", "F", "n"))
    by_rows = layer["moves"] in ("nothing", "gather")
    x, w, y = ((b // n, d), (d, f), (b // n, f)) if by_rows else ((b, d // n), (d // n, f), (b, f))
    traffic = BF16 * sum(rows * columns for rows, columns in (x, w, y))
    moved = {"nothing": (), "gather": (w,), "reduce": (y, y), "scatter": (y,)}[layer["moves"]]
    passes = (time_all_gather(BF16 * rows * columns, n, chip["link"], chip["hop"], True) for rows, columns in moved)
    return {"compute": 2 * x[0] * x[1] * w[1] / chip["flops"], "memory": traffic / chip["hbm"], "communication": sum(passes)}


def bound(layer: Layer, chip: ChipNumbers) -> str:
    """What takes longest."""
    times = layer_seconds(layer, chip)
    return max(times, key=lambda name: times[name])


def draw_gather(rng: random.Random) -> tuple[Any, ...]:
    """Bytes from a few to a gigabyte, so that both bounds occur; even and odd rings."""
    return 2.0 ** rng.randint(8, 30), rng.randint(2, 33), rng.choice(LINKS), rng.choice(HOPS), rng.random() < 0.5


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


def draw_exchange(rng: random.Random) -> tuple[Any, ...]:
    """Bytes, a ring and its directions."""
    return 2.0 ** rng.randint(10, 30), *draw_ring(rng)


def draw_ring(rng: random.Random) -> tuple[Any, ...]:
    """A ring and its directions."""
    return rng.randint(2, 17), rng.random() < 0.5


def draw_layer(rng: random.Random) -> tuple[Any, ...]:
    """A layer whose sizes n divides, and a chip; even and odd rings."""
    n = rng.choice((3, 4, 5, 8, 16))
    layer = {"B": n * 2 ** rng.randint(0, 12), "D": n * 2 ** rng.randint(7, 12), "F": n * 2 ** rng.randint(7, 12), "n": n}
    return {**layer, "moves": rng.choice(("nothing", "gather", "reduce", "scatter"))}, dict(rng.choice(CHIPS))
