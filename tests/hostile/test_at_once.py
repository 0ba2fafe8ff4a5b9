"""Two commands at once on one course: both end well, and nobody loses a point."""

from __future__ import annotations

import subprocess

from .cases import NAME, POINTS, answered, save
from .harness import Course


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
    said = [process.communicate(timeout=600)[0].decode() for process in running]
    assert [process.returncode for process in running] == [0, 0, 0], said
    assert sum("waiting: " in text for text in said) == 2, said
    assert course.scores() == dict.fromkeys(("ann", "bob", "cem"), sum(POINTS.values()))
    assert not list(course.root.glob(".shardlab-staged*"))
