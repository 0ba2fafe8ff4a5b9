"""Marks by hand: a rubric to begin with, a sheet of answers, and points and comments back in nbgrader's gradebook."""

from __future__ import annotations

import csv
import datetime
import pathlib
import tomllib

import pytest
from click.testing import CliRunner, Result

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition, header
from shardlab_grader import cli
from shardlab_grader.by_hand import marks, rubric
from shardlab_grader.by_hand.marks import Waiting
from shardlab_grader.by_hand.rubric import Rubric
from shardlab_grader.classes import classroom, jobs, restating
from shardlab_grader.classes.stages import Graded
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.releases.release import Release, release
from shardlab_judge.verdict import Verdict

from .conftest import NAME, ROOT, SYLLABUS
from .test_manual import hand_in, made  # noqa: F401 (a fixture)
from .test_nbgrader import silent

CELL = "q90-1-why"
RUBRIC = """
[q90-1-why]
"Names the bytes" = 2
"Says why" = 1

[comments]
units = "A number has a unit."
why = "And why?"
"""


def run(of: Release, *arguments: str | pathlib.Path) -> Result:
    """`mark` on the tiny chapter."""
    return CliRunner().invoke(cli.main, ["mark", "90", *map(str, arguments), "--course", str(of.course_dir)])


@pytest.fixture
def graded(made: Release) -> Release:  # noqa: F811
    """Two who have written, one of them a formula, and one who has not."""
    for student, text in (("ann", "Because *bytes*.\n\n```\nf(x)\n```"), ("bob", "=1+2"), ("cyd", "*Your reasons:*")):
        notebook = made.notebook
        next(cell for cell in notebook.cells if cell.id == CELL).source = text
        hand_in(made, student, notebook)
    classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    return made


def filled(sheet: pathlib.Path, begins: str = "Because", **columns: str) -> pathlib.Path:
    """The sheet with these cells in the row of the answer that begins so."""
    rows = list(csv.DictReader(sheet.read_text().splitlines(keepends=True)))
    row = next(row for row in rows if row["answer"].startswith(begins))
    row.update(columns)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, row.keys())
        writer.writeheader()
        writer.writerows(rows)
    return sheet


@pytest.mark.sandbox
def test_from_the_sheet_to_the_gradebook(graded: Release, tmp_path: pathlib.Path) -> None:
    """A rubric is begun once; names are nowhere; points, lines and comment come to the student's page."""
    sheet = tmp_path / "marks.csv"
    begun = run(graded, "--write", sheet)
    assert begun.exit_code == 0, begun.output
    path = graded.course_dir / "rubrics" / f"{NAME}.toml"
    assert tomllib.loads(path.read_text()) == {CELL: {"Points": 3}, "comments": {}}
    path.write_text(RUBRIC)
    assert run(graded, "--write", sheet).output == f"wrote {sheet}: 2 answers\n"
    rows = list(csv.DictReader(sheet.read_text().splitlines(keepends=True)))
    assert {row["answer"] for row in rows} == {"Because *bytes*.\n\n```\nf(x)\n```", "'=1+2"}
    assert not any(name in sheet.read_text() for name in ("ann", "bob", "cyd"))
    filled(sheet, **{"Names the bytes (of 2)": "1,5", "Says why (of 1)": "0", "comment": "#units Good start. #why"})
    assert run(graded, "--read", sheet).output == "points given: 1\n"
    rows_of = {row.student: row for row in classroom.rows(graded.course_dir, NAME)}
    assert (rows_of["ann"].total, rows_of["ann"].waiting, rows_of["bob"].waiting) == (1.5, False, True)
    with quiet(), Course(graded.course_dir).gradebook() as gradebook:
        comment = gradebook.find_comment(CELL, NAME, NAME, "ann").comment
    assert comment == ("- Names the bytes: 1.5 of 2\n- Says why: 0 of 1\n\nA number has a unit. Good start. And why?")
    page = (graded.course_dir / "feedback" / "ann" / NAME / f"{NAME}.html").read_text()
    assert "<li>Names the bytes: 1.5 of 2</li>" in page and "Good start." in page
    assert run(graded, "--write", tmp_path / "new.csv").output.endswith("1 answer\n")
    assert run(graded, "--write", tmp_path / "all.csv", "--all").output.endswith("2 answers\n")


def rows_of(sheet: pathlib.Path) -> list[dict[str, str]]:
    """The rows of a sheet."""
    return list(csv.DictReader(sheet.read_text().splitlines(keepends=True)))


