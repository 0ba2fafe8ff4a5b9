"""Which mutants are judged: some of each right answer, or a few that are cheap, of every chapter."""

from __future__ import annotations

from collections.abc import Iterator

from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_judge.items.program import ProgramItem
from shardlab_tools.mutants import answers
from shardlab_tools.mutants.generation import Mutant, mutants, sample
from shardlab_tools.mutants.judging import items, variables


def chosen(question: str, many: int) -> Iterator[Mutant]:
    """At most so many mutants of each right answer of a question; one text counts once."""
    names = variables(QUESTIONS[question])
    seen: set[str] = set()
    for answer in answers.read(question) if names else ():
        fresh = [m for m in mutants(answer, names) if m.key not in seen]
        seen |= {m.key for m in fresh}
        yield from sample(fresh, many)


def few(each: int, programs: int) -> Iterator[Mutant]:
    """Of each chapter so many mutants of its references, the same ones each time; at most `programs` of them compile.

    A function that is called costs a hundredth of a program. A chapter that has only programs gives more of these.
    """
    for questions in CHAPTERS.values():
        compiled: list[Mutant] = []
        called: list[Mutant] = []
        for question in questions:
            made = any(isinstance(item, ProgramItem) for item in items(question))
            reference = next(answers.read(question.id))
            found = sample(list(mutants(reference, variables(question))), each) if variables(question) else []
            (compiled if made else called).extend(found[: max(programs, 1)] if made else found)
        yield from sample(compiled, programs if called else 2 * programs)
        yield from sample(called, each - programs)
