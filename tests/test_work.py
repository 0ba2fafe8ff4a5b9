"""A student's folder: copied once, never overwritten, updated without losing a word."""

from __future__ import annotations

import json
import pathlib
import subprocess
import sys
import zlib

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from shardlab_course.checking import work

GRADED = {"nbgrader": {"grade": True, "grade_id": "q4-1"}}
ANSWER = {"nbgrader": {"grade": False, "solution": True, "grade_id": "q4-1-answer"}}


def notebook(*cells) -> nbformat.NotebookNode:
    return new_notebook(cells=list(cells))


def given(title="# 4. Matmul", stub="x = ...", check='sl.check("4.1", x)', further=()):
    return notebook(
        new_markdown_cell(title, id=f"text-{zlib.crc32(title.encode())}"),
        new_code_cell(stub, id="q4-1-answer", metadata=ANSWER),
        new_code_cell(check, id="q4-1", metadata=GRADED),
        *further,
    )


@pytest.fixture
def folders(tmp_path: pathlib.Path) -> tuple[pathlib.Path, pathlib.Path]:
    notebooks = tmp_path / "notebooks"
    notebooks.mkdir()
    nbformat.write(given(), notebooks / "04.ipynb")
    return notebooks, tmp_path / "work"


def sources(path: pathlib.Path) -> list[str]:
    return [cell.source for cell in nbformat.read(path, as_version=4).cells]


def edit(path: pathlib.Path, change) -> None:
    found = nbformat.read(path, as_version=4)
    change(found)
    nbformat.write(found, path)


def as_older_editors_write(found: nbformat.NotebookNode, keep: str) -> dict:
    """The notebook in a form whose cells have no ids of their own, but perhaps in their metadata."""
    older = json.loads(nbformat.writes(found)) | {"nbformat_minor": 0}
    for n, cell in enumerate(older["cells"]):
        id = cell.pop("id")
        if keep:
            cell["metadata"]["id"] = id if keep == "ours" else f"colab{n}"
    return older


@pytest.mark.parametrize("keep", ["", "ours", "other"])
def test_cells_without_ids_are_known_all_the_same(folders, keep: str) -> None:
    """By nbgrader's names, by their texts or by the id that is elsewhere: nothing is lost, and nothing there twice."""
    notebooks, own = folders
    work.begin(notebooks, own)
    edit(own / "04.ipynb", lambda n: (n.cells[1].update(source="x = 3"), n.cells.append(new_code_cell("mine = 1"))))
    older = as_older_editors_write(nbformat.read(own / "04.ipynb", as_version=4), keep)
    (own / "04.ipynb").write_text(json.dumps(older))
    nbformat.write(given(check="sl.check(4.1, x)"), notebooks / "04.ipynb")
    assert work.update(notebooks, own).chapters == ["04.ipynb"]
    assert sources(own / "04.ipynb") == ["# 4. Matmul", "x = 3", "sl.check(4.1, x)", "mine = 1"]


def test_a_file_of_another_encoding_does_not_stop_the_others(folders) -> None:
    notebooks, own = folders
    nbformat.write(given(), notebooks / "05.ipynb")
    work.begin(notebooks, own)
    (own / "04.ipynb").write_text("{}", encoding="utf-16")
    for name in ("04.ipynb", "05.ipynb"):
        nbformat.write(given(title="# New"), notebooks / name)
    done = work.update(notebooks, own)
    assert (done.unread, done.chapters) == (["04.ipynb"], ["05.ipynb"])


def test_another_folder_is_told(tmp_path: pathlib.Path) -> None:
    """Where there are no chapters, none are said to be up to date, and nothing is made."""
    line = [sys.executable, "-m", "shardlab_course.checking.work", "notebooks", "work"]
    ran = subprocess.run(line, cwd=tmp_path, capture_output=True, text=True)
    assert ran.returncode == 1 and "There are no chapters in notebooks/" in ran.stdout
    assert not [*tmp_path.iterdir()]


def test_begins_with_copies_and_the_progress_that_was_there(folders) -> None:
    notebooks, own = folders
    (notebooks / "shardlab-progress.json").write_text('{"questions": {}, "predictions": {}}')
    assert work.begin(notebooks, own) == []
    assert (own / "04.ipynb").read_bytes() == (notebooks / "04.ipynb").read_bytes()
    assert json.loads((own / "shardlab-progress.json").read_text())["questions"] == {}
    assert sorted(path.name for path in own.iterdir()) == [".shardlab", "04.ipynb", "shardlab-progress.json"]


def test_beginning_again_touches_nothing(folders) -> None:
    """Whatever the student wrote, and whatever we did: it is offered."""
    notebooks, own = folders
    work.begin(notebooks, own)
    edit(own / "04.ipynb", lambda found: found.cells[1].update(source="x = 3"))
    before = (own / "04.ipynb").read_bytes()
    assert work.begin(notebooks, own) == []
    nbformat.write(given(title="# 4. Four cases"), notebooks / "04.ipynb")
    assert work.begin(notebooks, own) == ["04.ipynb"]
    assert (own / "04.ipynb").read_bytes() == before