@pytest.mark.sandbox
def test_what_is_filled_in_is_never_overwritten(graded: Release, tmp_path: pathlib.Path) -> None:
    """A second `--write` keeps it, read or not; where the student has handed in another answer, it writes nothing."""
    sheet = tmp_path / "marks.csv"
    run(graded, "--write", sheet)
    before = rows_of(filled(sheet, **{"Points (of 3)": "2,5", "comment": "Good."}))
    for _ in range(2):
        assert run(graded, "--write", sheet).output == f"wrote {sheet}: 2 answers, 1 of them as filled in before\n"
        assert rows_of(sheet) == before
        assert run(graded, "--read", sheet).output == "points given: 1\n"
    text, place = sheet.read_bytes(), graded.course_dir / "submitted" / "ann" / NAME / f"{NAME}.ipynb"
    place.write_text(place.read_text().replace("Because *bytes*.", "Because of time."))
    classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent)
    row = next(n for n, one in enumerate(before, 2) if one["comment"])
    refused = run(graded, "--write", sheet)
    assert (refused.exit_code, refused.output) == (
        1,
        "[bad-marks] what is filled in here would be lost: the answer is another one by now, or there is none.\n"
        f"  where: {sheet}, row {row}\n"
        "  mend:  write to another file; or delete what is named here, if nobody needs it. All other rows stay.\n",
    )
    assert sheet.read_bytes() == text
    assert run(graded, "--read", sheet).output == (
        "[bad-marks] the student has since handed in another answer.\n"
        f"  where: {sheet}, row {row}\n"
        "  mend:  delete this row, and read the sheet again; then write to it again, which keeps the other marks.\n"
    )
    sheet.write_bytes(b"\xff\xfe")
    assert "the sheet cannot be read" in run(graded, "--write", sheet).output and sheet.read_bytes() == b"\xff\xfe"
    assert run(graded, "--write", tmp_path / "other.csv").output.endswith("other.csv: 2 answers\n")


@pytest.mark.sandbox
def test_marks_count_in_the_penalty(graded: Release, tmp_path: pathlib.Path) -> None:
    """Lateness costs a share of the marked score, in the gradebook and on the page, as it does when all is counted anew."""
    sheet, day = tmp_path / "marks.csv", datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC)
    (graded.course_dir / "shardlab.toml").write_text("penalty = {a_day = 0.5}\n")
    (graded.course_dir / "submitted" / "ann" / NAME / "timestamp.txt").write_text("2027-03-01 19:00:00 UTC")
    course = Course(graded.course_dir)
    course.set_deadline(NAME, day)
    classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent, again=True)
    run(graded, "--write", sheet)
    for begins in ("Because", "'="):
        filled(sheet, begins, **{"Points (of 3)": "3"})
    assert run(graded, "--read", sheet).output == "points given: 2\n"
    scores = {student: course.scored(NAME, student) for student in ("ann", "bob")}
    assert {student: (one.score, one.penalty) for student, one in scores.items()} == {"ann": (3.0, 1.5), "bob": (3.0, 0.0)}
    pages = {one: graded.course_dir / "feedback" / one / NAME / f"{NAME}.html" for one in scores}
    assert "1.5 / 6.5" in pages["ann"].read_text() and "3.0 / 6.5" in pages["bob"].read_text()
    classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent, again=True)
    assert {student: course.scored(NAME, student) for student in scores} == scores


REFUSED: tuple[tuple[dict[str, str], str], ...] = (
    ({"Names the bytes (of 2)": "3", "Says why (of 1)": "0"}, "'3' is not a number from 0 to 2"),
    ({"Names the bytes (of 2)": "1", "Says why (of 1)": ""}, "'nothing' is not a number from 0 to 1"),
    ({"Names the bytes (of 2)": "x", "Says why (of 1)": "1"}, "'x' is not a number"),
    ({"Names the bytes (of 2)": "1", "Says why (of 1)": "1", "comment": "#unit"}, "there is no comment #unit"),
    ({"comment": "", "version": "0"}, "since handed in another answer"),
    ({"submission": "nobody"}, "a person does not grade this answer"),
)


@pytest.mark.sandbox
def test_a_row_that_cannot_be_is_refused(graded: Release, tmp_path: pathlib.Path) -> None:
    """With its number and column, before anything is written."""
    path = graded.course_dir / "rubrics" / f"{NAME}.toml"
    path.parent.mkdir()
    path.write_text(RUBRIC)
    run(graded, "--write", tmp_path / "marks.csv")
    for columns, said in REFUSED:
        sheet = filled(tmp_path / "marks.csv", **columns)
        assert run(graded, "--read", sheet).exit_code == 1
        with pytest.raises(ShardlabError) as error:
            raise_of(graded, sheet)
        assert said in str(error.value) and "row " in str(error.value)
    assert all(row.waiting for row in classroom.rows(graded.course_dir, NAME) if row.student != "cyd")


