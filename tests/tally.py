"""The closing line of a suite that ran in parts, from pytest's reports: `python tests/tally.py FOLDER STARTED [SHARE]`."""

from __future__ import annotations

import collections
import pathlib
import sys
import time
from xml.etree import ElementTree


def suites(path: pathlib.Path) -> list[ElementTree.Element]:
    """What a report holds, which is one suite."""
    return list(ElementTree.parse(path).getroot().iter("testsuite"))


def counted(folder: pathlib.Path) -> collections.Counter[str]:
    """How many tests passed, failed and were skipped, over all reports in a folder; an error is a failure."""
    found: collections.Counter[str] = collections.Counter(passed=0, failed=0, skipped=0)
    for suite in (suite for path in folder.glob("*.xml") for suite in suites(path)):
        tests, skipped = int(suite.attrib["tests"]), int(suite.attrib["skipped"])
        failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
        found += collections.Counter(passed=tests - failed - skipped, failed=failed, skipped=skipped)
    return found


def parts(folder: pathlib.Path) -> str:
    """How many seconds each part's tests took, the slowest first."""
    seconds = {path.stem: round(sum(float(suite.attrib["time"]) for suite in suites(path))) for path in folder.glob("*.xml")}
    return ", ".join(f"{name} {seconds[name]} s" for name in sorted(seconds, key=lambda name: (-seconds[name], name)))


def main(folder: pathlib.Path, started: float, share: str = "") -> int:
    """Say it; 1 if a test failed or none ran."""
    found = counted(folder)
    minutes, seconds = divmod(round(time.time() - started), 60)
    command = ("test-all" if folder.name == "all" else folder.name) + (share and f" SHARE={share}")
    print(f"make {command} took {minutes} min {seconds} s")
    print(", ".join(f"{found[word]} {word}" for word in ("passed", "failed", "skipped")))
    print(f"of its parts, three at a time: {parts(folder)}")
    return int(found["failed"] > 0 or not found["passed"])


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), float(sys.argv[2]), *sys.argv[3:]))
