"""A pytest plugin that writes the name of the first test that fails into the file that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from strength.recording import below

FILE = "STRENGTH_FIRST"


def pytest_configure(config: pytest.Config) -> None:
    """Names are told as in the repository, where the tests are started."""
    config.pluginmanager.register(First(below(config.rootpath, config.invocation_params.dir)))


class First:
    """Notes the first test that fails."""

    def __init__(self, below: str) -> None:
        self._below = below

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Each phase of a test."""
        self._note(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """A module that cannot be imported."""
        self._note(report)

    def _note(self, report: pytest.TestReport | pytest.CollectReport) -> None:
        path = Path(os.environ[FILE])
        if report.failed and not path.exists():
            path.write_text(self._below + report.nodeid)
