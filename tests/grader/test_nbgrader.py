"""nbgrader with our steps in it: what a release holds, what a submission is restored to, what the gradebook gets."""

from __future__ import annotations

import contextlib
import copy
import datetime
import html
import itertools
import json
import os
import pathlib
import re
import shutil
from collections.abc import Callable, Iterator
from typing import Any

import nbformat
import pytest
import sqlalchemy
from click.testing import CliRunner
from nbgrader.api import Gradebook, InvalidEntry
from nbgrader.apps import AutogradeApp, GenerateAssignmentApp

from shardlab.errors import ShardlabError
from shardlab_course import dependence
from shardlab_course.editions import edition
from shardlab_grader import cli
from shardlab_grader.classes import classroom, jobs, stages
from shardlab_grader.classes.restore import job_cells, owners, restore
from shardlab_grader.classes.stages import Grading, missing
from shardlab_grader.nbgrader.course import Course, quiet
from shardlab_grader.records import changes, forgetting
from shardlab_grader.records.changes import Change
from shardlab_grader.records.forms import handed_in
from shardlab_grader.records.submissions import submissions
from shardlab_grader.releases.release import Release, release

from .conftest import NAME

Notebook = nbformat.NotebookNode
Hand = Callable[[str, str], None]


@pytest.fixture
def made(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> Release:
    """The tiny chapter, released."""
    shutil.copytree(tiny_course, tmp_path / "course")
    return Release.load(tmp_path / "course", NAME)


@pytest.fixture
def hand_in(made: Release) -> Hand:
    """Puts a student's file into `submitted/`."""

    def put(student: str, text: str) -> None:
        path = made.course_dir / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    return put


@contextlib.contextmanager
def silent(step: str, length: int) -> Iterator[Callable[[], None]]:
    """No progress bar."""
    yield lambda: None


def text_of(made: Release, *changes: tuple[str, str]) -> str:
    """The released notebook's text with words replaced."""
    text = edition.to_ipynb(made.notebook)
    for old, new in changes:
        assert old in text
        text = text.replace(old, new)
    return text


def grade(made: Release) -> dict[str, Any]:
    """Grade the class; rows by student."""
    return {row.student: row for row in classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)}


def grades(made: Release, student: str) -> dict[str, tuple[float | None, bool]]:
    """Automatic score and whether a person must look, by grade cell, from the gradebook."""
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {g.cell.name: (g.auto_score, g.needs_manual_grade) for g in notebook.grades}


def comments(made: Release, student: str) -> dict[str, str | None]:
    """Automatic comments by solution cell, from the gradebook."""
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        notebook = gradebook.find_submission_notebook(NAME, NAME, student)
        return {c.cell.name: c.auto_comment for c in notebook.comments}


def plain(notebook: Notebook) -> list[tuple[Any, ...]]:
    """Cells without what nbgrader adds on release: checksums and locks."""
    ours = ("grade", "grade_id", "locked", "points", "schema_version", "solution", "task")
    marks = [cell.metadata.get("nbgrader", {}) for cell in notebook.cells]
    kept = [{key: mark[key] for key in ours if key in mark} for mark in marks]
    return [(cell.id, cell.cell_type, cell.source, mark) for cell, mark in zip(notebook.cells, kept)]


def test_a_release_is_the_student_edition(made: Release, tiny: pathlib.Path) -> None:
    """nbgrader's release has the cells of `notebooks/`, and no text source lies in its trees."""
    edition.write(tiny)
    ours = nbformat.read(tiny / "notebooks" / f"{NAME}.ipynb", as_version=4)
    assert plain(made.notebook) == plain(ours)
    assert not list(made.course_dir.rglob("*.md"))


def test_a_second_release_keeps_the_seed(made: Release, tiny: pathlib.Path) -> None:
    """Drawn cases stay what they were, and so does the key of every verdict."""
    again = release("90", made.course_dir, tiny)
    assert (again.seed, again.fingerprint) == (made.seed, made.fingerprint)


