"""The commands: what they print, which files they write, and how they end."""

from __future__ import annotations

import csv
import pathlib

import nbgrader.api
import pytest
from click.testing import CliRunner, Result
from shardlab_grader import cli, sampling
from shardlab_grader.records import roster
from shardlab_grader.records.store import Record
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox.box import Mode

from shardlab.errors import ShardlabError
from shardlab_judge.verdict import Finding, Verdict

from .conftest import NAME

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
    assert graded.exit_code == 1
    assert "sandbox: bubblewrap" in graded.output
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
    """An instructor who always wants names sets an environment variable."""
    run("demo", tmp_path / "demo")
    arguments = ["report", "90", "--course", str(tmp_path / "demo")]
    shown = CliRunner(env={"SHARDLAB_NAMES": "1"}).invoke(cli.main, arguments).output
    assert "untouched" in shown
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
    assert "[unknown-assignment] '90' is the beginning of no assignment." in ran.output


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
    return Verdict(question, "failed", findings=(Finding("a", "V", what, misconception=miss),))


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
