"""The plan of a course, which lies beside a notebook of an instructor's release: the exercises that count there."""

from __future__ import annotations

import json
import pathlib

from shardlab_course.outline import Exercise, outline

NAME = "shardlab-plan.json"


def text(exercises: dict[int, list[str]]) -> str:
    """The file's text.

    Args:
        exercises: by chapter of the plan the ids of the exercises that count, in its order.
    """
    return json.dumps({"exercises": {str(chapter): ids for chapter, ids in exercises.items()}}, indent=1) + "\n"


def planned() -> dict[int, tuple[Exercise, ...]]:
    """By chapter its exercises: those of the plan in the working directory, or the whole course where there is none."""
    there = outline()
    try:
        raw = json.loads((pathlib.Path.cwd() / NAME).read_text(encoding="utf-8"))["exercises"]
        ids = {int(chapter): frozenset(found) for chapter, found in raw.items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return there
    kept = {n: tuple(each for each in there[n] if each.id in ids[n]) for n in ids if n in there}
    return {n: each for n, each in kept.items() if each} or there
