"""The list of exercises, from their declarations."""

from __future__ import annotations

import pathlib
import tomllib
from collections.abc import Sequence

import chapters

from shardlab_course import outline
from shardlab_course.chapters import CHAPTERS
from shardlab_course.outline import STARS, stars
from shardlab_judge.question import LETTERS, Question

WAYS = {
    "First steps": (0, 1, 2),
    "Tensor parallelism": (0, 1, 2, 3, 4, 7, 9),
    "Inference": (0, 1, 2, 3, 4, 7, 9, 16),
    "All of it": tuple(CHAPTERS),
}
PLANS = ("Six weeks", "Twelve weeks", "A workshop of two days")
TALK, PAPER, MARKING = 10, 15, 2
"""Minutes of a conversation with one student, of a class that writes, and of a marked sheet: as the page of terms says."""
CLASSES = (25, 120)
HEAD = "| exercise | difficulty | minutes | points | what is judged |\n|:--|:--|--:|--:|:--|"


def tables(root: pathlib.Path, solutions: bool) -> str:
    """One table for each chapter that has exercises."""
    names = [name for name in chapters.names(root) if int(name[:2]) in CHAPTERS]
    parts = [_table(root, name, CHAPTERS[int(name[:2])], solutions) for name in names]
    return "\n\n".join(parts) + "\n"


def ways() -> str:
    """The ways through the course, with their core exercises and the hours for them."""
    rows = ["| way | chapters | core exercises | hours for them |\n|:--|:--|--:|--:|"]
    for name, numbers in WAYS.items():
        core = [q for number in numbers for q in CHAPTERS[number] if not q.optional]
        rows.append(
            f"| {name} | {', '.join(map(str, numbers))} | {len(core)} | {round(sum(q.minutes for q in core) / 60)} |"
        )
    return "\n".join(rows) + "\n\n"


def plan(page: str, name: str) -> str:
    """The weeks of a plan, or its days: what stands in the settings below a heading, with the hours that it takes."""
    settings = tomllib.loads(page.partition(f"### {name}\n")[2].partition("```toml\n")[2].partition("```")[0])
    chosen = {int(n): set(one["exercises"]) for n, one in settings.get("assignments", {}).items()}
    unit = "day" if name.endswith("days") else "week"
    rows = [f"| {unit} | chapters | exercises | hours for them | with reading |\n|--:|:--|--:|--:|--:|"]
    for week, listed in settings["plan"].items():
        numbers = [int(number) for number in listed]
        asked = [q for n in numbers for q in CHAPTERS[n] if (q.id in chosen[n] if n in chosen else not q.optional)]
        hours = round(sum(q.minutes for q in asked) / 60, 1)
        titles = "; ".join(f"{n} {outline.title(n)}" for n in numbers)
        rows.append(f"| {week} | {titles} | {len(asked)} | {hours:.1f} | {hours + len(numbers):.1f} |")
    return "\n".join(rows) + "\n\n"


def rooms() -> str:
    """The hours that asking a class in the room takes, by its size."""
    rows = ["| students | conversations | on paper, in the room | marking the sheets |\n|--:|--:|--:|--:|"]
    for students in CLASSES:
        rows.append(f"| {students} | {_clock(students * TALK)} | {_clock(PAPER)} | {_clock(students * MARKING)} |")
    return "\n".join(rows) + "\n\n"


def _clock(minutes: int) -> str:
    return f"{minutes // 60} h {minutes % 60:02} min" if minutes >= 60 else f"{minutes} min"


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
    letters = dict.fromkeys(letter for item in question.items for letter in item.points)
    judged = ", ".join(LETTERS[letter] for letter in letters) + " (observed)" * question.observed
    title = f"[{question.id} {chapters.plain(question.title)}](#{chapters.label(question.id)})"
    difficulty = f"{{abbr}}`{stars(question.difficulty)} ({STARS[question.difficulty]} of 3)`"
    title += " · optional" * question.optional
    return f"| {title} | {difficulty} | {question.minutes} | {question.points:g} | {judged} |"