@pytest.mark.sandbox
def test_a_sheet_survives_students_and_spreadsheets(graded: Release, tmp_path: pathlib.Path) -> None:
    """An answer without end, semicolons in place of commas, another encoding, a damaged copy."""
    notebook = graded.notebook
    next(cell for cell in notebook.cells if cell.id == CELL).source = "x\u202e" * 100_000
    hand_in(graded, "eve", notebook)
    classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent)
    sheet = tmp_path / "marks.csv"
    run(graded, "--write", sheet)
    rows = list(csv.DictReader(sheet.read_text().splitlines(keepends=True)))
    (long,) = [row["answer"] for row in rows if row["answer"].startswith("x")]
    assert long.endswith("\n... and 170,000 characters more, in Formgrader") and len(long) < 32_767 and "\u202e" not in long
    filled(sheet, **{"Points (of 3)": "2"})
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0].keys(), delimiter=";", lineterminator="\r\n")
        writer.writeheader()
        writer.writerows({**row, "Points (of 3)": "1,5"} for row in rows)
    assert run(graded, "--read", sheet).output == "points given: 3\n"
    for content in (b"\xff\xfe\0", b'submission,"' + b"x" * 200_000):
        sheet.write_bytes(content)
        done = run(graded, "--read", sheet)
        assert done.exit_code == 1 and "[bad-marks] the sheet cannot be read" in done.output
    (graded.course_dir / "autograded" / "ann" / NAME / f"{NAME}.ipynb").write_text("")
    assert "[bad-marks] a graded copy is damaged" in run(graded, "--write", tmp_path / "all.csv").output
    classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent)
    assert run(graded, "--write", tmp_path / "all.csv", "--all").output.endswith("3 answers\n")


CANVAS = f"""Student,ID,SIS Login ID,Section,{NAME} (31)
    Points Possible,,,,14.5
Ann,1,ann,A,
Bob,2,bob,A,
"""


