"""The judge in this process, with the references that come with the package."""

from __future__ import annotations

from typing import Any

from shardlab_course.chapters import question as find
from shardlab_course.chapters import reference_of
from shardlab_judge.judging import judge
from shardlab_judge.verdict import Verdict


def judge_here(question: str, answer: dict[str, Any]) -> Verdict:
    """The verdict on an answer to the public cases."""
    return judge(find(question), answer, reference_of(question))
