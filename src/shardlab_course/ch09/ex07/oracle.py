"""Chapter 9, exercise 9.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np


def step_bytes(T: int, D: int, F: int, data: int, model: int) -> dict[str, int]:
    """Price by axis of one block, forward and backward, added up array by array in float32."""
    tokens = np.empty((T // data, D), np.float32)
    gradients = (np.empty((D, F // model), np.float32), np.empty((F // model, D), np.float32))
    return {
        "data": sum(2 * g.nbytes for g in gradients) if data > 1 else 0,
        "model": sum(2 * tokens.nbytes for _ in ("forward", "backward")) if model > 1 else 0,
    }


def step_with(
    *, reductions: int = 2, passes: int = 2, tokens: bool = True, weights: bool = True, free: bool = True
) -> Callable[..., Any]:
    """`step_bytes` with one of its factors wrong; `free`: whether an axis of size 1 costs nothing."""

    def wrong(t: int, d: int, f: int, data: int, model: int) -> dict[str, float]:
        moved = 4 * t * d / (data if tokens else 1)
        held = 8 * d * f / (model if weights else 1)
        paid = {"data": data > 1 or not free, "model": model > 1 or not free}
        return {"data": reductions * held * paid["data"], "model": reductions * passes * moved * paid["model"]}

    return wrong


def step_swapped(t: int, d: int, f: int, data: int, model: int) -> dict[str, float]:
    """Each axis with the other's cost."""
    right = step_bytes(t, d, f, data, model)
    return {"data": right["model"], "model": right["data"]}


def best_mesh(T: int, D: int, F: int, n: int, larger: bool = False, powers: bool = False, alone: bool = False) -> list[int]:
    """The [data, model] of n devices that moves least, by trying all; of equal ones the one with the smaller `model`.

    With a mistake: the `larger` of equal ones; only `powers` of two tried; the dearer axis `alone` counted.
    """
    sizes = [m for m in range(1, n + 1) if n % m == 0 and not (powers and m & (m - 1))]
    meshes = [(n // model, model) for model in (reversed(sizes) if larger else sizes)]
    count = max if alone else sum
    data, model = min(meshes, key=lambda mesh: count(step_bytes(T, D, F, *mesh).values()))
    return [data, model]


def draw_step(rng: random.Random) -> tuple[int, ...]:
    """Tokens, widths, and a mesh that divides them."""
    return (*(16 * rng.randint(1, 64) for _ in range(3)), 2 ** rng.randint(0, 4), 2 ** rng.randint(0, 4))


def draw_sizes(rng: random.Random) -> tuple[int, ...]:
    """Tokens, widths, and a number of devices, which need not be a power of two; every mesh divides the sizes."""
    devices = rng.choice((2, 4, 6, 8, 12, 16, 24, 32, 64))
    thirds = 3 if devices % 3 == 0 else 1
    tokens, width = (64 * 2 ** rng.randint(0, 6) for _ in range(2))
    return thirds * tokens, width, thirds * 256 * rng.randint(1, 16), devices
