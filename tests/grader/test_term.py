"""A course's own settings: what is read, what is refused, and what changes of assignments that are released already."""

from __future__ import annotations

import dataclasses
import datetime
import json
import os
import pathlib
import shutil

import nbformat
import pytest
from click.testing import CliRunner

import shardlab
from shardlab.errors import ShardlabError
from shardlab_course import plan
from shardlab_course.checking.progress import progress
from shardlab_course.editions import edition, header
from shardlab_grader import cli
from shardlab_grader.classes import classroom, restating
from shardlab_grader.nbgrader.course import Course, Scored, quiet
from shardlab_grader.releases import wheels
from shardlab_grader.releases.release import Release, release
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.term import applying, extensions, reading
from shardlab_grader.term.settings import Penalty, Settings

from .conftest import NAME, SYLLABUS
from .test_nbgrader import silent

TERM = """\
timezone = "Europe/Berlin"

[sections]
A = ["gus", "hana"]
B = ["ivo"]

[penalty]
a_day = 0.1
most = 0.5
free_hours = 1

[assignments.04]
exercises = ["4.1", "4.2", "4.3"]
points = {"4.2" = 12.5}
deadline = 2027-03-01T18:00:00
sections = {B = 2027-03-03T18:00:00}

[assignments.05]
exercises = "core"

[plan]
1 = ["00", "01"]
2 = ["04"]
"""
WRONG = {
    "no-such-setting": ("sektions = 1", "sektions: there is no such setting; there are timezone, assignments, sections"),
    "no-chapter": ('[assignments.33]\nexercises = "core"', "assignments.33: the course has no chapter 33."),
    "chapter-by-name": (
        '[assignments.four]\nexercises = "core"',
        "assignments.four: 'four' is not a chapter; write its number",
    ),
    "chapter-twice": ("[assignments.4]\n[assignments.04]", "assignments.04: chapter 4 is named twice."),
    "no-table": ("assignments = 4", "assignments: write a table."),
    "no-list": (
        '[assignments.04]\nexercises = "4.1"',
        'assignments.04.exercises: write a list, such as ["4.1", "4.2"], or "core".',
    ),
    "other-chapters": (
        '[assignments.04]\nexercises = ["5.1"]',
        "assignments.04.exercises: '5.1' is not an exercise; chapter 4 has 4.1",
    ),
    "without-quotes": (
        "[assignments.04.points]\n4.2 = 8",
        "assignments.04.points: '4' is not an exercise; chapter 4 has 4.1 to",
    ),
    "does-not-count": (
        '[assignments.04]\nexercises = ["4.1"]\npoints = {"4.2" = 8}',
        "assignments.04.points: '4.2' is not among the exercises that count.",
    ),
    "points": ('[assignments.04.points]\n"4.2" = -1', "assignments.04.points.4.2: write a number from 0 to 1000."),
    "whose-time": ("[assignments.04]\ndeadline = 2027-03-01T18:00:00", 'as timezone = "Europe/Berlin".'),
    "time-in-quotes": (
        '[assignments.04]\ndeadline = "Monday"',
        "assignments.04.deadline: write a date and a time without quotes",
    ),
    "no-zone": ('timezone = "Berlin"', "timezone: there is no time zone 'Berlin'; write it as Europe/Berlin."),
    "no-section": (
        "[assignments.04]\ndeadline = 2027-03-01T18:00:00Z\nsections = {C = 2027-03-02T18:00:00Z}",
        "assignments.04.sections: there is no section 'C'; name it in [sections].",
    ),
    "earlier": (
        "sections = {B = []}\n[assignments.04]\ndeadline = 2027-03-01T18:00:00Z\nsections = {B = 2027-02-02T18:00:00Z}",
        "assignments.04.sections.B: it is before the common deadline: make the earliest deadline the common one.",
    ),
    "sections-alone": (
        "sections = {B = []}\n[assignments.04]\nsections = {B = 2027-02-02T18:00:00Z}",
        "assignments.04: sections have deadlines, but the assignment has none.",
    ),
    "in-two-sections": ('[sections]\nA = ["gus"]\nB = ["gus"]', "sections: gus is in more than one place."),
    "share": ("[penalty]\na_day = 10", "penalty.a_day: write a number from 0 to 1."),
    "no-share": ("[penalty]\nmost = 0.5", "penalty: it lacks a_day, the share of the score that a day costs, such as 0.1."),
    "week": ('[plan]\none = ["04"]', "plan.one: a week is a whole number."),
    "no-chapters": ("[plan]\n1 = 4", 'plan.1: write a list of chapters, such as ["00", "01"].'),
    "planned-twice": ('[plan]\n1 = ["04"]\n2 = ["04"]', "plan: chapter 4 is in more than one place."),
}


