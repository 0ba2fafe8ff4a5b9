"""Launches: the situations in which several processes are judged, and what these said, put together."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from shardlab_judge.question import Response
from shardlens import Axes, Placement, Spec

Array = TypeVar("Array")
MOST = 20_000
"""Elements of one array; an exercise needs a few hundred."""


@dataclasses.dataclass(frozen=True)
class Launch:
    """One situation: how many processes of how many devices, and what the function is called with.

    Args:
        arguments: what JSON can hold.
        axes: the mesh, over all devices in the order of `jax.devices()`, that `outputs` are specs for.
        outputs: for each array that the function returns, in the order of `jax.tree.leaves`, the spec that it must have;
            `None` where any placement is right.
    """

    arguments: tuple[Any, ...] = ()
    axes: Axes = ()
    outputs: tuple[Spec | None, ...] = ()
    processes: int = 2
    devices: int = 4

    def to_json(self) -> dict[str, Any]:
        """What the student's process needs to launch."""
        return {"processes": self.processes, "devices": self.devices, "arguments": list(self.arguments)}

    @property
    def title(self) -> str:
        """The situation in a few words, for messages."""
        arguments = ", ".join(map(repr, self.arguments))
        return f"{self.processes} processes with {self.devices} devices each, called with ({arguments})"


@dataclasses.dataclass(frozen=True)
class Global:
    """A global array, put together from what all processes hold of it; `whole` is 0 where nobody holds anything.

    `shards` are the (device, index, values) of every process; `copies` says whether those that hold the same index agree.
    """

    placement: Placement
    shards: tuple[tuple[int, tuple[slice, ...], np.ndarray], ...]
    whole: np.ndarray
    copies: bool


@dataclasses.dataclass(frozen=True)
class Seen:
    """What every process of one launch said, for `Misconception.when`.

    Args:
        launch: the situation.
        returned: by process what the function returned, a `Global` in place of each array; `None` where it did not.
        errors: by process "Type: message" of its exception, else empty.
        stopped: by process "time" (all waited), "computing" (some computed) or "peer" where it was stopped, else empty.
        where: by process the line where it was when the time was over.
        before: what the same function did in the situations before this one.
    """

    launch: Launch
    returned: tuple[Any, ...]
    errors: tuple[str, ...]
    stopped: tuple[str, ...]
    where: tuple[str, ...]
    before: tuple[Seen, ...] = ()

    @property
    def hung(self) -> bool:
        """Whether some process had not ended when the time was over."""
        return "time" in self.stopped or "computing" in self.stopped

    def arrays(self, process: int = 0) -> tuple[Global, ...]:
        """The arrays in what a process returned, those of a dict by their keys, in whatever order it was made."""
        return tuple(arrays_in(self.returned[process], Global))


def seen(case: Launch, processes: Sequence[Response]) -> Seen:
    """What the processes of one launch said, with arrays put together.

    Raises:
        ValueError: an array's description does not fit its placement, or the processes.
    """
    values = [one.get("value") for one in processes]
    errors = tuple(f"{one['error']['type']}: {one['error']['message']}" if "error" in one else "" for one in processes)
    stopped = tuple(one.get("stopped", "") for one in processes)
    where = tuple(one.get("where", "") for one in processes)
    return Seen(case, tuple(_gathered(value, values, (), case) for value in values), errors, stopped, where)


def arrays_in(returned: Any, kind: type[Array]) -> list[Array]:
    """The arrays of this kind in what was returned, those of a dict by their keys, in whatever order it was made."""
    match returned:
        case _ if isinstance(returned, kind):
            return [returned]
        case dict():
            return [array for key in sorted(returned) for array in arrays_in(returned[key], kind)]
        case list() | tuple():
            return [array for part in returned for array in arrays_in(part, kind)]
    return []


def _gathered(value: Any, values: Sequence[Any], path: tuple[Any, ...], case: Launch) -> Any:
    """The value with a `Global` in place of each array, from what all processes hold of it."""
    match value:
        case {"array": raw, **rest} if not rest:
            same = (_at(other, path) for other in values)
            arrays = [other["array"] for other in same if isinstance(other, Mapping) and "array" in other]
            # A process that made an array of its own, or believes in another shape, holds nothing of this one.
            return _global(raw, [array for array in arrays if array["placement"] == raw["placement"]], case)
        case Mapping():
            return {key: _gathered(part, values, (*path, key), case) for key, part in value.items()}
        case list():
            return [_gathered(part, values, (*path, n), case) for n, part in enumerate(value)]
    return value


def _at(value: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        fits = isinstance(value, Mapping) and step in value or isinstance(value, list) and isinstance(step, int)
        if not fits or isinstance(value, list) and step >= len(value):
            return None
        value = value[step]
    return value


def _global(raw: Any, everywhere: Sequence[Any], case: Launch) -> Global:
    placement = Placement.from_json(raw["placement"], devices=case.processes * case.devices)
    if math.prod(placement.shape) > MOST:
        raise ValueError(f"an array has more than {MOST} elements")
    indices = {device: tuple(slice(*part) for part in index) for device, index in placement.shards}
    whole = np.zeros(placement.shape, dtype="float64")
    known = np.zeros(placement.shape, dtype=bool)
    shards, copies = [], True
    held = sorted(((device, values) for other in everywhere for device, values in other["held"]), key=lambda one: one[0])
    for device, values in held:
        if device not in indices:
            raise ValueError(f"device {device} holds a shard that the placement does not give it")
        block, index = np.asarray(values, dtype="float64"), indices[device]
        if block.size == whole[index].size == 0:
            block = whole[index]
        if block.shape != whole[index].shape:
            raise ValueError(f"the shard of device {device} does not have the shape of its slice")
        copies = copies and bool(np.array_equal(whole[index][known[index]], block[known[index]]))
        whole[index], known[index] = block, True
        shards.append((device, index, block))
    return Global(placement, tuple(shards), whole, copies)
