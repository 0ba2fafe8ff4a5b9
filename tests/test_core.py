"""The course without its optional exercises: what is left runs, is released alone, and comes first."""

from __future__ import annotations

import dataclasses
import pathlib
import re
import symtable
from collections.abc import Iterable, Iterator

import pytest

from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_course.checking.moment import following
from shardlab_course.editions import edition, header
from shardlab_course.outline import STARS, Exercise, notebook, outline, title

ROOT = pathlib.Path(__file__).parents[1]


def tables(notebook: edition.NotebookNode) -> Iterator[tuple[bool, symtable.Symbol]]:
    """Every name of the code cells, and whether it stands at a cell's top level."""
    for cell in notebook.cells:
        if cell.cell_type == "code":
            text = re.sub(r"^( *)%.*$", r"\1pass", cell.source, flags=re.MULTILINE)
            waiting = [symtable.symtable(text, "cell", "exec")]
            while waiting:
                table = waiting.pop()
                waiting += table.get_children()
                yield from ((table.get_type() == "module", symbol) for symbol in table.get_symbols())


def used(notebook: edition.NotebookNode) -> set[str]:
    """Names that it reads from the notebook."""
    return {s.get_name() for top, s in tables(notebook) if s.is_referenced() and (top or s.is_global())}


def bound(notebook: edition.NotebookNode) -> set[str]:
    """Names that it puts into the notebook."""
    return {s.get_name() for top, s in tables(notebook) if top and (s.is_assigned() or s.is_imported())}


@pytest.mark.thorough(after=15)
@pytest.mark.parametrize("chapter", CHAPTERS)
def test_the_core_of_a_chapter_stands_alone(chapter: int) -> None:
    """No cell of it uses a name that only an optional exercise binds; the rest is there as it was."""
    (path,) = edition.chapters(ROOT, [chapter])
    whole = edition.solution(edition.source(path, header.syllabus(ROOT)))
    left_out = {q.id for q in CHAPTERS[chapter] if q.optional}
    core = edition.without(whole, left_out)
    assert set(edition.questions(whole)) - set(edition.questions(core)) == left_out
    assert used(core) & (bound(whole) - bound(core)) == set()
    texts = [cell.source for cell in core.cells]
    assert all(f"## Exercise {id}:" not in text for id in left_out for text in texts)
    if not left_out:
        assert texts == [cell.source for cell in whole.cells]


def test_an_exercise_says_that_it_is_optional() -> None:
    """First of all."""
    question = dataclasses.replace(QUESTIONS["4.2"], optional=True)
    assert header.exercise(question).split("\n\n")[1].startswith("optional · ★")


def test_what_is_next() -> None:
    """The chapter's own open core exercises, then the course's from its beginning, then what is optional; then nothing."""
    every = [each for chapter in outline().values() for each in chapter]
    core = {each.id for each in every if not each.optional}

    def after(chapter: int, passed: Iterable[str]) -> str:
        found = following(chapter, {id: {"status": "passed"} for id in passed})
        return found.id if found else ""

    assert after(-1, ()) == "0.1" and after(0, ("0.1",)) == "0.2" and after(4, ("4.1", "5.1")) == "4.2"
    assert after(1, {id for id in core if id[:2] in ("0.", "1.", "4.")}) == "2.1"
    assert after(15, core) == "15.3" and after(0, core) == "0.4" and after(0, [each.id for each in every]) == ""


def test_the_outline_is_that_of_the_declarations() -> None:
    """Title, stars, minutes and whether it is optional; each chapter's title and file are those of its source."""
    read = [each for chapter in outline().values() for each in chapter]
    asked = [Exercise(q.id, q.title, STARS[q.difficulty], q.minutes, q.optional) for q in QUESTIONS.values()]
    assert read == asked
    sources = edition.chapters(ROOT)
    assert [notebook(n) for n in CHAPTERS] == [f"{path.stem}.ipynb" for path in sources]
    heads = [re.search(r"^# (\d+)\. (.+)$", path.read_text(), re.MULTILINE) for path in sources]
    assert {n: title(n) for n in CHAPTERS} == {int(head[1]): head[2].replace("`", "") for head in heads if head}
