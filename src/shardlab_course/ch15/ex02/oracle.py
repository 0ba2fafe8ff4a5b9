"""Chapter 15, exercise 15.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from typing import Any


def costs(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    """Bytes that each device holds, and bytes that it moves over `model` and over `data` in a step."""
    shared, cut = vocabulary * depth, 12 * layers * depth**2 + depth * vocabulary
    weights = shared + cut // model
    tokens = batch // data * length
    held = 6 * weights + 2 * tokens * depth * layers
    over_model = 0 if model == 1 else 2 * (4 * layers + 1) * tokens * depth
    over_data = 0 if data == 1 else 2 * weights
    return [held, over_model, over_data]


def embedding_cut(data: int, model: int, batch: int, length: int, depth: int, layers: int, vocabulary: int) -> list[float]:
    """The costs, as if the embedding were cut over `model` too."""
    held, over_model, over_data = costs(data, model, batch, length, depth, layers, vocabulary)
    whole = vocabulary * depth - vocabulary * depth / model
    return [held - 6 * whole, over_model, over_data - 2 * whole * (data > 1)]


def choice(
    devices: int, memory: float, batch: int, length: int, depth: int, layers: int, vocabulary: int,
    below: bool = False, halved: bool = False, all_cut: bool = False,
) -> list[int] | None:  # fmt: skip
    """The mesh that fits and moves the fewest bytes, or None.

    Args:
        below: as if what needs all of the memory did not fit.
        halved: as if there were no meshes but those with a power of two along `model`.
        all_cut: as if the embedding were cut over `model` too.
    """
    fits = []
    for model in _models(devices, batch):
        if halved and model & (model - 1):
            continue
        held, *travels = (embedding_cut if all_cut else costs)(
            devices // model, model, batch, length, depth, layers, vocabulary
        )
        if held < memory or (held == memory and not below):
            fits.append((sum(travels), model))
    return [devices // min(fits)[1], min(fits)[1]] if fits else None


def _models(devices: int, batch: int) -> list[int]:
    """The sizes of the model axis, of those whose data axis divides the batch."""
    return [m for m in range(1, devices + 1) if devices % m == 0 and batch % (devices // m) == 0]


CHOICES = (
    (8, 1.6e10, 8, 2048, 4096, 4, 32000),
    (8, 1.6e10, 256, 2048, 1024, 8, 32000),
    (8, 2e9, 256, 512, 2048, 4, 32000),
    (8, 1.6e10, 12, 2048, 1024, 8, 32000),
    (16, 9.5e10, 48, 2048, 4096, 16, 32000),
    (8, 1e9, 64, 512, 2048, 8, 32000),
    (4, 3.2e10, 2, 512, 4096, 8, 8192),
    (4, 1.6e10, 4, 512, 512, 1, 2048),
    (8, 190840832.0, 8, 1024, 512, 2, 24576),
    (12, 8e9, 512, 1152, 1536, 6, 10240),
    (8, 8e9, 4, 896, 1024, 11, 49152),
)
"""Devices, memory, batch, length, depth, layers, vocabulary: what the public calls of `choose` are given."""


def draw_costs(rng: random.Random) -> tuple[Any, ...]:
    """A mesh, and a model that it divides."""
    data, model = (2 ** rng.randint(0, 4) for _ in range(2))
    sizes = 128 * rng.randint(1, 16), 128 * rng.randint(4, 32), rng.randint(1, 24), 1024 * rng.randint(4, 64)
    return data, model, data * rng.randint(1, 32), *sizes


def draw_choice(rng: random.Random) -> tuple[Any, ...]:
    """A slice, its memory, and a task that some of its meshes can do; or what the mesh that moves least holds, to a byte.

    Not every number of devices is a power of two; where three divides it, it divides the weights too.
    """
    devices, batch = rng.choice((4, 8, 16, 6, 12)), rng.choice((4, 8, 12, 32, 96, 128, 512))
    depth = 512 * (3 * rng.randint(1, 3) if devices % 3 == 0 else rng.randint(2, 8))
    sizes = 128 * rng.randint(2, 16), depth, rng.randint(2, 12), 1024 * rng.randint(8, 64)
    memory = rng.choice((8e9, 1.6e10, 3.2e10, 9.6e10, None))
    if memory is None:
        candidates = [costs(devices // model, model, batch, *sizes) for model in _models(devices, batch)]
        memory = min(candidates, key=lambda one: sum(one[1:]))[0]
    return devices, memory, batch, *sizes
