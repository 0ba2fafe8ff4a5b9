"""A course directory that an earlier Shardlab made is graded with the same scores.

`earlier/course.zip` was made by the version whose helper package held judge, questions and all: released, five notebooks handed
in and graded, `shardlab/cache`, `autograded/` and `feedback/` left out. One notebook uses a picture by its name of then.
"""

from __future__ import annotations

import json
import pathlib
import zipfile

import pytest

from .harness import HERE, Course

SCORES = {"aaa-honest": 8.5, "half": 6.0, "none": 0.0, "pictures": 7.5, "zzz-honest": 8.5}
NOW = SCORES | {"half": 6.5, "none": 0.5}
"""Both predicted wrong; since then a prediction earns its points by being made."""

pytestmark = pytest.mark.sandbox


@pytest.fixture
def earlier(tmp_path: pathlib.Path) -> Course:
    """The course of then, with the packages of now."""
    course = Course(tmp_path / "class", HERE / "course" / "90_small.md")
    course.install()
    with zipfile.ZipFile(HERE / "earlier" / "course.zip") as kept:
        kept.extractall(course.folder)
    return course


@pytest.mark.thorough
def test_the_same_scores(earlier: Course) -> None:
    """Its release is read, its keys still name the students, and every exercise gets the points that it had."""
    verdicts = earlier.root / "shardlab" / "verdicts"
    before = {path.name for path in verdicts.iterdir()}
    assert earlier.scores() == SCORES
    ended = earlier.run("grade", "90_small")
    assert ended.status == 0, ended.said
    assert earlier.scores() == NOW
    assert {student: sum(row.points.values()) for student, row in earlier.rows().items()} == NOW
    # A verdict's key covers what judges, and that has changed: all were graded anew, and none of then is lost.
    assert before < {path.name for path in verdicts.iterdir()}


def test_verdicts_of_then_can_be_read(earlier: Course) -> None:
    """The files keep their form: today's reader finds points, misconceptions and reasons in them."""
    from shardlab_grader.records.store import Store

    names = [path.stem for path in (earlier.root / "shardlab" / "verdicts").iterdir()]
    records = [Store(earlier.root).get(name) for name in names]
    assert sorted(record.points for record in records if record) == sorted({*SCORES.values()})
    raw = json.loads((earlier.root / "shardlab" / "verdicts" / f"{names[0]}.json").read_text())
    assert records[0] is not None and json.loads(json.dumps(records[0].to_json()["verdicts"])) == raw["verdicts"]
