"""The judge in this process, with the references that come with the package."""

from __future__ import annotations

import base64
import re
from collections.abc import Callable
from typing import Any

from shardlab_course.chapters import question as find
from shardlab_course.chapters import reference_of
from shardlab_judge.cases import Case
from shardlab_judge.costs import Cost
from shardlab_judge.judging import judge
from shardlab_judge.question import Response
from shardlab_judge.verdict import Finding, Verdict

ROUNDS = re.compile(r'known_trip_count[^}]*?"n":"(\d+)"')
MANY = 1_000_000
"""Rounds of a loop after which nobody waits for it."""


class OpenLoop(Exception):
    """The answer is a compiled loop that may never end, and nothing can stop it in the process that runs it."""


def judge_here(question: str, answer: dict[str, Any], *, open_loops: bool = True) -> Verdict:
    """The verdict on an answer to the public cases.

    Args:
        open_loops: whether to run a program even where its values decide when it ends.
    Raises:
        OpenLoop: there is such a program, and it is not to be run.
    """
    return judge(find(question), answer, reference_of(question), judge_one=None if open_loops else _closed)


def _closed(item: Any, case: Case, response: Response, costs: Callable[[Case], Cost], seed: int | None) -> list[Finding]:
    from shardlab_judge.items.program import judge_program

    if "module" in response and _may_not_end(base64.b64decode(response["module"]), case):
        raise OpenLoop
    return judge_program(item, case, response, costs, seed)


def _may_not_end(module: bytes, case: Case) -> bool:
    from shardlab_judge.measuring import measure

    try:
        observed = measure(module, case).observed
    except Exception:  # the verdict says what is wrong with it
        return False
    return observed.flops is None or any(int(n) > MANY for n in ROUNDS.findall(observed.hlo))
