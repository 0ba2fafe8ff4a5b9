"""Files, tables and names as real courses have them: one sentence each, and nothing lost."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import pathlib
import shutil
import sqlite3
from collections.abc import Callable
from types import SimpleNamespace

import pytest
import sqlalchemy
from click.testing import CliRunner
from sqlalchemy.exc import OperationalError

from shardlab.errors import ShardlabError
from shardlab_course.viva import changes as changed
from shardlab_course.viva.forms import Number
from shardlab_course.viva.questions import Asked
from shardlab_grader import cli, statuses, terminal
from shardlab_grader.border import artifact
from shardlab_grader.classes import classroom, jobs, notebook, stages
from shardlab_grader.lms.sheets import PRESETS, Sheet
from shardlab_grader.plain import inert
from shardlab_grader.records.changes import changes
from shardlab_grader.records.forms import handed_in
from shardlab_grader.records.roster import Roster
from shardlab_grader.records.store import Record
from shardlab_grader.records.submissions import Submission
from shardlab_grader.releases.release import release
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.viva import commands, sitting
from shardlab_grader.viva.sitting import Sitting
from shardlab_judge import responses
from shardlab_judge.verdict import Part, Verdict

from .conftest import NAME
from .test_nbgrader import silent

Viva = Callable[..., tuple[int, pathlib.Path]]
FORMULAS = ("=1+2", "x\n=cmd()", "x;=cmd()", 'x; "=cmd()', "x\t@SUM(1)", "-1", "a\r\n+1", ";=1", "= 1;-2\n@3")


@pytest.mark.parametrize("text", FORMULAS)
@pytest.mark.parametrize("between", [",", ";", "\t"])
def test_no_cell_becomes_a_formula(text: str, between: str) -> None:
    """Whichever sign a spreadsheet takes to split the file, and whether it knows quotes or not."""
    written = io.StringIO()
    csv.writer(written).writerow(["key", inert(text), "1"])
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        for row in csv.reader(io.StringIO(written.getvalue(), newline=""), delimiter=between, quoting=quoting):
            assert not any(cell.strip(" \"'")[:1] in set("=+-@") and cell.lstrip(' "')[:1] != "'" for cell in row), row


@pytest.mark.parametrize("text", ["a = 1", "x-1; y", "f(a, -1)", "", "1 - 2 = -1"])
def test_ordinary_text_stays(text: str) -> None:
    """A sign in the middle of a line is no formula."""
    assert inert(text) == text


CANVAS = "Student,ID,SIS Login ID,Section,90_tiny (31),Essay\n    Points Possible,,,,3.5,10\nGus,1,gus,A,,\n{row}\n"


@pytest.mark.parametrize(
    "row", ["Hana,2,hana,A", "", ",,,,,", "Hana,2,hana,A,,,,"], ids=["short", "blank", "commas", "long"]
)
def test_rows_of_other_lengths_are_read(row: str, tmp_path: pathlib.Path) -> None:
    """Programs leave out empty cells at the end, or add some; blank rows are nobody."""
    (tmp_path / "t.csv").write_text(CANVAS.format(row=row))
    sheet = Sheet(PRESETS["canvas"], tmp_path / "t.csv")
    assert sheet.students() == {"1": "gus"} | ({"2": "hana"} if "Hana" in row else {})
    filled = list(csv.reader(sheet.filled({"1": 2, "2": 3}, 3.5, "90_tiny", scale=False).splitlines()))
    assert [line[4] for line in filled[2:]] == ["2", "3"][: 1 + ("Hana" in row)]


def test_a_row_with_a_cell_too_many_is_named(tmp_path: pathlib.Path) -> None:
    """A student would vanish from the table, or get another's column."""
    (tmp_path / "t.csv").write_text(CANVAS.format(row="Li, Jo,2,jo,A,,7"))
    with pytest.raises(ShardlabError, match="row 4 has 7 cells, but the first has 6"):
        Sheet(PRESETS["canvas"], tmp_path / "t.csv")


MANGLED = {
    "a decimal point": ("Hana,4712.0,hana,A,,", "'4712.0' in column 'ID' is not one of the LMS's numbers"),
    "an exponent": ("Hana,4.712E+12,hana,A,,", "'4.712E+12' in column 'ID' is not one"),
    "a quote that stays open": ('"Hana,2,hana,A,,\nIvo,3,ivo,A,,', "it is not CSV (unexpected end of data)"),
}


