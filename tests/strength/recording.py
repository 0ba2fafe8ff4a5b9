"""A pytest plugin that records which lines each test reaches, how long it takes and what it shares with other tests.

A fixture of a module or session runs once, in the first test that asks for it; its lines are reached by every test that uses
it. So it has a context of its own. A child process takes the context of the test that started it, from its environment.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Generator, Iterator
from pathlib import Path
from typing import Any

import coverage
import pytest

FOLDER, HOME = "STRENGTH_RECORD", "STRENGTH_HOME"
CONTEXT = "STRENGTH_CONTEXT"
SETTINGS = """[run]
include =
    {root}/lens/src/*
    {root}/src/*
    {root}/grader/*
patch = _exit
data_file = {folder}/lines
parallel = true
sigterm = true
context = ${{STRENGTH_CONTEXT-}}
disable_warnings = no-data-collected, module-not-imported, module-not-measured, module-not-python, trace-changed
"""


def pytest_configure(config: pytest.Config) -> None:
    """Record into the folder that the environment names."""
    folder = Path(os.environ[FOLDER])
    settings = folder / "coveragerc"
    home = Path(os.environ[HOME])
    settings.write_text(SETTINGS.format(root=home, folder=folder))
    measured = coverage.Coverage(config_file=str(settings))
    config.pluginmanager.register(Recorder(folder, measured, below(config.rootpath, home)), "strength-recorder")
    os.environ["COVERAGE_PROCESS_START"] = str(settings)


class Recorder:
    """Switches coverage's context from test to test."""

    def __init__(self, folder: Path, measured: coverage.Coverage, below: str) -> None:
        self._folder = folder
        self._below = below
        self._measured = measured
        self._contexts = [""]
        self._seconds: dict[str, float] = {}
        self._tests: dict[str, dict[str, Any]] = {}
        measured.start()

    @contextlib.contextmanager
    def _context(self, name: str) -> Iterator[None]:
        """Within it lines are those of `name`, and seconds too, less those of contexts further inside."""
        started, inside = time.perf_counter(), sum(self._seconds.values())
        self._enter([*self._contexts, name])
        try:
            yield
        finally:
            self._enter(self._contexts[:-1])
            spent = time.perf_counter() - started - (sum(self._seconds.values()) - inside)
            self._seconds[name] = self._seconds.get(name, 0.0) + spent

    def _enter(self, contexts: list[str]) -> None:
        self._contexts = contexts
        self._measured.switch_context(contexts[-1])
        os.environ[CONTEXT] = contexts[-1]

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """A test's lines are those of its setup, call and teardown."""
        shared = [self._shared(made[-1]) for made in _fixtures(item).values() if made[-1].scope != "function"]
        thorough = item.get_closest_marker("thorough") is not None
        sandbox = item.get_closest_marker("sandbox") is not None
        self._tests[self._below + item.nodeid] = {"shared": shared, "thorough": thorough, "sandbox": sandbox, "passed": True}
        with self._context(self._below + item.nodeid):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_fixture_setup(self, fixturedef: Any) -> Generator[None, object, object]:
        """What is made for several tests has a context of its own."""
        if fixturedef.scope == "function":
            return (yield)
        with self._context(self._shared(fixturedef)):
            return (yield)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test that is skipped or fails says nothing of a fault."""
        if report.outcome != "passed":
            self._tests[self._below + report.nodeid]["passed"] = False

    def pytest_sessionfinish(self) -> None:
        """Keep what was recorded."""
        self._measured.stop()
        self._measured.save()
        kept = {"tests": self._tests, "seconds": self._seconds}
        (self._folder / "tests.json").write_text(json.dumps(kept))

    def _shared(self, fixture: Any) -> str:
        """The context of a fixture that several tests use."""
        return f"fixture {self._below}{fixture.baseid}::{fixture.argname}"


def below(root: Path, home: Path) -> str:
    """What stands before a test's name in the repository where pytest's own root is a folder of it: `lens/`."""
    return "" if root == home else f"{root.relative_to(home)}/"


def _fixtures(item: pytest.Item) -> dict[str, Any]:
    info = getattr(item, "_fixtureinfo", None)
    return dict(info.name2fixturedefs) if info is not None else {}
