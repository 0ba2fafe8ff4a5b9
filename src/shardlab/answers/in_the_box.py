"""What `sl.check` and its company are where a class is graded: nothing is judged there, and only predictions are kept.

The course with its keys is not seen in that box, so none of this can ask it.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
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


def _with_the_course(what: str) -> Callable[..., Said]:
    """A function that answers what only the course can answer, whatever it is asked."""
    return lambda *given, **named: Said(f"{what} for you, not for the grader.")


hint = _with_the_course("hints are")
example = _with_the_course("examples are")
explain = _with_the_course("explanations are")
viva = _with_the_course("questions about your program are")
diagnose = _with_the_course("what a message means is")
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
