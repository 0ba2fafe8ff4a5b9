"""Whether a mutant that was accepted is right everywhere: on further drawn cases, and on wider ones than are drawn.

A question's own draws cannot prove themselves wide. On what they may never draw (ties, exact fits, large values, other
sizes) a mutant that is refused there has survived, if the answer that it was made from is right there too.
"""

from __future__ import annotations

import base64
import dataclasses
import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np

from shardlab.answers.record import RECORDERS
from shardlab_judge.cases import Case
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem, unequal
from shardlab_judge.measuring import measure, run
from shardlab_judge.question import Item, Response
from shardlab_judge.rights import rights
from shardlab_tools.mutants import wider
from shardlab_tools.mutants.judging import Judge, Tried, drawn, program

FURTHER = 50


def difference(judge: Judge, item: Item, base: Tried, mutant: Tried, many: int = FURTHER) -> str:
    """Where an accepted mutant is not as its base is; empty if it is proved equivalent."""
    if isinstance(item, ProgramItem):
        found = itertools.chain(_drawn(judge, item, base, mutant, many), _wider(judge, item, base, mutant, many))
        return next(found, "")
    return next(_calls(judge, item, base, mutant, many), "") if isinstance(item, CallsItem) else ""


def _drawn(judge: Judge, item: ProgramItem, base: Tried, mutant: Tried, many: int) -> Iterator[str]:
    """What is wrong with it in further drawn cases, or with further numbers where none are drawn."""
    cases = drawn(item, judge.question.id, many, 1) or [*item.cases] * -(-many // len(item.cases))
    for seed, case in enumerate(cases[:many]):
        entry = program(mutant.given(item), item, case)
        if entry != judge.base(base, item, case) and (found := judge.in_case(item, case, entry, 1000 + seed)):
            yield f"a further drawn case: {found[0].what} {case.title}"


def _wider(judge: Judge, item: ProgramItem, base: Tried, mutant: Tried, many: int) -> Iterator[str]:
    """The same in cases that are not drawn, where its base is right."""
    for case in [case for case in item.cases_of(judge.question.id, 1) if not _same(judge, item, base, mutant, case)][-2:]:
        entry, right = program(mutant.given(item), item, case), judge.base(base, item, case)
        for values in wider.VALUES:
            inputs = wider.inputs(case, values)
            if (
                inputs
                and (what := _wrong_values(item, case, entry, inputs))
                and not _wrong_values(item, case, right, inputs)
            ):
                yield f"wider than drawn: {what} {values.__name__} values, {case.title}"
    for case in itertools.islice(itertools.chain.from_iterable(map(wider.cases, item.cases[:2])), many):
        if not _same(judge, item, base, mutant, case):
            entry = program(mutant.given(item), item, case)
            what = _refused(judge, item, case, entry)
            # A case that the reference itself is not made for, as two systems for each device, is no case of the question.
            rights = (judge.base(base, item, case), program(judge.right.given(item), item, case))
            if what and not any(_refused(judge, item, case, right) for right in rights):
                yield f"wider than drawn: {what} {case.title}"


def _same(judge: Judge, item: ProgramItem, base: Tried, mutant: Tried, case: Case) -> bool:
    """Whether the exported programs are equal, bit for bit."""
    return program(mutant.given(item), item, case) == judge.base(base, item, case)


def _wrong_values(item: ProgramItem, case: Case, entry: Response, inputs: tuple[np.ndarray, ...]) -> str:
    if (item.oracle or item.rights) is None or "module" not in entry:
        return ""
    observed = run(measure(base64.b64decode(entry["module"]), case), inputs, 1)
    try:
        with np.errstate(all="ignore"):
            return next((f.what for f in unequal(item, observed, *rights(item, observed))), "")
    except Exception:  # the oracle does not know such values
        return "no oracle"


def _refused(judge: Judge, item: ProgramItem, case: Case, entry: Response) -> str:
    try:
        return next((f.what for f in judge.in_case(item, case, entry, 1)), "")
    except Exception:  # the oracle or the reference does not know such a case
        return "no oracle"


def _calls(judge: Judge, item: CallsItem, base: Tried, mutant: Tried, many: int) -> Iterator[str]:
    further = drawn(item, judge.question.id, 4 * many, 1) or [*item.calls]
    for name, calls in (("a further drawn call", further), ("wider than drawn", wider.calls(further + [*item.calls]))):
        for arguments in calls:
            if (found := _wrong(judge, item, mutant, arguments)) and not _wrong(judge, item, base, arguments):
                yield f"{name}: {found}"


def _wrong(judge: Judge, item: CallsItem, tried: Tried, arguments: tuple[Any, ...]) -> str:
    """What is wrong with one call; something if the oracle does not know such arguments."""
    one = dataclasses.replace(item, calls=(arguments,), draw=None, misconceptions=())
    entry: Response = RECORDERS["calls"](tried.given(item), {"calls": [list(arguments)]})
    try:
        return next((f"{f.where} is {f.got}, not {f.expected}" for f in judge.judged(one, entry)), "")
    except Exception:
        return "no oracle"
