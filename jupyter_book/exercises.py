"""The list of exercises, from their declarations."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Sequence

import chapters

from shardlab_course.chapters import CHAPTERS
from shardlab_judge.question import LETTERS, Question

HEAD = "| exercise | difficulty | minutes | points | what is judged |\n|:--|:--|--:|--:|:--|"


def tables(root: pathlib.Path, solutions: bool) -> str:
    """One table for each chapter that has exercises."""
    names = [name for name in chapters.names(root) if int(name[:2]) in CHAPTERS]
    parts = [_table(root, name, CHAPTERS[int(name[:2])], solutions) for name in names]
    return "\n\n".join(parts) + "\n"


def ways(root: pathlib.Path) -> str:
    """The README's table of ways through the course, whose numbers are tested there."""
    found = re.search(r"^\| way \|.*?\n\n", (root / "README.md").read_text(), re.MULTILINE | re.DOTALL)
    assert found, "README.md has no table of ways"
    return found[0]


def _table(root: pathlib.Path, name: str, questions: Sequence[Question], solutions: bool) -> str:
    number, chapter = str(int(name[:2])), chapters.title(root, name)
    minutes, points = sum(q.minutes for q in questions), sum(q.points for q in questions)
    link = f"[chapter {number}](notebooks/{name}.md)"
    core = sum(not q.optional for q in questions)
    total = f"{len(questions)} exercises, {core} of them core, in {link}, about {minutes} minutes, {points:g} points."
    if solutions:
        total += f" Its [solutions](solutions/{name}.md)."
    rows = "\n".join(map(_row, questions))
    return f"## {chapter}\n\n{total}\n\n{HEAD}\n{rows}"


def _row(question: Question) -> str:
    dots = "●" * question.difficulty + "○" * (5 - question.difficulty)
    letters = dict.fromkeys(letter for item in question.items for letter in item.points)
    judged = ", ".join(LETTERS[letter] for letter in letters) + " (observed)" * question.observed
    title = f"[{question.id} {chapters.plain(question.title)}](#{chapters.label(question.id)})"
    difficulty = f"{{abbr}}`{dots} ({question.difficulty} of 5)`"
    title += " · optional" * question.optional
    return f"| {title} | {difficulty} | {question.minutes} | {question.points:g} | {judged} |"
