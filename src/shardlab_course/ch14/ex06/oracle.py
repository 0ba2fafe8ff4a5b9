"""Chapter 14, exercise 14.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec, crossing

Arrays = tuple[np.ndarray, ...]
Grid = list[list[int]]
HOSTS, SMALL_HOSTS = axes(host=2, local=4), axes(host=4, local=2)
ROWS: Spec = (("host", "local"), None)


def grid(process_of: Sequence[int]) -> Grid:
    """Device numbers, one row for each process, processes and devices in rising order."""
    rows = []
    for process in sorted(set(process_of)):
        rows.append([device for device, owner in enumerate(process_of) if owner == process])
    return rows


def in_order(process_of: Sequence[int]) -> Grid:
    """As many rows as processes, filled with devices as they are numbered."""
    hosts = len(set(process_of))
    return np.arange(len(process_of)).reshape(hosts, -1).tolist()


def seed_mesh(process_of: Sequence[int]) -> Grid:
    """Local by hosts, the wrong way round: devices as they are numbered, in rows as long as there are processes."""
    hosts = len(set(process_of))
    return np.arange(len(process_of)).reshape(-1, hosts).tolist()


def turned(process_of: Sequence[int]) -> Grid:
    """The right rows as columns."""
    return np.array(grid(process_of)).T.tolist()


def first_come(process_of: Sequence[int]) -> Grid:
    """Rows in the order in which the processes appear."""
    rows: dict[int, list[int]] = {}
    for device, owner in enumerate(process_of):
        rows.setdefault(owner, []).append(device)
    return list(rows.values())


def draw_processes(rng: random.Random) -> tuple[list[int]]:
    """Equally many devices of each of some processes, in any order."""
    owners = [process for process in range(rng.choice((2, 3, 4))) for _ in range(rng.choice((2, 4)))]
    counts = {process: owners.count(process) for process in owners}
    owners = [process for process in counts for _ in range(max(counts.values()))]
    rng.shuffle(owners)
    return (owners,)


def slopes(x: np.ndarray, y: np.ndarray, w1: np.ndarray, w2: np.ndarray) -> Arrays:
    """Gradients of the mean squared error of two layers with a relu between, sample by sample."""
    totals = np.zeros_like(w1), np.zeros_like(w2)
    for sample, wanted in zip(x, y):
        hidden = sample @ w1
        active = np.maximum(hidden, 0)
        error = 2 * (active @ w2 - wanted) / y.size
        totals[0][...] += np.outer(sample, (w2 @ error) * (hidden > 0))
        totals[1][...] += np.outer(active, error)
    return totals


def multiplied(o: Observed, factor: float) -> bool:
    """Whether the outputs are this multiple of the gradients."""
    right = slopes(*(a.astype(np.float64) for a in o.inputs))
    return len(o.shards) == len(right) and all(
        np.shape(w[index]) == block.shape and np.allclose(block, factor * w[index], rtol=1e-3, atol=1e-5 * max(1, factor))
        for shards, w in zip(o.shards, right)
        for _, index, block in shards
    )


def activations_cross(o: Observed) -> bool:
    """Whether something with a dimension of the batch crosses the slow axis."""
    rows = o.inputs[0].shape[0]
    parts = {rows // n for n in (1, *dict(o.case.axes).values(), 8)}
    return any(parts & set(shape) for c in crossing(o.collectives, o.case.axes, o.case.slow) for _, shape in _arrays(c))


def all_devices_sum_whole(o: Observed) -> bool:
    """Whether sums over all devices at once take both gradients whole."""
    return _summed_bytes(o, dict(o.case.axes)) >= sum(a.nbytes for a in o.inputs[2:])


def whole_gradients_cross(o: Observed) -> bool:
    """Whether sums over hosts, alone or with others, take more than a device's part of gradients cut in its host."""
    part = sum(a.nbytes for a in o.inputs[2:]) / dict(o.case.axes)["local"]
    return _summed_bytes(o, (o.case.slow,)) > 1.25 * part


def _summed_bytes(o: Observed, over: Collection[str]) -> int:
    sums = (c for c in o.collectives if c.kind == "all-reduce" and set(over) <= set(c.axes))
    return sum(c.payload_bytes * (c.executions or 0) for c in sums)


def _arrays(c: Any) -> Any:
    return c.arrays or ((c.dtype, c.shape),)


def training(mesh: Axes, rows: int, width: int, hidden: int) -> Case:
    """Samples over all devices, both weights whole; gradients whole."""
    data = Input((rows, width), ROWS)
    return Case(mesh, (data, data, Input((width, hidden)), Input((hidden, width))), ((), ()), slow="host")


def draw_training(rng: random.Random) -> Case:
    """Many samples, as data parallelism likes them, and other sizes that are not equal."""
    width, hidden = 8 * rng.randint(1, 2), 8 * rng.randint(5, 7)
    return training(rng.choice((HOSTS, SMALL_HOSTS)), 8 * rng.randint(60, 70), width, hidden)
