"""What a run is asked for: some exercises, some chapters, or all. Tables of answers, claims and pages hold these alone.

`--question 4.2` and `--chapter 4` say so, and so does `-k` when each of its alternatives holds an exercise's number. The
modules of a run are imported after that, so that what nobody asked for is neither read nor made into tests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

ID = re.compile(r"(?<![\d.])(\d+)\.(\d+)(?!\.?\d)")
_questions: set[str] = set()
_chapters: set[int] = set()


def narrow(questions: Iterable[str], chapters: Iterable[int], keyword: str) -> None:
    """From here on these are asked for; without any of them, everything is."""
    _questions.clear()
    _questions.update(questions, named(keyword))
    _chapters.clear()
    _chapters.update(chapters)


def named(keyword: str) -> set[str]:
    """The exercises to which a keyword expression of pytest keeps; none if it may mean others as well."""
    alternatives = [{match[0] for match in ID.finditer(part)} for part in re.split(r"\bor\b", keyword)]
    return set().union(*alternatives) if all(alternatives) and not re.search(r"\bnot\b", keyword) else set()


def everything() -> bool:
    """Whether nothing in particular is asked for."""
    return not (_questions or _chapters)


def question(id: str) -> bool:
    """Whether this exercise is asked for, by itself or with its chapter."""
    return everything() or id in _questions or int(id.partition(".")[0]) in _chapters


def chapter(number: int) -> bool:
    """Whether this chapter is asked for, or an exercise of it."""
    return everything() or number in _chapters | {int(id.partition(".")[0]) for id in _questions}
