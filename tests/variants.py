"""The corpus: the answers to every exercise of the course, from its folder."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping

import asked
from shardlab_course import chapters, own
from shardlab_course.answers import REFERENCE as REFERENCE
from shardlab_course.answers import Sample as Sample
from shardlab_course.answers import read

TEXTS = {int(path.name[:2]): path for path in (pathlib.Path(__file__).parents[1] / "solutions").glob("[0-9]*.md")}


@functools.cache
def of(question: str) -> Mapping[str, Sample]:
    """The answers to one question, by name."""
    chapter, number = map(int, question.split("."))
    path = chapters.exercises(chapter)[number] / own.ANSWERS
    return {sample.name: sample for sample in read(path, TEXTS[chapter], question)}


@functools.cache
def samples() -> tuple[Sample, ...]:
    """Every answer of the corpus to what is asked for, question by question."""
    return tuple(sample for question in chapters.QUESTIONS if asked.question(question) for sample in of(question).values())


@functools.cache
def first_of_each_cause(question: str) -> tuple[Sample, ...]:
    """Of the wrong answers to a question that get the same cause, the first one."""
    found: dict[str, Sample] = {}
    for sample in of(question).values():
        if sample.misconception not in (None, "-"):
            found.setdefault(sample.misconception, sample)
    return tuple(found.values())
