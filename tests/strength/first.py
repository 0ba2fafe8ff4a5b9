"""A pytest plugin that writes the name of the first test that fails into the file that the environment names."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

FILE = "STRENGTH_FIRST"


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Each phase of a test."""
    _note(report)


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """A module that cannot be imported."""
    _note(report)


def _note(report: pytest.TestReport | pytest.CollectReport) -> None:
    path = Path(os.environ[FILE])
    if report.failed and not path.exists():
        path.write_text(report.nodeid)