@pytest.mark.sandbox
@pytest.mark.thorough
def test_marks_and_sheets_outlive_a_release(
    graded: Release, tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another exercise's points change: the marked answer stays marked, and a sheet of before is taken for the others.

    Gradebook, page and the LMS's table say the same; so they do after a run in which the machine failed.
    """
    sheet, table, out = (tmp_path / name for name in ("marks.csv", "canvas.csv", "out.csv"))
    run(graded, "--write", sheet)
    before = sheet.read_text()
    filled(sheet, **{"Points (of 3)": "2", "comment": "Good."})
    assert run(graded, "--read", sheet).output == "points given: 1\n"
    monkeypatch.setitem(SYLLABUS.questions, "90.1", SYLLABUS.questions["90.1"].worth(10))  # type: ignore[arg-type]
    release(NAME, graded.course_dir, tiny)

    def graded_again() -> dict[str, tuple[bool, float]]:
        rows = classroom.grade(graded.course_dir, NAME, "bubblewrap", 1, silent)
        return {row.student: (row.waiting, row.total) for row in rows}

    marked = {"ann": (False, 2.0), "bob": (True, 0.0), "cyd": (False, 0.0)}
    with monkeypatch.context() as patch:
        lost = {id: Verdict(id, "ungraded", reason="The machine failed.") for id in graded.manifests}
        patch.setattr(restating, "restated", lambda *_: {})  # as if more had changed than points, so that all run
        patch.setattr(jobs, "run_all", lambda work, *_, **__: ((job, Graded(lost)) for job in work))
        graded_again()
        assert {row.status for row in classroom.rows(graded.course_dir, NAME)} == {"ungraded"}
    assert graded_again() == marked
    assert run(graded, "--write", tmp_path / "new.csv").output.endswith(": 1 answer\n")
    sheet.write_text(before)
    assert run(graded, "--read", filled(sheet, "'=", **{"Points (of 3)": "1"})).output == "points given: 1\n"
    assert graded_again() == marked | {"bob": (False, 1.0)}
    table.write_text(CANVAS)
    arguments = ("export", "90", table, "--to", "canvas", "--output", out, "--course", graded.course_dir)
    exported = CliRunner().invoke(cli.main, [*map(str, arguments)])
    assert exported.output.startswith("scores: 2 of 2 students\n"), exported.output
    assert [row[-1] for row in csv.reader(out.read_text().splitlines())][2:] == ["2", "1"]
    page = (graded.course_dir / "feedback" / "ann" / NAME / f"{NAME}.html").read_text()
    assert "Good." in page and "2.0 / 14.5" in page


def raise_of(of: Release, sheet: pathlib.Path) -> None:
    """What reading the sheet raises."""
    lines = rubric.read(rubric.place(of.course_dir, NAME), of.by_hand)
    marks.read(sheet, marks.waiting(Course(of.course_dir), NAME, [CELL], everything=True), lines)


RULES = Rubric({CELL: {"Points": 3.0}})
NUMBERS = {"Answer 244.": "44455e29", "Answer 299.": "02468728"}
"""Answers whose hashes a spreadsheet takes for numbers."""


def answer(key: str, text: str = "Because.") -> Waiting:
    """An answer to the only question."""
    return Waiting(key, f"student {key}", CELL, text)


@pytest.mark.parametrize(("text", "digits"), NUMBERS.items(), ids=NUMBERS.values())
def test_a_version_is_no_number(text: str, digits: str, tmp_path: pathlib.Path) -> None:
    """A spreadsheet leaves it as it is; a sheet that has the digits alone, as they were written before, is read."""
    one, sheet = answer("k1", text), tmp_path / "marks.csv"
    with pytest.raises(ValueError):
        float(one.version)
    marks.write(sheet, [one], RULES)
    filled(sheet, text, **{"Points (of 3)": "2"})
    assert [mark.points for mark in marks.read(sheet, [one], RULES)] == [{"Points": 2.0}]
    filled(sheet, text, version=digits)
    assert [mark.points for mark in marks.read(sheet, [one], RULES)] == [{"Points": 2.0}]


def test_a_sheet_keeps_whatever_is_filled_in(tmp_path: pathlib.Path) -> None:
    """Columns of an older rubric, and a person's own; rows of a student who is gone, or twice of an answer, stop."""
    sheet, one, two = tmp_path / "marks.csv", answer("k1"), answer("k2")
    marks.write(sheet, [one, two], RULES)
    filled(sheet, **{"Points (of 3)": "2", "grader": "Eve"})
    kept = marks.filled(sheet, [one, two])
    assert kept == {one: {"Points (of 3)": "2", "grader": "Eve"}}
    marks.write(sheet, [two], Rubric({CELL: {"Why": 3.0}}), kept)
    assert [[*row.values()][4:] for row in rows_of(sheet)] == [["", "", "2", "Eve"], ["", "", "", ""]]
    assert list(rows_of(sheet)[0])[4:] == ["Why (of 3)", "comment", "Points (of 3)", "grader"]
    sheet.write_text(sheet.read_text() + sheet.read_text().splitlines()[1])
    for known, rows in (([two], "rows 2, 4"), ([one], "row 4")):
        with pytest.raises(ShardlabError, match=f"marks.csv, {rows}\n"):
            marks.filled(sheet, known)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[q90-1-why]\nx = 1\n", "the lines of [q90-1-why] have 1 points together, but the cell has 3"),
        ("", "have 0 points together"),
        ("[q90-1-why]\nx = 'much'\n", "a line of [q90-1-why] has no points"),
        ("[q90-1-why\n", "Expected ']'"),
        ("q90-1-why = 3\n", "not all of it is in tables"),
        ("comments = 'none'\n[q90-1-why]\nx = 3\n", "not all of it is in tables"),
        ("[q90-1-why]\nx = 3\n[comments]\nunits = 3\nwhy = 'And why?'\n", "these comments are no text: units"),
    ],
)
def test_a_rubric_that_does_not_add_up_is_refused(tmp_path: pathlib.Path, text: str, said: str) -> None:
    """It says which cell, and how many points it has."""
    path = tmp_path / "rubric.toml"
    path.write_text(text)
    with pytest.raises(ShardlabError, match="bad-rubric") as error:
        rubric.read(path, {CELL: 3.0})
    assert said in str(error.value)


def test_the_courses_own_rubrics_fit_their_chapters() -> None:
    """Each cell of the course that a person grades has one, which adds up."""
    syllabus = header.syllabus(ROOT)
    for path in sorted((ROOT / "solutions").glob("[0-9]*.md")):
        marks = [cell.metadata.get("nbgrader", {}) for cell in edition.source(path, syllabus).cells]
        cells = {mark.grade_id: float(mark.points) for mark in marks if mark.get("grade") and mark.get("solution")}
        ours = rubric.COURSE / f"{path.stem}.toml"
        assert ours.exists() == bool(cells)
        if cells:
            assert rubric.read(ours, cells).comments
