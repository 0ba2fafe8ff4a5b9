"""Processes: a function that several processes run, judged by what each of them said: it was observed, not compiled.

In a notebook they are launched beside it. A graded notebook is told no situation: the function leaves as text, and the
grader launches it in another sandbox.
"""

from __future__ import annotations

import dataclasses
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_judge import responses
from shardlab_judge.findings import checked, explained, placed_as, raised, short, spec_text
from shardlab_judge.inputs import kind_of
from shardlab_judge.launches import Global, Launch, Seen, arrays_in, seen
from shardlab_judge.question import Check, Item, Judged, Misconception, Response, Setting, holds
from shardlab_judge.rights import near
from shardlab_judge.verdict import Finding

Difference = tuple[str, str, str, str]
SOURCE = 50_000
"""Characters of a function's text; an exercise needs two thousand."""

ELSEWHERE = Misconception(
    "import-inside",
    "A process knows nothing of the notebook: only the text of this function is sent to it. Put imports and "
    "definitions inside the function.",
)
"""Of a name that is not defined in another process."""


@dataclasses.dataclass(frozen=True)
class ProcessesItem(Item):
    """A function that is launched in several processes, as by `sl.launch`, once for each situation.

    Args:
        oracle: `oracle(process, *arguments)`, in NumPy: what that process must return. A NumPy array stands for a global
            array with these values, whose shards on this process's devices are compared; a list for a list.
            Without one, because more than one output is right, a check for V says what is wrong.
        checks: what this question looks at besides, each with the item and what was `Seen`.
        cases: the public situations, at least two.
        draw: one further situation from a random generator.
        drawn: how many further situations the grader draws.
        seconds: the time for all situations with as many processes and devices, which share one launch.
        rtol, atol: tolerances of floats.
    """

    oracle: Callable[..., Any] | None = dataclasses.field(default=None, kw_only=True)
    checks: tuple[Check, ...] = dataclasses.field(default=(), kw_only=True)
    cases: tuple[Launch, ...] = dataclasses.field(kw_only=True)
    draw: Callable[[random.Random], Launch] | None = dataclasses.field(default=None, kw_only=True)
    drawn: int = dataclasses.field(default=1, kw_only=True)
    seconds: float = dataclasses.field(default=20.0, kw_only=True)
    rtol: float = dataclasses.field(default=1e-5, kw_only=True)
    atol: float = dataclasses.field(default=1e-5, kw_only=True)
    kind = "processes"
    sees = ("like", "when", "error")
    form = "a function that each process runs"
    parts = "launches"
    observed = True

    def cases_of(self, question: str, seed: int | None) -> tuple[Launch, ...]:
        """The public situations, then those drawn from `seed`."""
        return self.with_drawn(self.cases, self.draw, self.drawn, question, seed)

    def asks(self, question: str, seed: int | None) -> dict[str, Any]:
        """The situations, and the time for them."""
        return {"cases": [case.to_json() for case in self.cases_of(question, seed)], "seconds": self.seconds}

    @classmethod
    def told(cls, asked: Mapping[str, Any]) -> Mapping[str, Any]:
        """Nothing of the situations."""
        return {"name": asked["name"], "kind": cls.kind}

    @classmethod
    def admit(cls, asked: Mapping[str, Any], raw: Any) -> Response:
        """What the processes of each launch said; where no situation was told, the function's text."""
        if "cases" not in asked:
            return responses.single(raw, "sent", _sent)
        cases = asked["cases"]
        return responses.single(
            raw, "launches", lambda given: list(map(_launch, cases, responses.listed(given, len(cases), exactly=True)))
        )

    def judge(self, response: Response, setting: Setting) -> Judged:
        """Points and findings over all situations, the first finding of each letter; without values nothing else counts."""
        findings: dict[str, Finding] = {}
        before: list[Seen] = []
        for case, launch in zip(self.cases_of(setting.question, setting.seed), response["launches"], strict=True):
            found = _judge_launch(self, case, launch.get("processes", [{"todo": True}] * case.processes), before)
            for finding in found:
                findings.setdefault(finding.letter, finding)
            if any(finding.letter == self.first for finding in found):
                return {}, list(findings.values())
        return {letter: 1.0 for letter in self.points if letter not in findings}, list(findings.values())


def _sent(raw: Any) -> dict[str, str]:
    match raw:
        case {"name": str(name), "source": source, **rest} if name.isidentifier() and not rest:
            return {"name": responses.text(name, responses.KEY), "source": responses.text(source, SOURCE)}
    raise responses.Refused("a function should have a name and a source")


