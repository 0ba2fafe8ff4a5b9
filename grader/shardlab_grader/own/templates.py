"""Small exercises that work, to be changed into others: what a new one, or a new chapter, begins with."""

from __future__ import annotations

import dataclasses
import pathlib

FOLDER = pathlib.Path(__file__).with_name("begin")
"""A folder for each template; its files are no Python yet: `{id}` and its like are filled in."""


@dataclasses.dataclass(frozen=True)
class Template:
    """An exercise's text, its modules `question` and `oracle`, and its answers; `{oracle}` imports the oracle as `of`."""

    exercise: str
    question: str
    oracle: str
    answers: str


def _read(name: str, oracle: str = "") -> Template:
    """The template in a folder; with the oracle of another one, if it has none."""
    question, answers = ((FOLDER / name / f"{part}.py.txt").read_text(encoding="utf-8") for part in ("question", "answers"))
    exercise = "\n" + (FOLDER / name / "exercise.md.txt").read_text(encoding="utf-8")
    return Template(exercise, question, (FOLDER / (oracle or name) / "oracle.py.txt").read_text(encoding="utf-8"), answers)


PROGRAM, MANUAL, FUNCTION = _read("program"), _read("manual", "program"), _read("function")


def modules(template: Template, chapter: int, id: str, oracle: str) -> dict[str, str]:
    """The files of an exercise's folder by name, with their texts.

    Args:
        oracle: the line that imports the oracle's module as `of`.
    """
    question = template.question.format(chapter=chapter, id=id, oracle=oracle)
    return {
        "question.py": question,
        "oracle.py": template.oracle.format(chapter=chapter, id=id),
        "answers.py": template.answers,
    }
