"""JupyterLab as `make lab` starts it, and Debian's Chromium to open it with."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

ROOT = Path(__file__).parents[2]
TOKEN = "for-this-test-only"
START_SECONDS = 180
Open = Callable[[str], Page]


@contextlib.contextmanager
def lab(folder: Path, *settings: str) -> Iterator[str]:
    """The address of a JupyterLab that serves a folder; it and its kernels are ended afterwards."""
    rooted = ["--allow-root"] if os.geteuid() == 0 else []
    command = [
        sys.executable, "-m", "jupyterlab", "--no-browser", "--port=0", f"--IdentityProvider.token={TOKEN}", *rooted,
        f"--ServerApp.root_dir={folder}", "--LabApp.expose_app_in_browser=True", *settings,
        f"--LabApp.workspaces_dir={folder.parent / 'workspaces'}",  # else the tabs of an earlier test are opened again
    ]  # fmt: skip
    with (folder.parent / "jupyterlab.log").open("w+") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            yield _address(server, Path(log.name))
        finally:
            _end(server)


def _end(server: subprocess.Popen[bytes]) -> None:
    """Ask the server and its kernels to end, and end them if the machine is too busy for that."""
    os.killpg(server.pid, signal.SIGTERM)
    try:
        server.wait(60)
    except subprocess.TimeoutExpired:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()


def _address(server: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end and server.poll() is None:
        found = re.search(r"(http://(?:127\.0\.0\.1|localhost):\d+)/lab", log.read_text())
        with contextlib.suppress(OSError):
            if found and urllib.request.urlopen(f"{found[1]}/api?token={TOKEN}").status == 200:
                return found[1]
        time.sleep(0.2)
    raise AssertionError(f"JupyterLab did not start:\n{log.read_text()}")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Chromium without a window; its absence is a failure."""
    chromium = shutil.which("chromium")
    assert chromium, "there is no chromium: apt-get install chromium (make test does this when run by root)"
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-quic"])
        yield started
        started.close()


@pytest.fixture
def course(tmp_path: Path) -> Path:
    """The student editions in a folder of their own."""
    return Path(shutil.copytree(ROOT / "notebooks", tmp_path / "notebooks", ignore=shutil.ignore_patterns(".*")))


@pytest.fixture
def opened(browser: Browser, course: Path) -> Iterator[Open]:
    """A function that opens an address of JupyterLab in a page and waits until its kernel is idle."""
    with lab(course) as address:

        def open_page(path: str) -> Page:
            page = browser.new_context(viewport={"width": 1400, "height": 1000}).new_page()
            page.set_default_timeout(90_000)
            page.goto(f"{address}/{path}?token={TOKEN}")
            return page

        yield open_page