def _launch(case: Mapping[str, Any], raw: Any) -> Response:
    """What the processes of one launch said."""
    devices = case["processes"] * case["devices"]
    many = case["processes"]
    return responses.single(
        raw, "processes", lambda given: [_process(e, devices) for e in responses.listed(given, many, exactly=True)]
    )


def _process(raw: Any, devices: int) -> Response:
    match raw:
        case {"stopped": "time" | "computing" | "peer" as why, "where": str(where), **rest} if not rest:
            return {"stopped": why, "where": responses.said(where, responses.MESSAGE)}
        case {"skipped": True, **rest} if not rest:
            return {"skipped": True}
    return responses.single(raw, "value", lambda value: _returned(responses.value(value), devices))


def _returned(raw: Any, devices: int) -> Any:
    """A value of limited size, in which the descriptions of arrays are looked at too."""
    match raw:
        case {"array": {"placement": placement, "held": held, **more}, **rest} if not more and not rest:
            placed = responses.placement(placement, devices)
            if math.prod(placed["shape"]) > responses.PARTS:
                raise responses.Refused(f"an array has more than {responses.PARTS} elements")
            return {
                "array": {"placement": placed, "held": [_shard(shard, devices) for shard in responses.listed(held, devices)]}
            }
        case dict():
            if "array" in raw:
                raise responses.Refused("an array should have the fields placement and held")
            return {key: _returned(part, devices) for key, part in raw.items()}
        case list():
            return [_returned(part, devices) for part in raw]
    return raw


def _shard(raw: Any, devices: int) -> list[Any]:
    device, values = responses.listed(raw, 2, exactly=True)
    if type(device) is not int or not 0 <= device < devices:
        raise responses.Refused("a shard is on a device that does not exist")
    return [device, _numbers(values)]


def _numbers(raw: Any) -> Any:
    if isinstance(raw, list):
        return [_numbers(part) for part in raw]
    return raw if isinstance(raw, int | float) else responses.fail("a shard holds something other than numbers")


def _judge_launch(item: ProcessesItem, case: Launch, processes: Sequence[Response], before: list[Seen]) -> list[Finding]:
    try:
        observed = dataclasses.replace(seen(case, processes), before=tuple(before))
        before.append(observed)
    except (TypeError, ValueError) as error:
        found = [Finding(item.name, item.first, f"What the processes returned is malformed: {error}.", item.form)]
        return [dataclasses.replace(finding, where=case.title) for finding in found]
    ended = _not_ended(item, observed, processes)
    if ended is not None:
        return [dataclasses.replace(_explained(item, ended, observed), where=case.title)]
    differing = [next(_found(letter, item, observed), None) for letter in item.points]
    return [dataclasses.replace(_explained(item, one, observed), where=case.title) for one in differing if one is not None]


def _found(letter: str, item: ProcessesItem, observed: Seen) -> Iterator[Finding]:
    if letter == "V" and item.oracle is not None:
        yield from unequal(item, observed, item.oracle)
    elif letter == "S":
        yield from _placements(item, observed)
    yield from checked(item.checks, letter, item, observed)


def _not_ended(item: ProcessesItem, observed: Seen, processes: Sequence[Response]) -> Finding | None:
    """The finding where some process returned nothing: it hung, raised, or was not reached."""
    first = item.first
    if observed.hung:
        states = (_state(n, one, observed) for n, one in enumerate(processes))
        what = "The processes waited for one another and did not end in time."
        if "computing" in observed.stopped:
            what = f"Not all processes ended: some are still computing after {item.seconds:g} seconds."
        return Finding(item.name, first, what, "all processes end", "; ".join(states))
    for n, one in enumerate(processes):
        if "error" in one:
            found = raised(item, one["error"], f"Process {n} raised an exception.")
            return explained(found, ELSEWHERE) if found.misconception == "not-defined" else found
    if not all("value" in one for one in processes):
        got = "an exit, or an earlier situation's failure"
        return Finding(item.name, first, "Not every process returned something.", item.form, got)
    return None


def _state(n: int, one: Response, observed: Seen) -> str:
    if observed.stopped[n]:
        return f"process {n}: {short(observed.where[n] or 'stopped', 160)}"
    return f"process {n}: {short(observed.errors[n], 160) or ('returned' if 'value' in one else 'not reached')}"


def _explained(item: ProcessesItem, finding: Finding, observed: Seen) -> Finding:
    if finding.misconception or "computing" in observed.stopped:  # each known cause of a hang lets all of them wait
        return finding
    return explained(finding, _misconception(item, observed, finding.letter))


