"""Chapter 14's processes: what each of two must return in 14.1, 14.4 and 14.5; with recognisers of wrong answers."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab.processes.recorded import FOLDER
from shardlab_judge.cases import axes
from shardlab_judge.items.processes import ProcessesItem, unequal
from shardlab_judge.launches import Global, Launch, Seen
from shardlab_judge.verdict import Finding
from shardlens import place

ALL = axes(data=8)
RUN, STATE = 14, (16, 8)


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


def repeated_by_device(seen: Seen) -> bool:
    """Whether devices hold the same draw; a constant is none."""
    noise = seen.returned[0]["noise"]
    return repeated(noise) and bool(noise.whole.std() > 0)


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
    return Launch((seed, samples, rows), ALL, (("data", None), ()))


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
