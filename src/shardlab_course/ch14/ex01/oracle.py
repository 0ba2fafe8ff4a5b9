"""Chapter 14, exercise 14.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random

import numpy as np

from shardlab_course.ch14.shared import ALL
from shardlab_judge.launches import Global, Launch, Seen


def fed(process: int, seed: int, rows: int, width: int) -> dict[str, np.ndarray]:
    """The rows of both hosts, one below the other, and their mean."""
    batch = np.concatenate([read(host, seed, rows, width) for host in range(2)])
    return {"batch": batch, "mean": batch.mean(0)}


def read(host: int, seed: int, rows: int, width: int) -> np.ndarray:
    """What one host reads."""
    return np.random.default_rng([seed, host]).standard_normal((rows, width)).astype(np.float32)


def fed_twice(process: int, seed: int, rows: int, width: int) -> dict[str, np.ndarray]:
    """The first host's rows, twice."""
    batch = np.concatenate([read(0, seed, rows, width)] * 2)
    return {"batch": batch, "mean": batch.mean(0)}


def swapped(process: int, seed: int, rows: int, width: int) -> dict[str, np.ndarray]:
    """The hosts' rows in the other order."""
    batch = np.concatenate([read(host, seed, rows, width) for host in (1, 0)])
    return {"batch": batch, "mean": batch.mean(0)}


def own_mean(seen: Seen) -> bool:
    """Whether each process returned the mean of its own rows."""
    return all(
        np.allclose(_held(seen, process, "mean"), read(process, *seen.launch.arguments).mean(0), rtol=1e-4, atol=1e-4)
        for process in range(2)
    )


def _held(seen: Seen, process: int, name: str) -> np.ndarray:
    """What a process returned under this name: a list, or what its own first device holds of an array."""
    value = seen.returned[process][name]
    if not isinstance(value, Global):
        return np.asarray(value)
    return next(block for device, _, block in value.shards if device // seen.launch.devices == process)


def copied_within_a_host(seen: Seen) -> bool:
    """Whether the first two devices hold the same slice of the batch."""
    (_, first), (_, second), *_ = seen.returned[0]["batch"].placement.shards
    return bool(first == second)


def feeding(seed: int, rows: int, width: int) -> Launch:
    """A batch of two hosts."""
    return Launch((seed, rows, width), ALL, (("data", None), ()))


def draw_feeding(rng: random.Random) -> Launch:
    """Another seed and another shape."""
    return feeding(rng.randint(10, 99), 4 * rng.randint(1, 4), rng.randint(2, 5))
