"""The book, built once for all tests that look at it."""

import functools
import http.server
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
FIRST = "notebooks/01_meshes_and_shardings"
CHAPTER = "notebooks/04_four_matmul_cases"
SOLUTIONS = "solutions/04_four_matmul_cases"


def pytest_itemcollected(item: pytest.Item) -> None:
    """What looks at the whole book is thorough: rendering it takes minutes."""
    if "book" in getattr(item, "fixturenames", ()):
        item.add_marker(pytest.mark.thorough)


@pytest.fixture(scope="session")
def book() -> Path:
    """The folder of the rendered pages; Jupyter Book runs every chapter whose outputs are not kept from before."""
    done = subprocess.run([sys.executable, ROOT / "jupyter_book" / "render.py"], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-6000:]
    return ROOT / "build" / "book" / "_build" / "html"


@pytest.fixture(scope="session")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a few rendered pages, for tests that need no others; what the tests have run is not run again."""
    sys.path.insert(0, str(ROOT / "jupyter_book"))
    import render

    folder = tmp_path_factory.mktemp("few")
    render.reuse(folder / render.CACHE)
    render.collect(folder / "pages", cache=folder / render.CACHE)
    found = [{"file": name} for name in (FIRST, CHAPTER, SOLUTIONS, "playground")]
    contents = {"format": "jb-book", "root": "intro", "chapters": found}
    (folder / "pages" / "_toc.yml").write_text(yaml.safe_dump(contents))
    command = [sys.executable, "-c", render.JUPYTER_BOOK, "build", ".", "--path-output", str(folder)]
    done = subprocess.run(command, cwd=folder / "pages", capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return folder / "_build" / "html"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; its absence is a failure."""
    chromium = shutil.which("chromium")
    assert chromium, "there is no chromium: apt-get install chromium (make test does this when run by root)"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        yield started
        started.close()


def resized(page: Page, width: int, height: int) -> None:
    """Give the window another size, and wait until the page has it: chromium may answer before that."""
    page.set_viewport_size({"width": width, "height": height})
    page.wait_for_function(f"innerWidth === {width} && document.documentElement.clientWidth <= {width}")


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A server of files that says nothing."""

    def log_message(self, *_: Any) -> None:
        """Nothing."""


@pytest.fixture(scope="module")
def site(book: Path) -> Iterator[str]:
    """The address of the book on a server of this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=str(book)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}/"
    server.shutdown()
    server.server_close()
