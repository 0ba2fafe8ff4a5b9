"""The judge in this process, with the references that come with the package."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from shardlab_course.chapters import question as find
from shardlab_course.chapters import reference_of
from shardlab_judge.cases import Case, Observed
from shardlab_judge.costs import Cost
from shardlab_judge.judging import judge
from shardlab_judge.question import Response
from shardlab_judge.verdict import Finding, Verdict
from shardlens import HloInstruction, parse_hlo

ROUNDS = re.compile(r'known_trip_count[^}]*?"n":"(\d+)"')
_NAMED = re.compile(r"%([\w.-]+)")
MANY = 1_000_000
"""Rounds of a loop after which nobody waits for it."""


class Unsafe(Exception):
    """The answer is a compiled program that may never end, and nothing can stop it in the process that runs it.

    It has a loop of which data says when it ends, or a collective in a branch, to which devices that take another branch
    never come: XLA for CPU then ends the whole process after a minute.
    """


def judge_here(question: str, answer: dict[str, Any], *, unsafe: bool = True) -> Verdict:
    """The verdict on an answer to the public cases.

    Args:
        unsafe: whether to run a program even where its values decide whether it ends.
    Raises:
        Unsafe: there is such a program, and it is not to be run.
    """
    return judge(find(question), answer, reference_of(question), judge_one=None if unsafe else _closed)


def _closed(item: Any, case: Case, response: Response, costs: Callable[[Case], Cost], seed: int | None) -> list[Finding]:
    from shardlab_judge.items.program import judge_program

    if "module" in response and _may_not_end(base64.b64decode(response["module"]), case):
        raise Unsafe
    return judge_program(item, case, response, costs, seed)


def _may_not_end(module: bytes, case: Case) -> bool:
    from shardlab_judge.measuring import measure

    try:
        observed = measure(module, case).observed
    except Exception:  # the verdict says what is wrong with it
        return False
    rounds = (int(n) for n in ROUNDS.findall(observed.hlo))
    return observed.flops is None or any(n > MANY for n in rounds) or _may_wait(observed)


def _may_wait(observed: Observed) -> bool:
    """Whether a collective stands in a branch, or in what a branch calls."""
    computations = parse_hlo(observed.hlo).computations
    moving = {c.name for c in observed.collectives}

    def called(i: HloInstruction) -> set[str]:
        return {*_NAMED.findall(i.rest)} & {*computations}

    reached = [name for c in computations.values() for i in c.values() if i.opcode == "conditional" for name in called(i)]
    seen: set[str] = set()
    while reached:
        if (name := reached.pop()) not in seen:
            seen.add(name)
            reached += [each for i in computations[name].values() for each in called(i)]
    return any(moving & {*computations[name]} for name in seen)
