"""What `sl.check` and its company are where a class is graded: nothing is judged there, and only predictions are kept.

The course with its keys is not seen in that box, so none of this can ask it.
"""

from __future__ import annotations

import dataclasses
import re
from types import SimpleNamespace
from typing import Any

from shardlab.answers.record import is_open
from shardlens import Placement

GIVEN: dict[str, dict[str, Any]] = {}
"""What was predicted in this session, by question and item."""

_ID = re.compile(r"0*(\d+)[.-](\d+)")


def exercise_id(given: Any) -> Any:
    """The exercise's number as the course writes it; what cannot be one comes back as it is.

    Example:
        >>> exercise_id(4.2), exercise_id("04.2"), exercise_id("q")
        ('4.2', '4.2', 'q')
    """
    text = str(given) if isinstance(given, str | float) else ""
    found = _ID.fullmatch(text.strip())
    return f"{found[1]}.{found[2]}" if found else given


@dataclasses.dataclass(frozen=True)
class Said:
    """A line that shows itself as the last expression of a cell."""

    text: str

    def __repr__(self) -> str:
        return self.text


def check(question: str | float, /, *answers: Any, **named: Any) -> Said:
    """The answer is taken from the notebook's variables at the grade cell, not from here."""
    return Said(f"{question}: recorded.")


def predict(question: str | float, /, **values: Any) -> Said:
    """Keep what is predicted; `...` is not predicted yet."""
    GIVEN.setdefault(exercise_id(question), {}).update({name: value for name, value in values.items() if not is_open(value)})
    return Said(f"{question}: recorded.")


def hint(question: str | float | None = None, number: int | None = None, /) -> Said:
    """Hints are with the course."""
    return Said("hints are for you, not for the grader.")


def example(question: str | float | None = None, /) -> Said:
    """Examples are with the course."""
    return Said("examples are for you, not for the grader.")


def explain(question: str | float | None = None, /) -> Said:
    """Explanations are with the course."""
    return Said("explanations are for you, not for the grader.")


def viva(question: str | float | None = None, number: int | None = None, answer: Any = None, /) -> Said:
    """Questions and their keys are with the course."""
    return Said("questions about your program are for you, not for the grader.")


def diagnose(message: str | BaseException) -> Said:
    """The clinic is with the course."""
    return Said("what a message means is for you, not for the grader.")


Diagnosis = Said


def target(question: str | float, item: str, /) -> Placement:
    """A placement of one element on one device: the right one is with the course."""
    return Placement((1,), ((0, ((0, 1),)),))


def progress(which: Any = None) -> Any:
    """No question, no points."""
    return SimpleNamespace(rows=(), earned=0.0, of=0.0, place="your own notebook, not here")


def show_front(question: str | float, design: Any = None) -> Said:
    """Maps are with the course."""
    return Said(f"{question}: the map is for you, not for the grader.")
