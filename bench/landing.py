"""How soon the book's first page is ready on a slow machine: Chromium, its processor slowed four times, pages from a file.

    python bench/landing.py build/book/_build/html                           prints it
    python bench/landing.py build/book/_build/html --write build/bench.json  also keeps the figure

Ready means that it is laid out, that its scripts have run, and that no task of more than 50 ms comes after, as Lighthouse
counts it. The ratio is the median of the times to two seconds. Nothing is kept from one visit to the next.
"""

from __future__ import annotations

import argparse
import pathlib
import shutil
import statistics
from typing import Any

from entries import keep
from playwright.sync_api import Browser, sync_playwright

BUDGET, SLOWED = 2.0, 4
"""Seconds, and how many times slower the processor is than it is."""
WATCH = "window.last = 0; new PerformanceObserver(list => list.getEntries().forEach(task => " \
        "window.last = task.startTime + task.duration)).observe({type: 'longtask', buffered: true})"  # fmt: skip
READY = "Math.max(performance.getEntriesByType('navigation')[0].loadEventEnd, window.last) / 1000"


def seconds(browser: Browser, address: str) -> float:
    """From the click to the end of the last long task, or to the end of loading."""
    page = browser.new_context().new_page()
    page.add_init_script(WATCH)
    page.context.new_cdp_session(page).send("Emulation.setCPUThrottlingRate", {"rate": SLOWED})
    page.goto(address)
    page.wait_for_load_state("networkidle")
    page.wait_for_timeout(1500)
    found: float = page.evaluate(READY)
    page.context.close()
    return found


def entry(times: list[float]) -> dict[str, Any]:
    """The figure as the status page reads it; the interval has all visits."""
    ratios = sorted(time / BUDGET for time in times)
    return {
        "name": "landing",
        "ratio": statistics.median(ratios),
        "interval": [ratios[0], ratios[-1]],
        "interval_is": "all",
        "compared": f"first page ready, processor slowed {SLOWED} times : {BUDGET:g} s",
        "most": 1,
        "repeats": len(times),
    }


def main() -> None:
    """Visit the page and say how long it took."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("book", type=pathlib.Path)
    parser.add_argument("--repeats", type=int, default=9)
    parser.add_argument("--write", type=pathlib.Path)
    arguments = parser.parse_args()
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"), args=["--no-sandbox"])
        address = (arguments.book / "intro.html").resolve().as_uri()
        times = [seconds(browser, address) for _ in range(arguments.repeats)]
        browser.close()
    print(f"ready after {statistics.median(times):.2f} s, {min(times):.2f} to {max(times):.2f} s in {len(times)} visits")
    if arguments.write:
        keep([entry(times)], arguments.write)


if __name__ == "__main__":
    main()
