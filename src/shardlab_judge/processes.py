"""Judging what was observed of several processes: values and placements, process by process."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab.placement import Placement, place
from shardlab_judge.findings import Entry, Judged, asked, explained, raised, short
from shardlab_judge.processes_item import Global, Launch, ProcessesItem, Seen
from shardlab_judge.programs import spec_text
from shardlab_judge.question import Miss
from shardlab_judge.verdict import Finding

MOST = 20_000
"""Elements of one array; an exercise needs a few hundred."""


def judge_processes(item: ProcessesItem, cases: Sequence[Launch], entries: Sequence[Entry]) -> Judged:
    """Points and findings over all situations, the first finding of each letter; without values nothing else counts."""
    findings: dict[str, Finding] = {}
    for case, entry in zip(cases, entries, strict=True):
        found = _judge_launch(item, case, entry["processes"] if "processes" in entry else [{"todo": True}] * case.processes)
        for finding in found:
            findings.setdefault(finding.letter, finding)
        if any(finding.letter == _first(item) for finding in found):
            return {}, list(findings.values())
    return {letter: 1.0 for letter in item.points if letter not in findings}, list(findings.values())


def seen(case: Launch, entries: Sequence[Entry]) -> Seen:
    """The entries of one launch, with arrays put together.

    Raises:
        ValueError: an array's description does not fit its placement, or the processes.
    """
    values = [entry.get("value") for entry in entries]
    errors = tuple(f"{e['error']['type']}: {e['error']['message']}" if "error" in e else "" for e in entries)
    stopped = tuple(entry.get("stopped", "") for entry in entries)
    where = tuple(entry.get("where", "") for entry in entries)
    return Seen(case, tuple(_gathered(value, values, (), case) for value in values), errors, stopped, where)


def _judge_launch(item: ProcessesItem, case: Launch, entries: Sequence[Entry]) -> list[Finding]:
    try:
        observed = seen(case, entries)
    except ValueError as error:
        found = [Finding(item.name, _first(item), f"What the processes returned is malformed: {error}.", asked(item))]
        return [dataclasses.replace(finding, where=case.title) for finding in found]
    ended = _not_ended(item, observed, entries)
    if ended is not None:
        return [dataclasses.replace(_explained(item, ended, observed), where=case.title)]
    judges = {"V": _values, "S": _placements}
    differing = [next(judges[letter](item, observed), None) for letter in judges if letter in item.points]
    return [dataclasses.replace(_explained(item, one, observed), where=case.title) for one in differing if one is not None]


def _not_ended(item: ProcessesItem, observed: Seen, entries: Sequence[Entry]) -> Finding | None:
    """The finding where some process returned nothing: it hung, raised, or was not reached."""
    first = _first(item)
    if observed.hung:
        states = (_state(n, entry, observed) for n, entry in enumerate(entries))
        what = "The processes wait for one another, and did not end in time."
        return Finding(item.name, first, what, "all processes come to their end", "; ".join(states))
    for n, entry in enumerate(entries):
        if "error" in entry:
            return raised(item, entry["error"], f"Process {n} raised an exception.")
    if not all("value" in entry for entry in entries):
        got = "an exit, or an earlier situation's failure"
        return Finding(item.name, first, "Not every process returned something.", asked(item), got)
    return None


def _state(n: int, entry: Entry, observed: Seen) -> str:
    if observed.stopped[n]:
        return f"process {n}: {short(observed.where[n] or 'stopped', 160)}"
    return f"process {n}: {short(observed.errors[n], 160) or ('returned' if 'value' in entry else 'not reached')}"


def _explained(item: ProcessesItem, finding: Finding, observed: Seen) -> Finding:
    return finding if finding.miss else explained(finding, _miss(item, observed, finding.letter))


def _miss(item: ProcessesItem, observed: Seen, letter: str) -> Miss | None:
    for miss in item.misses:
        if miss.when is not None and _holds(miss.when, observed):
            return miss
        if letter == "V" and miss.like is not None and _equals(item, observed, miss.like):
            return miss
    return None


def _holds(when: Callable[[Any], bool], observed: Seen) -> bool:
    try:
        return bool(when(observed))
    except Exception:  # a predicate over arrays that these processes did not return
        return False


def _equals(item: ProcessesItem, observed: Seen, wrong: Callable[..., Any]) -> bool:
    try:
        return next(_values(dataclasses.replace(item, oracle=wrong, several=False), observed), None) is None
    except Exception:  # a known wrong answer that does not fit this situation recognises nothing
        return False


def _values(item: ProcessesItem, observed: Seen) -> Iterator[Finding]:
    for process, got in enumerate(observed.returned):
        before = (observed.returned,) if item.several else ()
        right = item.oracle(process, *before, *observed.launch.arguments)
        for path, what, expected, was in _differences(right, got, process, observed.launch, item):
            at = f" in {path}" if path else ""
            yield Finding(item.name, "V", f"Process {process}{at}: {what}", short(expected), short(was))


Difference = tuple[str, str, str, str]


def _differences(
    right: Any, got: Any, process: int, case: Launch, item: ProcessesItem, path: str = ""
) -> Iterator[Difference]:
    """What differs: where in the returned value, what, what was expected and what there was."""
    if isinstance(right, np.ndarray):
        yield from _array_differences(right, got, process, case, item, path)
    elif isinstance(right, Mapping):
        if not isinstance(got, Mapping) or set(got) != set(right):
            yield path, "it has other entries.", f"a dict with the keys {list(right)}", _kind(got)
            return
        for key, part in right.items():
            yield from _differences(part, got[key], process, case, item, f"{path}[{key!r}]")
    elif isinstance(right, list | tuple):
        if not isinstance(got, list) or len(got) != len(right):
            yield path, "it is another kind of list.", f"a list of {len(right)}", _kind(got)
            return
        for n, part in enumerate(right):
            yield from _differences(part, got[n], process, case, item, f"{path}[{n}]")
    elif not _same(right, got, item):
        yield path, "the value is another one.", repr(right), _kind(got)


def _array_differences(
    right: np.ndarray, got: Any, process: int, case: Launch, item: ProcessesItem, path: str
) -> Iterator[Difference]:
    if not isinstance(got, Global):
        yield path, "it is no JAX array.", f"a global array {list(right.shape)}", _kind(got)
        return
    if got.placement.shape != right.shape:
        yield path, "the global array has another shape.", str(list(right.shape)), str(list(got.placement.shape))
        return
    kind = np.dtype("float32") if np.issubdtype(right.dtype, np.floating) else right.dtype
    if _kind_of(got.placement.dtype or "") != kind.kind:
        yield path, "the array has another dtype.", kind.name, str(got.placement.dtype)
        return
    for device, index, block in got.shards:
        if device // case.devices != process:
            continue
        close = np.isclose(block, right[index], rtol=item.rtol, atol=item.atol)
        if not close.all():
            worst = np.unravel_index(np.argmin(close), close.shape)
            at = tuple(int(i) + s.start for i, s in zip(worst, index))
            what = f"{int((~close).sum())} of {close.size} elements on device {device} are wrong."
            yield path, what, f"{right[at]:.6g} at {list(at)}", f"{block[worst]:.6g}"


def _kind_of(dtype: str) -> str:
    return "f" if dtype.startswith(("bfloat", "float")) else np.dtype(dtype).kind


def _same(right: Any, got: Any, item: ProcessesItem) -> bool:
    if isinstance(right, np.generic):
        right = right.item()
    if isinstance(right, float) and isinstance(got, int | float) and not isinstance(got, bool):
        return bool(np.isclose(got, right, rtol=item.rtol, atol=item.atol))
    return type(right) is type(got) and bool(right == got)


def _kind(got: Any) -> str:
    if isinstance(got, Global):
        return f"a JAX array {list(got.placement.shape)}"
    return f"a dict with the keys {list(got)}" if isinstance(got, Mapping) else repr(got)


def _placements(item: ProcessesItem, observed: Seen) -> Iterator[Finding]:
    case = observed.launch
    for process in range(case.processes):
        arrays = observed.arrays(process)
        if len(arrays) != len(case.outputs):
            counts = str(len(case.outputs)), str(len(arrays))
            yield Finding(item.name, "S", f"Process {process} returns another number of arrays.", *counts)
            return
        for array, spec in zip(arrays, case.outputs):
            target = place(array.placement.shape, case.axes, spec) if spec is not None and _fits(array, case, spec) else None
            if spec is not None and (target is None or not array.placement.same_as(target)):
                pictures = None if target is None else (dataclasses.replace(target, axes=None, spec=None), array.placement)
                what = "The array lies elsewhere."
                got = spec_text(array.placement.spec)
                yield Finding(item.name, "S", what, spec_text(spec), got, pictures=pictures)


def _fits(array: Global, case: Launch, spec: Any) -> bool:
    try:
        place(array.placement.shape, case.axes, spec)
    except ValueError:
        return False
    return True


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
    held = sorted((device, values) for other in everywhere for device, values in other["held"])
    for device, values in held:
        if device not in indices:
            raise ValueError(f"device {device} holds a shard that the placement does not give it")
        block, index = np.asarray(values, dtype="float64"), indices[device]
        if block.shape != whole[index].shape:
            raise ValueError(f"the shard of device {device} has another shape than its slice")
        copies = copies and bool(np.array_equal(whole[index][known[index]], block[known[index]]))
        whole[index], known[index] = block, True
        shards.append((device, index, block))
    return Global(placement, tuple(shards), whole, copies)


def _first(item: ProcessesItem) -> str:
    return next(iter(item.points))
