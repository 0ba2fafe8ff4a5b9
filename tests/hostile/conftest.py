"""The small chapter, released once by the real command; and what a full run found, for the book's status page."""

from __future__ import annotations

import datetime
import json
import os
import pathlib
import platform
import time

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


STARTED = time.monotonic()
KEPT = pathlib.Path(__file__).parents[2] / "jupyter_book" / "hostile.json"


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Keep the results of `make test-full`, when none of its tests was left out."""
    if os.environ.get("SHARDLAB_FULL") != "1" or config.option.keyword or config.args != ["tests/hostile"]:
        return
    from .test_hostile import FAMILIES
    from .test_kill import KILLS

    found = {word: terminalreporter.getreports(word) for word in ("passed", "failed", "error", "skipped")}
    result = {
        "date": datetime.date.today().isoformat(),
        "versions": {"python": platform.python_version(), "jax": jax.__version__},
        "tests": {word: len(reports) for word, reports in found.items() if reports},
        "failed": [report.nodeid for report in found["failed"] + found["error"]],
        "families": {name: len(cases) for name, cases in FAMILIES.items()},
        "kills": KILLS,
        "minutes": round((time.monotonic() - STARTED) / 60),
    }
    KEPT.write_text(json.dumps(result, indent=1) + "\n")
