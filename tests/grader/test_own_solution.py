"""Questions that the chapter's own solution does not pass are not released: a sentence says so, and nothing is written."""

from __future__ import annotations

import pathlib
import shutil

import pytest

import variants
from shardlab.errors import ShardlabError
from shardlab_course import chapters, own
from shardlab_grader.own import check
from shardlab_grader.releases import places, references
from shardlab_grader.releases.release import release
from variants import REFERENCE

ROOT = pathlib.Path(__file__).parents[2]
NAME = "00_first_light"
CHANGES = {"0.1": ('key="q"', 'key="p"'), "0.2": ('"B": 1,', '"B": 1 / 2,')}
"""By exercise another key: of a choice, and of a prediction, which earns its points whatever it says."""
SAID = {
    "0.1": "0.1, why: That is not it. Expected: a different choice; found: 'q'.",
    "0.2": "0.2, share: Of 4 outcomes, 1 was different from what you predicted. Expected: B: 0.5; found: B: 1.",
}


@pytest.fixture
def changed(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The questions of chapter 0, some of them with another key."""
    folder = shutil.copytree(chapters.folder(0), tmp_path / NAME)
    for id, (before, after) in CHANGES.items():
        path = folder / f"ex0{id[-1]}" / own.QUESTION
        assert path.read_text().count(before) == 1
        path.write_text(path.read_text().replace(before, after))
    monkeypatch.setenv(own.VARIABLE, str(folder))
    monkeypatch.setenv("SHARDLAB_RECORD", "1")
    return folder


@pytest.mark.parametrize("id", CHANGES)
def test_an_answer_without_a_program_is_judged(id: str, changed: pathlib.Path) -> None:
    """By the question that is found now: of the course's own nothing is said."""

    def said() -> list[str]:
        answer = check._recorded(chapters.question(id), variants.of(id)[REFERENCE])
        return references._judged((id,), {id: answer}, check.SEED)[1]

    assert said() == [SAID[id]]
    own.leave(changed)
    assert said() == []


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_it_is_refused(changed: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Nothing is released before it, and what was released before stays to the byte."""
    course = tmp_path / "course"
    with pytest.raises(ShardlabError) as refused:
        release(NAME, course, ROOT, whole=False)
    what = "the chapter's own solution does not pass 2 of its 4 questions."
    mend = "mend the question or the solution, whichever is wrong."
    assert str(refused.value) == str(ShardlabError("solution-fails", what, where="\n".join(SAID.values()), mend=mend))
    assert not places.kept(course, NAME).exists() and not (course / "gradebook.db").exists()
    assert [step for step in ("source", "release") if (course / step).exists()] == []
    own.leave(changed)
    release(NAME, course, ROOT, whole=False)
    before = content(course)
    own.take_released(changed)
    with pytest.raises(ShardlabError, match="solution-fails"):
        release(NAME, course, ROOT, whole=False)
    assert content(course) == before


def content(course: pathlib.Path) -> dict[str, bytes]:
    """All files of a course but what can be made again."""
    files = [path for path in course.rglob("*") if path.is_file() and not path.is_relative_to(places.cache(course))]
    return {str(path.relative_to(course)): path.read_bytes() for path in files}
