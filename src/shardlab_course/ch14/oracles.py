"""Chapter 14's oracles: sums over hosts, grids of devices, gradients; with cases and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlens import Axes, Spec, crossing

Arrays = tuple[np.ndarray, ...]
Grid = list[list[int]]
WIRES, FEW_WIRES = axes(dcn=2, ici=4), axes(dcn=4, ici=2)
HOSTS, SMALL_HOSTS = axes(host=2, local=4), axes(host=4, local=2)
EACH: Spec = (("dcn", "ici"), None)
ROWS: Spec = (("host", "local"), None)


def summed(x: np.ndarray) -> np.ndarray:
    """The devices' rows added up."""
    total = np.zeros_like(x[0])
    for row in x:
        total = total + row
    return total


def averaged(x: np.ndarray) -> np.ndarray:
    """The sum divided by the number of devices."""
    return summed(x) / len(x)


def own_host(at: Mapping[str, int], x: np.ndarray) -> np.ndarray:
    """A device's own row, as if nothing were added."""
    return x[0]


def one_axis(o: Observed, axis: str) -> bool:
    """Whether each device has the sum over one mesh axis alone."""
    sizes = dict(o.case.axes)
    x = o.inputs[0].reshape(*sizes.values(), -1).astype(np.float64)
    along = list(sizes).index(axis)
    parts = x.sum(along)
    other = next(name for name in sizes if name != axis)
    inner = sizes[list(sizes)[1]]
    return all(
        np.allclose(block, parts[device // inner if other == "dcn" else device % inner], rtol=1e-4, atol=1e-4)
        for device, _, block in o.shards[0]
    )


def pieces(o: Observed, axis: str, sort: str) -> bool:
    """Whether some collective of this kind runs along this axis alone."""
    return any(c.axes == (axis,) and c.kind == sort for c in o.collectives)


def whole_bytes(o: Observed) -> int:
    """Bytes of one device's whole row."""
    return int(o.inputs[0][0].nbytes)


def sends_whole(o: Observed) -> bool:
    """Whether all of a row goes along the slow axis alone, in one all-reduce."""
    reduced = (c for c in o.collectives if c.axes == (o.case.slow,) and c.kind == "all-reduce")
    return any(c.payload_bytes >= whole_bytes(o) for c in reduced)


def is_sum(o: Observed) -> bool:
    """Whether every device has the sum, wherever it lies."""
    right = summed(o.inputs[0].astype(np.float64))
    return all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=1e-3, atol=1e-3)
        for _, index, block in o.shards[0]
    )


def scatters_whole(o: Observed) -> bool:
    """Whether a whole row goes into a reduce-scatter along the slow axis."""
    return any(
        c.axes == (o.case.slow,) and c.kind == "reduce-scatter" and c.operand_bytes >= whole_bytes(o) for c in o.collectives
    )


def scatters_over(o: Observed, axis: str) -> bool:
    """Whether some reduce-scatter runs along this axis, alone or with another one."""
    return any(c.kind == "reduce-scatter" and axis in c.axes for c in o.collectives)


def flat(o: Observed) -> bool:
    """Whether a whole row goes through collectives with groups of all devices, over both axes."""
    wide = (c for c in o.collectives if len(c.axes) == 2 and c.kind != "collective-permute")
    return sum(max(c.payload_bytes, c.operand_bytes) * (c.executions or 0) for c in wide) >= whole_bytes(o)


def cuts_after(o: Observed) -> bool:
    """Whether the fast axis sums whole rows everywhere before a part is taken."""
    return (
        any(c.axes == ("ici",) and c.kind == "all-reduce" and c.payload_bytes >= whole_bytes(o) for c in o.collectives)
        and not sends_whole(o)
        and o.slow < whole_bytes(o)
    )


def rounds(o: Observed) -> int:
    """How many permutes cross the slow axis."""
    slow = crossing(o.collectives, o.case.axes, o.case.slow)
    return sum((c.executions or 0) for c in slow if c.kind == "collective-permute")


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


def reduction(mesh: Axes, width: int) -> Case:
    """One row of terms on each device; their sum everywhere."""
    return Case(mesh, (Input((8, width), EACH),), ((),), slow="dcn")


def draw_reduction(rng: random.Random) -> Case:
    """Another width, on one of the two meshes."""
    return reduction(rng.choice((WIRES, FEW_WIRES)), 8 * rng.randint(5, 30))


def training(mesh: Axes, rows: int, width: int, hidden: int) -> Case:
    """Samples over all devices, both weights whole; gradients whole."""
    data = Input((rows, width), ROWS)
    return Case(mesh, (data, data, Input((width, hidden)), Input((hidden, width))), ((), ()), slow="host")


def draw_training(rng: random.Random) -> Case:
    """Many samples, as data parallelism likes them, and other sizes that are not equal."""
    width, hidden = 8 * rng.randint(1, 2), 8 * rng.randint(5, 7)
    return training(rng.choice((HOSTS, SMALL_HOSTS)), 8 * rng.randint(60, 70), width, hidden)
