"""The small chapter, released once by the real command; and what a full run found, for the book's status page."""

from __future__ import annotations

import collections
import datetime
import json
import os
import pathlib
import platform
from typing import Any

import jax
import pytest

from .harness import HERE, Course


@pytest.fixture(scope="session")
def released(tmp_path_factory: pytest.TempPathFactory) -> Course:
    """A course without submissions."""
    course = Course(tmp_path_factory.mktemp("hostile") / "released", HERE / "course" / "90_small.md")
    course.make()
    return course


@pytest.fixture
def course(released: Course, tmp_path: pathlib.Path) -> Course:
    """A course of one test's own."""
    return released.copy(tmp_path / "own")


KEPT = pathlib.Path(__file__).parents[2] / "jupyter_book" / "hostile.json"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Keep the results of `make test-full`, or of a part of it beside those of the other parts."""
    if os.environ.get("SHARDLAB_FULL") != "1":
        return
    from .test_hostile import FAMILIES
    from .test_kill import KILLS

    before: dict[str, list[Any]] = json.loads(KEPT.read_text()).get("ran", {}) if KEPT.exists() else {}
    words = ("skipped", "passed", "failed", "error")
    new = {one.nodeid: [word, round(one.duration)] for word in words for one in terminalreporter.getreports(word)}
    ran = before | new
    result = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "jax": jax.__version__},
        "tests": dict(collections.Counter(word for word, _ in ran.values())),
        "failed": [name for name, (word, _) in ran.items() if word in ("failed", "error")],
        "families": {name: len(cases) for name, cases in FAMILIES.items() if any(f"[{name}]" in one for one in ran)},
        "kills": KILLS if any("test_kill" in name for name in ran) else 0,
        "minutes": round(sum(seconds for _, seconds in ran.values()) / 60),
        "ran": dict(sorted(ran.items())),
    }
    KEPT.write_text(json.dumps(result, indent=1) + "\n")