@pytest.mark.parametrize("name", MANGLED)
def test_a_row_that_would_vanish_is_named(name: str, tmp_path: pathlib.Path) -> None:
    """What a spreadsheet makes of numbers, and of one row the end of the file: those students would get no score."""
    row, said = MANGLED[name]
    (tmp_path / "t.csv").write_text(CANVAS.format(row=row))
    with pytest.raises(ShardlabError) as error:
        Sheet(PRESETS["canvas"], tmp_path / "t.csv").students()
    assert said in str(error.value)


def test_a_placement_on_no_device_is_refused() -> None:
    """It would stop the judge."""
    with pytest.raises(responses.Refused, match="on no device"):
        responses.placement({"shape": [2], "shards": [], "axes": None, "spec": None, "dtype": None})


def test_a_long_number_in_an_output_is_not_read() -> None:
    """Python reads none of 5,000 digits; the cells are there."""
    number = "7" * 5000
    text = f'{{"cells": [{{"cell_type": "code", "source": "a = 1", "outputs": [{number}]}}], "nbformat": {number}}}'
    assert [cell["source"] for cell in json.loads(handed_in(text.encode()))["cells"]] == ["a = 1"]
    assert [cell["source"] for cell in json.loads(handed_in(text[:-1].encode()))["cells"]] == ["a = 1"]


def test_thousands_of_cells_that_raise_cost_no_answer() -> None:
    """All lines of the longest notebook are read, its answers too."""
    error = {"type": "E", "message": "m", "line": ""}
    lines: list[dict[str, object]] = []
    for number in range(5200):
        lines += [{"cell": number}, {"error": {"cell": number, **error}}]
    lines += [{"question": "1.1", "item": "a", "entry": {"value": 1}}, {"end": True}]
    manifests = {"1.1": {"items": [{"name": "a", "kind": "value"}]}}
    read = artifact.read("\n".join(map(json.dumps, lines)).encode(), manifests, 5200)
    assert read.ended and read.answers == {"1.1": {"items": {"a": {"value": 1}}}}


def test_names_are_printed_as_they_are(capsys: pytest.CaptureFixture[str]) -> None:
    """Also those that rich would take for a colour."""
    console = terminal.PlainConsole(highlight=False, width=80)
    console.print("[red] 1 -> 2", soft_wrap=True)
    assert capsys.readouterr().out == "[red] 1 -> 2\n"


LOCKED = {
    "locked": ("database is locked", "[gradebook-locked] another program holds the gradebook"),
    "read-only": (
        "attempt to write a readonly database",
        "[gradebook-damaged] the gradebook cannot be used (attempt",
    ),
    "full": ("database or disk is full", "[disk-full] the disk is full"),
}


