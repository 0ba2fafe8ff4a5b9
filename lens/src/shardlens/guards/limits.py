"""What a program may communicate, by axis, kind, round, time and memory, and what of it is broken by which collectives."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple

from shardlens.errors import LensError, shown
from shardlens.programs.program import Program
from shardlens.reading.collectives import COLLECTIVE_KINDS, REMOTE, UNKNOWN, Collective, price
from shardlens.tables import read_bytes, seconds

Bytes = int | str
"""A number of bytes, or `"3 MB"`."""


class Fault(NamedTuple):
    """What is more than it may be, in a sentence, and the collectives that make it so."""

    sentence: str
    by: tuple[Collective, ...]


@dataclasses.dataclass(frozen=True)
class Limits:
    """What a program may do; `None` where there is no limit.

    Args:
        at_most: bytes that one device may move, in all or by mesh axis. A collective counts for each axis that it crosses,
            and for every axis where its groups are not whole axes.
        kinds: the kinds of collectives that it may have.
        no: the kinds that it may not have.
        only_over: the mesh axes that collectives may cross.
        per_round: bytes in one round of the loops whose number of rounds depends on data; `at_most` is then for all else.
        time: seconds that its collectives may take on the target, by the model of `cost`.
        memory: bytes that it may take of a device's main memory; on CPU all temporaries count, whose peak leaves them out.
    """

    at_most: Bytes | Mapping[str, Bytes] | None = None
    kinds: Collection[str] | None = None
    no: Collection[str] = ()
    only_over: Collection[str] | None = None
    per_round: Bytes | None = None
    time: float | None = None
    memory: Bytes | None = None

    def __post_init__(self) -> None:
        every = [*self.at_most.values()] if isinstance(self.at_most, Mapping) else [self.at_most]
        for name, limits in {"at_most": every, "per_round": [self.per_round], "memory": [self.memory]}.items():
            for limit in limits:
                _need_bytes(name, limit)
        for name, words in {"kinds": self.kinds, "no": self.no, "only_over": self.only_over}.items():
            _need_words(name, words)
        for name in ("kinds", "no"):
            _need_kinds(name, getattr(self, name) or ())
        if self.time is not None and not isinstance(self.time, int | float):
            raise _no_limit("time", self.time, "give seconds: time=0.01.")

    def broken(self, program: Program, target: str | None, axes: Collection[str]) -> Iterator[Fault]:
        """What is broken, a sentence each.

        Args:
            program: compiled for `target`.
            axes: the axes of its mesh.
        Raises:
            LensError: a limit is for an axis that the mesh does not have, or for a time without a target.
        """
        if program.refused:
            yield Fault(program.too_large, ())
        yield from self._kinds(program)
        rounds = tuple(c for c in program.collectives if c.executions is None)
        counted = program.collectives
        if self.per_round is not None:
            counted = tuple(c for c in counted if c.executions is not None)
            yield from _more("in a round of the loops", tuple(map(_of_a_round, rounds)), read_bytes(self.per_round), rounds)
        if isinstance(self.at_most, Mapping):
            _known(self.at_most, axes)
            for axis, most in self.at_most.items():
                over = tuple(c for c in counted if axis in c.axes or not c.axes)
                yield from _more(f"over {axis}", over, read_bytes(most), over)
        elif self.at_most is not None:
            yield from _more("", counted, read_bytes(self.at_most), ())
        yield from self._time_and_memory(program, target)
        if self.only_over is not None:
            _known(self.only_over, axes)
            others = tuple(c for c in program.collectives if not c.axes or not {*c.axes} <= {*self.only_over})
            if others:
                crossed = "; ".join(sorted({", ".join(c.axes) or "groups" for c in others}))
                yield Fault(f"it communicates over {crossed}; allowed: {', '.join(self.only_over) or 'none'}", others)

    def _kinds(self, program: Program) -> Iterator[Fault]:
        allowed = f"; allowed: {', '.join(sorted(self.kinds or ())) or 'none'}"
        others = program.kinds - {*self.kinds} if self.kinds is not None else frozenset[str]()
        for kinds, said in ((others, allowed), (program.kinds & {*self.no}, ", which it may not have")):
            if kinds:
                by = tuple(c for c in program.collectives if c.kind in kinds)
                yield Fault(f"it has {', '.join(sorted(kinds))}{said}", by)

    def _time_and_memory(self, program: Program, target: str | None) -> Iterator[Fault]:
        if self.memory is not None:
            takes = program.memory.together if program.platform == "cpu" else program.memory.main
            if takes > (most := read_bytes(self.memory)):
                yield Fault(f"it takes {takes:,} bytes on a device, {takes - most:,} more than {most:,}", ())
        if self.time is None:
            return
        if target is None:
            mend = "add target=, such as target='v5e:2x4'."
            raise LensError("time-without-target", "time= needs a target.", where=f"time={self.time!r}", mend=mend)
        taken, unsure = program.cost(target), f"nobody can say that it takes at most {seconds(self.time)}"
        if unknown := [c for c in program.collectives if c.uncounted or c.executions is None]:
            yield Fault(f"{unsure}: {unknown[0].name} is not counted", ())
        if taken.untimed:
            yield Fault(f"{unsure}: there is no number for the network between slices of {taken.chip.name}", taken.untimed)
        if taken.communication > self.time:
            slow = max(taken.collectives, key=lambda each: each.seconds)
            took = f"its collectives take {seconds(taken.communication)} on {target} by the model"
            yield Fault(f"{took}, more than {seconds(self.time)}", (slow.collective,))


def _more(where: str, found: tuple[Collective, ...], most: int, by: tuple[Collective, ...]) -> Iterator[Fault]:
    """A fault if a device moves more for these than it may, or if nobody can say so."""
    where = f" {where}" if where else ""
    try:
        moved = price(found)
    except LensError as unknown:
        yield Fault(f"nobody can say that a device moves at most {most:,} bytes{where}: {unknown.what}", by)
        return
    if moved > most:
        yield Fault(f"one device moves {moved:,} bytes{where}, {moved - most:,} more than {most:,}", by)


def _of_a_round(c: Collective) -> Collective:
    return dataclasses.replace(c, executions=math.prod(each for each in c.loops if each is not None))


def _need_bytes(name: str, limit: Any) -> None:
    try:
        if limit is not None:
            read_bytes(limit)
    except ValueError as error:
        raise _no_limit(name, limit, "give a number of bytes: 1048576, '1MB' or '1MiB'.") from error


def _need_words(name: str, words: Any) -> None:
    """A text alone would be taken for its letters, and would limit nothing."""
    if words is not None and not (
        isinstance(words, list | tuple | set | frozenset | Mapping) and all(isinstance(word, str) for word in words)
    ):
        raise _no_limit(name, words, f"give several strings: {name}=('x',).")


def _need_kinds(name: str, kinds: Collection[str]) -> None:
    known = (*COLLECTIVE_KINDS, REMOTE, UNKNOWN)
    if others := sorted({*kinds} - {*known}):
        raise _no_limit(name, others[0], f"name kinds as HLO does: {', '.join(known)}.")


def _no_limit(name: str, limit: Any, mend: str) -> LensError:
    what = f"{name}= is of type {type(limit).__name__}, which is not a limit." if not isinstance(limit, str) else ""
    what = what or f"{name}= names {limit!r}, which limits nothing."
    return LensError("no-limit", what, where=f"{name}={shown(limit)}", mend=mend)


def _known(named: Collection[str], axes: Collection[str]) -> None:
    """Raises where a limit is for an axis that there is not: it would hold nothing."""
    if others := sorted({*named} - {*axes}):
        what = f"the mesh has no axis {', '.join(map(repr, others))}, so a limit for that axis limits nothing."
        mend = f"name one of its axes: {', '.join(axes) or 'it has none'}."
        raise LensError("limit-without-axis", what, where=f"limits for {', '.join(named)}", mend=mend)
