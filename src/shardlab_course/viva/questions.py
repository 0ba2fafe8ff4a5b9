"""Facts about a program become questions with keys; what two ways of computing do not agree on is not asked."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from shardlab_course.renaming import Renaming
from shardlab_course.viva.changes import Change, mesh_text
from shardlab_course.viva.forms import Devices, Form, Number, Slices
from shardlab_judge.cases import Case
from shardlab_judge.findings import spec_text

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
        form: how it is typed, by a student alone.
        reason: where it comes from.
        overlooked: what a wrong answer has not looked at.
    """

    kind: str
    exercise: str
    function: str
    text: str
    key: str
    form: Form
    reason: str
    overlooked: str


def worded(asked: Iterable[Asked], names: Mapping[str, str]) -> list[Asked]:
    """The questions with what the student's notebook calls the course's axes."""
    text = Renaming(names).text
    return [
        dataclasses.replace(
            one, text=text(one.text), key=text(one.key), reason=text(one.reason), overlooked=text(one.overlooked)
        )
        for one in asked
    ]


def asked(
    of: Mapping[str, str], first: Case, change: Change, given: Facts, now: Facts, rng: random.Random
) -> Iterator[Asked]:
    """The questions that a changed case gives.

    Args:
        of: the exercise and the function, as fields of a question.
        first: the first public case.
        given: the facts of it.
        now: those of the changed one.
        rng: chooses a device.
    """
    call = f"{of['function']} takes {_arrays(first)}. It runs {change.what}."
    yield from _bytes(change, call, given, now, of)
    yield from _where(change, call, now, of, rng)
    if change.kind == "mesh":
        yield from _copies(change, call, given, now, of)
    else:
        yield from _growing("flops", "FLOPs", call, given, now, of)
        yield from _growing("memory", "bytes of arguments and results", call, given, now, of)


def without(of: Mapping[str, str], line: str, left_out: str, now: Facts) -> Iterator[Asked]:
    """The question that a program gives in which a call was left out.

    Args:
        of: as for `asked`.
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
    form, reason = Devices(wrong, len(now["slices"][0])), "Computed with two draws of the arrays."
    overlooked = f"what each device holds before {left_out}"
    yield Asked("without", text=text, key=key, form=form, reason=reason, overlooked=overlooked, **of)


def _arrays(case: Case) -> str:
    """Sizes and placements: on paper a student has neither the exercise's text nor a device to ask."""
    sizes = [(" by ".join(map(str, array.shape)), spec_text(array.spec)) for array in case.inputs]
    told = [f"{size} with {spec}" if size else "a number" for size, spec in sizes]
    return f"arrays of {', '.join(told)}" if len(told) > 1 else f"an array of {told[0]}"


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
    return in_order(chosen)


def in_order(found: Iterable[Asked]) -> list[Asked]:
    """By exercise and function."""
    return sorted(found, key=lambda one: ([int(part) for part in one.exercise.split(".")], one.function))


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
    overlooked = "which axis the collective runs over, and what each device sends along it"
    key, form = f"{after:,} B", Number(after)
    yield Asked(f"bytes by {change.kind}", text=text, key=key, form=form, reason=reason, overlooked=overlooked, **of)


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
    form, overlooked = Slices(slices[device], now["shape"]), "which axis of the mesh cuts which dimension"
    yield Asked("where", text=text, key=key, form=form, reason=holds, overlooked=overlooked, **of)


def _copies(change: Change, call: str, given: Facts, now: Facts, of: Mapping[str, str]) -> Iterator[Asked]:
    before, after = agreed(given, "copies"), agreed(now, "copies")
    if not after or after == before:
        return
    text = f"{call} On how many devices does each element of the first result lie?"
    reason = f"The axes of {mesh_text(change.case.axes)} that cut no dimension of it make the copies."
    overlooked = "the axes that the spec of the result omits: each of them makes copies"
    yield Asked("copies", text=text, key=str(after), form=Number(after), reason=reason, overlooked=overlooked, **of)


def _growing(name: str, what: str, call: str, given: Facts, now: Facts, of: Mapping[str, str]) -> Iterator[Asked]:
    if not all([*given[name], *now[name]]):
        return
    times = {after / before for before, after in zip(given[name], now[name])}
    if len(times) > 1 or times == {1} or not all(one.is_integer() for one in times):
        return
    text = f"{call} How many times as many {what} has one device now?"
    reason = f"{given[name][0]:,.0f} become {now[name][0]:,.0f} by the compiler's count, and another count agrees."
    (factor,), overlooked = times, "the arrays that have the dimension, and those that do not"
    yield Asked(name, text=text, key=f"{factor:g} times", form=Number(factor), reason=reason, overlooked=overlooked, **of)
