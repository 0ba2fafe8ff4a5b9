"""What a student hands in is read as what it holds: notebooks as text are converted, and other files say what to do."""

from __future__ import annotations

import gzip
import json
import os
import pathlib
import shutil
from collections.abc import Callable

import jupytext
import nbformat
import pytest
from nbconvert import MarkdownExporter, PythonExporter

from shardlab_course.chapters import CHAPTERS
from shardlab_course.editions import edition, header
from shardlab_grader.classes.restore import job_cells, restore
from shardlab_grader.records import strays, texts
from shardlab_grader.records.forms import handed_in, parse
from shardlab_grader.records.submissions import each

from .conftest import NAME, ROOT, SYLLABUS, TINY

FORMATS = ("py:percent", "py:light", "py:hydrogen", "py:sphinx", "md:markdown", "md:myst", "Rmd:rmarkdown")
EXACT = tuple(format for format in FORMATS if format != "py:sphinx")
"""Without that in which prose and code run into each other."""
EXPORTERS = {"nbconvert-script": PythonExporter, "nbconvert-markdown": MarkdownExporter}
SOLVED = ("return 2 * n", 'kind="all-reduce"', "secret = 3")


def solved(path: pathlib.Path = TINY, syllabus: header.Syllabus = SYLLABUS) -> tuple[nbformat.NotebookNode, ...]:
    """A chapter with its answers, and as it was released."""
    source = edition.source(path, syllabus)
    return edition.solution(source), edition.student(source)


def exported(notebook: nbformat.NotebookNode, format: str) -> str:
    """The notebook as text."""
    if format == "colab":
        return "".join(
            f'"""{cell.source}"""\n\n' if cell.cell_type == "markdown" else f"{cell.source}\n\n" for cell in notebook.cells
        )
    if format in EXPORTERS:
        return str(EXPORTERS[format]().from_notebook_node(notebook)[0])  # type: ignore[no-untyped-call]
    return str(jupytext.writes(notebook, fmt=format))


def run(form: bytes, released: nbformat.NotebookNode) -> list[str]:
    """The code that runs, with each grade cell as its question."""
    return [cell.question or cell.source for cell in job_cells(restore(parse(form), released))]


@pytest.fixture
def course(tmp_path: pathlib.Path) -> pathlib.Path:
    """A course directory with two releases, the second of chapter 1."""
    tiny = json.loads(json.dumps(solved()[1]))
    other = json.loads(json.dumps(tiny).replace("90.", "1.").replace("q90-", "q1-"))
    for name, notebook in ((NAME, tiny), ("01_first", other)):
        place = tmp_path / "release" / name
        place.mkdir(parents=True)
        (place / f"{name}.ipynb").write_text(json.dumps(notebook))
    return tmp_path


def put(course: pathlib.Path, name: str, content: str | bytes, assignment: str = NAME) -> None:
    """Ann's file of this name."""
    path = course / "submitted" / "ann" / assignment / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content.encode() if isinstance(content, str) else content)


@pytest.mark.parametrize("format", [*FORMATS, *EXPORTERS])
def test_a_text_edition_is_its_notebook(format: str, course: pathlib.Path) -> None:
    """Renamed to .ipynb, all of its answers are asked for in their order, and the page says that it was converted."""
    notebook, released = solved()
    put(course, f"{NAME}.ipynb", exported(notebook, format))
    (found,) = each(course, NAME)
    assert not found.problem
    ran = run(found.content, released)
    found_at = [next(n for n, source in enumerate(ran) if text in source) for text in SOLVED]
    double, predicted, parts, first, second = *found_at, ran.index("90.1"), ran.index("90.2")
    assert double < first < predicted < parts < second
    top = json.loads(found.content)["cells"][0]
    assert top["cell_type"] == "markdown" and top["source"].endswith(texts.ADVICE)
    assert handed_in(found.content) == found.content


@pytest.mark.parametrize("format", [*EXACT, *EXPORTERS])
@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.thorough(after=2)
def test_every_chapter_survives_as_text(chapter: int, format: str) -> None:
    """Each statement of a solution runs in the order of its notebook."""
    path = next(ROOT.glob(f"solutions/{chapter:02}*.md"))
    notebook, released = solved(path, header.syllabus(ROOT))
    wanted, got = (run(handed_in(text.encode()), released) for text in (json.dumps(notebook), exported(notebook, format)))
    assert [one for one in got if one in wanted] == wanted


