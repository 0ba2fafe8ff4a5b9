"""Chapter 11, exercise 11.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable

PARTS = ("weights", "gradients", "optimizer")


def bytes_each(mixed: bool) -> tuple[int, int, int]:
    """Bytes of one parameter's weight, gradient and optimizer state."""
    return (2, 2, 12) if mixed else (4, 4, 8)


def ledger(
    parameters: int, devices: int, stage: int, mixed: bool, each: tuple[int, int, int] | None = None
) -> dict[str, int]:
    """Bytes on one device: stage 1 cuts the optimizer's state, 2 the gradients too, 3 the weights too."""
    sizes = zip(PARTS, each or bytes_each(mixed), (3, 2, 1))
    return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in sizes}


def ledger_by(stages: tuple[int, int, int]) -> Callable[..., dict[str, int]]:
    """A wrong ledger: weights, gradients and state cut from these stages on."""

    def count(parameters: int, devices: int, stage: int, mixed: bool) -> dict[str, int]:
        sizes = zip(PARTS, bytes_each(mixed), stages)
        return {part: parameters * size // (devices if stage >= first else 1) for part, size, first in sizes}

    return count


def ledger_of_one(parameters: int, devices: int, stage: int, mixed: bool) -> dict[str, int]:
    """A wrong ledger: each stage cuts one part alone."""
    sizes = zip(PARTS, bytes_each(mixed), (3, 2, 1))
    return {part: parameters * size // (devices if stage == only else 1) for part, size, only in sizes}


def largest(memory: int, devices: int, stage: int, mixed: bool) -> int:
    """The largest number of parameters of which a device's share fits into its memory."""
    whole = ledger(devices, devices, stage, mixed)
    return memory * devices // sum(whole.values())


def largest_rounded(memory: int, devices: int, stage: int, mixed: bool) -> int:
    """The same with each part of one parameter's share rounded down."""
    return memory // max(1, sum(ledger(1, devices, stage, mixed).values()))


def draw_ledger(rng: random.Random) -> tuple[int, int, int, bool]:
    """Parameters that the devices divide, devices, a stage, and whether precision is mixed."""
    devices = rng.choice((2, 4, 8, 16, 64, 256))
    return devices * rng.randint(1, 10**7), devices, rng.randint(0, 3), rng.random() < 0.5


def draw_largest(rng: random.Random) -> tuple[int, int, int, bool]:
    """A device's memory, devices, a stage, and whether precision is mixed."""
    return rng.choice((16, 32, 95)) * 10**9, rng.choice((2, 8, 64, 256)), rng.randint(0, 3), rng.random() < 0.5
