"""How a student may name an exercise: `4.2`, `"4.2"`, a chapter, or nothing at all."""

from __future__ import annotations

import re
from typing import Any

from shardlab.answers.in_the_box import exercise_id
from shardlab_course.chapters import asked
from shardlab_judge.question import Question

_CHAPTER = re.compile(r"0*(\d+)")


def chapter_of(given: Any) -> int | None:
    """The chapter that is named, as `4`, `"4"` or `"04"`; `None` where it is something else.

    Example:
        >>> chapter_of("04"), chapter_of(4), chapter_of("4.2")
        (4, 4, None)
    """
    if isinstance(given, bool) or not isinstance(given, str | int):
        return None
    found = _CHAPTER.fullmatch(str(given).strip())
    return int(found[1]) if found else None


def exercise(given: Any = None) -> Question:
    """The exercise that is meant: by its number; by a chapter, the one of it that was checked last, else its first open one;
    by nothing, the one that was checked last.

    Raises:
        ShardlabError: there is none.
    """
    from shardlab_course.checking import progress_file
    from shardlab_course.outline import outline

    chapter, last = chapter_of(given), progress_file.last()
    if given is None:
        return asked(last or "0.1")
    if chapter is None:
        return asked(exercise_id(given))
    there = outline().get(chapter, ())
    if not there or last.partition(".")[0] == str(chapter):
        return asked(last if there else f"{chapter}")
    noted = progress_file.read()["questions"]
    still = [each.id for each in there if noted.get(each.id, {}).get("status") != "passed"]
    return asked((still or [there[0].id])[0])