def test_a_sentence_of_two_alphabets() -> None:
    """A file with some bytes of Windows-1252 keeps the letters that are UTF-8 and those that are not."""
    text = json.dumps({"cells": [{"cell_type": "code", "source": "a = '→ é'"}]}, ensure_ascii=False)
    form = handed_in(text.encode().replace("é".encode(), b"\xe9\x93"))
    assert json.loads(form)["cells"][0]["source"] == "a = '→ é“'"


ENCODINGS: dict[str, Callable[[str], bytes]] = {
    "PowerShell's": lambda text: text.encode("utf-16"),
    "of an old Mac": lambda text: text.replace("\n", "\r").encode(),
    "of an old Windows": lambda text: text.replace("\n", "\r\n").encode("cp1252", "replace"),
}


@pytest.mark.parametrize("name", ENCODINGS)
def test_the_bytes_of_other_programs_are_read(name: str) -> None:
    """A text edition as an editor or a shell saved it."""
    notebook, released = solved()
    content = exported(notebook, "py:percent").replace("Double it.", "“Double” it.")
    ran = run(handed_in(ENCODINGS[name](content)), released)
    assert "“" in content and all(any(text in source for source in ran) for text in SOLVED) and {"90.1", "90.2"} <= set(ran)


OTHERS = {
    "another chapter": (
        "notebook of 01_first",
        f"{NAME}.ipynb",
        f"another chapter's: it holds the exercises of chapter 1, 01_first, but none of {NAME}; "
        "if it was meant for that, move it to submitted/STUDENT/01_first.",
    ),
    "another chapter as text": (
        "text of 01_first",
        f"{NAME}.ipynb",
        "another chapter's: it holds the exercises of chapter 1",
    ),
    "no exercise": ('{"cells": [{"cell_type": "code", "source": "x = 1"}]}', f"{NAME}.ipynb", f"not a notebook of {NAME}"),
    "no cells": ('{"cells": []}', f"{NAME}.ipynb", f"not a notebook of {NAME}"),
    "prose": ("Dear Professor,\nsl.check is hard.", f"{NAME}.ipynb", "not a notebook: "),
    "an archive": (
        b"PK\x03\x04",
        "work.zip",
        "handed in as an archive: work.zip; unpack it in its folder below submitted/, and put its notebook",
    ),
    "a tarball": (b"\x1f\x8b", "work.tar.gz", "handed in as an archive: work.tar.gz; "),
    "a page": (
        "<html>",
        "work.html",
        f"handed in as another file: work.html, which holds none of its exercises as code; ask for {NAME}",
    ),
    "another program": ("print(1)", "work.py", "handed in as another file: work.py, "),
    "a PDF": (b"%PDF-1.7\n\xe2", f"{NAME}.ipynb", "not a notebook: the file is a PDF; ask for the notebook."),
    "a packed one": (gzip.compress(b"{}"), f"{NAME}.ipynb", "not a notebook: the file is an archive; "),
    "a pointer": (
        "version https://git-lfs.github.com/spec/v1\n",
        f"{NAME}.ipynb",
        "not a notebook: the file is a pointer of ",
    ),
    "never synchronised": (b"\0" * 4096, f"{NAME}.ipynb", "not a notebook: the file is made of zero bytes"),
    "nothing": (None, "", f"missing notebook: there is no {NAME}.ipynb."),
}
"""What Ann's file holds, its name, and what is said of it."""


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_notebook_of_this_assignment_is_no_zero(name: str, course: pathlib.Path) -> None:
    """It is ungraded, and the reason names what it is and what to do."""
    content, file, problem = OTHERS[name]
    first = json.loads((course / "release" / "01_first" / "01_first.ipynb").read_text())
    made = {"notebook of 01_first": json.dumps(first), "text of 01_first": exported(nbformat.from_dict(first), "py:percent")}
    if content is None:
        (course / "submitted" / "ann" / NAME).mkdir(parents=True)
    else:
        put(course, file, made.get(str(content), content))
    (found,) = each(course, NAME)
    assert found.problem.startswith(problem) and found.problem.endswith("."), found.problem


PLACES = {
    "text": (f"{NAME}.py", "py:percent"),
    "text of another name": ("my work.md", "md:myst"),
    "renamed by a browser": (f"{NAME}.ipynb.txt", "ipynb"),
    "without an ending": (NAME, "ipynb"),
    "with a blank behind it": (f"{NAME}.ipynb ", "ipynb"),
    "of Colab's": (f"Copy of {NAME}.py", "colab"),
    "in a folder of its own": (f"{NAME}/{NAME}.ipynb", "ipynb"),
    "in a folder as text": ("work/notebook.py", "py:light"),
}


