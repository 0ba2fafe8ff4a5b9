"""The playgrounds in a browser: Python runs there, and says what it says here, by mouse and by keyboard."""

from __future__ import annotations

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Locator, Page

from shardlab import listings

from .conftest import resized

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "jupyter_book"))

import playground  # noqa: E402
import playgrounds  # noqa: E402

DRAWS = 40
TEXT = listings.hlo("ring_tpu")
STARTED = 90_000
"""Milliseconds for Python's start in the page, on a machine that is busy."""

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


@pytest.fixture(scope="module")
def page(browser: Browser, site: str) -> Iterator[Page]:
    """The page of playgrounds from a server of this machine; `page.noise` has errors and requests to others."""
    opened = browser.new_context(reduced_motion="reduce").new_page()
    opened.noise = []
    opened.on("console", lambda said: said.type == "error" and opened.noise.append(said.text))
    opened.on("pageerror", lambda error: opened.noise.append(str(error)))
    opened.on("request", lambda asked: asked.url.startswith((site, "data:", "blob:")) or opened.noise.append(asked.url))
    opened.goto(f"{site}playground.html")
    yield opened
    assert opened.noise == []
    opened.context.close()


def form(page: Page, name: str) -> Locator:
    """One playground."""
    return page.locator(f"form[data-play={name}]")


def shown(page: Page, name: str) -> str:
    """What it shows when it has answered."""
    page.wait_for_function(
        f"(f => f.dataset.shown && f.dataset.shown === String(f.turn))(document.querySelector('form[data-play={name}]'))",
        timeout=STARTED,
    )
    return form(page, name).locator(".play-said").inner_text()


MEANT = {
    "place": "shard [4, 4]",
    "ring": "Step 0 of 3.",
    "cost": "bytes decide (bandwidth)",
    "roof": "Compute takes longest.",
    "product": "a reduce-scatter a part to each",
    "lens": "collectives: 7, payload 14,680,064 bytes",
}


@pytest.mark.parametrize("name", playgrounds.FORMS)
def test_each_answers_by_mouse(page: Page, name: str) -> None:
    """With what stands in it; the lens with a program for a TPU."""
    if name == "lens":
        form(page, name).locator("textarea").fill(TEXT)
    form(page, name).get_by_role("button", name="Show").click()
    assert MEANT[name] in shown(page, name)


@pytest.mark.parametrize("name", playgrounds.FORMS)
def test_each_answers_by_keyboard(page: Page, name: str) -> None:
    """Tab leads through all of its inputs to the button, and Enter presses it."""
    inputs = form(page, name).locator("input, select, textarea")
    if name == "lens":
        form(page, name).locator("textarea").fill(TEXT)
    before = form(page, name).get_attribute("data-shown")
    inputs.first.focus()
    for _ in range(inputs.count()):
        page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Show"
    page.keyboard.press("Enter")
    assert MEANT[name] in shown(page, name) and form(page, name).get_attribute("data-shown") != before


def test_steps(page: Page) -> None:
    """One on with each press, from the end to the start again; Play goes on by itself until it is stopped."""
    ring = form(page, "ring")
    said = []
    for _ in range(4):
        ring.get_by_role("button", name="Step").click()
        said.append(shown(page, "ring").split(".")[0])
    assert said == ["Step 1 of 3", "Step 2 of 3", "Step 3 of 3", "Step 0 of 3"]
    ring.get_by_role("button", name="Play").click()
    page.wait_for_function("document.querySelector('form[data-play=ring] .play-said').innerText.startsWith('Step 2')")
    ring.get_by_role("button", name="Pause").click()
    assert ring.get_by_role("button", name="Play").count() == 1