def test_a_term_is_read_whole(tmp_path: pathlib.Path) -> None:
    """Exercises, points, deadlines in UTC, sections, the penalty and the plan."""
    (tmp_path / reading.FILE).write_text(TERM)
    found = reading.load(tmp_path)
    four = found.of("04_four_matmul_cases")
    assert (four.exercises, four.points, four.core) == (("4.1", "4.2", "4.3"), {"4.2": 12.5}, False)
    assert four.deadline == datetime.datetime(2027, 3, 1, 17, tzinfo=datetime.UTC)
    assert found.later("04_four_matmul_cases") == {
        "gus": datetime.timedelta(),
        "hana": datetime.timedelta(),
        "ivo": datetime.timedelta(days=2),
    }
    assert found.of("05_sharding_expressions").core and found.plan == {1: (0, 1), 2: (4,)}
    assert found.penalty == Penalty(0.1, 0.5, 1)
    assert reading.load(tmp_path / "elsewhere") == Settings()


@pytest.mark.parametrize(("text", "told"), WRONG.values(), ids=WRONG)
def test_a_mistake_is_told_with_its_place(text: str, told: str, tmp_path: pathlib.Path) -> None:
    """The table's name, what is there, and how it is written."""
    (tmp_path / reading.FILE).write_text(text)
    with pytest.raises(ShardlabError) as raised:
        reading.load(tmp_path)
    assert raised.value.reference == "bad-settings" and told in str(raised.value), str(raised.value)


def test_all_mistakes_are_told_at_once(tmp_path: pathlib.Path) -> None:
    """Not the first only; a text that is not TOML has the parser's words and its line."""
    (tmp_path / reading.FILE).write_text('timezone = "Berlin"\n[assignments.33]\n[plan]\n1 = ["34"]\n')
    with pytest.raises(ShardlabError, match="the settings have 3 mistakes"):
        reading.load(tmp_path)
    (tmp_path / reading.FILE).write_text("timezone = Berlin\n")
    with pytest.raises(ShardlabError, match=r"not TOML: .*line 1"):
        reading.load(tmp_path)


@pytest.mark.parametrize(("hours", "costs"), [(0.5, 0), (1, 0), (2, 2), (24, 2), (25, 4), (240, 10)])
def test_lateness_costs_a_share_for_each_day(hours: float, costs: float) -> None:
    """Of 20 points a tenth a day, none in the first hour, and no more than half."""
    assert Penalty(0.1, 0.5, 1).of(20, 3600 * hours) == costs


def test_lateness_is_told_to_the_minute() -> None:
    """Half an hour is not called an hour."""
    spans = [Scored(late=seconds, penalty=1).lateness for seconds in (1800, 60 * (24 * 60 + 61))]
    assert spans == ["late by 30 minutes: 1 point less", "late by 1 day 1 hour 1 minute: 1 point less"]


