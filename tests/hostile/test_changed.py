"""A course whose questions change after their release: what was released is judged by what it asked."""

from __future__ import annotations

import pytest

from shardlab_grader import statuses

from .cases import NAME, POINTS, answered, save
from .harness import Course

pytestmark = pytest.mark.sandbox
KEEPS = "this release keeps those that it was made with"
VALUES = ("oracle=lambda n: 2 * n", "oracle=lambda n: 5 * n")
CALLS = ("calls=((1,), (2,))", "calls=((1,), (2,), (7,))")
HALF_AN_EDIT = ("QUESTION = QUESTIONS[0]", "QUESTION = QUESTIONS[")


@pytest.mark.thorough
def test_a_release_depends_on_no_later_question(course: Course) -> None:
    """Whichever change a clone gets: each score is the one deserved, and the command says that it keeps the questions.

    Another release takes the new ones, and not before its solution is right by them. One that was made before releases
    kept their questions asks for another.
    """
    declared = course.site / "shardlab_course" / "ch90" / "ex01" / "question.py"
    before = declared.read_text()

    def change(old: str, new: str) -> None:
        assert old in before
        declared.write_text(before.replace(old, new))

    full = dict.fromkeys(("ann", "bob", "cyd"), sum(POINTS.values()))
    for student, changed in zip(full, (VALUES, CALLS), strict=False):
        change(*changed)
        save(course.place(student), answered(course.released, "all"))
        ended = course.run("grade", NAME)
        assert ended.status == 0 and KEEPS in ended.said, ended.said
    change(*HALF_AN_EDIT)
    save(course.place("cyd"), answered(course.released, "all"))
    assert course.nbgrader("autograde", NAME, "--force").returncode == 0
    assert course.scores() == full
    change(*VALUES)
    release = "release", NAME, "--repository", str(course.repository)
    ended = course.run(*release)
    assert ended.status == statuses.MEND and "[solution-fails]" in ended.said, ended.said
    solution = course.repository / "solutions" / f"{NAME}.md"
    solution.write_text(solution.read_text().replace("return 2 * n", "return 5 * n"))
    assert course.run(*release).status == 0
    ended = course.run("grade", NAME)
    assert ended.status == 0 and KEEPS not in ended.said, ended.said
    assert course.scores() == dict.fromkeys(full, sum(POINTS.values()) - POINTS["90.1"])
    (course.root / "shardlab" / "questions" / NAME).rename(course.folder / "gone")
    change(*CALLS)
    ended = course.run("grade", NAME)
    assert ended.status == statuses.MEND and "[release-outdated]" in ended.said
