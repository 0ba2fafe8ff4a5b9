"""Wrong-but-plausible answers in a real chapter's notebook: one file each in `chapter/`, in the form of the sample class."""

from __future__ import annotations

import json
import os
import pathlib

import nbformat
import pytest

from shardlab_course.editions import edition, header
from shardlab_grader.demo import sampling

from .harness import HERE, ROOT, Course
from .test_hostile import unfair_total

pytestmark = [pytest.mark.sandbox, pytest.mark.notebook]

CHAPTER = "04_four_matmul_cases"
SAMPLES = [sampling.parse(path) for path in sorted((HERE / "chapter").glob("*.py"))]


@pytest.mark.skipif(os.environ.get("SHARDLAB_FULL") != "1", reason="in the full run; CI has one of each family")
def test_a_real_chapter(tmp_path: pathlib.Path) -> None:
    """Each file gets the points in its first line, through the real command."""
    course = Course(tmp_path / "real", None)
    made = course.run("release", CHAPTER, "--repository", str(ROOT))
    assert made.status == 0, made.said
    released = nbformat.read(course.root / "release" / CHAPTER / f"{CHAPTER}.ipynb", as_version=4)
    solved = edition.solution(edition.source(ROOT / "solutions" / f"{CHAPTER}.md", header.syllabus(ROOT)))
    for sample in SAMPLES:
        place = course.root / "submitted" / sample.student / CHAPTER
        place.mkdir(parents=True)
        (place / f"{CHAPTER}.ipynb").write_text(sample.submission(released, solved))
    ended = course.run("grade", CHAPTER, "--names")
    scores = course.scores()
    wrong = [line for sample in SAMPLES for line in unfair_total(sample.student, sample.points or 0.0, scores)]
    assert not wrong, "\n".join([*wrong, ended.said])
    assert (ended.status, ended.left) == (0, []), ended.said
    for path in (course.root / "shardlab" / "verdicts").glob("*.json"):
        assert json.loads(path.read_text())["sandbox"] == "bubblewrap"
