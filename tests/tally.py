"""The closing line of a suite that ran in parts: `python tests/tally.py FOLDER STARTED`, from pytest's own reports."""

from __future__ import annotations

import collections
import pathlib
import sys
import time
from xml.etree import ElementTree


def counted(folder: pathlib.Path) -> collections.Counter[str]:
    """How many tests passed, failed and were skipped, over all reports in a folder; an error is a failure."""
    found: collections.Counter[str] = collections.Counter(passed=0, failed=0, skipped=0)
    for path in folder.glob("*.xml"):
        for suite in ElementTree.parse(path).getroot().iter("testsuite"):
            tests, failed, skipped = int(suite.attrib["tests"]), 0, int(suite.attrib["skipped"])
            failed = int(suite.attrib["failures"]) + int(suite.attrib["errors"])
            found += collections.Counter(passed=tests - failed - skipped, failed=failed, skipped=skipped)
    return found


def main(folder: pathlib.Path, started: float) -> int:
    """Say it; 1 if a test failed or none ran."""
    found = counted(folder)
    minutes, seconds = divmod(round(time.time() - started), 60)
    print(f"make {'test-all' if folder.name == 'all' else folder.name} took {minutes} min {seconds} s")
    print(", ".join(f"{found[word]} {word}" for word in ("passed", "failed", "skipped")))
    return int(found["failed"] > 0 or not found["passed"])


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1]), float(sys.argv[2])))
