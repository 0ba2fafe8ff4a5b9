"""The rendered book in a real browser: Debian's Chromium, with no way out to other hosts."""

from __future__ import annotations

import gzip
import importlib.util
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Browser, Page

from .conftest import resized

ROOT = Path(__file__).parents[2]
NAMES = [path.stem for path in sorted((ROOT / "notebooks" / "myst").glob("[0-9]*.md"))]
PAGES = [
    "intro", "exercises", "playground", "golf", "practices", "guards", "loss_differs", "from_pytorch", "old_to_new",
    "glossary", "bibliography", "errors", "api", "status", "instructors", "term", "authoring", "architecture", "search",
    *(f"{part}/{name}" for part in ("notebooks", "solutions") for name in NAMES),
]  # fmt: skip
JUDGED = [name for name in PAGES if not name.startswith("solutions/")] + [f"solutions/{NAMES[0]}"]
"""Pages for axe-core, which takes long over code: all, and one of the solutions, which are the chapters once more."""
MODES = ("light", "dark")
WIDTHS = (390, 820, 1400)
UNJUDGED = {
    "region": {"enabled": False},  # the theme's brand is outside every landmark
    "empty-table-header": {"enabled": False},  # the corner of a table whose rows have headers too
}

# Contrast is compared for each piece of text by itself, in most of axe-core's time. One piece stands for all of the same
# size and colour inside elements of the same classes, of which a table's rows are of two kinds. Of code it is one that
# axe-core compares: in sight, and of two characters or more.
ALIKE = """() => {
    const seen = new Set();
    const own = at => [at.tagName, at.className, at.getAttribute("style"), at.tagName === "TR" && at.rowIndex % 2];
    const path = at => at ? `${path(at.parentElement)}/${own(at)}` : "";
    const look = (piece, { color, fontSize, fontWeight }) => [path(piece), color, fontSize, fontWeight].join();
    const right = element => element.getBoundingClientRect().right;
    const first = piece => {
        const already = piece.textContent.trim().length < 2 || seen.has(look(piece, getComputedStyle(piece)));
        return !already && seen.add(look(piece, getComputedStyle(piece)));
    };
    const leaves = [...document.querySelectorAll("article *, pre *")].filter(piece => !piece.childElementCount);
    const shown = leaves.filter(piece => piece.textContent && piece.checkVisibility() && !piece.closest("svg"));
    const inSight = shown.filter(piece => !piece.closest("pre") || right(piece) <= right(piece.closest("pre")));
    window.repeated = inSight.filter(piece => !first(piece));
    window.repeated.forEach(piece => piece.style.visibility = "hidden");
}"""
WHOLE = "() => window.repeated.forEach(piece => piece.style.visibility = '')"

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::ResourceWarning")]


def opened(browser: Browser, address: str) -> Page:
    """A page, loaded to its end; `page.noise` has what the browser complains of."""
    page = browser.new_context(viewport={"width": 1400, "height": 900}, reduced_motion="reduce").new_page()
    page.noise = []
    page.on("console", lambda said: said.type == "error" and page.noise.append(said.text))
    page.on("pageerror", lambda error: page.noise.append(str(error)))
    page.on("requestfailed", lambda request: page.noise.append(f"failed: {request.url}"))
    page.on("request", lambda request: request.url.startswith(("file:", "data:", "blob:")) or page.noise.append(request.url))
    page.goto(address)
    page.wait_for_load_state("networkidle")
    return page


@pytest.fixture(scope="module", params=PAGES)
def page(browser: Browser, book: Path, request: pytest.FixtureRequest) -> Iterator[Page]:
    """Each page of the book, loaded once for the tests that only look at it."""
    page = opened(browser, (book / f"{request.param}.html").as_uri())
    yield page
    page.context.close()


@pytest.fixture
def visit(browser: Browser, book: Path) -> Iterator[Callable[[str], Page]]:
    """`visit(name)` opens a page for a test that does something to it."""
    pages: list[Page] = []

    def visited(name: str) -> Page:
        pages.append(opened(browser, (book / f"{name}.html").as_uri()))
        return pages[-1]

    yield visited
    for page in pages:
        page.context.close()


