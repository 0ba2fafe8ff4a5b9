"""The commands: what they print, which files they write, and how they end."""

from __future__ import annotations

import csv
import pathlib
import shutil
from collections.abc import Iterator

import click
import jupytext
import jupytext.cli
import nbgrader.api
import pytest
from click.testing import CliRunner, Result

import shardlab
from shardlab.errors import ShardlabError
from shardlab_grader import cli, statuses
from shardlab_grader.classes import classroom
from shardlab_grader.demo import sampling
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.records import roster, texts
from shardlab_grader.records.store import Record
from shardlab_grader.releases import places
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox.box import Mode
from shardlab_judge.verdict import Finding, Part, Verdict

from .conftest import NAME, ROOT

SAMPLES = {
    "perfect": "# points: 3.5\n# Takes every answer from the solution.\n# %% * = solution\n",
    "half": "# points: 2\n# reason: not attempted\n# The first exercise only.\n# %% q90-1-answer\ndef double(n):\n    ...\n",
    "mixed": "# points: 1.5\n# reason: 90.1\n# %% q90-1-answer\nwrong = 1\n# %% * = solution\n",
    "untouched": "# points: 0\n# Hands in what was released.\n",
    "broken": "# points: ungraded\n# reason: not a notebook\n# A text file.\n# %% raw\nDear sir,\n",
}


