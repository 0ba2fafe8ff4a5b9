"""Chapter 4, exercise 4.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed


def costs(I: int, J: int, K: int, n: int) -> dict[str, list[int]]:  # noqa: E741
    """Bytes moved and FLOPs of one device for A[I, J_X]·B[J, K] in float32, counted on arrays of these shapes."""
    a, c = (np.empty(shape, np.float32) for shape in ((I, J), (I, K)))
    return {"gather": [a.nbytes, 2 * a.size * K], "reduce": [c.nbytes + c.nbytes, 2 * a[:, : J // n].size * K]}


def seconds(I: int, J: int, K: int, n: int, peak: float, bandwidth: float,  # noqa: E741
            join: Callable[[tuple[float, float]], float] = max) -> dict[str, float]:  # fmt: skip
    """Time of each way, when moving and multiplying overlap perfectly."""
    return {way: join((moved / bandwidth, work / peak)) for way, (moved, work) in costs(I, J, K, n).items()}


def costs_with(*, bytes: int = 4, reductions: int = 2, flops: int = 2, split: bool = False, shard: bool = False,
               devices: bool = False) -> Callable[..., Any]:  # fmt: skip
    """The formulas with one of them wrong.

    Args:
        bytes: an element's.
        reductions: how often an all-reduce moves its array.
        flops: of one term of the product.
        split: whether the gather's work is divided by the devices; `shard`: its bytes; `devices`: all bytes multiplied.
    """

    def costs(i: int, j: int, k: int, n: int) -> dict[str, list[float]]:
        work, moved = flops * i * j * k, bytes * (n if devices else 1)
        gather = [moved * i * j / (n if shard else 1), work / (n if split else 1)]
        return {"gather": gather, "reduce": [moved * reductions * i * k, work / n]}

    return costs


def draw_machine(rng: random.Random) -> tuple[int | float, ...]:
    """Sizes, peak FLOPs a second, and bandwidth in bytes a second."""
    return (*draw_sizes(rng), 10.0 ** rng.randint(9, 15), 10.0 ** rng.randint(8, 11))


def draw_sizes(rng: random.Random) -> tuple[int, int, int, int]:
    """I, J, K and a number of devices that divides J."""
    n = rng.choice((2, 4, 8))
    return rng.randint(1, 99), n * rng.randint(1, 99), rng.randint(1, 99), n


def deep(o: Observed) -> bool:
    """Whether A is more expensive to gather than C is to reduce."""
    (_, j), (_, k) = (x.shape for x in o.inputs)
    return bool(j > 2 * k)
