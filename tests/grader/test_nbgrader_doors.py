"""nbgrader's own commands in a course of ours: one road for our releases, nbgrader's own steps for all other assignments."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable

import nbformat
import pytest
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from nbgrader.apps import AutogradeApp, GenerateAssignmentApp, GenerateFeedbackApp

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition
from shardlab_grader.classes import classroom
from shardlab_grader.records import lock
from shardlab_grader.releases import references
from shardlab_grader.releases.release import Release, release

from .conftest import NAME
from .test_nbgrader import command, grade, grades, hand_in, made, text_of  # noqa: F401 (fixtures among them)

Hand = Callable[[str, str], None]
App = type[AutogradeApp | GenerateAssignmentApp | GenerateFeedbackApp]


def submitted(made: Release, student: str) -> pathlib.Path:  # noqa: F811
    return made.course_dir / "submitted" / student / NAME


def links(made: Release, hand_in: Hand) -> None:  # noqa: F811
    """Submissions that lead out of their folder, have a wrong name, are too large or no notebook; and one good one."""
    full = text_of(made, ("TODO", "done"))
    hand_in("good", full)
    solution = made.course_dir / "source" / NAME / f"{NAME}.ipynb"
    submitted(made, "linked").mkdir(parents=True)
    (submitted(made, "linked") / f"{NAME}.ipynb").symlink_to(solution)
    hand_in("beside", full)
    (submitted(made, "beside") / "notes.txt").symlink_to(solution)
    submitted(made, "renamed").mkdir(parents=True)
    (submitted(made, "renamed") / f"{NAME} (1).ipynb").write_text(full)
    hand_in("large", full + " " * 64_000_000)
    hand_in("broken", "no notebook")
    (made.course_dir / "submitted" / "away").symlink_to(made.course_dir / "submitted" / "good")


def test_both_commands_give_the_same_table(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """`nbgrader autograde` reads what `grade` reads: no link is followed, no file beside the notebook goes on."""
    links(made, hand_in)
    monkeypatch.chdir(made.course_dir)
    command(AutogradeApp, NAME)
    theirs = {row.student: (row.status, row.total, row.reason) for row in classroom.rows(made.course_dir, NAME)}
    kept = {path.relative_to(made.course_dir / "autograded").parts[0] for path in made.course_dir.glob("autograded/*")}
    assert not list(made.course_dir.glob("autograded/**/notes.txt")) and not list(made.course_dir.glob(".shardlab-staged*"))
    assert kept == {"good", "beside", "renamed"}
    ours = {student: (row.status, row.total, row.reason) for student, row in grade(made).items()}
    assert theirs == ours
    assert {student: total for student, (_, total, _) in ours.items() if total} == dict.fromkeys(kept, 3.5)


def test_packages_stay_in_the_release(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Neither `grade` nor nbgrader's commands copy what students got beside the notebook for each student."""
    beside = ("BEGIN.txt", "shardlab-1.0-py3-none-any.whl", "folder/part.json")
    for name in beside:
        (path := made.course_dir / "source" / NAME / name).parent.mkdir(exist_ok=True)
        path.write_text(name)
    monkeypatch.chdir(made.course_dir)
    command(GenerateAssignmentApp, NAME, "--force")
    assert all((made.course_dir / "release" / NAME / name).exists() for name in beside)
    for student in ("ann", "bob"):
        hand_in(student, text_of(made, ("TODO", "done")))
        (submitted(made, student) / "timestamp.txt").write_text("2027-01-01 10:00:00 UTC")
    command(AutogradeApp, NAME, "--student", "bob")
    command(GenerateFeedbackApp, NAME, "--student", "bob")
    grade(made)
    for step, notebook in (("autograded", f"{NAME}.ipynb"), ("feedback", f"{NAME}.html")):
        for student in ("ann", "bob"):
            copied = {path.name for path in (made.course_dir / step / student / NAME).rglob("*")}
            assert copied == {notebook, "timestamp.txt"}, (step, student)