def test_an_update_keeps_what_was_written(folders) -> None:
    """Answers, own cells where they stood, outputs of what is unchanged; text and checks are the new ones."""
    notebooks, own = folders
    work.begin(notebooks, own)

    def wrote(found) -> None:
        found.cells[1].source = "x = 3"
        found.cells[1].outputs = [new_output("stream", text="three")]
        found.cells[2].source = "sl.check('4.1', 7)"
        found.cells.insert(2, new_code_cell("print(x)", id="mine"))
        found.cells.insert(0, new_markdown_cell("My notes", id="notes"))

    edit(own / "04.ipynb", wrote)
    before = sources(own / "04.ipynb")
    nbformat.write(
        given(title="# 4. Four cases", stub="x = None", further=[new_markdown_cell("More", id="more")]),
        notebooks / "04.ipynb",
    )
    assert work.update(notebooks, own) == work.Taken(["04.ipynb"], {"04.ipynb": ["q4-1-answer"]})
    assert sources(own / "04.ipynb") == ["My notes", "# 4. Four cases", "x = 3", "print(x)", 'sl.check("4.1", x)', "More"]
    assert nbformat.read(own / "04.ipynb", as_version=4).cells[2].outputs[0].text == "three"
    assert sources(own / ".shardlab" / "before" / "04.ipynb") == before
    assert work.update(notebooks, own) == work.Taken()
    nbformat.validate(nbformat.read(own / "04.ipynb", as_version=4))


def test_an_unanswered_stub_becomes_the_new_one(folders) -> None:
    notebooks, own = folders
    work.begin(notebooks, own)
    nbformat.write(given(stub="def x(n): ..."), notebooks / "04.ipynb")
    work.update(notebooks, own)
    assert "def x(n): ..." in sources(own / "04.ipynb")


def test_an_edited_text_that_we_changed_too_is_kept_beside_ours(folders) -> None:
    """Its id is that of the old text."""
    notebooks, own = folders
    work.begin(notebooks, own)
    edit(own / "04.ipynb", lambda found: found.cells[0].update(source="# 4. Matmul, with my remarks"))
    nbformat.write(given(title="# 4. Four cases"), notebooks / "04.ipynb")
    work.update(notebooks, own)
    assert sources(own / "04.ipynb")[:2] == ["# 4. Matmul, with my remarks", "# 4. Four cases"]


def test_a_folder_without_a_first_version_loses_nothing(folders) -> None:
    """As when `work/` was copied by hand."""
    notebooks, own = folders
    own.mkdir()
    nbformat.write(given(stub="x = 3"), own / "04.ipynb")
    assert work.update(notebooks, own) == work.Taken(["04.ipynb"])
    assert "x = 3" in sources(own / "04.ipynb")


@pytest.mark.parametrize("left", ["<<<<<<< HEAD\n{}\n", "", "[1, 2]", '{"cells": 3, "nbformat": 4, "nbformat_minor": 5}'])
def test_what_is_no_notebook_any_more_stays(folders, left: str) -> None:
    """Marks of a merge, an empty file, something else: it is named and not touched, and the other chapters are updated."""
    notebooks, own = folders
    nbformat.write(given(), notebooks / "03.ipynb")
    nbformat.write(given(), notebooks / "05.ipynb")
    work.begin(notebooks, own)
    (own / "04.ipynb").write_text(left)
    for name in ("03.ipynb", "04.ipynb", "05.ipynb"):
        nbformat.write(given(title="# New"), notebooks / name)
    assert work.update(notebooks, own) == work.Taken(["03.ipynb", "05.ipynb"], {}, ["04.ipynb"])
    assert (own / "04.ipynb").read_text() == left and sources(own / "05.ipynb")[0] == "# New"
    (own / "04.ipynb").unlink()
    assert work.begin(notebooks, own) == [] and sources(own / "04.ipynb")[0] == "# New"


def ran(notebooks: pathlib.Path, own: pathlib.Path, *options: str) -> subprocess.CompletedProcess[str]:
    """The command."""
    command = [sys.executable, "-m", "shardlab_course.checking.work", *options, str(notebooks), str(own)]
    return subprocess.run(command, capture_output=True, text=True)


def test_a_place_that_cannot_be_written_is_said(folders) -> None:
    """In a line, and no traceback."""
    notebooks, own = folders
    own.write_text("a file")
    done = ran(notebooks, own)
    assert done.returncode == 1 and not done.stderr
    assert done.stdout.startswith(f"The copies in {own}/ cannot be brought up to date: ")


@pytest.mark.thorough
def test_the_command_says_what_it_did(folders) -> None:
    notebooks, own = folders

    def said(*options: str) -> str:
        done = ran(notebooks, own, *options)
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert said() == ""
    assert said("--update") == "Nothing is newer than what you have.\n"
    nbformat.write(given(title="# 4. Four cases"), notebooks / "04.ipynb")
    assert said().endswith("`make update` takes them over and keeps all that you wrote.\n")
    assert said("--update").startswith("Taken over, with all that you wrote: 04.")
    edit(own / "04.ipynb", lambda found: found.cells[1].update(source="x = 3"))
    nbformat.write(given(stub="x = None"), notebooks / "04.ipynb")
    assert "Changed by you and by the new version, and yours stays, in 04: cells q4-1-answer.\n" in said("--update")
    (own / "04.ipynb").write_text("<<<<<<< HEAD")
    nbformat.write(given(), notebooks / "04.ipynb")
    assert "04.ipynb is no notebook that can be read, and stays as it is." in said("--update")
