"""Every question of the course, in its order."""

from __future__ import annotations

import difflib

from shardlab.errors import ShardlabError
from shardlab.question import Question
from shardlab.questions import (
    ch00,
    ch01,
    ch02,
    ch03,
    ch04,
    ch05,
    ch06,
    ch07,
    ch08,
    ch09,
    ch10,
    ch11,
    ch12,
    ch13,
    ch14,
    ch15,
    ch15_cases,
)

CHAPTERS: dict[int, tuple[Question, ...]] = {
    0: ch00.QUESTIONS,
    1: ch01.QUESTIONS,
    2: ch02.QUESTIONS,
    3: ch03.QUESTIONS,
    4: ch04.QUESTIONS,
    5: ch05.QUESTIONS,
    6: ch06.QUESTIONS,
    7: ch07.QUESTIONS,
    8: ch08.QUESTIONS,
    9: ch09.QUESTIONS,
    10: ch10.QUESTIONS,
    11: ch11.QUESTIONS,
    12: ch12.QUESTIONS,
    13: ch13.QUESTIONS,
    14: ch14.QUESTIONS,
    15: (*ch15.QUESTIONS, *ch15_cases.QUESTIONS),
}
QUESTIONS: dict[str, Question] = {question.id: question for chapter in CHAPTERS.values() for question in chapter}


def question(id: str) -> Question:
    """The question of this id.

    Raises:
        ShardlabError: there is none; the message names the nearest.
    """
    if id in QUESTIONS:
        return QUESTIONS[id]
    near = difflib.get_close_matches(str(id), QUESTIONS, n=1, cutoff=0)
    raise ShardlabError(
        "unknown-question",
        f"there is no question {id!r}.",
        where=f"sl.check({id!r}, ...)   questions: {', '.join(QUESTIONS)}",
        mend=f"use the number in the exercise's heading, as text; the nearest is {near[0]!r}.",
    )
