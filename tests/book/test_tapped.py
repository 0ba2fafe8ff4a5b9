"""A thumb goes through chapters on a phone: it answers every form, and opens all that is folded, shortened or covered."""

from __future__ import annotations

import io
import re
import symtable
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from .conftest import CHAPTER, ROOT

pytest.importorskip("pypdf", reason="the book's packages are not installed (extra: book)")
from pypdf import PdfReader  # noqa: E402

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]
NAMES = [f"notebooks/{path.stem}" for path in sorted((ROOT / "notebooks" / "myst").glob("[0-9]*.md"))]
WIDTH = 390
CLOSED = "details.fold:not([open]):not([inert] *) > summary"
WIDE = "document.documentElement.scrollWidth"
# Goes to each section as links and search hits do, and says which headings are then not in sight.
LED = """async () => {
    const lost = [];
    for (const section of document.querySelectorAll("article section[id]")) {
        const heading = section.querySelector("h1, h2, h3, h4");
        location.hash = section.id;
        await new Promise(done => addEventListener("hashchange", () => requestAnimationFrame(done), {once: true}));
        const {top} = heading.getBoundingClientRect();
        if (!heading.checkVisibility() || top < -5 || top > innerHeight) lost.push(`${section.id} ${top}`);
    }
    return lost;
}"""
# The beginning of every text in a fold, and the end of everything shortened.
HIDDEN = """() => {
    const folded = [...document.querySelectorAll("details.fold")].map(fold => fold.querySelector("p"));
    const texts = folded.filter(p => p && !p.querySelector("math, svg")).map(p => p.textContent.slice(0, 40));
    const ends = [...document.querySelectorAll(".long pre")].map(pre => pre.textContent.trimEnd().slice(-12));
    return [...texts, ...ends];
}"""
CUT = """() => [...document.querySelectorAll("div.math")].filter(box => box.getClientRects().length)
    .filter(box => box.firstElementChild.getBoundingClientRect().left < box.getBoundingClientRect().left)
    .map(box => box.textContent)"""
"""Formulas whose beginning is outside of their box, where nothing scrolls to it."""
UNREACHED = """() => [...document.querySelectorAll("article *")].filter(box => box.scrollWidth > box.clientWidth)
    .filter(box => box.checkVisibility() && /auto|scroll/.test(getComputedStyle(box).overflowX))
    .filter(box => box.tabIndex < 0 && !box.querySelector("a, button, input, select, [tabindex]"))
    .map(box => box.outerHTML.slice(0, 80))"""
"""What scrolls sideways for a finger, but not for a keyboard."""
CELLS = """() => [...document.querySelectorAll("article .cell_input pre")].map(code => {
    const folds = [];
    for (let at = code.closest(".fold"); at; at = at.parentElement.closest(".fold")) folds.push(at.firstChild.textContent);
    return [code.textContent, folds];
})"""
ASKED = """() => [...document.querySelectorAll("form.predict, details.hint")].filter(asked => !asked.checkVisibility())
    .map(asked => asked.closest("section[id^=exercise-]"))
    .filter(exercise => !exercise.querySelector(":scope > p, :scope > .fold p").textContent.startsWith("optional"))
    .map(exercise => exercise.id)"""
"""Core exercises whose form or hints are folded."""
MAGIC = re.compile(r"^( *)%.*", re.MULTILINE)
Visit = Callable[..., Page]


@pytest.fixture
def phone(browser: Browser) -> Iterator[Visit]:
    """`phone(folder, name)` opens a page on a phone; nothing may go wrong on it."""
    opened: list[Page] = []
    noise: list[str] = []

    def visit(folder: Path, name: str) -> Page:
        size = {"width": WIDTH, "height": 844}
        page = browser.new_context(viewport=size, has_touch=True, is_mobile=True, reduced_motion="reduce").new_page()  # type: ignore[arg-type]
        page.on("pageerror", lambda error: noise.append(str(error)))
        page.on("console", lambda said: said.type == "error" and noise.append(said.text))
        page.goto((folder / f"{name}.html").as_uri())
        opened.append(page)
        return page

    yield visit
    for page in opened:
        page.context.close()
    assert noise == []


def open_all(page: Page) -> None:
    """Tap folds until none is closed, then the buttons of what is shortened."""
    closed = page.locator(CLOSED)
    while (left := closed.count()) and closed.locator("visible=true").count():
        closed.locator("visible=true").first.tap()
        assert closed.count() == left - 1
    tap_away(page.locator("button.whole:not([inert] *)"))
    assert page.locator(".long:not([inert] *)").count() == 0


