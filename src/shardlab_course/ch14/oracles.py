"""Chapter 14's oracles, cases, and recognisers of known wrong answers: sums over hosts, grids of devices, gradients."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab.placement import Axes, Spec, place
from shardlab.processes.recorded import FOLDER
from shardlab.programs.reading.collectives import crossing
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.processes import ProcessesItem, unequal
from shardlab_judge.launches import Global, Launch, Seen
from shardlab_judge.verdict import Finding

Arrays = tuple[np.ndarray, ...]
Grid = list[list[int]]
WIRES, FEW_WIRES = axes(dcn=2, ici=4), axes(dcn=4, ici=2)
HOSTS, SMALL_HOSTS = axes(host=2, local=4), axes(host=4, local=2)
EACH: Spec = (("dcn", "ici"), None)
ROWS: Spec = (("host", "local"), None)
ALL = axes(data=8)
RUN, STATE = 14, (16, 8)


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
    return any(
        c.axes == ("ici",) and c.kind == "all-reduce" and c.payload_bytes >= whole_bytes(o) for c in o.collectives
    ) and not sends_whole(o)


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


def whole_gradients_cross(o: Observed) -> bool:
    """Whether a device brings more than its part of the gradients to sums over hosts alone."""
    return beyond_a_part(o, [c for c in o.collectives if c.axes == (o.case.slow,) and c.kind == "all-reduce"])


def beyond_a_part(o: Observed, sums: Sequence[Any]) -> bool:
    """Whether these sums take more than the gradients that a device of a host has, if they are cut over its devices."""
    part = sum(a.nbytes for a in o.inputs[2:]) / dict(o.case.axes)["local"]
    return sum(c.payload_bytes * (c.executions or 0) for c in sums) > 1.25 * part


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


def not_begun(item: ProcessesItem, seen: Seen) -> Iterator[Finding]:
    """Where a start is none that is right."""
    yield from unequal(item, seen, lambda process, *arguments: begun(process, seen.returned, *arguments))


def begun(process: int, returned: Sequence[Any], seed: int, samples: int, rows: int) -> dict[str, Any]:
    """The nearest right start: weights from the seed, rows that are shared out, noise that nobody else has."""
    noise = _named(returned[process], "noise")
    return {
        "weights": _normal(seed, (6, 4)),
        "rows": _shared_out(process, returned, seed, samples, rows),
        "noise": noise.whole if _is_noise(noise) else _normal(seed + 1, (16, 4)),
    }


def _named(returned: Any, name: str) -> Any:
    return returned.get(name) if isinstance(returned, Mapping) else None


def _is_noise(noise: Any) -> bool:
    fits = isinstance(noise, Global) and noise.placement.shape == (16, 4)
    return fits and not repeated(noise) and normal(noise.whole)


def normal(values: np.ndarray) -> bool:
    """Whether 64 numbers may well be standard normal ones; their mean and deviation lie within four standard errors."""
    return abs(float(values.mean())) < 0.55 and 0.6 < float(values.std()) < 1.4


def _normal(seed: int, shape: tuple[int, ...]) -> np.ndarray:
    import jax

    return np.asarray(jax.random.normal(jax.random.key(seed), shape))


def _shared_out(process: int, returned: Sequence[Any], seed: int, samples: int, rows: int) -> list[int]:
    """The process's own rows, where those of all make sense together; else some that do."""
    everybody = [_named(each, "rows") for each in returned]
    fit = all(_whole(r, samples, rows) for r in everybody)
    if fit and len(set().union(*everybody)) == rows * len(everybody) and not _rising(everybody):
        return list(everybody[process])
    order = np.random.default_rng(seed).permutation(samples)
    return [int(row) for row in order[process :: len(everybody)][:rows]]


def _whole(listed: Any, samples: int, rows: int) -> bool:
    return isinstance(listed, list) and len(listed) == rows and all(isinstance(r, int) and 0 <= r < samples for r in listed)


