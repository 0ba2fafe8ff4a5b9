"""The small chapter, released once by the real command."""

from __future__ import annotations

import pathlib

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
