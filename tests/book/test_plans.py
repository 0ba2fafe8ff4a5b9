"""The page of terms: its plans are settings that the grader reads, and its hours are those of the exercises."""

from __future__ import annotations

import pathlib
import re
import sys

import pytest

from shardlab_course.chapters import CHAPTERS
from shardlab_grader.term import reading
from shardlab_grader.term.settings import Settings
from shardlab_judge.question import Question

ROOT = pathlib.Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "jupyter_book"))
import exercises  # noqa: E402

PAGE = (ROOT / "jupyter_book" / "term.md").read_text()
BLOCKS = dict(re.findall(r"^### (.+?)\n.*?^```toml\n(.*?)^```$", PAGE, re.DOTALL | re.MULTILINE))


def test_plans_on_the_page() -> None:
    """Every one is written out where the page has its place, and so are the minutes of a class."""
    assert tuple(BLOCKS) == exercises.PLANS and PAGE.count("<!-- minutes -->\n") == 1
    assert re.findall(r"^<!-- plan (.+) -->$", PAGE, re.MULTILINE) == list(exercises.PLANS)


@pytest.mark.parametrize("name", exercises.PLANS)
def test_a_plan_is_a_setting(name: str, tmp_path: pathlib.Path) -> None:
    """The grader takes it as it stands, and counts the exercises and the minutes of the table."""
    (tmp_path / reading.FILE).write_text(BLOCKS[name])
    settings = reading.load(tmp_path)
    rows = re.findall(r"^\| (\d+) \| .+ \| (\d+) \| ([\d.]+) \| ([\d.]+) \|$", exercises.plan(PAGE, name), re.MULTILINE)
    assert [int(week) for week, *_ in rows] == list(settings.plan)
    for week, count, hours, whole in rows:
        chapters = settings.plan[int(week)]
        named = [CHAPTERS[n] for n in chapters]
        counted = [q for each in named for q in each if _counts(settings, q)]
        assert (len(counted), f"{sum(q.minutes for q in counted) / 60:.1f}") == (int(count), hours)
        assert float(whole) == pytest.approx(float(hours) + len(chapters), abs=0.01)


def _counts(settings: Settings, question: Question) -> bool:
    """Whether the table has an exercise: those that the plan names, and else the core."""
    number = question.id.partition(".")[0]
    return settings.of(f"{number:0>2}").counts(question) and (int(number) in settings.assignments or not question.optional)


def test_hours_of_a_class() -> None:
    """A conversation each, one sitting for all, and a sheet each."""
    assert "| 25 | 4 h 10 min | 15 min | 50 min |" in exercises.rooms()
    assert "| 120 | 20 h 00 min | 15 min | 4 h 00 min |" in exercises.rooms()
    assert "from ten for a conversation, fifteen for the\nclass on paper, and two to mark a sheet" in PAGE
