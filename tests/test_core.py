"""The course without its optional exercises: what is left runs, is released alone, and comes first."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import symtable
from collections.abc import Iterator

import pytest

from shardlab_course.chapters import CHAPTERS, QUESTIONS
from shardlab_course.checking import progress_file
from shardlab_course.editions import edition, header

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
    core = edition.core(whole, QUESTIONS)
    left_out = {q.id for q in CHAPTERS[chapter] if q.optional}
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


def test_what_is_next(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The core behind the last that was passed, then the core before it, then what is optional; nothing at the end."""
    path = tmp_path / "progress.json"
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(path))
    some = [QUESTIONS[id] for id in ("0.1", "0.2", "1.1", "1.2")]
    asked = {q.id: dataclasses.replace(q, optional=q.id == "1.1") for q in some}
    monkeypatch.setattr("shardlab_course.chapters.QUESTIONS", asked)

    def after(*passed: str) -> progress_file.Progress:
        noted = {id: {"status": "passed", "points": asked[id].points} for id in passed}
        path.write_text(json.dumps({"questions": noted, "predictions": {}}))
        return progress_file.progress()

    steps = [(), ("0.1",), ("0.2",), ("0.1", "0.2", "1.2"), tuple(asked)]
    assert [after(*passed).next.partition(" ")[0] for passed in steps] == ["0.1", "0.2", "1.2", "1.1", ""]
    assert after("1.1", "1.2").core == (asked["1.2"].points, sum(q.points for q in some if q.id != "1.1"))
    assert "(optional)" in str(after("0.1", "0.2")) and "(optional)" not in str(after())