def test_what_scrolls_can_be_reached_by_keyboard(page: Page) -> None:
    """On a narrow window every box that is wider than it takes the focus, and the page stays as wide as the window."""
    resized(page, 390, 844)
    form(page, "lens").locator("textarea").fill(TEXT)
    for name in playgrounds.FORMS:
        form(page, name).get_by_role("button", name="Show").click()
        shown(page, name)
    form(page, "lens").locator("details summary").click()
    page.wait_for_function("document.querySelector('form[data-play=lens] details [tabindex=\"0\"]')")
    scrolls = "box.scrollWidth > box.clientWidth && /auto|scroll/.test(getComputedStyle(box).overflowX)"
    wide = f"boxes => boxes.filter(box => {scrolls}).map(box => box.tabIndex)"
    found = page.eval_on_selector_all(".play-said *", wide)
    assert found and set(found) == {0}
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    resized(page, 1280, 720)


def test_faults_are_the_packages_own(page: Page) -> None:
    """An expression that does not fit is told with carets; nothing is lost."""
    place = form(page, "place")
    place.locator("input").nth(2).fill("a b -> b@z a")
    place.get_by_role("button", name="Show").click()
    said = shown(page, "place")
    assert "[axis-unknown]" in said and "^^^" in said and "the mesh has that axis" in said


SAID = ("P('x')", "P(None, 'y')", "P(('x', 'y'), 'z')", "a b -> a@x b", "a b -> b@(x y) a", "a b -> 2 a2 b", "?")


def drawn(rng: random.Random, name: str) -> dict[str, str]:
    """What somebody might put into a form; some of it cannot be shown."""
    sizes = [rng.choice([1, 2, 3, 4]) for _ in range(rng.randint(1, 3))]
    given = {
        "mesh": ", ".join(f"{axis}={size}" for axis, size in zip("xyz", sizes)) if rng.random() < 0.9 else "x",
        "shape": ", ".join(str(rng.choice([4, 6, 8, 12, 16])) for _ in range(2)),
        "said": rng.choice(SAID),
        "tokens": str(rng.randrange(64, 16385)), "d": str(rng.randrange(512, 16385)), "f": str(rng.randrange(1024, 65537)),
        "nbytes": str(rng.randrange(1, 10**9)), "step": str(rng.randrange(15)), "text": TEXT, "left": "", "right": "",
    }  # fmt: skip
    asked = [field for field in playgrounds.FORMS[name] if field.name != "speed"]
    return {field.name: rng.choice(field.choices) if field.choices else given[field.name] for field in asked}


@pytest.mark.parametrize("name", playgrounds.FORMS)
def test_the_browser_says_what_python_says(page: Page, name: str) -> None:
    """For drawn inputs of each the same HTML, from the Python in the page and from this one."""
    rng = random.Random(name)
    asked = [drawn(rng, name) for _ in range(3 if name == "lens" else DRAWS)]
    got = page.evaluate(
        "async ([name, asked]) => { const m = await started(); return asked.map(g => m.answered.callKwargs(name, g)); }",
        [name, asked],
    )
    due = [playground.answered(name, **given) for given in asked]
    assert [(a, g, d) for a, g, d in zip(asked, got, due, strict=True) if g != d] == []
    assert len(set(due)) > (0 if name == "lens" else 5)


def test_from_a_file_it_says_what_to_do(browser: Browser, book: Path) -> None:
    """Browsers load no Python from files."""
    opened = browser.new_page()
    opened.goto((book / "playground.html").as_uri())
    form(opened, "place").get_by_role("button", name="Show").click()
    assert "make book-serve" in shown(opened, "place")
    opened.close()


def test_the_page_says_how_much_it_loads(book: Path) -> None:
    """Pyodide and the package together."""
    loaded = [book / "_static" / "shardlab.zip", *(book / "_static" / "pyodide" / name for name in playgrounds.FILES)]
    size = f"about {sum(path.stat().st_size for path in loaded) / 1e6:.0f} MB"
    assert size in (book / "playground.html").read_text() and size in (book / "_static" / "playground.js").read_text()


def test_what_is_no_amount_is_refused() -> None:
    """Nothing, less than nothing, and more than all."""
    for text in ("", "abc", "-5", "0", "nan", "inf", "1e400"):
        said = playground.answered("cost", on="v5e", kind="all-gather", nbytes=text, n="8", both="no")
        assert "is not a number of bytes" in said, text
