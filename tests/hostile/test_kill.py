"""SIGKILL at random moments of a class run. Started again, it ends as if nothing had happened.

Five kills, or fifty with `SHARDLAB_FULL=1`; whenever a run ends before its kill, a new class begins.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import random
import sqlite3

import pytest

from shardlab_grader import statuses

from .cases import POINTS, Case, answers, damaged, deserved, folder
from .harness import Course, Ended, Row

pytestmark = pytest.mark.sandbox

KILLS = 50 if os.environ.get("SHARDLAB_FULL") == "1" else 5
STUDENTS = (
    answers("ann", {}),
    answers("bob", {"90.1": 0.0}, q90_1_answer="def double(n): return n + 1"),
    answers("cleo", {"90.3": 0.0}, q90_3_answer="def product(mesh, A, B): return A @ B + 1"),
    answers("dan", {"90.2": 0.5}, q90_2_answer_2="parts = {'A': 5}"),
    damaged("eve", lambda notebook: "no notebook", "", status="ungraded"),
    folder("fay", lambda place: (place / "90_small.ipynb").unlink(), "", status="ungraded"),
    Case("gil", answers("gil", {}).hand_in, deserved("all")),
)
TABLES = ("student", "submitted_assignment", "submitted_notebook", "grade", "comment")


def books(course: Course) -> dict[str, list[tuple[object, ...]]]:
    """All that the gradebook says, but for its random keys and the times."""
    left_out = ("id", "timestamp", "notebook_id", "assignment_id", "cell_id", "assignment")
    with contextlib.closing(sqlite3.connect(f"file:{course.root / 'gradebook.db'}?mode=ro", uri=True)) as gradebook:
        gradebook.row_factory = sqlite3.Row
        rows = {name: [dict(row) for row in gradebook.execute(f"select * from {name}")] for name in TABLES}
    kept = {
        name: [tuple((k, v) for k, v in row.items() if k not in left_out or name == "student") for row in found]
        for name, found in rows.items()
    }
    return {name: sorted(found, key=repr) for name, found in kept.items()}


def verdicts(course: Course) -> dict[str, int]:
    """The time at which each verdict was written."""
    return {path.name: path.stat().st_mtime_ns for path in (course.root / "shardlab" / "verdicts").glob("*.json")}


def check_end(course: Course, ended: Ended, expected: dict[str, list[tuple[object, ...]]]) -> None:
    """Nobody is lost, nobody is there twice, and every file that was written is whole."""
    assert ended.status == statuses.LOOK, ended.said  # two cannot be graded
    wanted = {case.name: {q: case.points.get(q, 0.0) for q in POINTS} for case in STUDENTS}
    assert {name: dict(row.points) for name, row in course.rows().items()} == wanted
    assert books(course) == expected
    for path in (course.root / "shardlab").rglob("*.json"):
        json.loads(path.read_text())
    assert not list(course.root.glob("**/*staged*"))
    assert not [path.name for path in course.root.rglob(".*.json.*")], "an unfinished file is left"


@pytest.mark.thorough
def test_a_killed_run_goes_on(released: Course, tmp_path: pathlib.Path) -> None:
    """After each kill nothing runs, and no verdict is made twice; in the end the gradebook is the uninterrupted run's."""
    straight = released.copy(tmp_path / "straight")
    for case in STUDENTS:
        case.hand_in(straight.place(case.name), straight.released)
    whole = straight.run("grade", "90")
    expected = books(straight)
    check_end(straight, whole, expected)
    assert {row.state for row in straight.rows().values()} == {"graded", "ungraded"} and isinstance(Row, type)
    moments, killed, number = random.Random(2026), 0, 0
    paces = [whole.seconds]  # of undisturbed runs: a machine that is busy at one time is not at another
    while killed < KILLS:
        number += 1
        killed += one_class(released.copy(tmp_path / str(number)), paces, expected, moments, KILLS - killed)


def one_class(
    course: Course, paces: list[float], expected: dict[str, list[tuple[object, ...]]], moments: random.Random, most: int
) -> int:
    """Grade a class that is killed again and again, at most so often; how often it was."""
    for case in STUDENTS:
        case.hand_in(course.place(case.name), course.released)
    kept: dict[str, int] = {}
    for count in range(most + 1):
        seconds = moments.uniform(0.0, min(paces)) if count < most else 900.0
        ended = course.run("grade", "90", seconds=seconds)
        assert ended.left == []
        now = verdicts(course)
        assert kept.items() <= now.items(), "a verdict was made twice"
        kept = now
        if "was killed" not in ended.said:
            check_end(course, ended, expected)
            paces += [ended.seconds] * (count == 0)
            return count
    raise AssertionError("the last run did not end")