@pytest.mark.parametrize("name", LOCKED)
def test_a_gradebook_that_refuses_is_a_sentence(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    """In whichever command it happens."""
    said, told = LOCKED[name]
    with pytest.raises(SystemExit) as ended, terminal.mended():
        raise OperationalError("select", {}, sqlite3.OperationalError(said))
    assert ended.value.code == 1 and sqlalchemy.__version__
    errors = capsys.readouterr().err
    assert errors.startswith(told) and "Traceback" not in errors


@pytest.mark.parametrize("said", ["stopped.", "stopped; all is kept."])
def test_a_stopped_command_says_what_is_so_of_it(said: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Only `grade` keeps what it has done; the others say no more than that they ended."""
    with pytest.raises(SystemExit) as ended, terminal.mended(*[said][: said != "stopped."]):
        raise KeyboardInterrupt
    assert (ended.value.code, capsys.readouterr().err) == (statuses.STOPPED, f"{said}\n")


def test_packages_below_usr_are_hidden_in_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    """All of `/usr` is seen there, and with a Python of the system these packages may be in it."""
    site = pathlib.Path("/usr/local/lib/python3.11/site-packages")
    monkeypatch.setattr(notebook, "installed", lambda: site)
    monkeypatch.setattr(pathlib.Path, "is_dir", lambda _: True)
    assert {site / name for name in notebook.OURS} <= {*notebook._beside(site)}


def without_assignment(path: pathlib.Path) -> None:
    """As a backup has it that was made before the release."""
    with contextlib.closing(sqlite3.connect(path)) as gradebook:
        gradebook.execute("delete from assignment")
        gradebook.commit()


OTHER_GRADEBOOKS: dict[str, tuple[Callable[[pathlib.Path], object], str]] = {
    "emptied": (lambda path: path.write_bytes(b""), "no such table: assignment"),
    "of before the release": (without_assignment, f"it has no assignment {NAME}"),
    "lost": (pathlib.Path.unlink, "it is not there"),
}


@pytest.mark.thorough(after=2)
@pytest.mark.sandbox
@pytest.mark.parametrize("name", OTHER_GRADEBOOKS)
def test_another_gradebook_is_named_before_anything_runs(
    name: str, tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    """In a sentence that says what to do, which helps."""
    course = shutil.copytree(tiny_course, tmp_path / "course")
    place = course / "submitted" / "ann" / NAME
    place.mkdir(parents=True)
    shutil.copy(course / "release" / NAME / f"{NAME}.ipynb", place)
    damage, said = OTHER_GRADEBOOKS[name]
    damage(course / "gradebook.db")
    with pytest.raises(ShardlabError, match=rf"\[gradebook-damaged\] the gradebook cannot be used \({said}\)"):
        classroom.grade(course, NAME, "bubblewrap", 1, silent)
    if name == "lost":
        release(NAME, course, tiny)
        (row,) = classroom.grade(course, NAME, "bubblewrap", 1, silent)
        assert (row.status, row.total) == ("graded", 0.0)


WHYS = {
    "the same notebook": ({"form": "a"}, {"form": "a"}, "the same notebook, judged anew"),
    "another notebook": ({"form": "a"}, {"form": "b"}, "another answer"),
    "the same program in another": (
        {"form": "a", "programs": {"1.1": "x"}},
        {"form": "b", "programs": {"1.1": "x"}},
        "the same answer, judged anew",
    ),
    "kept before": ({}, {"form": "b"}, "another answer, or judged anew"),
}


@pytest.mark.parametrize("name", WHYS)
def test_a_change_has_its_true_reason(name: str) -> None:
    """Who has sent nothing new has no other answer, whatever the exercise is."""
    before, now, why = WHYS[name]
    records = [
        Record({"1.1": Verdict("1.1", "failed", (Part("a", "C", points, 2.0),))}, "none", **more)  # type: ignore[arg-type]
        for points, more in ((0.0, before), (2.0, now))
    ]
    (change,) = changes("key", "ann", *records)
    assert change.why == why and Record.from_json(records[1].to_json()) == records[1]


def test_penalties_tell_whom_they_changed() -> None:
    """By name or key, with the score before and now."""
    rows = [Row("ann", "graded", final=(3.0, 5.5)), Row("bob", "graded")]
    assert report.finals(rows) == ["penalties changed 1 final score:", "  ann: 3 -> 5.5"]
    assert report.finals(rows[1:]) == []


def test_what_is_ungraded_is_tried_again_by_nbgraders_own_command(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kept record with a question ungraded is no reason not to grade."""
    made = Record({"1.1": Verdict("1.1", "passed")}, "none")
    for status, tried in (("ungraded", True), ("failed", False)):
        kept = Record({"1.1": Verdict("1.1", status)}, "none")  # type: ignore[arg-type]

        class Grading:
            class store:
                get = staticmethod(lambda name, kept=kept: kept)

        monkeypatch.setattr(jobs, "graded", lambda *_: made)
        monkeypatch.setattr(stages, "recorded", lambda grading, name, record: record)
        assert jobs.grade_one(Grading(), "key", b"") is (made if tried else kept)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["PAR101?2026", "$HOME"])
def test_a_path_that_nbgrader_reads_in_another_way_is_refused(name: str, tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Before anything is written: its gradebook would be in a folder `PAR101`, its configuration looked for at home."""
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ShardlabError, match=r"\[course-path\]"):
        release(NAME, tmp_path / name / "course", tiny)
    assert sorted(tmp_path.iterdir()) == before


@pytest.mark.thorough
@pytest.mark.sandbox
def test_a_path_of_a_course_is_no_pattern(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Released, graded and reported in a folder with brackets; a student whose name is a colour of rich's is shown."""
    course = shutil.copytree(tiny_course, tmp_path / "PAR101 [2026] 50% #1" / "[a-z] {x} Ann's")
    release(NAME, course, tiny)
    text = (course / "release" / NAME / f"{NAME}.ipynb").read_text().replace("TODO", "done")
    for student in ("[red]", "ann", "a+{b} *", " ann"):
        place = course / "submitted" / student / NAME
        place.mkdir(parents=True)
        (place / f"{NAME}.ipynb").write_text(text)
    rows = classroom.grade(course, NAME, "bubblewrap", 1, silent)
    assert {row.student: row.total for row in rows} == {"[red]": 3.5, "ann": 3.5, "a+{b} *": 3.5, " ann": None}
    assert rows[0].reason == "unknown student: the name of the folder submitted/ ann begins or ends with a blank; rename it."
    assert sorted(path.parts[-3] for path in course.glob("feedback/*/*/*.html")) == ["[red]", "a+{b} *", "ann"]
    printed = CliRunner().invoke(cli.main, ["report", "90", "--names", "--course", str(course)])
    assert printed.exit_code == 0 and "[red]" in printed.output


def test_equal_notebooks_are_asked_by_their_students(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two who handed in the same file have draws of their own, and each the same again."""
    drawn: list[float] = []
    monkeypatch.setattr(sitting, "_chosen", lambda job, passed, rng: drawn.append(rng.random()))
    monkeypatch.setattr(stages, "kept", lambda grading, one: Record({}, "none"))
    monkeypatch.setattr(stages, "restored", lambda *_: None)
    found = [Submission(student, b"", key="same") for student in ("ann", "bob", "ann")]
    asked = sitting.sittings(SimpleNamespace(), {"same": b""}, found, 7, lambda *_: None)  # type: ignore[arg-type]
    assert [one.student for one in asked] == ["ann", "bob", "ann"]
    assert drawn[0] == drawn[2] != drawn[1]


QUESTION = Asked("where", "90.1", "double", "Where?", "Here.", Number(1), "", "")
VIVA = "assignment,student,question,exercise,kind,mark"


@pytest.fixture
def viva(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Viva:
    """Asks these students two questions each, as the command does; gives its exit status and the table of marks."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    monkeypatch.setattr(changed, "programs", lambda question: [1])
    course = shutil.copytree(tiny_course, tmp_path / "course")

    def asked(*students: str) -> tuple[int, pathlib.Path]:
        made = [Sitting(one, "", [QUESTION] * 2) for one in students]
        monkeypatch.setattr(commands, "_class", lambda *_: made)
        ran = CliRunner().invoke(cli.main, ["viva", "90", "--names", "--course", str(course)])
        return ran.exit_code, course / "viva" / NAME / "marks.csv"

    return asked


def test_marks_of_a_viva_are_never_overwritten(viva: Viva) -> None:
    """Whoever has one keeps their rows, by name or key, and a sheet for one student leaves those of all others."""
    _, table = viva("ann", "bob")
    rows = [f"{NAME},{one},{n},90.1,where," for one in ("ann", "bob") for n in (1, 2)]
    assert table.read_text().split() == [VIVA, *rows]
    key = Roster(table.parents[2]).enter(NAME, {"bob": ""})["bob"]
    mine = [rows[0] + "1", rows[1], f"{NAME},{key},1,90.1,where,"]
    with_notes = [VIVA + ",note", *(row + "," for row in mine), f"{NAME},{key},2,90.1,where,,late"]
    table.write_text("\n".join(with_notes).replace(",", ";"), "utf-8-sig")
    for students in (["ann", "bob"], ["cem"], ["ann"]):
        assert viva(*students) == (0, table)
    new = [f"{NAME},cem,{n},90.1,where,," for n in (1, 2)]
    assert sorted(table.read_text().split()) == sorted([*with_notes, *new])


@pytest.mark.parametrize("text", [f"{VIVA}\n91_other,ann,1,91.1,where,1\n", "submission,cell\nk1,q1\n", "\xff"])
def test_a_viva_overwrites_no_other_table(viva: Viva, text: str) -> None:
    """It writes nothing then, and says how to write elsewhere."""
    _, table = viva("ann")
    table.write_text(text, "latin-1")
    (table.parent / "keys.html").unlink()
    assert viva("ann") == (1, table)
    assert table.read_text("latin-1") == text and not (table.parent / "keys.html").exists()


@pytest.mark.usefixtures("tiny")
def test_a_chapter_without_programs_has_no_viva(tiny_course: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The command says so before it writes empty sheets."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    ran = CliRunner().invoke(cli.main, ["viva", "90", "--course", str(tiny_course)])
    assert ran.exit_code == 1 and "no exercise of 90_tiny asks for a program on a mesh" in ran.output
    assert not (tiny_course / "viva").exists()