def test_a_question_that_changes_asks_for_a_release(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Manifests that are not those of the release are never judged."""
    monkeypatch.setattr("shardlab_grader.releases.release._manifests", lambda *_: {})
    with pytest.raises(ShardlabError, match="release-outdated"):
        Release.load(made.course_dir, NAME)


def test_a_foreign_configuration_is_not_overwritten(tiny: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """An instructor's own file stays, and its owner is told what to add."""
    (tmp_path / "nbgrader_config.py").write_text("c = get_config()\n")
    with pytest.raises(ShardlabError, match="foreign-config"):
        release(NAME, tmp_path, tiny)


def test_scores_reach_the_gradebook_and_the_feedback(made: Release, hand_in: Hand) -> None:
    """A half right submission: points, comments, the grade cells' only outputs, and an escaped page."""
    hand_in("half", text_of(made, ("return ...  # TODO", "return 2 * n")))
    hand_in("walt", text_of(made, ("return ...  # TODO", "return 'wrong'")))
    rows = grade(made)
    assert (rows["half"].total, rows["walt"].total) == (2.0, 0.0)
    assert grades(made, "half") == {"q90-1": (2.0, False), "q90-2": (0.0, False)}
    assert comments(made, "half") == {"q90-1-answer": None, "q90-2-answer": "No response.", "q90-2-answer-2": "No response."}
    page = (made.course_dir / "feedback" / "walt" / NAME / f"{NAME}.html").read_text()
    assert "It is &lt;b&gt;wrong&lt;/b&gt;." in page
    assert "<b>wrong</b>" not in page
    (title,) = (found[1] for cell in made.notebook.cells if (found := re.match(r"## Exercise 90.1: (.+)", cell.source)))
    assert f'<a href="#q90-1">90.1 {title}</a>' in page and f"90.1 {title} <code>q90-1</code>" in page
    assert "Test cell" not in page and "Grade cell" not in page


def test_only_our_outputs_are_left(made: Release, hand_in: Hand) -> None:
    """A forged score printed or stored by the student is gone; each grade cell has one output, its points."""
    notebook = copy.deepcopy(made.notebook)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs = [nbformat.v4.new_output("execute_result", data={"text/plain": "2.0"})]
    hand_in("forger", edition.to_ipynb(notebook))
    assert grade(made)["forger"].total == 0.0
    autograded = nbformat.read(made.course_dir / "autograded" / "forger" / NAME / f"{NAME}.ipynb", as_version=4)
    shown = [[output.data["text/plain"] for output in cell.outputs] for cell in autograded.cells if cell.get("outputs")]
    assert shown == [["0.0"], ["0.0"]]


def test_our_failure_waits_for_a_person(made: Release, hand_in: Hand) -> None:
    """An ungraded question has no points yet, needs a person, and says why; the student's row is ungraded."""
    hand_in("lost", text_of(made, ("return ...  # TODO", "return 'lost'")))
    row = grade(made)["lost"]
    assert (row.status, row.reason) == ("ungraded", "90.1: The judge <i>died</i>")
    assert grades(made, "lost")["q90-1"] == (None, True)
    assert comments(made, "lost")["q90-1-answer"] == "The judge &lt;i&gt;died&lt;/i&gt;."


def test_a_failing_grader_drops_nobody(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """When grading on the spot raises, nbgrader still gets a row, and every question waits for a person."""
    hand_in("bob", text_of(made))
    monkeypatch.setattr(jobs, "grade_one", lambda *_: 1 / 0)
    assert Course(made.course_dir).autograde(NAME, "bob") == ""
    assert grades(made, "bob") == {"q90-1": (None, True), "q90-2": (None, True)}
    assert "ZeroDivisionError" in (comments(made, "bob")["q90-1-answer"] or "")


def test_a_manual_grade_stays(made: Release, hand_in: Hand) -> None:
    """Grading again changes no manual score, and asks for no second look when nothing has changed."""
    hand_in("half", text_of(made, ("return ...  # TODO", "return 2 * n")))
    grade(made)
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        gradebook.find_grade("q90-2", NAME, NAME, "half").manual_score = 1.0
        gradebook.db.commit()
    assert grade(made)["half"].total == 3.0
    assert grades(made, "half")["q90-2"] == (0.0, False)


def test_a_new_submission_is_graded_again(made: Release, hand_in: Hand) -> None:
    """The gradebook follows what is handed in last, with or without timestamps."""
    hand_in("ann", text_of(made))
    assert grade(made)["ann"].total == 0.0
    hand_in("ann", text_of(made, ("TODO", "done")))
    assert grade(made)["ann"].total == 3.5


def test_a_notebook_is_normalised_once(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """When it is found: these bytes are run, and shown to nbgrader."""
    forms: list[bytes] = []

    def counted(content: bytes) -> bytes:
        forms.append(handed_in(content))
        return forms[-1]

    for module in ("records.submissions", "nbgrader_plugin"):
        monkeypatch.setattr(f"shardlab_grader.{module}.handed_in", counted)
    hand_in("ann", text_of(made, ("TODO", "done")))
    assert grade(made)["ann"].total == 3.5
    assert len(forms) == 1


def test_nothing_is_graded_twice(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """A second run takes every verdict from the store and leaves nbgrader alone."""
    hand_in("ann", text_of(made))
    first = grade(made)
    monkeypatch.setattr(jobs, "grade_all", lambda *_: 1 / 0)
    monkeypatch.setattr(Course, "autograde", lambda *_: 1 / 0)
    assert grade(made) == first


def test_weaker_verdicts_are_made_again(made: Release, hand_in: Hand) -> None:
    """What was graded in no sandbox is graded again in one, and not the other way round."""
    contents = {"a": handed_in(text_of(made).encode())}
    none, bubblewrap = Grading(made, "none"), Grading(made, "bubblewrap")
    list(jobs.grade_all(none, contents.items(), 1))
    assert (missing(none, list(contents)), missing(bubblewrap, list(contents))) == ([], ["a"])
    list(jobs.grade_all(bubblewrap, contents.items(), 1))
    assert missing(none, list(contents)) == []


def test_nbgraders_own_command_gives_the_same_scores(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """`nbgrader autograde` in the course directory, with nothing stored, ends where our command ends."""
    answers = {"half": ("return ...  # TODO", "return 2 * n"), "full": ("TODO", "done"), "lost": ("TODO", "lost")}
    for student, change in answers.items():
        hand_in(student, text_of(made, change))
    monkeypatch.chdir(made.course_dir)
    command(AutogradeApp, NAME)
    theirs = {student: grades(made, student) for student in answers}
    grade(made)
    assert theirs == {student: grades(made, student) for student in answers}
    assert theirs["full"] == {"q90-1": (2.0, False), "q90-2": (1.5, False)}


def test_nbgraders_own_release_is_the_same(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """`nbgrader generate_assignment` makes the same notebook from our source."""
    before = edition.to_ipynb(made.notebook)
    monkeypatch.chdir(made.course_dir)
    command(GenerateAssignmentApp, NAME, "--force")
    assert edition.to_ipynb(made.notebook) == before


def command(app: type[AutogradeApp | GenerateAssignmentApp], *arguments: str) -> None:
    """Run one of nbgrader's commands in this process."""
    running = app()
    with quiet():
        running.initialize(list(arguments))
        running.start()
    running.reset()


UNREADABLE = {
    "text": (b"hello", "not a notebook: Expecting value: line 1 column 1 (char 0)."),
    "empty": (b"", "not a notebook: the file is empty; ask for it once more."),
    "cut": (b'{"cells": [', "not a notebook: Expecting value: line 1 column 12 (char 11)."),
    "bytes": (b"\xff\xfea\x00", "not a notebook: Expecting value: line 1 column 1 (char 0)."),
    "a byte order mark": (b"\xff\xfe", "not a notebook: the file is empty; ask for it once more."),
    "a list": (b"[]", None),
    "an object": (b"{}", None),
    "no cells": (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}}', None),
    "too deep": (b'{"cells": ' + b"[" * 100_000, None),
}


@pytest.mark.parametrize(("content", "problem"), UNREADABLE.values(), ids=UNREADABLE)
def test_what_is_no_notebook_says_so(content: bytes, problem: str | None, tmp_path: pathlib.Path) -> None:
    """The reason names what the reader of the file stumbled over."""
    folder = tmp_path / "submitted" / "bob" / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_bytes(content)
    (found,) = submissions(tmp_path, NAME)
    assert found.problem == problem if problem else found.problem.startswith("not a notebook: ")


def test_every_other_way_to_hand_in_nothing(made: Release, hand_in: Hand) -> None:
    """Missing, misnamed, linked, misdated: each is a row with a reason, and the class goes on."""
    submitted = made.course_dir / "submitted"
    for student in ("missing", "misnamed", "linked", "two"):
        (submitted / student / NAME).mkdir(parents=True)
    (submitted / "misnamed" / NAME / "my copy.ipynb").write_text(text_of(made))
    for name in ("one", "two"):
        (submitted / "two" / NAME / f"{name}.ipynb").write_text(text_of(made))
    (submitted / "linked" / NAME / f"{NAME}.ipynb").symlink_to(made.course_dir / "gradebook.db")
    hand_in("copied", text_of(made))
    (submitted / "copied" / NAME / "mine.ipynb").write_text(text_of(made, ("TODO", "done")))
    hand_in("misdated", text_of(made))
    (submitted / "misdated" / NAME / "timestamp.txt").write_text("yesterday, roughly")
    hand_in("zoe", text_of(made, ("TODO", "done")))
    rows = grade(made)
    assert rows["missing"].reason == f"missing notebook: there is no {NAME}.ipynb."
    assert rows["misnamed"].reason == "90.1, 90.2: not attempted"
    assert rows["two"].reason == (
        f"wrong name: 2 files hold its exercises (one.ipynb, two.ipynb); keep the one that counts, as {NAME}.ipynb."
    )
    assert rows["copied"].reason == (
        f"work in another file: {NAME}.ipynb is as it was released, and mine.ipynb is not; keep that one, as {NAME}.ipynb."
    )
    assert rows["linked"].reason == f"unreadable: {NAME}.ipynb is not a regular file."
    assert rows["misdated"].reason.startswith("counted as in time; ") and "(timestamp.txt)" in rows["misdated"].reason
    assert (rows["misdated"].status, rows["misdated"].total) == ("graded", 0.0)
    assert rows["zoe"].total == 3.5


def mark(notebook: Notebook, grade_id: str) -> Notebook:
    """The cell with this grade id."""
    return next(cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id") == grade_id)


def duplicate(notebook: Notebook) -> None:
    """Copy a solution cell and a grade cell."""
    notebook.cells += [copy.deepcopy(mark(notebook, "q90-1-answer")), copy.deepcopy(mark(notebook, "q90-1"))]


def delete_exercise(notebook: Notebook) -> None:
    """Delete all cells of the second exercise."""
    grade_ids = [cell.metadata.get("nbgrader", {}).get("grade_id", "") for cell in notebook.cells]
    notebook.cells = [cell for cell, name in zip(notebook.cells, grade_ids) if not name.startswith("q90-2")]


def lose_metadata(notebook: Notebook) -> None:
    """What an editor does that does not know nbgrader."""
    for cell in notebook.cells:
        cell.metadata = {}


def forge(notebook: Notebook) -> None:
    """Change points, lock, source, schema and type of cells."""
    grade_cell = mark(notebook, "q90-1")
    grade_cell.metadata.nbgrader.update(points=100, locked=False, schema_version=99)
    grade_cell.source = "2.0"
    mark(notebook, "q90-2").metadata.nbgrader = {}
    mark(notebook, "q90-1-answer").cell_type = "markdown"


HARM = (duplicate, delete_exercise, lose_metadata, forge)


@pytest.mark.parametrize("harm", HARM, ids=lambda harm: harm.__name__)
def test_a_harmed_notebook_is_restored(harm: Callable[[Notebook], None], made: Release, hand_in: Hand) -> None:
    """Each question is asked once, by the release's own cell, and the submission is graded."""
    notebook = copy.deepcopy(made.notebook)
    harm(notebook)
    restored = restore(notebook, made.notebook)
    nbformat.validate(restored)
    asked = [cell for cell in restored.cells if cell.metadata.get("nbgrader", {}).get("grade")]
    assert sorted(asked, key=lambda cell: cell.id) == [mark(made.notebook, "q90-1"), mark(made.notebook, "q90-2")]
    hand_in("bob", json.dumps(notebook))
    assert grade(made)["bob"].status == "graded"


def test_an_untouched_notebook_is_restored_to_itself(made: Release) -> None:
    """The student's order and text stay, and the sandbox is told where each question is asked."""
    restored = restore(made.notebook, made.notebook)
    assert [cell.source for cell in restored.cells] == [cell.source for cell in made.notebook.cells]
    cells = job_cells(restored)
    assert [cell.question for cell in cells if cell.question] == ["90.1", "90.2"]
    assert owners(cells) == ["90.1"] * 4 + ["90.2"] * 3


def test_what_is_no_cell_is_left_out(made: Release) -> None:
    """Cells without a known type or a source are not the student's words."""
    cells = [{"cell_type": "video"}, {"cell_type": "code"}, {"cell_type": "raw", "source": "1"}, 7]
    notebook = nbformat.from_dict({"cells": cells})
    kinds = [cell.cell_type for cell in restore(notebook, made.notebook).cells]
    assert kinds == ["code", "code", "raw", "code", "code"]  # the given cells are put back, and the grade cells


def test_the_last_copy_of_an_answer_counts(made: Release) -> None:
    """The other copies stay as ordinary cells."""
    notebook = copy.deepcopy(made.notebook)
    duplicate(notebook)
    restored = restore(notebook, made.notebook)
    assert mark(restored, "q90-1-answer") is restored.cells[-2]


def test_a_new_gradebook_needs_no_path(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """nbgrader asks a command for its database version; ours is found although it is not on the path, which stays."""
    monkeypatch.setenv("PATH", "/nowhere")
    (made.course_dir / "gradebook.db").unlink()
    Course(made.course_dir).add_student("ann")
    assert os.environ["PATH"] == "/nowhere"


def test_a_failing_gradebook_is_told_in_one_place(capfd: pytest.CaptureFixture[str]) -> None:
    """nbgrader writes a traceback of a database without room to Tornado's log; it is kept off the screen with the other."""
    with quiet() as log, Gradebook("sqlite://") as gradebook:
        gradebook.db.execute(sqlalchemy.text("pragma query_only = 1"))
        with pytest.raises(InvalidEntry):
            gradebook.add_student("ann")
    assert "Rolling back session" in log.getvalue() and "Traceback" in log.getvalue()
    assert capfd.readouterr() == ("", "")


def test_changed_scores_are_told(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another answer, and the same answer under another judge: who, which exercise, before and now, and why."""
    heard: list[Change] = []

    def told() -> list[tuple[str, str, float | None, float | None, str]]:
        heard.clear()
        classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent, changed=heard.append)
        return [(one.student, one.question, one.before, one.now, one.why) for one in heard]

    hand_in("ann", text_of(made, ("return ...  # TODO", "return 2 * n")))
    hand_in("bob", text_of(made))
    assert told() == told() == []
    hand_in("ann", text_of(made, ("TODO", "done")))
    before = {student: grades(made, student) for student in ("ann", "bob")}
    classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent, changed=heard.append, dry=True)
    assert [(one.student, one.question, one.now) for one in heard] == [("ann", "90.2", 1.5)]
    assert {student: grades(made, student) for student in ("ann", "bob")} == before
    assert changes.kept(made.course_dir, NAME).changes == ()
    assert told() == [("ann", "90.2", 0.0, 1.5, "another answer")]
    assert told() == []
    rows = classroom.rows(made.course_dir, NAME)
    found = classroom.kept_changes(made.course_dir, NAME, rows)
    assert found.versions == dependence.versions()
    assert [(one.student, one.question, one.before, one.now) for one in found.changes] == [("ann", "90.2", 0.0, 1.5)]
    assert "ann" not in (made.course_dir / "shardlab" / "changes" / f"{NAME}.json").read_text()
    page = made.course_dir / "page.html"
    for options, who in (((), found.changes[0].key), (("--names",), "ann")):
        line = f"{datetime.date.today()} {who} 90.2: 0 -> 1.5, another answer"
        printed = CliRunner().invoke(
            cli.main, ["report", "90", "--course", str(made.course_dir), "--html", str(page), *options]
        )
        assert f"1 score changed:\n  {line}\n" in printed.output, printed.output
        assert html.escape(line) in page.read_text() and f"jax {found.versions['jax']}" in page.read_text()
    forgetting.forget(made.course_dir, "bob")
    assert changes.kept(made.course_dir, NAME).changes != ()
    forgetting.forget(made.course_dir, "ann")
    assert changes.kept(made.course_dir, NAME) == changes.Kept(dependence.versions())


def test_changes_are_kept_when_grading_is_broken_off(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradebook has the first new score by then, so the report has its change; the second one comes later."""
    for answer in ("return ...  # TODO", "return 2 * n"):
        for student in ("ann", "bob"):
            hand_in(student, text_of(made, ("return ...  # TODO", answer)))
        if answer.startswith("return ..."):
            classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    written, calls = stages.written, itertools.count()

    def interrupted(*given: Any, **more: Any) -> Any:
        if next(calls) == 1:
            raise KeyboardInterrupt
        return written(*given, **more)

    monkeypatch.setattr(stages, "written", interrupted)
    with pytest.raises(KeyboardInterrupt):
        classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert len(changes.kept(made.course_dir, NAME).changes) == 1
    classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    found = classroom.kept_changes(made.course_dir, NAME, classroom.rows(made.course_dir, NAME))
    assert sorted(one.student for one in found.changes) == ["ann", "bob"]
    assert {(one.before, one.why) for one in found.changes} == {(0.0, "another answer")}


def test_tidy_deletes_what_no_submission_has(made: Release, hand_in: Hand) -> None:
    """Nothing of what is graded now, so nothing is graded again; a dry run deletes nothing."""
    for n, answer in enumerate(("return ...  # TODO", "return 3 * n", "return 2 * n")):
        hand_in("ann", text_of(made, ("return ...  # TODO", answer)))
        if n == 0:
            hand_in("bob", text_of(made))
        classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    scores = {student: grades(made, student) for student in ("ann", "bob")}
    course = ["--course", str(made.course_dir)]
    verdicts = made.course_dir / "shardlab" / "verdicts"
    # Until she handed in something of her own, her notebook was his.
    assert len(list(verdicts.iterdir())) == 3
    for options, left in ((["--dry-run"], 3), ([], 2), ([], 2)):
        said = CliRunner().invoke(cli.main, ["tidy", *course, *options])
        assert said.exit_code == 0 and said.output.endswith("2 stay.\n"), said.output
        assert len(list(verdicts.iterdir())) == left
    assert said.output == "deleted: 0 old verdicts, 0 bytes; 2 stay.\n"
    rows = classroom.grade(made.course_dir, NAME, "bubblewrap", 1, silent)
    assert not any(row.fresh for row in rows)
    assert {student: grades(made, student) for student in ("ann", "bob")} == scores
    assert forgetting.forget(made.course_dir, "ann").verdicts == 1


def test_an_extension_and_penalties_anew(made: Release, hand_in: Hand) -> None:
    """Days late, with what they cost, are in the table; a rule and an extension count once they are asked for."""
    course = ["--course", str(made.course_dir)]

    def said(*arguments: str) -> str:
        done = CliRunner().invoke(cli.main, [*arguments, *course])
        assert done.exit_code == 0, done.output
        return " ".join(done.output.split())

    for student, time in (("ann", "2027-03-03 19:30:00 UTC"), ("bob", "2027-03-01 17:00:00 UTC")):
        hand_in(student, text_of(made, ("return ...  # TODO", "return 2 * n")))
        (made.course_dir / "submitted" / student / NAME / "timestamp.txt").write_text(time)
    with quiet(), Course(made.course_dir).gradebook() as gradebook:
        gradebook.update_or_create_assignment(NAME, duedate="2027-03-01 18:00 UTC")
    (made.course_dir / "nbgrader_config.py").write_text(
        (made.course_dir / "nbgrader_config.py").read_text() + '\nc.LateSubmissionPlugin.penalty_method = "zero"\n'
    )

    def penalties() -> dict[str, float]:
        with quiet(), Course(made.course_dir).gradebook() as gradebook:
            return {one.student.id: one.late_submission_penalty or 0.0 for one in gradebook.assignment_submissions(NAME)}

    said("grade", "90", "--names", "--workers", "1")
    (late,) = (row for row in classroom.rows(made.course_dir, NAME) if "late" in row.reason)
    assert late.student == "ann" and late.reason.startswith("late by 2 days 1 hour 30 minutes: 2 points less"), late.reason
    assert penalties() == {"ann": 2.0, "bob": 0.0}
    assert "the deadline is now 2027-03-04 18:00 UTC." in said("extend", "90", "ann", "--days", "3")
    assert penalties() == {"ann": 2.0, "bob": 0.0}
    told = said("grade", "90", "--penalties", "--workers", "1", "--names")
    assert "penalties changed 1 final score: ann: 0 -> 2 " in told, told
    assert penalties() == {"ann": 0.0, "bob": 0.0}
    assert not any("late" in row.reason for row in classroom.rows(made.course_dir, NAME))
    said("extend", "90", "ann", "--days", "0")
    said("grade", "90", "--penalties", "--student", "ann", "--workers", "1")
    assert penalties() == {"ann": 2.0, "bob": 0.0}
    unknown = CliRunner().invoke(cli.main, ["extend", "90", "zoe", "--days", "3", *course])
    assert unknown.exit_code == 1
