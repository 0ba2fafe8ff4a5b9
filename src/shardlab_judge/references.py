"""What the reference solutions cost: their programs, and facts measured from them for each JAX version."""

from __future__ import annotations

import base64
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax

from shardlab_judge.cases import Case, Observed
from shardlab_judge.costs import Cost
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.measuring import measure
from shardlab_judge.question import Question

FACTS = ("price", "memory", "flops", "slow")
"""What is kept of a program's cost."""


class References:
    """Reference programs and their facts by question, item and case.

    Facts of another JAX version than those on record are measured from the stored program when they are first asked for.
    """

    def __init__(self, programs: Mapping[str, str], facts: Mapping[str, Mapping[str, Any]]) -> None:
        self._programs = dict(programs)
        self._facts = {version: dict(entries) for version, entries in facts.items()}

    @classmethod
    def load(cls, *paths: pathlib.Path) -> References:
        """The references in these files together; none of a file that is not there."""
        programs: dict[str, str] = {}
        facts: dict[str, dict[str, Any]] = {}
        for path in filter(pathlib.Path.exists, paths):
            raw = json.loads(path.read_text())
            programs |= raw["programs"]
            for version, entries in raw["facts"].items():
                facts.setdefault(version, {}).update(entries)
        return cls(programs, facts)

    def text(self) -> str:
        """All programs and facts as JSON with sorted keys."""
        return json.dumps({"programs": self._programs, "facts": self._facts}, indent=1, sort_keys=True) + "\n"

    def cost(self, question: str, item: str, case: Case) -> Cost:
        """The cost of the reference; `slow` is stored only where an axis is.

        Raises:
            KeyError: there is no reference program for this case.
        """
        key = f"{question}/{item}/{case.key}"
        facts = self._facts.setdefault(jax.__version__, {})
        if key not in facts:
            found = self._observed(key, case).cost
            facts[key] = {name: getattr(found, name) for name in FACTS if name != "slow" or case.slow}
        sent = (lambda: self._observed(key, case).collectives) if key in self._programs else None
        return Cost(**facts[key], sent=sent)

    def _observed(self, key: str, case: Case) -> Observed:
        return measure(base64.b64decode(self._programs[key]), case).observed


def build(questions: Iterable[Question], answers: Mapping[str, Any], seed: int | None = None) -> References:
    """The references of recorded solutions, measured with the JAX that is running.

    Args:
        questions: the questions whose programs are wanted.
        answers: recorded answers of the solution edition by question id, made with the same `seed`.
    Raises:
        ValueError: the solution of a question recorded no program.
    """
    asked = tuple(questions)
    found = References(recorded(asked, answers, seed), {})
    for question, item, case, _ in _programs(asked, answers, seed):
        found.cost(question, item.name, case)
    return found


def recorded(questions: Iterable[Question], answers: Mapping[str, Any], seed: int | None = None) -> dict[str, str]:
    """The programs of recorded solutions, by question, item and case.

    Args:
        questions, answers, seed: as for `build`.
    Raises:
        ValueError: the solution of a question recorded no program.
    """
    programs: dict[str, str] = {}
    for question, item, case, entry in _programs(questions, answers, seed):
        if "module" not in entry:
            raise ValueError(f"question {question}, {item.name}: the solution recorded {entry}")
        programs[f"{question}/{item.name}/{case.key}"] = entry["module"]
    return programs


def _programs(
    questions: Iterable[Question], answers: Mapping[str, Any], seed: int | None
) -> Iterator[tuple[str, ProgramItem, Case, Mapping[str, Any]]]:
    for question in questions:
        for item in question.items:
            if isinstance(item, ProgramItem):
                entries = answers[question.id]["items"][item.name].get("programs", [])
                for case, entry in zip(item.cases_of(question.id, seed), entries, strict=True):
                    yield question.id, item, case, entry
