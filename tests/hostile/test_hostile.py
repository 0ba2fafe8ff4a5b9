"""Every hostile submission through the real command, a family at a time, between two honest students.

`SHARDLAB_FULL=1` runs all of them; otherwise one class holds one attack of each family.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence

import pytest

from shardlab_grader import statuses
from shardlab_grader.plain import plain

from . import early, exhaustion, inside, names, network, notebooks, plausible, programs, reach, startup, survivors
from .cases import NAME, POINTS, Case
from .harness import HONEST, KEY, SECRET, WORK, Course, Row, open_port, reached, sleeping
from .pages import dangers, policy

pytestmark = pytest.mark.sandbox

FAMILIES = {
    module.__name__.rpartition(".")[2]: module.CASES
    for module in (inside, reach, network, survivors, early, exhaustion, startup, notebooks, plausible, programs, names)
}
FULL = os.environ.get("SHARDLAB_FULL") == "1"
ONE = "recorder files loopback daemon leaves memory-in-many sitecustomize utf-16 decoy-collective calls-python markdown".split()


def one_of_each() -> list[Case]:
    """One attack of each family."""
    found = [case for cases in FAMILIES.values() for case in cases if case.name in ONE]
    assert len(found) == len(FAMILIES)
    return found


CLASSES = FAMILIES if FULL else {"one-of-each": one_of_each()}


def test_there_are_enough() -> None:
    """The corpus holds at least sixty submissions, each under a name of its own."""
    assert sum(map(len, FAMILIES.values())) >= 60
    for cases in FAMILIES.values():
        assert len({case.name for case in cases}) == len(cases)


@pytest.mark.parametrize("family", CLASSES)
def test_a_hostile_class(family: str, course: Course, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each gets what it deserves, to the point; the others too; nothing is left, written, told or called."""
    cases = CLASSES[family]
    with open_port() as server:
        monkeypatch.setenv(network.PORT, str(server.getsockname()[1]))
        course.hand_in(cases)
        theirs = course.copy(course.folder.with_name("theirs"))
        before = course.fixed()
        ended = course.run("grade", "90", "--workers", "2")
        called = reached(server)
    rows, scores = course.rows(), course.scores()
    wrong = [line for case in cases for line in unfair(case, rows.get(plain(case.name)), scores.get(case.name))]
    good = (Row("graded", POINTS, ""), sum(POINTS.values()))
    wrong += [f"{name}: {rows.get(name)}" for name in HONEST if (rows.get(name), scores.get(name)) != good]
    assert not wrong, "\n".join([*wrong, ended.said])
    assert ended.status == (statuses.LOOK if any(case.status == "ungraded" for case in cases) else 0), ended.said
    assert "Traceback" not in ended.said
    assert (ended.left, sleeping(), called) == ([], [], False)
    assert course.fixed() == before
    assert not list((course.folder / "tmp").iterdir())
    assert ended.kilobytes < 1_500_000, f"a process took {ended.kilobytes} kB"
    assert not told(course, cases)
    by_nbgrader(theirs, course, ended.said)


def by_nbgrader(theirs: Course, ours: Course, said: str) -> None:
    """`nbgrader autograde` and `generate_feedback` on the same class, with its verdicts: the same table, scores and pages."""
    shutil.copytree(ours.root / "shardlab", theirs.root / "shardlab", dirs_exist_ok=True)
    for step in ("autograde", "generate_feedback"):
        ran = theirs.nbgrader(step, NAME)
        assert ran.returncode == 0 and not any(mark in ran.stdout for mark in "\x1b\u202e"), ran.stdout
    assert (theirs.rows(), theirs.scores()) == (ours.rows(), ours.scores()), said
    assert theirs.pages().keys() == ours.pages().keys()
    assert not told(theirs, [])


def unfair(case: Case, row: Row | None, score: float | None) -> list[str]:
    """What the grader's answer to a case has wrong."""
    if row is None:
        return [f"{case.name!r}: not in the report"]
    wanted = {question: case.points.get(question, 0.0) for question in POINTS}
    found = []
    if row.state != case.status or (row.points != wanted and case.status == "graded"):
        found.append(f"{case.name!r}: {case.status} {wanted} wanted, {row.state} {dict(row.points)} given ({row.reason})")
    if case.reason not in row.reason:
        found.append(f"{case.name!r}: {case.reason!r} is not in {row.reason!r}")
    return found + unfair_total(case.name, sum(wanted.values()), {case.name: score})


def unfair_total(student: str, wanted: float, scores: Mapping[str, float | None]) -> list[str]:
    """What the gradebook has wrong of a student."""
    found = scores.get(student) or 0.0
    return [] if found == wanted else [f"{student!r}: the gradebook has {found}, not {wanted}"]


def told(course: Course, cases: Sequence[Case]) -> list[str]:
    """What must not stand in the students' pages, or in any other file that the grader wrote for them."""
    found = []
    for student, page in course.pages().items():
        own = page.replace(WORK, "") if student in HONEST else page
        found += [f"{student}: {secret}" for secret in (SECRET, WORK, KEY) if secret in own]
        found += [f"{student}: {danger}" for danger in dangers(page)] + [f"{student}: no policy"] * (not policy(page))
    files = [path for place in ("autograded", "feedback") for path in (course.root / place).glob("*/*/*")]
    return found + [f"{path} was copied" for path in files if path.suffix not in (".ipynb", ".html", ".txt")]


@pytest.mark.thorough
def test_a_second_run_grades_nothing(course: Course) -> None:
    """What was graded is on record: the same command again starts no sandbox, and changes no score."""
    course.hand_in(FAMILIES["plausible"][:2])
    first = course.run("grade", "90")
    scores, pages = course.scores(), course.pages()
    second = course.run("grade", "90")
    assert "running and judging" in first.said and "running and judging" not in second.said
    assert (course.scores(), course.pages(), second.left) == (scores, pages, [])
