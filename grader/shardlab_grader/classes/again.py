"""A second try, alone and with more time, of what a machine can do to a run as well as its student.

Time that passes, a signal, an exit in the middle: from outside nobody can tell whose doing it was. What the second try
settles stands. What ends in doubt twice, and in two ways, is *ungraded*: a person will look.
"""

from __future__ import annotations

import dataclasses
import json
import re
import shutil
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab_grader.classes import faults
from shardlab_grader.classes.notebook import Job
from shardlab_grader.classes.stages import Graded
from shardlab_judge.verdict import Verdict

PATIENCE = 3.0
"""How many times as long the second try may wait. Its limits of CPU time are the same: they hold on any machine."""
ROOM = 2**20
"""Bytes without which no output can be written."""


def in_doubt(graded: Graded) -> bool:
    """Whether a notebook is to be tried again: its run or its judge may have ended by somebody else's doing."""
    return bool(graded.doubts) or any(verdict.status == "ungraded" for verdict in graded.verdicts.values())


def patient(job: Job) -> Job:
    """The same job with more time of the wall's, for a machine that is busy, or was asleep."""
    settings = job.settings
    more = {"notebook": _longer(settings.notebook), "judge": _longer(settings.judge)}
    more |= {name: getattr(settings, name) * PATIENCE for name in ("cell_seconds", "question_wall_seconds")}
    manifests = {question: {**m, "items": [_waiting(item) for item in m["items"]]} for question, m in job.manifests.items()}
    return dataclasses.replace(job, manifests=manifests, settings=dataclasses.replace(settings, **more))


def settled(first: Graded, second: Graded) -> Graded:
    """The second try's verdicts, but for questions that were solved in the first, and those that stay in doubt."""
    kept = {question: _settled(first, second, question) for question in second.verdicts}
    return dataclasses.replace(second, verdicts=kept)


def check_room(graded: Graded) -> None:
    """Do nothing, unless a run ended in doubt where no more can be written.

    Raises:
        ShardlabError: the disk is full.
    """
    place = tempfile.gettempdir()
    if in_doubt(graded) and shutil.disk_usage(place).free < ROOM:
        raise faults.full(place)


def _settled(first: Graded, second: Graded, question: str) -> Verdict:
    before, now = first.verdicts[question], second.verdicts[question]
    if "passed" in (before.status, now.status):
        return now if now.status == "passed" else before
    if not second.doubts or now.status == "ungraded" or _without_times(before) == _without_times(now):
        return now
    ends = "; ".join(dict.fromkeys((*first.doubts, *second.doubts)))
    return Verdict(question, "ungraded", reason=f"Two runs ended in different ways, which need not be your fault ({ends}).")


def _without_times(verdict: Verdict) -> str:
    """What a verdict says, but for numbers: the limits of two tries are not the same."""
    return f"{verdict.points} {re.sub(r'[0-9.]+', '', json.dumps(verdict.to_json()))}"


def _longer(limits: Any) -> Any:
    return dataclasses.replace(limits, wall=limits.wall * PATIENCE)


def _waiting(item: Mapping[str, Any]) -> Mapping[str, Any]:
    return {**item, "seconds": item["seconds"] * PATIENCE} if "seconds" in item else item
