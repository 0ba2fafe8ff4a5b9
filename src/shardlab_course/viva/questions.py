"""Facts about a program become questions with keys; what two ways of computing do not agree on is not asked."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlab_course.viva.changes import Change, mesh_text
from shardlab_judge.cases import Case

Facts = Mapping[str, Any]
MOST = 4
"""Questions of one sheet."""


@dataclasses.dataclass(frozen=True)
class Asked:
    """A question about a student's function, and what only the instructor sees of it.

    Args:
        kind: what it asks for; a sheet has each kind once, while there are enough.
        exercise: as in prose, `"4.2"`.
        function: the student's.
        text: the question.
        key: the right answer.
        reason: where it comes from.
        reveals: what a wrong answer says of its giver.
    """

    kind: str
    exercise: str
    function: str
    text: str
    key: str
    reason: str
    reveals: str


def asked(
    exercise: str, function: str, first: Case, change: Change, given: Facts, now: Facts, rng: random.Random
) -> Iterator[Asked]:
    """The questions that a changed case gives.

    Args:
        first: the first public case.
        given: the facts of it.
        now: those of the changed one.
        rng: chooses a device.
    """
    call = f"{function} takes {_arrays(first)}. It runs {change.what}."
    of = {"exercise": exercise, "function": function}
    yield from _bytes(change, call, given, now, of)
    yield from _where(change, call, now, of, rng)
    if change.kind == "mesh":
        yield from _copies(change, call, given, now, of)
    else:
        yield from _growing("flops", "FLOPs", call, given, now, of)
        yield from _growing("memory", "bytes of arguments and results", call, given, now, of)


def without(exercise: str, function: str, line: str, left_out: str, now: Facts) -> Iterator[Asked]:
    """The question that a program gives in which a call was left out.

    Args:
        line: the line of it, with its number.
        left_out: the call's name, such as `psum`.
        now: the facts of the program without it, in the first public case.
    """
    wrong = agreed(now, "wrong")
    if not wrong or not now["instead"]:
        return
    devices = "on every device" if len(wrong) == len(now["slices"][0]) else f"on the devices {', '.join(map(str, wrong))}"
    text = (
        f"In line {line} the call of {left_out} is left out, and its argument takes its place. On which devices is the "
        "result wrong now, and what is it instead?"
    )
    key = f"It is wrong {devices}. There it is {now['instead']}."
    reveals = f"Who cannot say has used {left_out} without knowing what each device held before it."
    yield Asked("without", exercise, function, text, key, "Computed with two draws of the arrays.", reveals)


def _arrays(case: Case) -> str:
    sizes = [" by ".join(map(str, array.shape)) or "a number" for array in case.inputs]
    return f"arrays of {', '.join(sizes)}" if len(sizes) > 1 else f"an array of {sizes[0]}"


def agreed(facts: Facts, name: str) -> Any:
    """A fact on which both ways agree, or `None`."""
    first, second = facts[name]
    return first if first == second else None


def sheet(found: Sequence[Asked], rng: random.Random, most: int = MOST) -> list[Asked]:
    """Some of these, of as many kinds and exercises as there are."""
    left, chosen = list(found), list[Asked]()
    rng.shuffle(left)
    while left and len(chosen) < most:
        kinds, exercises = {one.kind for one in chosen}, {one.exercise for one in chosen}
        left.sort(key=lambda one: (one.kind in kinds, one.exercise in exercises))  # stable: else as shuffled
        chosen.append(left.pop(0))
        left = [one for one in left if (one.kind, one.function) != (chosen[-1].kind, chosen[-1].function)]
    return sorted(chosen, key=lambda one: [int(part) for part in one.exercise.split(".")])


def of_everyone(sheets: Iterable[Sequence[Asked]]) -> set[tuple[str, str]]:
    """Text and key of the questions that tell nobody from anybody: all of a class of three or more were asked them."""
    each = [{(one.text, one.key) for one in found} for found in sheets]
    return set.intersection(*each) if len(each) > 2 else set()


def _bytes(change: Change, call: str, given: Facts, now: Facts, of: Mapping[str, str]) -> Iterator[Asked]:
    before, after = agreed(given, "bytes"), agreed(now, "bytes")
    if not before or not after or before == after:
        return
    text = (
        f"{call} How many bytes does each device move, as sl.inspect counts them (an all-reduce twice)? "
        f"Before the change it moves {before:,} B."
    )
    reason = f"The compiled program does this: {now['moves']}. Two counts of it agree."
    reveals = f"{before:,} B: has not asked which axis the collective runs over, or what each device sends along it."
    yield Asked(f"bytes by {change.kind}", text=text, key=f"{after:,} B", reason=reason, reveals=reveals, **of)


def _where(change: Change, call: str, now: Facts, of: Mapping[str, str], rng: random.Random) -> Iterator[Asked]:
    slices = agreed(now, "slices")
    whole = [[0, n] for n in now["shape"]]
    if not slices or not whole or all(index == whole for index in slices.values()):
        return
    device = rng.choice(sorted(slices, key=int)[1:])  # the first one holds the first slice of everything
    size = " by ".join(map(str, now["shape"]))
    text = f"{call} The first result is then {size}. Which slice of it does device {device} hold?"
    key = f"[{', '.join(f'{start}:{stop}' for start, stop in slices[device])}]"
    holds = f"Devices stand in the mesh {mesh_text(change.case.axes)} row by row, the last axis fastest."
    reveals = "Another slice: has not followed which axis of the mesh cuts which dimension."
    yield Asked("where", text=text, key=key, reason=holds, reveals=reveals, **of)


def _copies(change: Change, call: str, given: Facts, now: Facts, of: Mapping[str, str]) -> Iterator[Asked]:
    before, after = agreed(given, "copies"), agreed(now, "copies")
    if not after or after == before:
        return
    text = f"{call} On how many devices does each element of the first result lie?"
    reason = f"The axes of {mesh_text(change.case.axes)} that cut no dimension of it make the copies."
    yield Asked(
        "copies",
        text=text,
        key=str(after),
        reason=reason,
        reveals="Fewer: does not know that an axis which a spec leaves out makes copies.",
        **of,
    )


def _growing(name: str, what: str, call: str, given: Facts, now: Facts, of: Mapping[str, str]) -> Iterator[Asked]:
    if not all([*given[name], *now[name]]):
        return
    times = {after / before for before, after in zip(given[name], now[name])}
    if len(times) > 1 or times == {1} or not all(one.is_integer() for one in times):
        return
    text = f"{call} How many times as many {what} has one device now?"
    reason = f"{given[name][0]:,.0f} become {now[name][0]:,.0f} by the compiler's count, and another count agrees."
    reveals = "Another factor: has not looked in which arrays the dimension stands."
    yield Asked(name, text=text, key=f"{times.pop():g} times", reason=reason, reveals=reveals, **of)
