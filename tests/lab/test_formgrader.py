"""An instructor's way through Formgrader, in a real browser, on a graded class of two."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from grader import conftest as small
from shardlab_course.editions import edition
from shardlab_grader.classes import classroom
from shardlab_grader.releases import release

from .conftest import TOKEN, lab

# The solution, and an answer to the first question that the stand-in judge calls wrong.
WRONG = ("2 * n", "wrong")
CLASS = {"ada": (), "gus": (WRONG,)}
POINTS = {"ada": 3.5, "gus": 1.5}
MOST = 3.5

pytestmark = [pytest.mark.thorough, pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@contextlib.contextmanager
def silent(step: str, length: int) -> Iterator[Callable[[], None]]:
    """No progress bar."""
    yield lambda: None


@pytest.fixture(scope="module")
def course(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A course directory with the tiny chapter released, handed in by two students, and graded."""
    folder = tmp_path_factory.mktemp("formgrader")
    with pytest.MonkeyPatch.context() as patch:
        root = small.repository(folder, patch)
        made = release.release(small.NAME, folder / "course", root)
        solved = edition.to_ipynb(edition.solution(edition.source(small.TINY, small.SYLLABUS)))
        for student, changes in CLASS.items():
            text = solved
            for old, new in changes:
                text = text.replace(old, new)
            path = made.course_dir / "submitted" / student / small.NAME / f"{small.NAME}.ipynb"
            path.parent.mkdir(parents=True)
            path.write_text(text)
        rows = classroom.grade(made.course_dir, small.NAME, "none", 1, silent)
    assert {row.student: row.total for row in rows} == POINTS
    return made.course_dir


@pytest.fixture(scope="module")
def visit(browser: Browser, course: Path) -> Iterator[Callable[[str], Page]]:
    """Opens a page of JupyterLab's server, started in the course directory as the guide says. No page asks another host."""
    with lab(course) as address:
        context = browser.new_context(viewport={"width": 1400, "height": 1000})
        context.set_default_timeout(90_000)
        asked: list[str] = []
        context.on("request", lambda request: asked.append(request.url))

        def opened(path: str) -> Page:
            page = context.new_page()
            page.goto(f"{address}/{path}?token={TOKEN}")
            return page

        yield opened
        assert [url for url in asked if not url.startswith((address, "data:", "blob:"))] == []


def row(page: Page, name: str) -> list[str]:
    """The cells of the row of this name, once the table has been filled."""
    found = page.locator("tbody tr", has_text=name)
    expect(found).to_have_count(1)
    return [cell.strip() for cell in found.locator("td").all_inner_texts()]


def test_the_assignment_is_listed(visit: Callable[[str], Page]) -> None:
    """Manage Assignments has the assignment with the number of its submissions."""
    page = visit("formgrader/manage_assignments")
    cells = row(page, small.NAME)
    assert cells[0] == small.NAME and "2" in cells


def test_students_and_scores_are_listed(visit: Callable[[str], Page]) -> None:
    """Manage Students and the submissions of the assignment name each student with the score."""
    students = visit("formgrader/manage_students")
    submissions = visit(f"formgrader/manage_submissions/{small.NAME}")
    for name, points in POINTS.items():
        assert f"{points:g} / {MOST:g}" in row(students, name)
        assert {f"{points:g} / {MOST:g}", "graded"} <= set(row(submissions, name))


def test_points_are_given_by_hand(visit: Callable[[str], Page]) -> None:
    """Manual Grading: from the assignment to a submission, whose points are changed; the sum follows."""
    page = visit("formgrader/gradebook")
    page.get_by_role("link", name=small.NAME).click()
    page.wait_for_url(f"**/gradebook/{small.NAME}")
    page.locator("tbody").get_by_role("link", name=small.NAME).click()
    expect(page.locator("tbody tr")).to_have_count(2)
    page.locator("tbody tr", has_text=f"{POINTS['gus']:g} / {MOST:g}").get_by_role("link").first.click()
    expect(page.locator("body")).to_contain_text("not yet, 0 of 2 points")
    expect(page.locator(".nbgrader-label", has_text="q90-1")).to_have_text(re.compile(r"90\.1 \S.* q90-1"))
    points = page.locator("input.score").first
    expect(points).to_have_attribute("placeholder", "0")
    with page.expect_response(lambda got: "/api/grade/" in got.url and got.request.method == "PUT"):
        points.fill("1")
        points.press("Tab")
    assert f"{POINTS['gus'] + 1:g} / {MOST:g}" in row(visit("formgrader/manage_students"), "gus")


def test_jupyterlab_opens_formgrader(visit: Callable[[str], Page]) -> None:
    """The menu of JupyterLab has Formgrader, which opens beside the notebooks."""
    page = visit("lab")
    page.get_by_role("menuitem", name="Nbgrader", exact=True).click()
    page.get_by_role("menuitem", name="Formgrader", exact=True).click()
    frame = page.frame_locator("iframe")
    expect(frame.get_by_role("link", name=small.NAME).first).to_be_visible()