def _misconception(item: ProcessesItem, observed: Seen, letter: str) -> Misconception | None:
    for known in item.misconceptions:
        if known.when is not None and holds(known.when, observed):
            return known
        if letter == "V" and known.like is not None and _equals(item, observed, known.like):
            return known
    return None


def _equals(item: ProcessesItem, observed: Seen, wrong: Callable[..., Any]) -> bool:
    try:
        return next(unequal(item, observed, wrong), None) is None
    except Exception:  # a known wrong answer that does not fit this situation recognises nothing
        return False


def unequal(item: ProcessesItem, observed: Seen, oracle: Callable[..., Any]) -> Iterator[Finding]:
    """Where processes returned something else than this oracle says."""
    for process, got in enumerate(observed.returned):
        right = oracle(process, *observed.launch.arguments)
        for path, what, expected, was in _differences(right, got, process, observed.launch, item):
            at = f" in {path}" if path else ""
            yield Finding(item.name, "V", f"Process {process}{at}: {what}", short(expected), short(was))


def _differences(
    right: Any, got: Any, process: int, case: Launch, item: ProcessesItem, path: str = ""
) -> Iterator[Difference]:
    """What differs: where in the returned value, what, what was expected and what there was."""
    if isinstance(right, np.ndarray):
        yield from _array_differences(right, got, process, case, item, path)
    elif isinstance(right, Mapping):
        if not isinstance(got, Mapping) or set(got) != set(right):
            yield path, "it does not have the right entries.", f"a dict with the keys {list(right)}", _kind(got)
            return
        for key, part in right.items():
            yield from _differences(part, got[key], process, case, item, f"{path}[{key!r}]")
    elif isinstance(right, list | tuple):
        if not isinstance(got, list) or len(got) != len(right):
            yield path, "it is not a list of the right length.", f"a list of {len(right)}", _kind(got)
            return
        for n, part in enumerate(right):
            yield from _differences(part, got[n], process, case, item, f"{path}[{n}]")
    elif not _same(right, got, item):
        yield path, "the value is different.", repr(right), _kind(got)


def _array_differences(
    right: np.ndarray, got: Any, process: int, case: Launch, item: ProcessesItem, path: str
) -> Iterator[Difference]:
    if not isinstance(got, Global):
        yield path, "it is not a JAX array.", f"a global array {list(right.shape)}", _kind(got)
        return
    if got.placement.shape != right.shape:
        yield path, "the global array has the wrong shape.", str(list(right.shape)), str(list(got.placement.shape))
        return
    kind = np.dtype("float32") if right.dtype.kind == "f" else right.dtype
    if kind_of(got.placement.dtype or "") != kind.kind:
        yield path, "the array has the wrong dtype.", kind.name, str(got.placement.dtype)
        return
    own = [shard for shard in got.shards if shard[0] // case.devices == process]
    if not own:
        yield path, f"process {process} holds no part of it.", f"a global array {list(right.shape)}", "no shard"
    for device, index, block in own:
        close = near(block, right[index], item.rtol, item.atol)
        if not close.all():
            worst = np.unravel_index(np.argmin(close), close.shape)
            at = tuple(int(i) + s.start for i, s in zip(worst, index))
            what = f"{int((~close).sum())} of {close.size} elements on device {device} are wrong."
            yield path, what, f"{right[at]:.6g} at {list(at)}", f"{block[worst]:.6g}"


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
            yield Finding(item.name, "S", f"Process {process} returns the wrong number of arrays.", *counts)
            return
        for n, (array, spec) in enumerate(zip(arrays, case.outputs)):
            target = placed_as(array.placement.shape, case.axes, spec) if spec is not None else None
            if spec is not None and (target is None or not array.placement.same_as(target)):
                right = placed_as(_right_shapes(item, observed, process, arrays)[n], case.axes, spec)
                pictures = None if right is None else (right, array.placement)
                what = "The array has the wrong sharding."
                got = spec_text(array.placement.spec)
                yield Finding(item.name, "S", what, spec_text(spec), got, pictures=pictures)


def _right_shapes(item: ProcessesItem, observed: Seen, process: int, arrays: Sequence[Global]) -> list[tuple[int, ...]]:
    """The shapes that the arrays should have; their own, where more than one return value is right."""
    rights = [] if item.oracle is None else arrays_in(item.oracle(process, *observed.launch.arguments), np.ndarray)
    return [right.shape for right in rights] if len(rights) == len(arrays) else [each.placement.shape for each in arrays]