@pytest.fixture
def course(
    tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> pathlib.Path:
    """The tiny chapter released, and three students enrolled, two of whom hand in a right answer to 90.1."""
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    made = shutil.copytree(tiny_course, tmp_path / "course")
    with quiet(), Course(made).gradebook() as gradebook:
        for student in ("gus", "hana", "ivo"):
            gradebook.add_student(student)
    for student in ("gus", "ivo"):
        path = made / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(edition.to_ipynb(Release.load(made, NAME).notebook).replace("return ...  # TODO", "return 2 * n"))
        (path.parent / "timestamp.txt").write_text("2027-03-02 19:00:00 UTC")
    return made


def said(course: pathlib.Path, *arguments: str) -> str:
    """What a command prints, in one line."""
    ran = CliRunner().invoke(cli.main, [*arguments, "--course", str(course)])
    assert ran.exit_code == 0, ran.output
    return " ".join(ran.output.split())


def points(course: pathlib.Path) -> dict[str, float]:
    """Those of the notebook that students were given."""
    cells = nbformat.read(course / "release" / NAME / f"{NAME}.ipynb", as_version=4).cells
    return {cell.id: cell.metadata.nbgrader.points for cell in cells if cell.metadata.get("nbgrader", {}).get("grade")}


def test_an_exercise_that_does_not_count_is_not_released(
    tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """If it is optional, the notebook lacks it from its heading on; else it stays for 0 points, and its head says so."""
    course = tmp_path / "course"
    course.mkdir()
    settings = '[assignments.90]\nexercises = ["90.2"]\npoints = {"90.2" = 4}\ndeadline = 2027-03-01T18:00:00Z\n'
    (course / reading.FILE).write_text(settings)
    made = release(NAME, course, tiny)
    assert made.points == {"90.1": 0, "90.2": 4}
    (head,) = (cell.source for cell in made.notebook.cells if "Exercise 90.1:" in cell.source)
    assert head.split("\n\n")[1].startswith("does not count in your course · ★")
    assert edition.worth(made.notebook, {"90.1": 2}).cells != made.notebook.cells
    assert edition.UNCOUNTED not in edition.to_ipynb(edition.worth(made.notebook, {"90.1": 2}))
    optional = dataclasses.replace(SYLLABUS.questions["90.1"], optional=True)
    monkeypatch.setitem(SYLLABUS.questions, "90.1", optional)  # type: ignore[arg-type]
    made = release(NAME, course, tiny)
    assert made.points == {"90.2": 4} and points(course) == {"q90-2": 4}
    assert "Exercise 90.1" not in edition.to_ipynb(made.notebook)


@pytest.mark.thorough
def test_exercises_come_and_go_until_somebody_is_graded(
    course: pathlib.Path, tiny: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where students have more time, for which they are entered in the gradebook; they keep it."""
    more = {"gus": datetime.timedelta(days=2)}
    Course(course).set_deadline(NAME, datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC))
    Course(course).extend(NAME, more)
    optional = dataclasses.replace(SYLLABUS.questions["90.1"], optional=True)
    monkeypatch.setitem(SYLLABUS.questions, "90.1", optional)  # type: ignore[arg-type]
    (course / reading.FILE).write_text('[assignments.90]\nexercises = ["90.2"]\n')
    assert release(NAME, course, tiny).points == {"90.2": 1.5} and points(course) == {"q90-2": 1.5}
    (course / reading.FILE).unlink()
    assert release(NAME, course, tiny).points == {"90.1": 2, "90.2": 1.5}
    assert Course(course).deadlines(NAME).more == more
    classroom.grade(course, NAME, "bubblewrap", 1, silent)
    (course / reading.FILE).write_text('[assignments.90]\nexercises = ["90.2"]\n')
    assert release(NAME, course, tiny).points == {"90.1": 0, "90.2": 1.5}


def test_an_assignment_without_exercises_is_refused(tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A chapter of one's own is known when it is released: then its exercises are compared with the settings."""
    (tmp_path / reading.FILE).write_text('[assignments.90]\nexercises = ["90.7"]\n')
    with pytest.raises(ShardlabError, match=r"'90.7' is not an exercise; chapter 90 has 90.1 to 90.2"):
        release(NAME, tmp_path, tiny)


def test_an_exercise_is_dropped_in_mid_term(
    course: pathlib.Path, tiny: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """First shown, then done: its cell stays and is worth nothing, no solution runs, and grading runs nothing again."""
    seed = Release.load(course, NAME).seed
    classroom.grade(course, NAME, "bubblewrap", 1, silent)
    (course / reading.FILE).write_text('[assignments.90]\nexercises = ["90.1"]\npoints = {"90.1" = 5}\n')
    verdicts = {path.name: path.read_bytes() for path in (course / "shardlab" / "verdicts").iterdir()}
    told = said(course, "settings", "--dry-run")
    assert f"{NAME}: 90.1: 2 -> 5 points {NAME}: 90.2: 1.5 -> 0 points; it no longer counts" in told
    assert "a dry run: nothing was changed." in told and points(course) == {"q90-1": 2, "q90-2": 1.5}
    told = (
        f"next: shardlab-grader grade {NAME} --course {os.path.relpath(course)}, which gives its submissions the new points"
    )
    assert told in said(course, "settings")
    assert points(course) == {"q90-1": 5, "q90-2": 0} and Release.load(course, NAME).seed == seed
    told = said(course, "grade", "90", "--dry-run", "--names")
    assert "running" not in told and "gus graded 5 0 2 -> 5 ivo graded 5 0 2 -> 5" in told, told
    assert "90.1: 2 -> 5, now worth 5 points: 2 submissions 2 submissions: 2 graded" in told
    assert {path.name: path.read_bytes() for path in (course / "shardlab" / "verdicts").iterdir()} == verdicts
    told = said(course, "grade", "90", "--names")
    assert "running" not in told and "90.1: 2 -> 5, now worth 5 points: 2 submissions" in told
    rows = classroom.grade(course, NAME, "bubblewrap", 1, silent)
    assert [(row.student, row.total) for row in rows] == [("gus", 5.0), ("ivo", 5.0)]
    page = (course / "feedback" / "gus" / NAME / f"{NAME}.html").read_text()
    assert "does not count in your course · ★" in page and "## Exercise" not in page and ">Test cell<" not in page
    assert "to do, does not count in your course</strong>" in page
    told = said(course, "report", "90", "--names")
    assert "ivo" in told and classroom.outdated(Release.load(course, NAME)) == []
    assert release(NAME, course, tiny).points == {"90.1": 5, "90.2": 0}
    assert "does not count in your course" in edition.to_ipynb(Release.load(course, NAME).notebook)
    (course / reading.FILE).write_text("")
    assert "90.2: 0 -> 1.5 points" in said(course, "settings", "--dry-run")
    said(course, "settings")
    monkeypatch.setattr(restating, "_worth", lambda *_: None)
    (course / reading.FILE).write_text('[assignments.90.points]\n"90.1" = 4\n')
    said(course, "settings")
    again = "running and judging 2 submissions, equal ones once (1 again, with a part of points that have changed): 1 in"
    assert again in said(course, "grade", "90", "--dry-run")


def test_sections_have_their_own_deadlines_and_lateness_its_price(course: pathlib.Path) -> None:
    """Who is in a later section is not late; days of one's own are added to the section's, also when it moves."""
    text = (
        'timezone = "America/New_York"\nsections = {A = ["gus", "zoe"], B = ["ivo"]}\npenalty = {a_day = 0.25}\n'
        "[assignments.90]\ndeadline = 2027-03-01T18:00:00Z\nsections = {B = 2027-03-03T18:00:00Z}\n"
    )
    (course / reading.FILE).write_text(text)
    told = said(course, "settings", "--names")
    assert f"{NAME}: deadline: none -> 2027-03-01 13:00 America/New_York {NAME}: deadlines of 1 student: ivo done" in told
    assert "students by section: A 2, B 1 lateness costs 25% of the score for each day that has begun" in told
    rows = {row.student: row for row in classroom.grade(course, NAME, "bubblewrap", 1, silent)}
    assert "late by 1 day 1 hour: 1 point less" in rows["gus"].reason and "late" not in rows["ivo"].reason
    assert "the deadline is now 2027-03-05 13:00 America/New_York." in said(course, "extend", "90", "ivo", "--days", "2")
    (course / reading.FILE).write_text(text.replace("03-03", "03-08"))
    assert "deadlines of 1 student" in said(course, "settings")
    assert Course(course).deadlines(NAME).more == {"ivo": datetime.timedelta(days=9)}
    assert not applying.pending(course, reading.load(course), NAME)
    shutil.rmtree(course / "submitted")
    (course / reading.FILE).write_text(text.replace("03-01", "03-02"))
    assert said(course, "settings").endswith("done.")


def test_who_comes_after_the_settings_has_the_deadline_of_the_section(course: pathlib.Path) -> None:
    """Grading gives it, to students on no roster as well; a common deadline that is another one by now is only told."""
    text = (
        'sections = {B = ["ivo", "zoe", "yan"]}\npenalty = {a_day = 0.25}\n'
        "[assignments.90]\ndeadline = 2027-03-01T18:00:00Z\nsections = {B = 2027-03-03T18:00:00Z}\n"
    )
    Course(course).set_deadline(NAME, datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC))
    (course / reading.FILE).write_text(text)
    shutil.copytree(course / "submitted" / "ivo", course / "submitted" / "zoe")
    told = said(course, "grade", "90", "--names")
    assert told.count("late by 1 day 1 hour") == 1 and "says otherwise" not in told, told
    assert {*Course(course).deadlines(NAME).more} == {"ivo", "zoe"} and "yan" not in Course(course).students()
    (course / reading.FILE).write_text(text.replace("03-01", "03-02"))
    told = said(course, "grade", "90", "--names")
    assert "released: deadline: 2027-03-01 18:00 UTC -> 2027-03-02 18:00 UTC; deadlines of 2 students: ivo, zoe" in told
    assert Course(course).deadlines(NAME).more["zoe"] == datetime.timedelta(days=2)


def test_extensions_in_bulk(course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Several students in one command, or by a table; one unknown name, and nothing has changed."""
    Course(course).set_deadline(NAME, datetime.datetime(2027, 3, 1, 18, tzinfo=datetime.UTC))
    assert "2027-03-04 18:00 UTC for 2 of 2 students." in said(course, "extend", "90", "gus", "hana", "--days", "3")
    refused = CliRunner().invoke(cli.main, ["extend", "90", "gus", "zoe", "--days", "9", "--course", str(course)])
    assert refused.exit_code == 1
    assert extensions.load(course) == {NAME: {"gus": 3.0, "hana": 3.0}}
    table = tmp_path / "more.csv"
    table.write_text("assignment,student,days\n90,gus,0\n04,gus,5\n90,ivo,1.5\n")
    told = said(course, "extend", "90", "--csv", str(table))
    assert "2027-03-01 18:00 UTC for 1 of 2 students. the deadline is now 2027-03-03 06:00 UTC for 1 of 2 students." in told
    assert Course(course).deadlines(NAME).more == {"hana": datetime.timedelta(3), "ivo": datetime.timedelta(1.5)}
    kept = f"assignment,student,days\n{NAME},hana,3\n{NAME},ivo,1.5\n"
    assert (course / extensions.FILE).read_text() == kept
    table.write_bytes(b"\xef\xbb\xbfstudent;days;why\r\nivo;1,5;a cold, and more\r\n")  # as a spreadsheet in Europe
    said(course, "extend", "90", "--csv", str(table))
    assert (course / extensions.FILE).read_text() == kept
    said(course, "forget", "hana")
    assert "hana" not in (course / extensions.FILE).read_text()


def test_days_wait_for_a_deadline(course: pathlib.Path) -> None:
    """nbgrader could not grade a student who has more time than none; with the deadline they count."""
    told = said(course, "extend", "90", "gus", "--days", "2")
    assert f"{NAME} has no deadline, so nobody is late; the days are kept until it has one." in told
    assert {row.total for row in classroom.grade(course, NAME, "bubblewrap", 1, silent)} == {2.0}
    (course / reading.FILE).write_text("[assignments.90]\ndeadline = 2027-03-01T18:00:00Z\n")
    assert "deadlines of 1 student" in said(course, "settings")
    assert Course(course).deadlines(NAME).more == {"gus": datetime.timedelta(days=2)}
    assert not applying.pending(course, reading.load(course), NAME)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,days\ngus,3\n", "it has no column student"),
        ("student,days\ngus,three\n", "row 2 needs a student and a number of days from 0 to 3650"),
        ("assignment,student,days\n04,gus,3\n", f"it has no row for {NAME}"),
        (b"student,days\ng\xfcs,3\n", "it is not CSV in UTF-8"),
    ],
)
def test_another_table_is_refused(text: str | bytes, told: str, tmp_path: pathlib.Path) -> None:
    """With what it lacks."""
    (tmp_path / "more.csv").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(ShardlabError, match=told):
        extensions.table(tmp_path / "more.csv", NAME)


def test_a_number_in_a_table_is_one_chapters(tmp_path: pathlib.Path) -> None:
    """Days for chapter 1 are none for chapters 10 to 17, and those for chapter 0 none for chapters 1 to 9."""
    (tmp_path / "more.csv").write_text("assignment,student,days\n1,gus,3\n0,gus,4\n10,ivo,5\n")
    days = {name: extensions.table(tmp_path / "more.csv", name) for name in ("00_a", "01_b", "10_c")}
    assert days == {"00_a": {"gus": 4.0}, "01_b": {"gus": 3.0}, "10_c": {"ivo": 5.0}}
    for name in ("02_d", "17_e"):
        with pytest.raises(ShardlabError, match=f"it has no row for {name}"):
            extensions.table(tmp_path / "more.csv", name)


def test_settings_are_asked_for_with_an_example(tmp_path: pathlib.Path) -> None:
    """Where there is no file, the command says how one begins; a table of deadlines needs no assignment."""
    ran = CliRunner().invoke(cli.main, ["settings", "--course", str(tmp_path)])
    assert ran.exit_code == 1
    (tmp_path / reading.FILE).write_text(TERM)
    told = said(tmp_path, "settings", "--dry-run")
    assert "2 04 Four cases of sharded matmul 3 of 7" in told and "2027-03-01 18:00 B: 2027-03-03 18:00" in told, told
    assert "deadline (Europe/Berlin)" in told
    assert "for each day that has begun, at most 50%; up to 1 hour late costs nothing" in told


def test_a_release_has_what_students_need(tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Both packages, where the first cell asks for them, and how to begin; those of an older version go."""
    course, project = tmp_path / "course", tiny / "pyproject.toml"
    given = course / "release" / NAME
    release(NAME, course, tiny)
    assert {path.name for path in given.iterdir()} == {f"{NAME}.ipynb"}
    project.write_text(f'[project]\n[project.urls]\nRepository = "{header.UNSET}"\n')
    release(NAME, course, tiny)
    (course / "source" / NAME / "shardlab-0.0.1-py3-none-any.whl").touch()
    release(NAME, course, tiny)
    names = {path.name for path in given.iterdir()}
    version = shardlab.__version__
    assert names == {f"{NAME}.ipynb", wheels.BEGIN, *(f"{one}-{version}-py3-none-any.whl" for one in wheels.PACKAGES)}
    assert f"jupyter lab {NAME}.ipynb" in (given / wheels.BEGIN).read_text()


def test_progress_shows_the_plan_alone(tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A release has the plan beside its notebook: its chapters, and the exercises that count; without a plan it has none."""
    course = tmp_path / "course"
    course.mkdir()
    beside = course / "release" / NAME / plan.NAME
    (course / reading.FILE).write_text('[assignments.90]\nexercises = ["90.2"]\n[plan]\n1 = ["90"]\n')
    release(NAME, course, tiny)
    assert json.loads(beside.read_text()) == {"exercises": {"90": ["90.2"]}}
    (course / reading.FILE).unlink()
    release(NAME, course, tiny)
    assert not beside.exists()


def test_progress_counts_what_the_plan_counts(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two chapters, one with two exercises; another chapter is shown when asked for, and a damaged plan is no plan."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("SHARDLAB_PROGRESS", raising=False)
    whole = len(progress().chapters)
    (tmp_path / plan.NAME).write_text(plan.text({4: ["4.2", "4.3"], 1: ["1.1"]}))
    found = progress()
    assert [(one.number, [each.id for each in one.exercises]) for one in found.chapters] == [
        (4, ["4.2", "4.3"]),
        (1, ["1.1"]),
    ]
    assert "0 of 2 core exercises done." in str(found) and found.next is not None and found.next.id == "4.2"
    assert progress(7).here.number == 7 and progress(4).here.core == 1
    (tmp_path / plan.NAME).write_text("{")
    assert len(progress().chapters) == whole
