"""nbgrader's exchange around our grading: a student fetches, hands in, is graded, and finds the feedback again."""

from __future__ import annotations

import contextlib
import pathlib
import shutil
from collections.abc import Callable, Iterator

import pytest
from nbgrader.auth import Authenticator
from nbgrader.coursedir import CourseDirectory
from nbgrader.exchange import default as exchange
from traitlets.config import Config

from shardlab_grader.classes import classroom
from shardlab_grader.nbgrader.course import quiet
from shardlab_grader.records.submissions import SECRET, stage

from .conftest import NAME

Step = Callable[[type[exchange.Exchange]], None]


@contextlib.contextmanager
def silent(step: str, length: int) -> Iterator[Callable[[], None]]:
    """No progress bar."""
    yield lambda: None


@pytest.fixture
def course(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """The tiny chapter, released."""
    return pathlib.Path(shutil.copytree(tiny_course, tmp_path / "course"))


@pytest.fixture
def ran(course: pathlib.Path, tmp_path: pathlib.Path) -> Step:
    """Runs one step of the exchange, the student's in the student's own folder."""
    for name in ("exchange", "cache", "student"):
        (tmp_path / name).mkdir()
    (tmp_path / "exchange").chmod(0o777)
    places = {"root": tmp_path / "exchange", "cache": tmp_path / "cache", "assignment_dir": tmp_path / "student"}
    settings = {"course_id": "par101", "assignment_id": NAME, "root": str(course)}
    config = Config(Exchange={key: str(path) for key, path in places.items()}, CourseDirectory=settings)

    def run(step: type[exchange.Exchange]) -> None:
        directory = CourseDirectory(config=config)
        with quiet():
            step(coursedir=directory, authenticator=Authenticator(config=config), config=config).start()

    return run


def test_feedback_comes_back_through_the_exchange(ran: Step, course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Release, fetch, submit, collect, grade, release feedback, fetch feedback."""
    for step in (exchange.ExchangeReleaseAssignment, exchange.ExchangeFetchAssignment, exchange.ExchangeSubmit):
        ran(step)
    ran(exchange.ExchangeCollect)
    (row,) = classroom.grade(course, NAME, "none", 1, silent)
    assert row.status == "graded"
    ran(exchange.ExchangeReleaseFeedback)
    ran(exchange.ExchangeFetchFeedback)
    (page,) = (tmp_path / "student" / NAME / "feedback").rglob(f"{NAME}.html")
    assert "90.1 Double" in page.read_text()


@pytest.mark.parametrize(
    ("content", "kept"),
    [(b"aB3" * 20, True), (b"", False), (b"two words", False), (b"\xff\xfe", False), (b"a" * 300, False)],
    ids=["secret", "empty", "text", "bytes", "long"],
)
def test_only_a_secret_goes_along(course: pathlib.Path, tmp_path: pathlib.Path, content: bytes, kept: bool) -> None:
    """Whatever a student puts under the secret's name, one line of it or nothing is copied; grading goes on."""
    folder = course / "submitted" / "ada" / NAME
    shutil.copytree(course / "release" / NAME, folder)
    (folder / "submission_secret.txt").write_bytes(content)
    stage(course, NAME, "ada", tmp_path / "staged")
    copied = tmp_path / "staged" / "submission_secret.txt"
    assert copied.exists() == kept == bool(SECRET.fullmatch(content))


def test_a_link_under_its_name_is_not_followed(course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Neither the link nor what it leads to."""
    folder = course / "submitted" / "ada" / NAME
    shutil.copytree(course / "release" / NAME, folder)
    (tmp_path / "key").write_text("secret")
    (folder / "submission_secret.txt").symlink_to(tmp_path / "key")
    stage(course, NAME, "ada", tmp_path / "staged")
    assert sorted(path.name for path in (tmp_path / "staged").iterdir()) == [f"{NAME}.ipynb"]