def axe(page: Page) -> list[str]:
    """What axe-core finds on the page, by rule and place."""
    package = importlib.util.find_spec("axe_playwright_python")
    assert package and package.origin, "axe-playwright-python is not installed: make test"
    page.add_script_tag(path=Path(package.origin).with_name("axe.min.js"))
    found = _violations(page, rules={**UNJUDGED, "color-contrast": {"enabled": False}})
    page.evaluate(ALIKE)
    found += _violations(page, runOnly=["color-contrast"])
    page.evaluate(WHOLE)
    return [
        f"{violation['id']}: {' '.join(map(str, node['target']))}: {node['failureSummary'].splitlines()[-1].strip()}"
        for violation in found
        for node in violation["nodes"]
    ]


def _violations(page: Page, **options: object) -> list[dict[str, Any]]:
    return page.evaluate(f"axe.run(document, {json.dumps({**options, 'resultTypes': ['violations']})})")["violations"]


def test_page_loads_quietly(page: Page) -> None:
    """No error in the console, no failed request, and no request to another host."""
    assert page.noise == []


@pytest.mark.parametrize("width", WIDTHS)
def test_page_does_not_scroll_sideways(page: Page, width: int) -> None:
    """The page is as wide as the window; wide code scrolls inside its own box."""
    resized(page, width, 900)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("page", JUDGED, indirect=True)
@pytest.mark.parametrize("mode", MODES)
def test_page_is_accessible(page: Page, mode: str) -> None:
    """axe-core finds nothing: contrast in either mode, words for pictures, names for links, headings in order."""
    page.emulate_media(color_scheme=mode)
    page.wait_for_function(f"document.documentElement.dataset.theme === '{mode}'")
    page.add_style_tag(content="* { transition: none !important; animation: none !important; }")
    page.evaluate("document.querySelectorAll('details').forEach(details => details.open = true)")
    assert axe(page) == []


def test_mode_can_be_chosen(visit: Callable[[str], Page]) -> None:
    """The button changes between light and dark, against what the system wants."""
    page = visit("intro")
    seen = set()
    for _ in range(3):
        page.locator("button.theme-switch-button:visible").first.click()
        seen.add(page.evaluate("document.documentElement.dataset.theme"))
        assert page.locator("button.theme-switch-button svg:visible").count() == 1
    assert seen == {"light", "dark"}


def test_first_page_is_light(visit: Callable[[str], Page]) -> None:
    """Without pictures it is below 300 kB as a server sends it, and it asks for no script of formulas, icons or search."""
    page = visit("intro")
    paths: set[Path] = set()
    page.on("request", lambda request: paths.add(Path(unquote(urlsplit(request.url).path))))
    page.reload(wait_until="networkidle")
    sent = {path.name: len(path.read_bytes() if path.suffix == ".woff2" else gzip.compress(path.read_bytes()))
            for path in paths if path.suffix not in (".png", ".svg")}  # fmt: skip
    assert sum(sent.values()) < 300_000, sent
    assert {"intro.html", "course.css", "bootstrap.js"} <= set(sent)
    assert not {"fontawesome.js", "search.js", "minisearch.js", "playground.js"} & set(sent)


QUERIES = {
    "psum": ("notebooks/07_", "notebooks/08_"),
    "out of memory": ("messages.html#out-of-memory", "practices.html", "notebooks/11_"),
    "OOM": ("messages.html#out-of-memory", "practices.html", "notebooks/11_"),
    "why is my gradient all-reduced": ("notebooks/10_", "practices.html"),
    "pjit": ("old_to_new.html",),
    "pmap": ("old_to_new.html",),
    "KV cache": ("notebooks/16_serving.html", "glossary.html#term-KV-cache"),
    "how do I start": ("notebooks/00_", "intro.html"),
    "GPU": ("notebooks/", "practices.html", "glossary.html"),
    "4.2": ("notebooks/04_four_matmul_cases.html#exercise-4-2",),
    "reduce-scatter": ("glossary.html#term-reduce-scatter",),
    "mesh axis": ("glossary.html#term-mesh-axis",),
    "hangs": ("practices.html",),
    "all-gather where I did not ask": ("practices.html",),
    "nan on one device": ("practices.html",),
    "unbound axis": ("messages.html#unbound-axis", "practices.html"),
    "donation": ("notebooks/11_", "practices.html"),
    "ring": ("notebooks/08_", "notebooks/02_"),
    "pipeline": ("notebooks/15_",),
    "check_vma": ("notebooks/07_",),
    "PyTorch": ("from_pytorch.html",),
    "DTensor": ("from_pytorch.html#dtensor",),
    "DDP": ("from_pytorch.html#ddp",),
    "FSDP2": ("from_pytorch.html#fsdp2",),
}
"""What people ask, and where the first thing found may lead."""
TEX = re.compile(r"\\\(.*\\\)")


