"""Chapter 11, exercise 11.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable

PLANS = ("data parallel", "zero-1", "zero-2", "fsdp, weights kept", "fsdp, gathered again")


def traffic(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """Bytes that a device sends in one step, around a ring."""
    gathers, scatters = {
        "data parallel": (1, 1), "zero-1": (1, 1), "zero-2": (1, microbatches),
        "fsdp, weights kept": (microbatches, microbatches), "fsdp, gathered again": (2 * microbatches, microbatches),
    }[plan]  # fmt: skip
    return (gathers + scatters) * weight_bytes * (devices - 1) / devices


def cheap_all_reduce(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with an all-reduce that costs as much as an all-gather."""
    found = traffic(weight_bytes, devices, plan, microbatches)
    return found / 2 if plan == "data parallel" else found


def without_ring(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with a device sending to itself too."""
    return traffic(weight_bytes, devices, plan, microbatches) * devices / (devices - 1)


def every_microbatch(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with everything done in each microbatch."""
    return traffic(weight_bytes, devices, plan, 1) * microbatches


def microbatches_ignored(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with one microbatch."""
    return traffic(weight_bytes, devices, plan, 1)


def of_all_devices(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """What all devices send together."""
    return traffic(weight_bytes, devices, plan, microbatches) * devices


def kept_always(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
    """The same with weights that are never gathered again."""
    return traffic(weight_bytes, devices, "fsdp, weights kept" if plan.startswith("fsdp") else plan, microbatches)


def traffic_with(wrong: str, passes: Callable[[int], int]) -> Callable[..., float]:
    """The same with one plan's passes around the ring, given the microbatches, replaced."""

    def count(weight_bytes: int, devices: int, plan: str, microbatches: int) -> float:
        one = weight_bytes * (devices - 1) / devices
        return passes(microbatches) * one if plan == wrong else traffic(weight_bytes, devices, plan, microbatches)

    return count


def draw_traffic(rng: random.Random) -> tuple[int, int, str, int]:
    """Bytes of the weights, devices, a plan and microbatches."""
    return rng.randint(1, 10**9), rng.choice((2, 4, 8, 64)), rng.choice(PLANS), rng.randint(1, 8)
