"""A full disk, read-only folders and a locked or damaged gradebook: one clear sentence, and everything as it was."""

from __future__ import annotations

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
from typing import Any

import pytest

from shardlab_grader.sandbox.mounts import tool

from .cases import answers
from .harness import HERE, Course
from .within import fingerprint

pytestmark = pytest.mark.sandbox

MiB = 2**20


@pytest.fixture
def handed_in(course: Course) -> Course:
    """Three submissions, none graded."""
    for name in ("ann", "bob", "cleo"):
        case = answers(name, {"90.1": 0.0}, q90_1_answer=f"def double(n): return {name!r}")
        case.hand_in(course.place(name), course.released)
    return course


def parts(said: str, reference: str) -> str:
    """What was said, which must have the three parts of an error, each once, and no traceback."""
    assert said.count(f"[{reference}]") == said.count("  where: ") == said.count("  mend:  ") == 1, said
    assert "Traceback" not in said
    return said


def with_mounts(course: Course, *mounts: str) -> list[str]:
    """The beginning of a command line that runs with these mounts, and else as it would."""
    more = ["--cap-add", "ALL"] if pathlib.Path("/proc/self/status").stat().st_uid == 0 else []
    return [tool("bwrap"), "--dev-bind", "/", "/", *mounts, *more, "--die-with-parent", "--"]


def run(course: Course, line: list[str]) -> subprocess.CompletedProcess[str]:
    """One command line's end, both streams as one text."""
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    return subprocess.run(line, env=course.environment, cwd=course.folder, text=True, **streams)


@pytest.mark.thorough
@pytest.mark.parametrize("place", [".", "shardlab", "autograded", "gradebook.db"])
def test_read_only(handed_in: Course, place: str) -> None:
    """Nothing is run, and the sentence names what cannot be written."""
    (handed_in.root / "autograded").mkdir(exist_ok=True)
    closed = str(handed_in.root / place)
    before = fingerprint(handed_in.root)
    ran = run(handed_in, [*with_mounts(handed_in, "--ro-bind", closed, closed), *handed_in.command("grade", "90")])
    assert ran.returncode == 1
    assert str(pathlib.Path(closed).resolve()) in parts(ran.stdout, "read-only")
    assert fingerprint(handed_in.root) == before


@pytest.mark.thorough
def test_read_only_report(handed_in: Course) -> None:
    """The report, too, says in a sentence that it cannot write."""
    closed = str(handed_in.root)
    ran = run(handed_in, [*with_mounts(handed_in, "--ro-bind", closed, closed), *handed_in.command("report", "90")])
    assert ran.returncode == 1
    parts(ran.stdout, "system-refuses")


def graded_where_small(course: Course, room: int, *options: str, size: int = 0) -> Any:
    """What `within.py` says of grading this course on a small file system."""
    small = pathlib.Path(f"{course.root}-small")
    small.mkdir()
    command = [word if word != str(course.root) else str(small) for word in course.command("grade", "90", "--workers", "1")]
    used = sum(path.stat().st_size + 4096 for path in course.root.rglob("*") if path.is_file())
    mounts = ["--size", str(size or used + 64 * MiB), "--tmpfs", str(small)]
    script = [sys.executable, str(HERE / "within.py"), str(course.root), str(room), *options, "--", *command]
    return json.loads(run(course, [*with_mounts(course, *mounts), *script]).stdout.splitlines()[-1])


@pytest.mark.thorough
def test_full_disk(handed_in: Course) -> None:
    """Nothing is begun where there is no room; with room the same command grades."""
    said = graded_where_small(handed_in, MiB)
    parts(said["said"][0], "disk-full")
    assert (said["status"], said["same"]) == ([1, 0], True)
    assert "3 submissions: 3 graded, 0 ungraded." in said["said"][1]


@pytest.mark.thorough
def test_disk_that_fills_up(handed_in: Course) -> None:
    """In the middle of a run it stops, calls nobody ungraded, and goes on later with what is left."""
    said = graded_where_small(handed_in, 0, "filling")
    parts(said["said"][0], "disk-full")
    assert said["status"] == [1, 0], said["said"]
    assert "3 submissions: 3 graded, 0 ungraded." in said["said"][1]


def test_full_scratch_space(handed_in: Course) -> None:
    """Where temporary files have no room the sentence is the same."""
    scratch = str(handed_in.folder / "tmp")
    before = fingerprint(handed_in.root)
    ran = run(handed_in, [*with_mounts(handed_in, "--size", "8192", "--tmpfs", scratch), *handed_in.command("grade", "90")])
    assert ran.returncode == 1
    parts(ran.stdout, "disk-full")
    assert fingerprint(handed_in.root) == before


@pytest.mark.thorough
def test_locked_gradebook(handed_in: Course) -> None:
    """While another program holds it nothing is begun; afterwards everything is graded."""
    before = fingerprint(handed_in.root)
    with contextlib.closing(sqlite3.connect(handed_in.root / "gradebook.db", isolation_level=None)) as other:
        other.execute("begin exclusive")
        ran = handed_in.run("grade", "90")
        other.execute("rollback")
    assert ran.status == 1
    parts(ran.said, "gradebook-locked")
    assert fingerprint(handed_in.root) == before
    assert handed_in.run("grade", "90").status == 0


def test_damaged_gradebook(handed_in: Course) -> None:
    """A gradebook that is no database is named, and is not written over."""
    (handed_in.root / "gradebook.db").write_bytes(b"x" * 5000)
    before = fingerprint(handed_in.root)
    ran = handed_in.run("grade", "90")
    assert ran.status == 1
    parts(ran.said, "gradebook-damaged")
    assert fingerprint(handed_in.root) == before
