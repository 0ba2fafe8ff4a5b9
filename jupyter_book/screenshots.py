"""The pictures of the instructor's guide: the demonstration's class in Formgrader, as PNG files in `_static/`.

Run as `python jupyter_book/screenshots.py` (`make screenshots`). The demonstration runs first, unless `build/demo` has it.
"""

from __future__ import annotations

import contextlib
import io
import pathlib
import shutil
import subprocess
import sys
from collections.abc import Iterator

from PIL import Image
from playwright.sync_api import BrowserContext, Page, expect, sync_playwright

from shardlab_grader.nbgrader.course import Course, quiet

ROOT = pathlib.Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests"))

from lab.conftest import TOKEN, lab  # noqa: E402

STATIC = pathlib.Path(__file__).parent / "_static"
COURSE = ROOT / "build" / "demo"
ASSIGNMENT = "04_four_matmul_cases"
WIDTH, HEIGHT, COLOURS = 1200, 640, 48
LISTS = {
    "assignments": "manage_assignments",
    "submissions": f"manage_submissions/{ASSIGNMENT}",
    "gradebook": f"gradebook/{ASSIGNMENT}/{ASSIGNMENT}",
}
"""Formgrader's pages with one table, by the name of their picture."""
WRONG = "29.25 / 60"
"""The score of the submission that is shown: names are hidden there."""


def demonstration(course: pathlib.Path = COURSE) -> pathlib.Path:
    """The course directory of a graded demonstration, whose students have names."""
    if not (course / "gradebook.db").exists():
        subprocess.run([sys.executable, "-m", "shardlab_grader.cli", "demo", str(course)], check=True)
    with quiet(), Course(course).gradebook() as gradebook:
        for student in gradebook.students:
            gradebook.update_or_create_student(student.id, first_name=student.id.capitalize(), last_name="Sample")
    return course


@contextlib.contextmanager
def formgrader(course: pathlib.Path) -> Iterator[tuple[str, BrowserContext]]:
    """Formgrader's address, and a browser that may open it."""
    chromium = shutil.which("chromium")
    exchange = course.parent / "exchange"
    exchange.mkdir(mode=0o777, exist_ok=True)
    settings = (f"--Exchange.root={exchange}", "--CourseDirectory.course_id=demo")
    with lab(course, *settings) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-quic"])
        context = browser.new_context(viewport={"width": WIDTH, "height": HEIGHT}, reduced_motion="reduce")
        context.set_default_timeout(120_000)
        yield f"{address}/formgrader", context
        browser.close()


def table(context: BrowserContext, address: str) -> Page:
    """A page whose table is filled."""
    page = context.new_page()
    page.goto(f"{address}?token={TOKEN}")
    expect(page.locator("tbody tr").first).not_to_contain_text("Loading")
    return page


def wrong_answer(page: Page) -> None:
    """Scroll to the first answer of the submission in view that is wrong, with what the check said at the foot."""
    page.wait_for_load_state("networkidle")  # Formgrader's own script scrolls to the top when it has loaded
    said = page.locator(".output_area", has_text="not yet, ").first
    said.evaluate("cell => window.scrollBy(0, cell.getBoundingClientRect().bottom - window.innerHeight + 12)")


def keep(picture: bytes, name: str) -> pathlib.Path:
    """Write a picture with few colours, which is what Formgrader has."""
    path = STATIC / f"formgrader-{name}.png"
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS).save(path, optimize=True)
    return path


def pictures(course: pathlib.Path) -> Iterator[pathlib.Path]:
    """Make every picture."""
    with formgrader(course) as (address, context):
        for name, path in LISTS.items():
            page = table(context, f"{address}/{path}")
            yield keep(page.screenshot(), name)
        page = table(context, f"{address}/{LISTS['gradebook']}")
        page.locator("tbody tr", has_text=WRONG).get_by_role("link").first.click()
        wrong_answer(page)
        yield keep(page.screenshot(), "submission")


def main() -> None:
    """Make the pictures and say how large they are."""
    for path in pictures(demonstration()):
        print(f"{path.relative_to(ROOT)}: {path.stat().st_size / 1000:.0f} kB")


if __name__ == "__main__":
    main()