def test_what_cannot_be_read_keeps_what_it_had(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A second file that cannot be graded removes neither the copy nor the score of the first one."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    grade(made)
    copy = made.course_dir / "autograded" / "ann" / NAME / f"{NAME}.ipynb"
    before = copy.read_bytes()
    hand_in("ann", "no notebook")
    monkeypatch.chdir(made.course_dir)
    with pytest.raises(SystemExit):
        command(AutogradeApp, NAME, "--force")
    assert copy.read_bytes() == before
    assert grades(made, "ann")["q90-1"] == (2.0, False)


def test_our_failure_leaves_the_score(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """When grading on the spot raises, the points of before stay, and a person is asked."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    grade(made)
    hand_in("ann", text_of(made, ("return ...  # TODO", "return 2 * n")))
    monkeypatch.setattr("shardlab_grader.classes.jobs.grade_one", lambda *_: 1 / 0)
    monkeypatch.chdir(made.course_dir)
    command(AutogradeApp, NAME, "--force")
    assert grades(made, "ann") == {"q90-1": (2.0, True), "q90-2": (1.5, True)}


def assignment() -> NotebookNode:
    """Somebody else's assignment: a solution, a test, a hidden test, prose for a person, and a script in the text."""
    mark = {"schema_version": 3, "locked": False, "solution": False, "grade": False, "task": False}
    answer = "def twice(n):\n    ### BEGIN SOLUTION\n    return 2 * n\n    ### END SOLUTION"
    test = "assert twice(2) == 4\n### BEGIN HIDDEN TESTS\nassert twice(-3) == -6\n### END HIDDEN TESTS"
    cells = [
        new_markdown_cell("# Twice\n\n$x^2$ <script>1</script>", id="text"),
        new_code_cell(answer, id="answer", metadata={"nbgrader": {**mark, "grade_id": "twice", "solution": True}}),
        new_code_cell(
            test, id="test", metadata={"nbgrader": {**mark, "grade_id": "t", "grade": True, "locked": True, "points": 3}}
        ),
    ]
    kernel = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}
    return new_notebook(cells=cells, metadata=kernel)


def as_nbgrader(course: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, str]:
    """Source, a data file in Markdown, two students, all three steps; every file that came out, by name."""
    (course / "source" / "hw").mkdir(parents=True)
    nbformat.write(assignment(), course / "source" / "hw" / "hw.ipynb")
    (course / "source" / "hw" / "data.md").write_text("data")
    monkeypatch.chdir(course)
    command(GenerateAssignmentApp, "hw")
    released = (course / "release" / "hw" / "hw.ipynb").read_text()
    for student, body in (("ada", "return 2 * n"), ("bob", "return n + 2")):
        (course / "submitted" / student / "hw").mkdir(parents=True)
        answered = released.replace("# YOUR CODE HERE\\n", f"{body}\\n").replace("    raise NotImplementedError()", "")
        (course / "submitted" / student / "hw" / "hw.ipynb").write_text(answered)
    command(AutogradeApp, "hw")
    command(GenerateFeedbackApp, "hw")
    paths = [path for step in ("release", "autograded", "feedback") for path in course.glob(f"{step}/**/hw/*")]
    return {str(path.relative_to(course)): _steady(path.read_text()) for path in paths}


def _steady(text: str) -> str:
    """Without times, and the ids and addresses that are another in each run."""
    return re.sub(r"\d{4}-\d\d-\d\d[T ][\d:.]+Z?|ipykernel_\d+/\d+|0x[0-9a-f]+|(?<=id=)[\w-]{36}", "", text)


@pytest.mark.thorough
def test_a_foreign_assignment_is_nbgraders(made: Release, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Hidden tests are cleared, run and scored, and each file is as in a course that has never heard of us."""
    stock = tmp_path / "stock"
    stock.mkdir()
    expected = as_nbgrader(stock, monkeypatch)
    assert "HIDDEN" not in expected["release/hw/hw.ipynb"] and "release/hw/data.md" in expected
    assert as_nbgrader(made.course_dir, monkeypatch) == expected


def test_a_refused_release_changes_nothing(
    made: Release,  # noqa: F811
    hand_in: Hand,  # noqa: F811
    tiny: pathlib.Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """nbgrader refuses another exercise once there are submissions, our measuring a broken solution: all is as it was."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    grade(made)
    source = tiny / "solutions" / f"{NAME}.md"
    before, text = _files(made.course_dir), source.read_text()
    monkeypatch.setattr("shardlab_grader.nbgrader.course.Course.generate", _half_done)
    with pytest.raises(ShardlabError, match="nbgrader-refuses"):
        release("90", made.course_dir, tiny)
    assert _files(made.course_dir) == before
    monkeypatch.setattr(references, "text", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        release("90", made.course_dir, tiny)
    assert _files(made.course_dir) == before and source.read_text() == text
    assert grades(made, "ann")["q90-1"] == (2.0, False)


def test_a_refused_generate_changes_nothing(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """nbgrader's own command, which removes `release/` first, leaves it as it was when it stops."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    grade(made)
    before = _files(made.course_dir)
    monkeypatch.setattr("nbgrader.preprocessors.SaveCells.preprocess", lambda *_: 1 / 0)
    monkeypatch.chdir(made.course_dir)
    with pytest.raises(SystemExit):
        command(GenerateAssignmentApp, NAME, "--force")
    assert _files(made.course_dir) == before
    assert grades(made, "ann")["q90-1"] == (2.0, False)


KILLED = """
import os, pathlib, sys
from shardlab_grader.releases.release import all_or_nothing
with all_or_nothing(pathlib.Path(sys.argv[1]), sys.argv[2]):
    os.kill(os.getpid(), 9)
"""


def test_a_killed_release_is_no_release(made: Release, tiny: pathlib.Path, hand_in: Hand) -> None:  # noqa: F811
    """Nothing is graded by the halves of two; releasing again ends it, with the same seed."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    assert subprocess.run([sys.executable, "-c", KILLED, str(made.course_dir), NAME]).returncode == -9
    with pytest.raises(ShardlabError, match="release-unfinished"):
        grade(made)
    assert release("90", made.course_dir, tiny).seed == made.seed
    assert grade(made)["ann"].total == 3.5


def test_nbgraders_own_command_tells_changes(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """A score that `nbgrader autograde` or Formgrader's bolt changes is kept, as by `grade`, which then adds nothing."""
    hand_in("ann", text_of(made, ("return ...  # TODO", "return 2 * n")))
    hand_in("bob", text_of(made))
    grade(made)
    hand_in("ann", text_of(made, ("TODO", "done")))
    monkeypatch.chdir(made.course_dir)
    for _ in range(2):
        command(AutogradeApp, NAME, "--force")
        grade(made)
        found = classroom.kept_changes(made.course_dir, NAME, classroom.rows(made.course_dir, NAME)).changes
        assert [(one.student, one.question, one.before, one.now) for one in found] == [("ann", "90.2", 0.0, 1.5)]


@pytest.mark.parametrize("app", [AutogradeApp, GenerateAssignmentApp, GenerateFeedbackApp])
def test_nbgraders_own_commands_wait(app: App, made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """While one of ours has the course."""
    hand_in("ann", text_of(made, ("TODO", "done")))
    grade(made)
    order, has, asked = list[str](), threading.Event(), threading.Event()

    def ours() -> None:
        with lock.held(made.course_dir, "grade 90"):
            has.set()
            asked.wait(60)
            order.append("ours")

    held, thread = lock.held, threading.Thread(target=ours)
    thread.start()
    assert has.wait(60)
    monkeypatch.setattr(lock, "held", lambda *given, **more: (asked.set(), held(*given, **more))[1])
    monkeypatch.chdir(made.course_dir)
    command(app, NAME, "--force")
    order.append("theirs")
    asked.set()
    thread.join()
    assert order == ["ours", "theirs"]


def _half_done(self: object, name: str) -> str:
    """What nbgrader leaves where it stops in the middle."""
    shutil.rmtree(self.root / "release" / name)  # type: ignore[attr-defined]
    with self.gradebook() as gradebook:  # type: ignore[attr-defined]
        gradebook.remove_assignment(name)
    return "it stopped"


def _files(course: pathlib.Path) -> dict[str, bytes]:
    """All files but the gradebook, whose pages may lie in another order."""
    paths = [path for path in course.rglob("*") if path.is_file() and path.name not in ("gradebook.db", "lock")]
    return {str(path): path.read_bytes() for path in paths}


def test_our_release_still_has_its_stubs(made: Release, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """After a foreign assignment went through the same process."""
    before = edition.to_ipynb(made.notebook)
    as_nbgrader(made.course_dir, monkeypatch)
    command(GenerateAssignmentApp, NAME, "--force")
    assert edition.to_ipynb(made.notebook) == before


def test_a_pattern_does_not_reach_ours(made: Release, hand_in: Hand, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: F811
    """Nothing of a release of ours is run by nbgrader's own steps, which have no sandbox."""
    hand_in("ann", text_of(made, ("return ...  # TODO", "return 2 * n")))
    monkeypatch.chdir(made.course_dir)
    with pytest.raises(SystemExit):
        command(AutogradeApp, "9*")
    assert not (made.course_dir / "autograded").exists()