def _rising(everybody: Sequence[Any]) -> bool:
    return all(rows == sorted(rows) for rows in everybody)


def in_rising_order(seen: Seen) -> bool:
    """Whether all processes read their rows as they are numbered; by chance they do once in 500 000 starts of 6 rows."""
    return _rising([each["rows"] for each in seen.returned])


def repeated(noise: Global) -> bool:
    """Whether two devices hold the same block of noise."""
    blocks = [np.round(block, 6).tobytes() for _, _, block in noise.shards]
    return len(set(blocks)) < len(blocks)


def repeated_by_host(seen: Seen) -> bool:
    """Whether a device has the noise of the device at the same place in the other host, and of no other."""
    noise = seen.returned[0]["noise"]
    blocks = {device: block for device, _, block in noise.shards}
    n = seen.launch.devices
    same = all(np.allclose(blocks[d], blocks[d + n]) for d in range(n))
    return same and not np.allclose(blocks[0], blocks[1])


def overlap(seen: Seen) -> int:
    """How many rows two hosts have in common."""
    first, second = (set(each["rows"]) for each in seen.returned)
    return len(first & second)


def starting(seed: int, samples: int, rows: int) -> Launch:
    """A first step of two hosts."""
    return Launch((seed, samples, rows), ALL, ((), ("data", None)))


def draw_starting(rng: random.Random) -> Launch:
    """Another seed, and another number of samples."""
    return starting(rng.randint(10, 99), rng.randint(30, 60), rng.randint(6, 9))


def resumed(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """The state after `last` steps of the one run that there is."""
    return _run(0, last)


def _run(first: int, last: int, state: Any = None) -> np.ndarray:
    state = np.random.default_rng(RUN).standard_normal(STATE) if state is None else state
    for step in range(first, last):
        state = 0.9 * state + step
    return np.asarray(state)


def recounted(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """After a restart the steps count from zero again."""
    return _run(0, last - first, _run(0, first))


def not_continued(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """The state as it was saved."""
    return _run(0, first)


def from_zeros(process: int, folder: str, shape: list[int], first: int, last: int, seed: int | None) -> np.ndarray:
    """A restart without the checkpoint: from zeros."""
    return _run(first, last, np.zeros(STATE)) if first else _run(0, last)


def right_state(seen: Seen) -> bool:
    """Whether process 0 holds the values that it should, wherever they lie."""
    state = resumed(0, *seen.launch.arguments)
    held = [(index, block) for device, index, block in seen.returned[0].shards if device < seen.launch.devices]
    return all(np.allclose(block, state[index], rtol=1e-4, atol=1e-4) for index, block in held)


def on_another_mesh(seen: Seen) -> bool:
    """Whether the state lies as on the mesh of an earlier part of the run."""
    earlier = [(2, 4), (4, 2)] if seen.launch.arguments[2] > 0 else []
    others = [axes(rows=r, columns=c) for r, c in earlier if [r, c] != list(seen.launch.arguments[1])]
    return any(seen.returned[0].placement.same_as(place(STATE, mesh, ("rows", "columns"))) for mesh in others)


def nothing_found(seen: Seen) -> bool:
    """Whether a later part of the run raised since it looked for something that is not there."""
    said = re.compile("(?i)not found|does not exist|FileNotFound|No such file")
    return seen.launch.arguments[2] > 0 and any(said.search(error) for error in seen.errors)


def resuming(shape: tuple[int, int], first: int, last: int) -> Launch:
    """One part of a run, on a mesh of this shape; only the first part is told the seed."""
    arguments = (FOLDER, list(shape), first, last, None if first else RUN)
    return Launch(arguments, axes(rows=shape[0], columns=shape[1]), (("rows", "columns"),))


def draw_resuming(rng: random.Random) -> Launch:
    """A third part of the run, on a third mesh."""
    return resuming(rng.choice(((8, 1), (1, 8))), 5, rng.randint(7, 9))
