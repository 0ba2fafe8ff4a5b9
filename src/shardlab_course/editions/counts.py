"""The README's counts: exercises and hours of the whole course and of each way through it, as the questions declare them."""

from __future__ import annotations

import pathlib
import re
from collections.abc import Mapping, Sequence

from shardlab_judge.question import Question

README = "README.md"
WAY = re.compile(r"^(\| [\w ]+ \| ([\d, ]+) \|) \d+ \| \d+ \|$", re.MULTILINE)
CORE = re.compile(r"\d+ of the \d+ exercises are the core")
OPTIONAL = re.compile(r"the optional exercises \d+ hours")


def counted(text: str, chapters: Mapping[int, Sequence[Question]]) -> str:
    """The README's text with its counts as they are."""
    core = {number: [q.minutes for q in asked if not q.optional] for number, asked in chapters.items()}
    optional = [q.minutes for asked in chapters.values() for q in asked if q.optional]
    many = sum(map(len, core.values()))

    def way(row: re.Match[str]) -> str:
        minutes = [each for number in row[2].split(",") for each in core[int(number)]]
        return f"{row[1]} {len(minutes)} | {_hours(minutes)} |"

    text = CORE.sub(f"{many} of the {many + len(optional)} exercises are the core", WAY.sub(way, text))
    return OPTIONAL.sub(f"the optional exercises {_hours(optional)} hours", text)


def readme(root: pathlib.Path) -> dict[pathlib.Path, str]:
    """The README with its counts as they are; nothing where there is none."""
    path = root / README
    if not path.exists():
        return {}
    from shardlab_course.chapters import CHAPTERS

    return {path: counted(path.read_text(), CHAPTERS)}


def _hours(minutes: Sequence[float]) -> int:
    return round(sum(minutes) / 60)
