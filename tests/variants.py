"""The corpus `tests/answers/<question>.py`: a file of answers for each question of the course."""

from __future__ import annotations

import functools
import pathlib
from collections.abc import Mapping

import asked
from shardlab_grader.own.answers import REFERENCE as REFERENCE
from shardlab_grader.own.answers import Sample, read
from shardlab_grader.own.answers import changed as changed
from shardlab_grader.own.answers import right as right
from shardlab_grader.own.answers import told as told
from shardlab_grader.own.answers import wrong as wrong

FOLDER = pathlib.Path(__file__).parent / "answers"


@functools.cache
def of(question: str) -> Mapping[str, Sample]:
    """The answers to one question, by name."""
    return {sample.name: sample for sample in read(FOLDER / f"{question}.py")}


@functools.cache
def samples() -> tuple[Sample, ...]:
    """Every answer of the corpus to what is asked for, question by question."""
    questions = (path.stem for path in sorted(FOLDER.glob("*.py")) if asked.question(path.stem))
    return tuple(sample for question in questions for sample in of(question).values())
