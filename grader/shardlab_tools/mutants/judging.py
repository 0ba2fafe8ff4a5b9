"""What the judge says of a mutant, item by item and case by case, as of a student's answer."""

from __future__ import annotations

import dataclasses
import functools
import random
import re
from collections.abc import Mapping, Sequence
from typing import Any

from shardlab.answers.exporting import exported
from shardlab.answers.record import record
from shardlab_judge.cases import Case
from shardlab_judge.costs import Cost
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.program import ProgramItem, judge_program
from shardlab_judge.measuring import measure
from shardlab_judge.question import Item, Question, Response
from shardlab_judge.references import References
from shardlab_judge.verdict import Finding
from shardlab_tools.mutants import answers

SEED = 20
KINDS = (ProgramItem, CallsItem, PlacementItem)
NO_COSTS = References({}, {})


def items(question: Question) -> list[Item]:
    """Those of a question's items that are programs, calls or placements, and not predicted."""
    return [item for item in question.items if isinstance(item, KINDS) and not getattr(item, "predicted", False)]


def variables(question: Question) -> list[str]:
    """The student's variables that hold them."""
    found = [item.name for item in items(question)]
    return [question.variable] if question.variable and found else found


@dataclasses.dataclass(frozen=True)
class Tried:
    """An answer that has run: its variables, or what it raised instead."""

    question: Question
    names: Mapping[str, Any]
    error: Exception | None = None

    @classmethod
    def run(cls, question: Question, text: str) -> Tried:
        """Run an answer's text as a notebook's cells would be."""
        try:
            return cls(question, answers.namespace(text))
        except Exception as raised:
            return cls(question, {}, raised)

    def given(self, item: Item) -> Any:
        """What it has for an item; `...` for nothing."""
        held = self.names.get(self.question.variable, {}) if self.question.variable else self.names
        return held.get(item.name, ...) if isinstance(held, Mapping) else ...


class Costs:
    """What the reference costs in any case: exported, and measured, when it is first asked for."""

    def __init__(self, question: Question, reference: Tried) -> None:
        self._question, self._reference = question, reference

    @functools.cache  # noqa: B019
    def _cost(self, item: str, case: Case) -> Cost:
        import base64

        (found,) = [i for i in self._question.items if i.name == item]
        (program,) = _export(self._reference.given(found), found, [case])
        return measure(base64.b64decode(program["module"]), case).observed.cost

    def cost(self, question: str, item: str, case: Case) -> Cost:
        """The cost of the reference in one case."""
        return self._cost(item, case)


@dataclasses.dataclass(eq=False)
class Judge:
    """Judges answers to one question; what was judged once is not judged again."""

    question: Question
    reference: str
    found: dict[tuple[str, Case, int | None, str], list[Finding]] = dataclasses.field(default_factory=dict)
    bases: dict[tuple[str, Case, int], Response] = dataclasses.field(default_factory=dict)

    @functools.cached_property
    def right(self) -> Tried:
        """The reference, which has run."""
        return Tried.run(self.question, self.reference)

    @functools.cached_property
    def costs(self) -> Costs:
        """The reference's costs."""
        return Costs(self.question, self.right)

    def findings(self, item: Item, tried: Tried, seed: int = SEED) -> list[Finding]:
        """What is found in the first cases that are enough: with a known cause, or with worthless values."""
        if isinstance(item, ProgramItem):
            return self._program(item, tried, item.cases_of(self.question.id, seed), seed)
        return self.judged(item, recorded(self.question, item, tried, seed), seed)

    def judged(self, item: Item, entry: Response, seed: int = SEED) -> list[Finding]:
        """What is found in an answer that is not a program."""
        from shardlab_judge.judging import judge

        alone = dataclasses.replace(self.question, items=(item,))
        return list(judge(alone, {"items": {item.name: entry}}, NO_COSTS, seed).findings) or _unless_open(item, entry)

    def _program(self, item: ProgramItem, tried: Tried, cases: Sequence[Case], seed: int | None) -> list[Finding]:
        found: list[Finding] = []
        given = tried.given(item)
        for case in cases:
            found += self.in_case(item, case, program(given, item, case), seed)
            if any(f.misconception or f.letter == item.first for f in found):
                break
        return found

    def base(self, base: Tried, item: ProgramItem, case: Case) -> Response:
        """What a base's program is in a case; its mutants ask one after another."""
        key = (item.name, case, id(base))
        if key not in self.bases:
            self.bases[key] = program(base.given(item), item, case)
        return self.bases[key]

    @functools.lru_cache(maxsize=1)  # noqa: B019
    def tried(self, text: str) -> Tried:
        """An answer that has run, the same one as long as it is asked for."""
        self.bases.clear()
        return Tried.run(self.question, text)

    def must_run(self, base: str) -> None:
        """See that a right answer runs: if it does not, every mutant of it is refused, which says nothing of the judge.

        Raises:
            RuntimeError: it does not.
        """
        if (error := self.tried(base).error) is not None:
            raise RuntimeError(f"{self.question.id}: a right answer does not run, so its mutants can't be judged") from error

    def in_case(self, item: ProgramItem, case: Case, entry: Response, seed: int | None) -> list[Finding]:
        """What is found in one case."""
        key = (item.name, case, seed, str(entry))
        if key not in self.found:
            if "todo" in entry or "missing" in entry:
                entry = {"error": {"type": "", "message": "still `...`"}}
            costs = functools.partial(self.costs.cost, self.question.id, item.name)
            self.found[key] = judge_program(item, case, entry, costs, seed)
        return self.found[key]


def recorded(question: Question, item: Item, tried: Tried, seed: int = SEED) -> Response:
    """What a submission would have for an item."""
    manifest = {"variable": None, "id": question.id, "items": [item.manifest(question.id, seed)]}
    (entry,) = record(manifest, {item.name: tried.given(item)}, {})["items"].values()
    return entry


def program(given: Any, item: ProgramItem, case: Case) -> Response:
    """A program's entry in one case, as a submission's is recorded."""
    try:
        return _export(given, item, [case])[0]
    except TypeError as raised:
        return {"error": {"type": "TypeError", "message": str(raised)}}


def drawn(item: ProgramItem | CallsItem, question: str, many: int, seed: int) -> list[Any]:
    """So many further cases, or argument lists; none of an item that draws none."""
    rng = random.Random(f"mutants/{seed}/{question}/{item.name}")
    return [item.draw(rng) for _ in range(many)] if item.draw else []


def _export(given: Any, item: Item, cases: Sequence[Case]) -> list[Response]:
    return list(exported(given, {"name": item.name, "cases": [case.to_json() for case in cases]}))


def _unless_open(item: Item, entry: Response) -> list[Finding]:
    return [Finding(item.name, item.first, f"{item.name} is open.")] if item.is_open(entry) else []


def tells_the_line(finding: Finding) -> bool:
    """Whether it says in which line of the answer something was raised."""
    return bool(re.search(r"\bline \d+", " ".join((finding.what, finding.got, finding.line, finding.where))))