@pytest.mark.parametrize("asked", QUERIES)
def test_search_leads_to_the_section(visit: Callable[[str], Page], asked: str) -> None:
    """From a file: the first thing found is where it is explained, by its section; no solution, hint or TeX is shown."""
    page = visit("search")
    page.goto(f"{page.url}?q={asked}")
    page.locator("ul.search > li").first.wait_for()
    links = page.eval_on_selector_all("ul.search > li > a", "links => links.map(a => a.getAttribute('href'))")
    assert links[0].startswith(QUERIES[asked]), links[:5]
    assert all("#" in href and not href.startswith("solutions/") for href in links)
    shown = page.eval_on_selector_all("ul.search p.context", "lines => lines.map(line => line.textContent)")
    assert all(len(said) < 245 and not TEX.search(said) and "Hint 1" not in said for said in shown), shown
    assert page.noise == []


def test_search_opens_by_keyboard(visit: Callable[[str], Page]) -> None:
    """Ctrl-K opens the search field, and what is typed goes into it."""
    page = visit("intro")
    page.keyboard.press("Control+k")
    page.keyboard.type("all-gather")
    assert page.locator("input[type=search]:focus").input_value() == "all-gather"


def test_first_tab_skips_to_the_text(visit: Callable[[str], Page]) -> None:
    """Who uses the keyboard can pass over the contents."""
    page = visit(f"notebooks/{NAMES[0]}")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.getAttribute('href')") == "#main-content"


@pytest.mark.parametrize("name", NAMES)
def test_hints_are_folded_and_open(visit: Callable[[str], Page], name: str) -> None:
    """Each exercise has three hints, all folded; a click and the keyboard both open one."""
    page = visit(f"notebooks/{name}")
    page.locator("details.fold").evaluate_all("folds => folds.forEach(fold => fold.open = true)")
    hints = page.locator("details.hint")
    assert hints.count() > 0
    assert hints.count() % 3 == 0
    assert page.locator("details.hint[open]").count() == 0
    hints.nth(0).locator("summary").click()
    hints.nth(1).locator("summary").focus()
    page.keyboard.press("Enter")
    assert page.locator("details.hint[open]").count() == 2
    assert hints.nth(1).locator(".sd-card-body").is_visible()


def test_mathematics_is_set(visit: Callable[[str], Page]) -> None:
    """Formulas are elements that the browser draws, and not left as TeX."""
    name = next(name for name in NAMES if "$" in (ROOT / "notebooks" / "myst" / f"{name}.md").read_text())
    page = visit(f"notebooks/{name}")
    assert page.locator(".math > math").count() == page.locator(".math").count() > 0
    assert not set("$\\") & set(page.locator(".math").first.inner_text())


def test_terms_are_linked_with_their_definition(visit: Callable[[str], Page]) -> None:
    """The first mention of a term leads to the glossary, and its definition can be read in passing."""
    page = visit(f"notebooks/{NAMES[0]}")
    term = page.locator("a.term", has_text="mesh").first
    assert (term.get_attribute("title") or "").startswith("An array of devices")
    term.click()
    assert page.url.endswith("glossary.html#term-mesh")


def test_page_prints(visit: Callable[[str], Page]) -> None:
    """On paper there is text, and none of the frame around it."""
    page = visit(f"notebooks/{NAMES[0]}")
    page.emulate_media(media="print")
    assert page.locator("h1:visible").count() == 1
    assert not page.locator(".bd-sidebar-primary").is_visible()
    assert not page.locator(".doors").first.is_visible()
    assert page.locator("details.hint").count() > 0 and page.locator("details.hint:visible").count() == 0
    resized(page, 700, 900)  # of A4 between its margins
    boxes = page.eval_on_selector_all("article :is(pre, div)", "all => all.map(box => getComputedStyle(box).overflow)")
    assert {*boxes} <= {"visible", "hidden"} and len(boxes) > 20
    assert len(page.pdf()) > 50_000
