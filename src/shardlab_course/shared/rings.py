"""Which chunk lies on which device of a ring, and what permutes carry there: chapters 8 and 12 write rings."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from shardlab_judge.cases import Observed

Made = Callable[[int], np.ndarray]
"""What the device at this place along x would hold."""


def devices(o: Observed) -> int:
    """Devices along x."""
    return dict(o.case.axes)["x"]


def hops(o: Observed) -> int:
    """How often any collective runs that carries at least a quarter of what the largest does."""
    largest = max((c.payload_bytes for c in o.collectives), default=0)
    return sum(c.executions or 0 for c in o.collectives if 4 * c.payload_bytes >= largest)


def along_x(o: Observed, device: int) -> int:
    """The device's place along x."""
    names, sizes = zip(*o.case.axes)
    return int(np.unravel_index(device, sizes)[names.index("x")])


def whole(o: Observed, wanted: np.ndarray) -> bool:
    """Whether the output is as large as `wanted`, and every device holds its slice of it."""
    return o.placements[0].shape == wanted.shape and all(near(block, wanted[index]) for _, index, block in o.shards[0])


def each(o: Observed, made: Made) -> bool:
    """Whether every device holds what is made for its place along x."""
    return all(near(block, made(along_x(o, device))) for device, _, block in o.shards[0])


def near(block: np.ndarray, wanted: np.ndarray) -> bool:
    """Whether they have one shape and nearly the same values."""
    return block.shape == wanted.shape and np.allclose(block, wanted, rtol=1e-4, atol=1e-4)


def only_permutes(o: Observed) -> bool:
    """Whether something moves, and all that moves is permuted."""
    return o.kinds == {"collective-permute"}


def leaps(o: Observed) -> bool:
    """Whether a permute sends anything further than to the next device along x."""
    names, sizes = zip(*o.case.axes)
    pairs = (pair for c in o.collectives if c.kind == "collective-permute" for pair in c.groups)
    return any(not _neighbours(np.subtract(*(np.unravel_index(d, sizes) for d in pair)), names, sizes) for pair in pairs)


def _neighbours(apart: Any, names: tuple[str, ...], sizes: tuple[int, ...]) -> bool:
    n = sizes[names.index("x")]
    return all(int(d) % n in (0, 1, n - 1) if name == "x" else d == 0 for name, d in zip(names, apart))


def is_open(o: Observed) -> bool:
    """Whether some device never gets anything from a permute."""
    count = math.prod(n for _, n in o.case.axes)
    return any(c.kind == "collective-permute" and len(c.groups) < count for c in o.collectives)


def ways(o: Observed) -> int:
    """How many permutations there are, each counted once."""
    return len({frozenset(c.groups) for c in o.collectives if c.kind == "collective-permute"})


def needless(o: Observed) -> bool:
    """Whether permutes bring a device more than the n - 1 blocks of the first input that it lacks."""
    sent = sum(c.payload_bytes * (c.executions or 0) for c in o.collectives)
    return only_permutes(o) and sent > o.inputs[0].nbytes // devices(o) * (devices(o) - 1)


def largest(o: Observed) -> int:
    """Bytes of the largest block that is sent."""
    return max((c.payload_bytes for c in o.collectives), default=0)
