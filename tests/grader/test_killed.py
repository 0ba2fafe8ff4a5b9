"""SIGKILL at any write of a class run: the next run ends as if there had been no kill, and leaves nothing secret outside."""

from __future__ import annotations

import contextlib
import os
import pathlib
import random
import shutil
import signal
import sqlite3
import stat
import sys
import tempfile
from typing import Any

import pytest
import sqlalchemy

from shardlab_grader.classes import classroom
from shardlab_grader.nbgrader import rendering
from shardlab_grader.records import changes, ledger, lock
from shardlab_grader.records.store import Store
from shardlab_grader.releases.release import Release

from .conftest import NAME
from .test_nbgrader import silent, text_of

DRAWN = {"some": 3, "more": None if os.environ.get("SHARDLAB_FULL") == "1" else 12}
"""At how many writes of a run it is killed; `None` at each of them."""
WRITES = ("os.rename", "os.remove", "os.mkdir", "os.rmdir", "shutil.copyfile", "shutil.move", "os.truncate")
TABLES = {
    "student": "select id from student",
    "grade": """select student.id, base_cell.name, grade.auto_score, grade.manual_score, grade.needs_manual_grade from grade
        join submitted_notebook on grade.notebook_id = submitted_notebook.id
        join submitted_assignment on submitted_notebook.assignment_id = submitted_assignment.id
        join student on submitted_assignment.student_id = student.id join base_cell on grade.cell_id = base_cell.id""",
}


def is_write(event: str, given: tuple[Any, ...]) -> bool:
    """Whether an audited event changes the disk."""
    if event != "open":
        return event in WRITES
    _, mode, flags = given
    wanted = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
    return bool(isinstance(flags, int) and flags & wanted) or any(sign in (mode or "") for sign in "wax+")


def graded(course: pathlib.Path, scratch: pathlib.Path, kill_at: int = 0) -> tuple[int, int]:
    """How a process ended that grades the class, and how many writes it made; killed at one of them if asked to be."""
    counted, told = os.pipe()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            rendering.RENDERER = rendering.Renderer()
            tempfile.tempdir = str(scratch)
            count = 0

            def write() -> None:
                nonlocal count
                count += 1
                if count == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)

            sys.addaudithook(lambda event, given: write() if is_write(event, given) else None)
            sqlalchemy.event.listen(sqlalchemy.engine.Engine, "commit", lambda connection: write())
            with lock.held(course, "grade"):
                classroom.grade(course, NAME, "bubblewrap", 1, silent)
            status, found = 0, count
            rendering.RENDERER.close()
            os.write(told, str(found).encode())
        finally:
            os._exit(status)
    os.close(told)
    with open(counted) as said:
        text = said.read()
    _, ended = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(ended), int(text or 0)


def state(course: pathlib.Path) -> dict[str, Any]:
    """All that a run leaves, without its random keys, times and machine-made orders."""
    with contextlib.closing(sqlite3.connect(f"file:{course / 'gradebook.db'}?mode=ro", uri=True)) as gradebook:
        found: dict[str, Any] = {name: sorted(gradebook.execute(query), key=repr) for name, query in TABLES.items()}
    found["verdicts"] = sorted(Store(course).sizes())
    kept = changes.kept(course, NAME).changes
    found["changes"] = sorted((one.question, one.before, one.now, one.why) for one in kept)
    found["pages"] = {path.parts[-3]: path.read_text() for path in course.glob(f"feedback/*/{NAME}/{NAME}.html")}
    skipped = {"timestamp.txt"}
    found["files"] = sorted(str(p.relative_to(course)) for p in course.rglob("*") if p.is_file() and p.name not in skipped)
    return found


@pytest.fixture
def course(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """Two were graded; one of them has handed in something else since, and a third something new."""
    made = shutil.copytree(tiny_course, tmp_path / "course")
    released = Release.load(made, NAME)
    (tmp_path / "tmp").mkdir()

    def hand_in(student: str, *pairs: tuple[str, str]) -> None:
        path = made / "submitted" / student / NAME / f"{NAME}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text_of(released, *pairs))

    hand_in("ann")
    hand_in("bob", ("return ...  # TODO", "return 2 * n"))
    assert graded(made, tmp_path / "tmp")[0] == 0
    hand_in("ann", ("return ...  # TODO", "return 2 * n"))
    hand_in("cyd", ("TODO", "wrong"))
    return made


def readable(scratch: pathlib.Path) -> list[pathlib.Path]:
    """The files below it that another user can read, or could without knowing their names."""
    found = []
    for path in scratch.rglob("*"):
        above = [place.stat().st_mode for place in path.parents if place.is_relative_to(scratch) and place != scratch]
        shown = path.stat().st_mode & stat.S_IROTH and not path.is_symlink()
        found += [path] * bool(shown and all(mode & stat.S_IXOTH for mode in above))
    return found


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
@pytest.mark.parametrize("drawn", DRAWN)
def test_a_kill_at_any_write_changes_nothing_in_the_end(drawn: str, course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Gradebook, verdicts, changes, pages and the list of files are those of a run that was not killed.

    Nobody else can read what a killed run leaves outside of the course, which the next one removes.
    """

    def copy(name: str) -> pathlib.Path:
        return shutil.copytree(course, tmp_path / name, symlinks=True)

    scratch = tmp_path / "tmp"
    straight = copy("straight")
    status, writes = graded(straight, scratch)
    assert status == 0 and writes > 50
    expected = state(straight)
    for kill_at in sorted(random.Random(39).sample(range(1, writes + 1), DRAWN[drawn] or writes)):
        again = copy(f"kill-{kill_at}")
        assert graded(again, scratch, kill_at)[0] == -signal.SIGKILL
        assert readable(scratch) == [], kill_at
        assert graded(again, scratch)[0] == 0
        assert state(again) == expected, kill_at
        assert list(scratch.iterdir()) == [] and list((again / ledger.FOLDER).iterdir()) == []
        shutil.rmtree(again)
