"""Chapter 16, exercise 16.2: its oracle, drawn arguments, and the formulas with something wrong."""

from __future__ import annotations

import random
from collections.abc import Callable

CUTS = ("heads", "batch", "sequence")
Sizes = tuple[str, int, int, int, int, int, int]


def held(cut: str, batch: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> int:
    """Bytes on the fullest device: what is dealt out is dealt like cards, and a device without a key head copies one."""
    hands = [0] * devices
    for card in range({"heads": kv_heads, "batch": batch, "sequence": length}[cut]):
        hands[card % devices] += 1
    most = hands[0]
    shape = {
        "heads": (batch, length, most),
        "batch": (most, length, kv_heads),
        "sequence": (batch, most, kv_heads),
    }[cut]
    total = layers * width * (2 + 2)
    for size in shape:
        total *= size
    return total


def held_with(*, up: bool = True, inside: bool = False, idle: bool = False, always: str = "") -> Callable[..., int]:
    """The bytes with something wrong: how is rounded, heads that are cut inside or missing, one cut for all."""

    def wrong(cut: str, batch: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> int:
        cut = always or cut
        sizes = {"batch": batch, "sequence": length, "heads": kv_heads}
        few = cut == "heads" and kv_heads < devices
        whole = sizes["batch"] * sizes["sequence"] * sizes["heads"] * layers * width * 4
        if few and (inside or idle):
            return whole // devices if inside else 0
        share = -(-sizes[cut] // devices) if up or few else sizes[cut] // devices
        return whole // sizes[cut] * share

    return wrong


def whole(cut: str, batch: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> int:
    """The cache uncut."""
    return 4 * batch * length * layers * kv_heads * width


def average(cut: str, batch: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> float:
    """A device's share if nothing were left over."""
    return whole(cut, batch, length, layers, kv_heads, width, devices) / devices


def draw_held(rng: random.Random) -> Sizes:
    """Sizes that seldom divide."""
    return (
        rng.choice(CUTS), rng.randint(1, 40), rng.randint(20, 9000), rng.randint(2, 80), rng.choice((1, 2, 4, 5, 6, 8, 12)),
        16 * rng.randint(1, 8), rng.choice((2, 4, 8, 16)),
    )  # fmt: skip


def largest_batch(
    cut: str, memory: int, weights: int, length: int, layers: int, kv_heads: int, width: int, devices: int
) -> int:
    """The largest batch that fits, found by doubling and then halving the step."""

    def fits(batch: int) -> bool:
        each = [0, held(cut, 1, length, layers, kv_heads, width, devices)]
        sequences = -(-batch // devices) if cut == "batch" else batch
        return weights // devices + sequences * each[1] <= memory

    step, found = 1, 0
    while fits(found + step):
        step *= 2
    while step:
        if fits(found + step):
            found += step
        else:
            step //= 2
    return found


def largest_with(
    *, weights_cut: bool = True, weights_there: bool = True, on_all: bool = True, least: int | None = 0, spare: int = 0
) -> Callable[..., int]:
    """The batch with something wrong: where weights lie, what a cut by batch gives, the least batch, bytes left over."""

    def wrong(cut: str, memory: int, weights: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> int:
        taken = weights // (devices if weights_cut else 1) if weights_there else 0
        one = held(cut, 1, length, layers, kv_heads, width, devices)
        batch = (memory - taken - spare) // one * (devices if cut == "batch" and on_all else 1)
        return batch if least is None else max(least, batch)

    return wrong


def pooled(cut: str, memory: int, weights: int, length: int, layers: int, kv_heads: int, width: int, devices: int) -> int:
    """All memories taken together."""
    return max(0, (memory * devices - weights) // (4 * length * layers * kv_heads * width))


def draw_largest(rng: random.Random) -> tuple[str, int, int, int, int, int, int, int]:
    """A memory, weights that seldom leave nothing, and a cache; now and then some sequences fill the memory exactly."""
    devices = rng.choice((2, 4, 8, 16))
    memory = rng.choice((16, 80, 96)) * 10**9
    weights = devices * 10**8 * rng.randint(1, memory // 10**8 * 5 // 4)
    cut, length, layers = rng.choice(CUTS), rng.randint(500, 40_000), rng.randint(10, 80)
    kv_heads, width = rng.choice((1, 2, 4, 5, 8, 12)), 16 * rng.randint(2, 8)
    if rng.random() < 0.25:
        memory = weights // devices + rng.randint(1, 30) * held(cut, 1, length, layers, kv_heads, width, devices)
    return cut, memory, weights, length, layers, kv_heads, width, devices
