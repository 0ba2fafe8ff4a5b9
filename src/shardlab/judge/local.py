"""The judge in this process, with the references that come with the package."""

from __future__ import annotations

import functools
from typing import Any

from shardlab.judge import judge
from shardlab.judge.references import References
from shardlab.questions import question as find
from shardlab.verdict import Verdict


@functools.cache
def packaged() -> References:
    """The packaged references, read once."""
    return References.load()


def judge_here(question: str, answer: dict[str, Any]) -> Verdict:
    """The verdict on an answer to the public cases."""
    return judge(find(question), answer, packaged())
