"""How a mutant ends, and what is kept of that."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

from shardlab_judge import findings
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Item
from shardlab_judge.verdict import Finding
from shardlab_tools.mutants.claims import doubts
from shardlab_tools.mutants.equivalence import difference
from shardlab_tools.mutants.generation import Mutant
from shardlab_tools.mutants.judging import Judge, Tried, items, tells_the_line

CAUSE, BARE, EQUIVALENT, SURVIVED = "refused with a cause", "refused without", "equivalent", "survived"
SECONDS = 20
"""Of CPU, not of a clock: the machine may be busy."""


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How one mutant ended.

    `why` says what was found first, or where a survivor is wrong; `raised` whether its code raised, and `line` whether the
    finding tells the line; `letters` what it lost points for; `causes` the misconceptions named, with those of them that
    are `false`, and those that are `unsteady`: recognised in some only of the cases in which the answer is wrong.
    """

    key: str
    question: str
    answer: str
    operator: str
    end: str
    why: str = ""
    raised: bool = False
    line: bool = False
    letters: str = ""
    causes: tuple[str, ...] = ()
    false: tuple[str, ...] = ()
    unsteady: tuple[str, ...] = ()
    difference: str = ""


def outcome(judge: Judge, mutant: Mutant, many: int, limit: Callable[[int], None] = lambda seconds: None) -> Outcome:
    """Judge a mutant, and prove an accepted one equivalent or not; `limit` is told before each how long it may take."""
    made = Outcome(mutant.key, mutant.question, mutant.answer, mutant.operator, BARE, difference=mutant.difference)
    compiled = any(isinstance(item, ProgramItem) for item in _touched(judge, mutant))
    limit(SECONDS if compiled else SECONDS // 4)
    tried = Tried.run(judge.question, mutant.text)
    refused = _refused(judge, mutant, tried, made)
    limit(10 * many if compiled else SECONDS)
    return refused or _proved(judge, mutant, tried, made, many)


def _refused(judge: Judge, mutant: Mutant, tried: Tried, made: Outcome) -> Outcome | None:
    """How a mutant was refused, if it was."""
    if tried.error is not None:
        judge.must_run(mutant.base)
        # As for a submission: what its cell raised is told of each answer that the cell was to define.
        error = {"type": type(tried.error).__name__, "message": str(tried.error)}
        told = [findings.raised(item, error, "The cell raised an exception.") for item in _touched(judge, mutant)]
        return dataclasses.replace(_told(made, told), raised=True, line=True)
    found = {item.name: judge.findings(item, tried) for item in _touched(judge, mutant)}
    if not any(found.values()):
        return None
    made = _told(made, [f for one in found.values() for f in one])
    seen = [doubts(judge, item, tried, mutant.text, found[item.name]) for item in _touched(judge, mutant)]
    false, unsteady = (tuple(sorted(itertools.chain.from_iterable(each))) for each in zip(*seen))
    return dataclasses.replace(made, false=false, unsteady=unsteady)


def _proved(judge: Judge, mutant: Mutant, tried: Tried, made: Outcome, many: int) -> Outcome:
    """Whether an accepted mutant is right, or has survived."""
    base = judge.tried(mutant.base)
    each = (difference(judge, item, base, tried, many) for item in _touched(judge, mutant))
    apart = next(filter(None, each), "")
    return dataclasses.replace(made, end=SURVIVED if apart else EQUIVALENT, why=apart)


def _touched(judge: Judge, mutant: Mutant) -> list[Item]:
    return [item for item in items(judge.question) if {item.name, judge.question.variable} & set(mutant.items)]


def _told(made: Outcome, found: list[Finding]) -> Outcome:
    causes = tuple(sorted({f"{f.item}: {f.misconception}" for f in found if f.misconception}))
    first = next((f for f in found if f.misconception), found[0])
    # What could not be read as an answer, as a sharding that does not fit the array, was raised by no line of the answer.
    raised = any("raised" in f.what for f in found)
    return dataclasses.replace(
        made, end=CAUSE if causes else BARE, why=f"{first.what} {first.got}"[:300], causes=causes, raised=raised,
        line=any(map(tells_the_line, found)), letters="".join(sorted({f.letter for f in found})),
    )  # fmt: skip