@pytest.mark.parametrize("name", PLACES)
def test_a_file_that_holds_the_exercises_is_graded(name: str, course: pathlib.Path) -> None:
    """Whatever it is called, and one folder deeper too."""
    file, format = PLACES[name]
    put(course, file, exported(solved()[0], format))
    (found,) = each(course, NAME)
    assert not found.problem and SOLVED[0] in found.content.decode()


def test_two_files_that_hold_the_exercises_are_a_question(course: pathlib.Path) -> None:
    """Which one counts is not ours to say."""
    for name in ("a.py", "b.py"):
        put(course, name, exported(solved()[0], "py:percent"))
    (found,) = each(course, NAME)
    assert found.problem.startswith("wrong name: 2 files hold its exercises (a.py, b.py); keep the one that counts")


def test_a_neighbours_folder_is_no_place(course: pathlib.Path) -> None:
    """A folder that is a link is not looked into."""
    put(course, f"{NAME}.ipynb", exported(solved()[0], "ipynb"))
    eve = course / "submitted" / "eve" / NAME
    eve.mkdir(parents=True)
    (eve / "mine").symlink_to(course / "submitted" / "ann" / NAME)
    assert [one.problem for one in each(course, NAME, "eve")] == [
        f"handed in as another file: mine, which holds none of its exercises as code; ask for {NAME}.ipynb."
    ]


def restored(*cells: tuple[str, str], among: nbformat.NotebookNode) -> list[str]:
    """What runs of a released notebook with new code cells, each after the one whose source holds a text."""
    released, notebook = among, json.loads(json.dumps(among))
    for after, source in cells:
        at = max(n for n, cell in enumerate(notebook["cells"]) if after in cell["source"])
        notebook["cells"].insert(at + 1, {"cell_type": "code", "metadata": {}, "source": source})
    return run(handed_in(json.dumps(notebook).encode()), released)


def test_an_answer_below_its_check_is_asked_for() -> None:
    """While the given cell is untouched: the check is moved below it, and below a second try as well."""
    released = solved()[1]
    ran = restored(
        ("90.1", "def double(n):\n    return n"), ("return n", "def double(n):\n    return 2 * n"), among=released
    )
    assert ran.index("90.1") == ran.index("def double(n):\n    return 2 * n") + 1
    ran = restored(
        ("90.2", 'parts = {"A": 3, "B": 4}'), ("parts =", 'sl.predict("90.2", kind="all-reduce")'), among=released
    )
    assert ran[-1] == "90.2"


def test_an_answer_in_its_place_is_asked_for_there() -> None:
    """What the student tries out below it under the same name does not count, nor another exercise's answer."""
    notebook, released = solved()
    tried = json.loads(json.dumps(notebook))
    tried["cells"].append({"cell_type": "code", "metadata": {}, "source": "def double(n):\n    return 3 * n"})
    assert run(handed_in(json.dumps(tried).encode()), released)[:-1] == run(
        handed_in(json.dumps(notebook).encode()), released
    )
    shared = json.loads(json.dumps(released).replace("double", "parts"))
    ran = restored(("90.2", 'parts = {"A": 3}'), among=nbformat.from_dict(shared))
    assert ran.index("90.1") < ran.index(next(source for source in ran if "predict" in source))


@pytest.mark.parametrize("chapter", CHAPTERS)
@pytest.mark.thorough(after=3)
def test_deleted_given_cells_are_put_back(chapter: int) -> None:
    """Each where it was, whichever are gone: one by one, every second one, and all."""
    notebook, released = solved(next(ROOT.glob(f"solutions/{chapter:02}*.md")), header.syllabus(ROOT))
    raw = json.loads(json.dumps(notebook))
    given = [n for n, cell in enumerate(raw["cells"]) if cell["cell_type"] == "code" and "nbgrader" not in cell["metadata"]]
    wanted = run(handed_in(json.dumps(raw).encode()), released)
    for gone in ([given[0]], given[1:2], given[-1:], given[::2], given[1::2], given):
        left = {**raw, "cells": [cell for n, cell in enumerate(raw["cells"]) if n not in gone]}
        assert run(handed_in(json.dumps(left).encode()), released) == wanted, gone


