"""Two assistants with accounts of their own in one course directory: each takes up what the other has made.

They are two users of the kernel, without a word of root's; the tiny chapter is judged by words, so that no sandbox starts.
"""

from __future__ import annotations

import fcntl
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator

import pytest

from shardlab_tools.portable import unprivileged

from .conftest import NAME, ROOT

FIRST, SECOND, OTHER, ASSISTANTS = 61_001, 61_002, 61_003, 61_010
COMMANDS = """
import pathlib, shlex, sys
import nbgrader.api, pytest
from click.testing import CliRunner
from shardlab_grader import cli
from shardlab_grader.sandbox import box
from tests.grader.conftest import repository
with pytest.MonkeyPatch.context() as patch:
    root = repository(pathlib.Path(sys.argv[1]), patch)
    patch.setattr(box, "probe", lambda mode: None)
    for line in sys.argv[2:]:
        done = CliRunner().invoke(cli.main, shlex.split(line.replace("ROOT", str(root))))
        print(f"{line}: {done.exit_code}\\n{done.output}")
"""


@pytest.fixture
def place() -> Iterator[pathlib.Path]:
    """A folder that everybody can enter, as pytest's own is not."""
    folder = pathlib.Path(tempfile.mkdtemp())
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)


def ran(place: pathlib.Path, user: int, *arguments: str, group: int = ASSISTANTS) -> str:
    """What a Python of this user says, who has the group's rights and nobody else's."""
    home = place / str(user)
    if not home.exists():
        home.mkdir()
        os.chown(home, user, user)
    drop = unprivileged(user, group, pathlib.Path(sys.base_prefix), ROOT)
    path = os.pathsep.join([str(pathlib.Path(sys.executable).parent), "/usr/bin", "/bin"])
    packages = os.pathsep.join([str(ROOT / "src"), str(ROOT / "grader"), str(ROOT)])
    variables = {"HOME": home, "TMPDIR": home, "PATH": path, "PYTHONPATH": packages, "PYTHONDONTWRITEBYTECODE": 1}
    environment = ["env", "-i", "JAX_PLATFORMS=cpu", *(f"{name}={value}" for name, value in variables.items())]
    scratch = tempfile.mkdtemp(dir=home)
    os.chown(scratch, user, user)
    commands = [sys.executable, "-c", COMMANDS, scratch, *arguments]
    done = subprocess.run([*drop, *environment, *commands], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def hand_in(course: pathlib.Path, student: str, text: str = "") -> None:
    """A submission that the group may read, as nbgrader's exchange leaves it."""
    notebook = (course / "release" / NAME / f"{NAME}.ipynb").read_text()
    folder = course / "submitted" / student / NAME
    folder.mkdir(parents=True)
    (folder / f"{NAME}.ipynb").write_text(notebook.replace("TODO", text) if text else notebook)


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to be two other users")
@pytest.mark.sandbox
def test_each_takes_up_what_the_other_made(place: pathlib.Path) -> None:
    """Release, grade, release again, deadlines, tidying and forgetting, in turns; nobody else gets in."""
    course = place / "course"
    course.mkdir()
    os.chown(course, -1, ASSISTANTS)
    course.chmod(0o2770)
    at = f"--course {course}"
    assert f"released {NAME}" in ran(place, FIRST, f"release 90 {at} --repository ROOT")
    hand_in(course, "gus")
    hand_in(course, "hana", "answer")
    assert "1 submission: 1 graded" in ran(place, FIRST, f"grade 90 --student gus {at} --workers 1")
    said = ran(
        place, SECOND, f"grade 90 {at} --workers 1", f"extend 90 gus --days 2 {at}", f"release 90 {at} --repository ROOT"
    )
    assert "as before, and not listed without --verbose: 1\n2 submissions: 2 graded" in said
    assert "has no deadline, so nobody is late" in said and f"released {NAME}" in said
    said = ran(place, FIRST, f"grade 90 --penalties --verbose --names {at}", f"tidy {at}", f"forget hana {at}")
    assert "2 submissions: 2 graded, 0 ungraded" in said and "deleted: 1 verdict, the student's keys" in said
    said = ran(place, SECOND, f"grade 90 {at} --workers 1", f"report 90 {at} --names")
    assert "2 submissions: 2 graded" in said
    owners = {path.stat().st_uid for path in course.rglob("*")}
    assert {FIRST, SECOND} <= owners
    closed = [path for path in course.rglob("*") if path.is_dir() and path.stat().st_mode & 0o2070 != 0o2070]
    assert [path for path in closed if not {"submitted", "cache"} & set(path.relative_to(course).parts)] == []
    assert "is not readable" in ran(place, OTHER, f"report 90 {at}", group=OTHER)


@pytest.mark.thorough
@pytest.mark.skipif(os.geteuid() != 0, reason="it takes root to be two other users")
@pytest.mark.sandbox
def test_one_who_holds_the_course_keeps_the_other_out(place: pathlib.Path) -> None:
    """The lock is one for both accounts."""
    course = place / "course"
    course.mkdir()
    os.chown(course, -1, ASSISTANTS)
    course.chmod(0o2770)
    ran(place, FIRST, f"release 90 --course {course} --repository ROOT")
    hand_in(course, "gus")
    with open(course / "shardlab" / "lock") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        assert ": 75\n[course-busy]" in ran(place, SECOND, f"grade 90 --no-wait --course {course}")


def test_a_course_of_one_stays_closed(tmp_path: pathlib.Path, tiny_course: pathlib.Path) -> None:
    """Without the group's bit on the course directory, what is secret is its owner's alone."""
    assert (tiny_course / "shardlab").stat().st_mode & 0o077 == 0
    assert (tiny_course / "shardlab" / f"{NAME}.json").stat().st_mode & 0o077 == 0
