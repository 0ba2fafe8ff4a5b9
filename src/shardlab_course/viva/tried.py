"""What is tried of one function, asked for from where it runs, and the questions that come of it."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterator, Mapping
from typing import Any

from shardlab_course.viva import questions
from shardlab_course.viva.changes import changes
from shardlab_course.viva.leaving_out import LeftOut, without_one
from shardlab_course.viva.questions import Asked, Facts
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question

MESHES, SIZES, CALLS = 2, 1, 2
"""Of one function: the other meshes, the other sizes, and the calls left out, that are tried."""
GIVEN = 0
"""The number of the first public case among the changes."""


@dataclasses.dataclass(frozen=True)
class Tried:
    """One function of an exercise, and what is tried of it: numbers of changes, and its source without calls."""

    question: Question
    item: ProgramItem
    source: str
    numbers: tuple[int, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def names(self) -> list[str]:
        """What the variants without a call are asked for by, in the order of `left_out`."""
        return [f"{self.question.id}-{n}" for n in range(len(self.left_out))]

    @property
    def whole(self) -> str:
        """What the function itself is asked for by."""
        return self.question.id

    @property
    def manifests(self) -> dict[str, Any]:
        """What is asked of the function and of its variants, by name."""
        id, cases = self.question.id, changes(self.item)
        one = {**self.item.manifest(id, None), "cases": [cases[n].case.to_json() for n in self.numbers]}
        first = {**one, "cases": [cases[GIVEN].case.to_json()]}
        found = {self.whole: {"id": id, "variable": self.question.variable, "items": [one]}}
        return found | {name: {"id": id, "variable": None, "items": [first]} for name in self.names}

    def programs(self, answers: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
        """What was recorded for these manifests, as `shardlab_course.viva.facts.examined` takes it; `of` is its key."""
        for name in self.manifests:
            numbers = self.numbers if name == self.whole else (GIVEN,)
            entry = answers.get(name, {}).get("items", {}).get(self.item.name, {})
            for number, program in zip(numbers, entry.get("programs", ())):
                if "module" in program:
                    where = {"question": self.question.id, "item": self.item.name, "change": number}
                    yield {"of": (name, number), **where, "module": program["module"]}

    def asked(self, facts: Mapping[tuple[str, int], Facts], rng: random.Random) -> Iterator[Asked]:
        """The questions, from what was measured, by the keys of `programs`; none where something went wrong."""
        given, there = facts.get((self.whole, GIVEN)), changes(self.item)
        if given is None or given["wrong"][0]:
            return
        of = {"exercise": self.question.id, "function": self.item.name}
        for number in self.numbers[1:]:
            now = facts.get((self.whole, number))
            # What the function does elsewhere is asked only where it is still right.
            if now is not None and not now["wrong"][0]:
                yield from questions.asked(of, there[GIVEN].case, there[number], given, now, rng)
        for name, one in zip(self.names, self.left_out):
            if now := facts.get((name, GIVEN)):
                yield from questions.without(of, one.line, one.name, now)


def tried(question: Question, item: ProgramItem, source: str, rng: random.Random, most: int = 0) -> Tried:
    """Some of what can be tried of a function; up to `most` of each kind, if it is given."""
    kinds = [change.kind for change in changes(item)]
    numbers = [GIVEN]
    for kind, few in (("mesh", MESHES), ("size", SIZES)):
        there = [n for n, found in enumerate(kinds) if found == kind]
        numbers += rng.sample(there, min(most or few, len(there)))
    found = without_one(source) if question.variable is None else []
    return Tried(question, item, source, tuple(numbers), tuple(rng.sample(found, min(most or CALLS, len(found)))))