STRAYS = {
    "beside the folder": (f"ann/{NAME}.ipynb", "ann", f"submitted/ann/{NAME}.ipynb", "ann"),
    "beside it, under another name": ("ann/Untitled 3.ipynb", "ann", "submitted/ann/Untitled 3.ipynb", "ann"),
    "in a folder of another name": ("ann/chapter 90/work.ipynb", "ann", "submitted/ann/chapter 90/work.ipynb", "ann"),
    "as text": ("ann/work.py", "ann", "submitted/ann/work.py", "ann"),
    "nobody's": ("ann.ipynb", "ann.ipynb", "submitted/ann.ipynb", "STUDENT"),
}
"""Where the file is, whose row it becomes, and what is said: which file, and whose folder it belongs to."""


@pytest.mark.parametrize("name", STRAYS)
def test_a_file_in_the_wrong_place_is_not_missing(name: str, course: pathlib.Path) -> None:
    """It is a row with a reason that says where it should be; nothing of it is graded there."""
    file, student, found_at, whose = STRAYS[name]
    path = course / "submitted" / file
    path.parent.mkdir(parents=True)
    path.write_text(exported(solved()[0], "py:percent" if path.suffix == ".py" else "ipynb"))
    (found,) = each(course, NAME)
    place = f"submitted/{whose}/{NAME}/{NAME}.ipynb"
    assert (found.student, found.problem) == (student, f"in the wrong place: {found_at}; move it to {place}.")
    assert found.stray and list(each(course, NAME, "bob")) == []


def closed(monkeypatch: pytest.MonkeyPatch, folder: pathlib.Path) -> None:
    """Let a folder be one that only its owner may look into; root may look into every one."""
    looked = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: pathlib.Path(path) != folder and looked(path, mode))


@pytest.mark.parametrize("name", ["ann", f"ann/{NAME}"])
def test_a_folder_that_is_closed_is_not_a_missing_notebook(
    name: str, course: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever of the two; the others of the class are read."""
    put(course, f"{NAME}.ipynb", exported(solved()[0], "ipynb"), NAME)
    shutil.copytree(course / "submitted" / "ann", course / "submitted" / "bob")
    closed(monkeypatch, course / "submitted" / name)
    found = {one.student: one for one in each(course, NAME)}
    folder = f"submitted/{name}" if name == "ann" else NAME
    assert found["ann"].problem == f"unreadable: nobody but its owner may look into the folder {folder}."
    assert found["bob"].problem == "" and len(found) == 2


def test_folders_in_the_other_order_are_told(course: pathlib.Path) -> None:
    """As some archives have them: the assignment's folder outside, the student's inside."""
    path = course / "submitted" / NAME / "ann" / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True)
    path.write_text("{}")
    (found,) = each(course, NAME)
    assert found.problem == f"in the wrong place: submitted/{NAME}/ann; move it to submitted/ann/{NAME}."


def test_what_belongs_to_another_assignment_is_no_stray(course: pathlib.Path) -> None:
    """A folder of another release, and a file of another chapter, are theirs."""
    put(course, f"{NAME}.ipynb", exported(solved()[0], "ipynb"), "01_first")
    (course / "submitted" / "ann" / "other.ipynb").write_text('{"cells": []}')
    assert list(each(course, NAME)) == []


IDS = {
    "lost": ("123", ["00123", "7"], "unknown student: the gradebook has 00123, not 123; rename the folder submitted/123."),
    "known": ("123", ["00123", "123"], ""),
    "two": ("123", ["00123", "0123"], ""),
    "another": ("124", ["00123"], ""),
    "letters": ("ann", ["0ann"], ""),
    "as a spreadsheet's number": ("4711.0", ["4711"], "unknown student: the gradebook has 4711, not 4711.0"),
    "in capitals": ("ANN", ["ann"], "unknown student: the gradebook has ann, not ANN"),
    "composed by a Mac": ("jose\u0301", ["jos\u00e9"], "unknown student: the gradebook has jos\u00e9, not jose\u0301"),
    "a point": ("ann", ["ann.0"], ""),
    "of before Unicode": (
        os.fsdecode(b"m\xfcller"),
        [],
        "unknown student: the name of the folder submitted/m\ufffdller is not",
    ),
}


@pytest.mark.parametrize("name", IDS)
def test_an_id_in_another_spelling_is_nobody(name: str) -> None:
    """As spreadsheets take zeros; the student with the zeros would get nothing, and a new one all."""
    student, known, problem = IDS[name]
    said = strays.misspelt(student, known)
    assert said.startswith(problem) and bool(said) == bool(problem)