@pytest.fixture
def samples(tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A sample class for the tiny chapter, in place of the real one; no sandbox is started."""
    folder = tmp_path / "samples"
    (folder / NAME).mkdir(parents=True)
    for student, text in SAMPLES.items():
        (folder / NAME / f"{student}.py").write_text(text)
    monkeypatch.setattr(sampling, "FOLDER", folder)
    monkeypatch.setattr(cli, "ROOT", tiny)
    monkeypatch.setattr(nbgrader.api, "get_alembic_version", lambda: "0")  # a command that takes seconds
    monkeypatch.setattr(sandbox, "probe", lambda mode: None)
    return folder / NAME


def run(*arguments: str | pathlib.Path) -> Result:
    """One command's end and what it printed."""
    return CliRunner().invoke(cli.main, [str(argument) for argument in arguments])


def test_the_demonstration_compares_every_score(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """It ends with 0, says where everything lies, and leaves nbgrader's own files."""
    ran = run("demo", tmp_path / "demo")
    assert ran.exit_code == 0, ran.output
    assert "every score is as expected." in ran.output
    assert "5 submissions: 4 graded, 1 ungraded; a person must look at the ungraded ones." in ran.output
    lines = (tmp_path / "demo" / f"{NAME}.csv").read_text().splitlines()
    exported = {row["student_id"]: row["score"] for row in csv.DictReader(lines)}
    assert exported == {"perfect": "3.5", "half": "2.0", "mixed": "1.5", "untouched": "0.0", "broken": "0.0"}
    assert len(list((tmp_path / "demo" / "feedback").glob(f"*/{NAME}/{NAME}.html"))) == 4


def test_the_demonstration_fails_on_another_score(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A score or reason that is not the one written beside the answers is told, and the status is 1."""
    (samples / "half.py").write_text(SAMPLES["half"].replace("points: 2", "points: 3"))
    (samples / "broken.py").write_text(SAMPLES["broken"].replace("not a notebook", "too large"))
    ran = run("demo", tmp_path / "demo")
    assert ran.exit_code == 1
    assert "half: expected 3, got 2 (90.2: not attempted)" in ran.output
    assert "broken: expected the reason 'too large', got: not a notebook: " in ran.output
    assert "not as expected: 2 of 5." in ran.output


def test_the_demonstration_spares_other_directories(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A directory with something else in it is not emptied."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("years of work")
    ran = run("demo", tmp_path / "mine")
    assert ran.exit_code == 1
    assert "[directory-in-use]" in ran.output
    assert (tmp_path / "mine" / "thesis.txt").exists()


def test_a_class_is_released_graded_and_reported(samples: pathlib.Path, tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """The three commands in a row, by the beginning of the assignment's name; keys for names unless asked."""
    course = tmp_path / "course"
    assert "released 90_tiny" in run("release", "90", "--course", course, "--repository", tiny).output
    for student, text in {"ann": (course / "release" / NAME / f"{NAME}.ipynb").read_text(), "=cmd": "no"}.items():
        folder = course / "submitted" / student / NAME
        folder.mkdir(parents=True)
        (folder / f"{NAME}.ipynb").write_text(text)
    graded = run("grade", "90", "--course", course, "--workers", "1")
    assert graded.exit_code == statuses.LOOK
    assert "sandbox: bubblewrap" in graded.output
    assert "RLIMIT" not in graded.output
    assert "running and judging: 1 in " in graded.output
    assert run("grade", "90", "--course", course, "--student", "ann").exit_code == 0
    assert "ann" not in graded.output.split("running", 1)[1]
    shown = run("report", "90", "--course", course, "--names", "--scores", tmp_path / "class.csv")
    assert (shown.exit_code, "=cmd" in shown.output) == (0, True)
    assert scores(tmp_path / "class.csv") == [
        ["student", "state", "90.1", "90.2", "total", "of", "reason"],
        ["'=cmd", "ungraded", "", "", "", "3.5", "not a notebook: Expecting value: line 1 column 1 (char 0)."],
        ["ann", "graded", "0.0", "0.0", "0.0", "3.5", "90.1, 90.2: not attempted"],
    ]
    run("report", "90", "--course", course, "--scores", tmp_path / "keys.csv")
    keys = roster.Roster(course).enter(NAME, {"ann": "", "=cmd": ""})
    assert [row[0] for row in scores(tmp_path / "keys.csv")] == ["submission", *sorted(keys.values())]


def test_the_report_is_three_files(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Figures of exercises as CSV and page, points of submissions as CSV; the page lists submissions when asked."""
    run("demo", tmp_path / "demo")
    files = {option: tmp_path / f"report{option}" for option in ("--csv", "--scores", "--html")}
    options = [word for pair in files.items() for word in pair]
    ran = run("report", "90", "--course", tmp_path / "demo", *options)
    assert ran.exit_code == 0, ran.output
    assert [line for line in ran.output.splitlines() if line.startswith("wrote")] == [f"wrote {p}" for p in files.values()]
    assert [row[:8] for row in scores(files["--csv"])] == [
        ["exercise", "title", "submissions", "passed", "partly", "failed", "unattempted", "ungraded"],
        ["90.1", "Double", "4", "2", "0", "1", "1", "0"],
        ["90.2", "Parts", "4", "2", "0", "0", "2", "0"],
    ]
    assert len(scores(files["--scores"])) == 6
    assert "<h2>Submissions</h2>" not in files["--html"].read_text()
    run("report", "90", "--course", tmp_path / "demo", "--names", *options)
    assert "untouched" in files["--html"].read_text()


def test_names_can_be_asked_for_once_for_all(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """An instructor who always wants names sets an environment variable; a page that may be mailed still has none."""
    run("demo", tmp_path / "demo")
    page = tmp_path / "report.html"
    arguments = ["report", "90", "--course", str(tmp_path / "demo"), "--html", str(page)]
    shown = CliRunner(env={"SHARDLAB_NAMES": "1"}).invoke(cli.main, arguments).output
    assert "untouched" in shown and "untouched" not in page.read_text()
    assert "untouched" not in CliRunner().invoke(cli.main, arguments).output


def scores(path: pathlib.Path) -> list[list[str]]:
    """The cells of a CSV file."""
    return list(csv.reader(path.read_text().splitlines()))


def test_a_sandbox_must_be_there(tiny: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without one grading stops before anything is run, and says how to go on."""

    def gone(mode: Mode) -> None:
        raise ShardlabError("sandbox-unavailable", "bwrap is not installed.", where="here", mend="install it")

    monkeypatch.setattr(sandbox, "probe", gone)
    ran = run("grade", "90", "--course", tmp_path)
    assert (ran.exit_code, ran.output.splitlines()[0]) == (1, "[sandbox-unavailable] bwrap is not installed.")


def test_what_was_not_released_is_named(samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Grading before releasing is a mistake with a message, not a traceback."""
    ran = run("grade", "90", "--course", tmp_path)
    assert ran.exit_code == 1
    assert "[no-course-directory] there is no nbgrader_config.py." in ran.output


BAD_SAMPLES = {
    "no points": ("# %% q90-1-answer\nx = 1\n", "sample-without-points"),
    "unknown cell": ("# points: 1\n# %% q90-7-answer\nx = 1\n", "unknown-cell"),
}


@pytest.mark.parametrize(("text", "reference"), BAD_SAMPLES.values(), ids=BAD_SAMPLES)
def test_a_bad_sample_is_named(text: str, reference: str, samples: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """A sample without its score, or for a cell that is not there, stops the demonstration."""
    (samples / "bad.py").write_text(text)
    ran = run("demo", tmp_path / "demo")
    assert ran.exit_code == 1
    assert f"[{reference}]" in ran.output


def failed(question: str, what: str, miss: str | None = None) -> Verdict:
    """A failed verdict with one finding."""
    return Verdict(question, "failed", (Part("a", "V", 0, 1),), (Finding("a", "V", what, misconception=miss),))


REASONS = {
    "passed": ({"1": Verdict("1", "passed")}, "graded", ""),
    "a known mistake": ({"1": failed("1", "Differs.", "forgot-psum")}, "graded", "1: forgot-psum"),
    "an unknown mistake": ({"1": failed("1", "It differs.")}, "graded", "1: It differs"),
    "one reason for two": ({"1": failed("1", "It hung."), "2": failed("2", "It hung.")}, "graded", "1, 2: It hung"),
    "ours first": ({"1": failed("1", "No."), "2": Verdict("2", "ungraded", reason="We fell.")}, "ungraded", "2: We fell"),
    "a traceback": ({"1": Verdict("1", "ungraded", reason="a\n " * 300 + "end")}, "ungraded", None),
}


@pytest.mark.parametrize(("verdicts", "status", "reason"), REASONS.values(), ids=REASONS)
def test_a_row_says_why(verdicts: dict[str, Verdict], status: str, reason: str | None) -> None:
    """The reason is one short line: known mistakes by name, equal reasons once."""
    row = report.row("ann", Record(verdicts, "none"), 1.0)
    assert row.status == status
    assert row.reason == reason if reason is not None else len(row.reason) < 220


def test_names_are_not_markup() -> None:
    """A student's file name cannot colour or break the table."""
    shown = report.table([Row("[bold]ann[/nothing]", "ungraded", reason="[/]")], {"1": 2.0})
    with cli.console.capture() as captured:
        cli.console.print(shown)
    assert "[bold]ann[/nothing]" in captured.get()


@pytest.fixture
def course(samples: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A course with three on its roster, of whom nobody has handed in."""
    shutil.copytree(tiny_course, tmp_path / "course")
    with quiet(), Course(tmp_path / "course").gradebook() as gradebook:
        for student in ("ann", "bob", "cem"):
            gradebook.update_or_create_student(student)
    return tmp_path / "course"


def hand_in(course: pathlib.Path, student: str, content: str | None = None, name: str = f"{NAME}.ipynb") -> None:
    """A file in the student's folder: the notebook as it was released unless given."""
    path = course / "submitted" / student / NAME / name
    path.parent.mkdir(parents=True)
    path.write_text((course / "release" / NAME / f"{NAME}.ipynb").read_text() if content is None else content)


def test_the_version_is_told() -> None:
    """That of the package."""
    ran = run("--version")
    assert (ran.exit_code, ran.output) == (0, f"shardlab-grader, version {shardlab.__version__}\n")


@pytest.mark.parametrize("arguments", [["--help"], ["grade", "--help"]], ids=" ".join)
def test_exit_statuses_are_documented(arguments: list[str]) -> None:
    """Each with its meaning, in the help and in the instructor's guide."""
    said = run(*arguments).output
    guide = (ROOT / "jupyter_book" / "instructors.md").read_text()
    for status, meaning in statuses.MEANINGS.items():
        assert f"{status:>3}  {meaning.replace('`', '')}" in said
        assert f"| {status} | {meaning} |" in guide


def commands(group: click.Group) -> Iterator[click.Command]:
    """All commands below a group."""
    for command in group.commands.values():
        yield from commands(command) if isinstance(command, click.Group) else (command,)


@pytest.mark.parametrize("command", [*commands(cli.main)], ids=lambda command: command.callback.__name__)
def test_every_option_has_a_help(command: click.Command) -> None:
    """So has the command."""
    options = [one for one in command.params if isinstance(one, click.Option)]
    assert command.help and all(one.help for one in options), [one.name for one in options if not one.help]


@pytest.mark.thorough
def test_who_handed_in_is_counted(course: pathlib.Path) -> None:
    """By key unless names are asked for; a run for one student counts nobody."""
    hand_in(course, "ann")
    ran = run("grade", "90", "--course", course)
    assert ran.exit_code == statuses.DONE, ran.output
    keys = roster.Roster(course).enter(NAME, {"bob": "", "cem": ""})
    assert f"3 enrolled, 1 handed in, missing: {', '.join(sorted(keys.values()))}\n" in ran.output
    assert "missing: bob, cem\n" in run("grade", "90", "--course", course, "--names").output
    assert "enrolled" not in run("grade", "90", "--course", course, "--student", "ann").output


@pytest.mark.thorough
def test_rows_of_before_are_listed_when_asked(course: pathlib.Path) -> None:
    """New and ungraded rows are; so are the limits with `--verbose`."""
    hand_in(course, "ann")
    hand_in(course, "bob", "")
    first = run("grade", "90", "--course", course, "--names")
    hand_in(course, "cem")
    second = run("grade", "90", "--course", course, "--names")
    third = run("grade", "90", "--course", course, "--names", "--verbose")
    assert [ran.exit_code for ran in (first, second, third)] == [statuses.LOOK] * 3
    listed = [[line.split()[0] for line in ran.output.splitlines() if "graded  " in line] for ran in (first, second, third)]
    assert listed == [["ann", "bob"], ["bob", "cem"], ["ann", "bob", "cem"]]
    assert "as before, and not listed without --verbose: 1" in second.output
    assert "RLIMIT_AS" in third.output and "RLIMIT_AS" not in second.output
    assert "not a notebook: the file is empty; ask for it once more." in first.output


def test_a_chapter_is_found_by_its_number(course: pathlib.Path) -> None:
    """`4` is `04`, and not `40`; a beginning that is nobody's lists what there is."""
    names = ["04_four", "10_ten", "40_forty", "41_more"]
    assert [places.fitting(asked, names) for asked in ("1", "0", "41")] == [[], [], ["41_more"]]
    assert [places.named(asked, names, course) for asked in ("4", "04", "10", "40", "04_f", "41_more")] == [
        "04_four", "04_four", "10_ten", "40_forty", "04_four", "41_more",
    ]  # fmt: skip
    ran = run("grade", "9_tiny", "--course", course)
    assert (ran.exit_code, ran.stderr) == (
        statuses.MEND,
        "[unknown-assignment] '9_tiny' is the beginning of no assignment.\n"
        f"  where: {course}/shardlab: {NAME}\n"
        "  mend:  name one of these; to grade one, release it first.\n",
    )


@pytest.mark.parametrize("command", [["grade", "90"], ["report", "90"], ["forget", "ann"]], ids=" ".join)
def test_a_course_is_looked_for_around(command: list[str], course: pathlib.Path) -> None:
    """A wrong `--course` names the one that lies above or below, and makes nothing."""
    for wrong in (course / "release", course.parent):
        before = sorted(wrong.iterdir())
        ran = run(*command, "--course", wrong)
        assert (ran.exit_code, ran.stderr) == (
            statuses.MEND,
            "[no-course-directory] there is no nbgrader_config.py.\n"
            f"  where: {wrong}\n"
            f"  mend:  name the course, which may be this:\n         --course {course}\n",
        )
        assert sorted(wrong.iterdir()) == before


@pytest.mark.thorough
def test_nobody_to_grade(course: pathlib.Path) -> None:
    """A status of its own where nobody has handed in, or one who is enrolled has not; another for who is unknown."""
    put = f"put each notebook at submitted/STUDENT/{NAME}/{NAME}.ipynb, then run the same command again."
    nobody = run("grade", "90", "--course", course)
    assert (nobody.exit_code, nobody.stderr) == (
        statuses.NOTHING,
        f"[nothing-to-grade] nobody has handed in {NAME}.\n  where: {course}/submitted\n  mend:  {put}\n",
    )
    hand_in(course, "ann")
    enrolled = run("grade", "90", "--course", course, "--student", "bob")
    assert (enrolled.exit_code, enrolled.stderr.splitlines()[0]) == (
        statuses.NOTHING, f"[nothing-to-grade] this student has not handed in {NAME}.",
    )  # fmt: skip
    for unknown in ("zed", "../ann", "/ann", "..", ""):
        ran = run("grade", "90", "--course", course, "--student", unknown)
        assert (ran.exit_code, ran.stderr.splitlines()[0]) == (
            statuses.MEND, f"[unknown-student] '{unknown}' is neither a student who handed in {NAME} nor a key.",
        )  # fmt: skip
        assert f"shardlab-grader report {NAME} --names" in ran.stderr
    key = roster.Roster(course).enter(NAME, {"ann": ""})["ann"]
    assert run("grade", "90", "--course", course, "--student", key).exit_code == statuses.DONE


@pytest.mark.thorough
def test_a_text_is_converted_and_graded(course: pathlib.Path) -> None:
    """As it is handed in, and the page says so."""
    released = (course / "release" / NAME / f"{NAME}.ipynb").read_text()
    text = jupytext.writes(jupytext.reads(released, fmt="ipynb"), fmt="md:myst").replace("TODO", "done")
    hand_in(course, "ann", text, f"{NAME}.md")
    assert run("grade", "90", "--course", course, "--names").exit_code == statuses.DONE
    (row,) = classroom.rows(course, NAME)
    assert row.total == 3.5
    assert texts.ADVICE in (course / "feedback" / "ann" / NAME / f"{NAME}.html").read_text()


def test_a_fault_of_ours_has_its_own_status(course: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a traceback, and a sentence that says whose it is; a mistake in the command line stays one."""
    hand_in(course, "ann")
    assert run("grade", "90", "--course", course, "--dry-run", "--scheduler", "tcp://x").exit_code == statuses.USAGE
    monkeypatch.setattr(classroom, "grade", lambda *_, **__: 1 / 0)
    ran = run("grade", "90", "--course", course)
    assert ran.exit_code == statuses.OURS
    assert "ZeroDivisionError" in ran.stderr and "[our-fault] a fault of Shardlab's own;" in ran.stderr