def tap_away(buttons: Locator) -> None:
    """Buttons that go when they are tapped."""
    while left := buttons.count():
        buttons.first.tap()
        assert buttons.count() == left - 1


def choose(box: Locator) -> None:
    """The first choice of a select, or of a group that a tap opens."""
    if box.evaluate("box => box.matches('select')"):
        box.select_option(index=1)
        return
    closed = box.locator("button.choose")
    if closed.is_visible():
        closed.tap()
    box.locator("label").first.tap()


def answer(form: Locator) -> None:
    """Choose in every box that can be chosen in, and compare: each item gets a sentence, and nothing is open."""
    for box in form.locator("[data-item]").all():
        if not box.evaluate("box => Boolean(box.disabled ?? box.querySelector('input:disabled'))"):
            choose(box)
    form.get_by_role("button", name="Compare").tap()
    items = len({box.get_attribute("data-item") for box in form.locator("[data-item]").all()})
    assert (
        form.locator(".predict-said p").count() == items and "Still open" not in form.locator(".predict-said").inner_text()
    )


def tap_through(page: Page) -> None:
    """All of a chapter: each exercise says something, nothing stays hidden, and the page is as wide as the phone."""
    open_all(page)
    for form in page.locator("form.predict").all():
        answer(form)
    tap_away(page.locator(".curtain-bar button"))
    open_all(page)
    for exercise in page.locator("section[id^=exercise-]").all():
        hint = exercise.locator("details.hint").first
        hint.locator("summary").tap()
        assert hint.locator("p").first.is_visible()
        assert exercise.locator(".predict-said p, [role=status]").locator("visible=true").count() > 0, (
            exercise.get_attribute("id")
        )
    assert page.locator(".curtain:not(.lifted)").count() == 0 == page.locator(CLOSED).count()
    assert page.evaluate(CUT) == [] and page.evaluate(UNREACHED) == [] and page.evaluate(WIDE) <= WIDTH


def test_a_chapter_is_tapped_through(phone: Visit, pages: Path) -> None:
    """As a student on a phone would; and what the phone hides at first is on paper."""
    page = phone(pages, CHAPTER)
    hidden = page.evaluate(HIDDEN)
    printed = "".join(sheet.extract_text() for sheet in PdfReader(io.BytesIO(page.pdf())).pages)
    paper = re.sub(r"\W", "", printed)
    assert len(hidden) > 5
    assert [text for text in hidden if re.sub(r"\W", "", text) not in paper] == []
    tap_through(page)


def used(table: symtable.SymbolTable) -> set[str]:
    """The names that code takes from outside of its functions."""
    top = table.get_type() == "module"
    own = {each.get_name() for each in table.get_symbols() if each.is_referenced() and (top or each.is_global())}
    return own.union(*map(used, table.get_children()))


def missing(cells: list[tuple[str, list[str]]]) -> set[str]:
    """Names that a cell in sight uses, and that only a section which is folded for an optional exercise gives a value."""
    folded: set[str] = set()
    found: set[str] = set()
    for source, folds in cells:
        table = symtable.symtable(MAGIC.sub(r"\1pass", source), "cell", "exec")
        made = {each.get_name() for each in table.get_symbols() if each.is_assigned() and not each.is_imported()}
        if "Open this section" in folds:
            folded |= made
        elif not {"Open this exercise", "Open this part"} & {*folds}:
            found |= (used(table) - made) & folded
            folded -= made
    return found


def test_missing_names_are_found() -> None:
    """In functions too; what is a function's own, or is made anew, is not missing."""
    cells = [("a = b = c = d = 1", ["Open this section"]), ("a", ["Open this exercise"]), ("c = 2", [])]
    assert missing([*cells, ("def f(d):\n    return a + c + d", []), ("print(b)", ["In a notebook"])]) == {"a", "b"}


@pytest.mark.parametrize("name", NAMES)
def test_every_chapter_is_tapped_through(phone: Visit, book: Path, name: str) -> None:
    """After an address has led to each of its sections; no core exercise needs what is folded before an optional one."""
    page = phone(book, name)
    assert missing(page.evaluate(CELLS)) == set() and page.evaluate(ASKED) == []
    assert page.evaluate(LED) == []
    page.goto((book / f"{name}.html").as_uri())
    tap_through(page)
