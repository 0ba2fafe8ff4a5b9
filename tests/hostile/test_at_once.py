"""Two commands at once on one course: both end well, and nobody loses a point."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from .cases import NAME, POINTS, answered, save
from .harness import SECONDS, Course


@pytest.mark.thorough
def test_two_runs_at_once(course: Course) -> None:
    """`grade & grade`: the second waits for the first and finds all graded; a release in between waits too."""
    for student in ("ann", "bob", "cem"):
        save(course.place(student), answered(course.released, "all"))
    again = ["release", NAME, "--repository", str(course.repository)]
    lines = [course.command("grade", NAME), course.command("grade", NAME), course.command(*again)]
    running = [
        subprocess.Popen(line, env=course.environment, cwd=course.folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in lines
    ]
    said = [process.communicate(timeout=SECONDS)[0].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    assert sum("waiting: " in text for text in said) == 2, said
    assert course.scores() == dict.fromkeys(("ann", "bob", "cem"), sum(POINTS.values()))
    assert not list(course.root.glob(".shardlab-staged*"))


@pytest.mark.thorough
def test_nbgraders_commands_at_once(course: Course) -> None:
    """A new answer, graded by both roads at once, released and told again meanwhile: one after the other, in any order."""
    save(course.place("ann"), answered(course.released, "all"))
    assert course.run("grade", NAME).status == 0
    for student in ("ann", "bob"):
        save(course.place(student), answered(course.released, "90.1"))
    steps = ("autograde", "generate_feedback", "generate_assignment")
    lines = [[sys.executable, "-m", "nbgrader", step, NAME, "--force"] for step in steps]
    running = [
        subprocess.Popen(line, env=course.environment, cwd=course.root, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for line in [course.command("grade", NAME), *lines]
    ]
    said = [process.communicate(timeout=SECONDS)[0].decode() for process in running]
    assert [process.returncode for process in running] == [0] * 4, said
    assert course.run("grade", NAME).status == 0
    assert course.scores() == {"ann": POINTS["90.1"], "bob": POINTS["90.1"]}
    assert sorted(course.pages()) == ["ann", "bob"]
    assert not list(course.root.glob(".shardlab-staged*"))
    changed = json.loads((course.root / "shardlab" / "changes" / f"{NAME}.json").read_text())["changes"]
    assert sorted(one["question"] for one in changed) == sorted(question for question in POINTS if question != "90.1")
