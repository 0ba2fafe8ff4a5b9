"""Every question: a chapter, ours or an instructor's, is a folder, each exercise a folder in it, imported when asked for."""

from __future__ import annotations

import difflib
import functools
import importlib
import pathlib
import re
from collections.abc import Iterator, Mapping

from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_judge.question import Question
from shardlab_judge.references import References

HOME = pathlib.Path(__file__).parent
NAME, ID = re.compile(r"ch(\d\d)"), re.compile(r"(0|[1-9]\d*)\.([1-9]\d*)")


def folder(chapter: int) -> pathlib.Path:
    """Where a chapter's questions and references lie."""
    return own.folders().get(chapter, HOME / f"ch{chapter:02}")


def exercises(chapter: int) -> dict[int, pathlib.Path]:
    """By number the folders of a chapter's exercises."""
    return own.exercises(folder(chapter))


def declared(chapter: int, exercise: int) -> Question:
    """The question of an exercise that is there."""
    package = f"{__package__}.ch{chapter:02}"
    where = own.folders().get(chapter)
    if where:
        found: Question = own.declared(package, where, exercise)
    else:
        found = importlib.import_module(f"{package}.ex{exercise:02}.question").QUESTION
    if found.id != f"{chapter}.{exercise}":
        raise ShardlabError(
            "other-id",
            f"the question of exercise {chapter}.{exercise} has the id {found.id!r}.",
            where=str(exercises(chapter)[exercise] / own.QUESTION),
            mend="give it the number of its folder, or rename the folder.",
        )
    return found


class Chapters(Mapping[int, tuple[Question, ...]]):
    """The questions of each chapter that has a folder, by its number."""

    def __getitem__(self, chapter: int) -> tuple[Question, ...]:
        if not (numbers := exercises(chapter)):
            raise KeyError(chapter)
        return tuple(declared(chapter, number) for number in numbers)

    def __iter__(self) -> Iterator[int]:
        named = (NAME.fullmatch(path.parents[1].name) for path in sorted(HOME.glob(f"ch*/ex*/{own.QUESTION}")))
        return iter(sorted({int(name[1]) for name in named if name} | set(own.folders())))

    def __len__(self) -> int:
        return len(list(iter(self)))


class Questions(Mapping[str, Question]):
    """All questions by id, in the order of the course; looking one up imports its exercise alone, and listing ids none."""

    def __getitem__(self, id: str) -> Question:
        match = ID.fullmatch(str(id))
        if match is None or int(match[2]) not in exercises(int(match[1])):
            raise KeyError(id)
        return declared(int(match[1]), int(match[2]))

    def __contains__(self, id: object) -> bool:
        match = ID.fullmatch(str(id))
        return match is not None and int(match[2]) in exercises(int(match[1]))

    def __iter__(self) -> Iterator[str]:
        return (f"{chapter}.{number}" for chapter in CHAPTERS for number in exercises(chapter))

    def __len__(self) -> int:
        return len(list(iter(self)))


CHAPTERS = Chapters()
QUESTIONS = Questions()


def question(id: str) -> Question:
    """The question of this id.

    Raises:
        ShardlabError: there is none; the message names the nearest.
    """
    if isinstance(id, str) and id in QUESTIONS:
        return QUESTIONS[id]
    written = re.search(r"(\d+)[.-](\d+)", str(id)) if isinstance(id, str | float) else None
    chapter = written[1] if written else ""
    beside = [other for other in QUESTIONS if other.partition(".")[0] == chapter]
    there = (
        f"chapter {chapter} has {beside[0]} to {beside[-1]}"
        if beside
        else f"chapters are {min(CHAPTERS)} to {max(CHAPTERS)}"
    )
    mend = 'begin with the number in the exercise\'s heading, as text: sl.check("4.2", ...).'
    if written and beside:
        near = difflib.get_close_matches(written[0].replace("-", "."), beside, n=1, cutoff=0)
        mend = f"use the number in the exercise's heading, as text; the nearest is {near[0]!r}."
    elif re.fullmatch(own.NUMBER, chapter):
        mend = f"put the folder {chapter}_... that came with the notebook beside it; its chapter is not one of the course."
    what, said = f"there is no question {id!r}.", repr(id)
    if not isinstance(id, str | int | float):
        what, said = f"the first argument is a {type(id).__name__}, and no exercise's number.", "..."
    raise ShardlabError("unknown-question", what, where=f"sl.check({said}, ...)   {there}", mend=mend)


def asked(id: str) -> Question:
    """The same for a student, also of a chapter whose folder lies beside the notebook.

    Raises:
        ShardlabError: there is none.
    """
    own.take_beside()
    return question(id)


def reference_of(id: str) -> References:
    """What the reference solutions of a question's chapter cost; nothing is known of a chapter without programs."""
    return _references(folder(int(id.partition(".")[0])) / "references.json")


@functools.cache
def _references(path: pathlib.Path) -> References:
    return References.load(path)
