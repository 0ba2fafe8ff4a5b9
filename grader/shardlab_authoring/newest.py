"""The course on other versions than those it is pinned to: what passes, and what differs.

Run as `python -m shardlab_authoring.newest` at the root of the repository, by the Python of an environment with those
versions (`make test-newest`). What it finds is kept in `jupyter_book/newest.json`, which the book's status page shows.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
import platform
import re
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from nbclient.exceptions import CellExecutionError

from shardlab_authoring import executed
from shardlab_course.checking import progress_file
from shardlab_course.editions import edition, header, numbers

KEPT = pathlib.Path("jupyter_book", "newest.json")
FOLDER = pathlib.Path("build", "newest")
# Of the repository rather than of the helper: the grader, the book, the browser, and what compares committed files.
NOT_THE_HELPER = (
    "book",
    "doors",
    "grader",
    "hostile",
    "lab",
    "test_course.py",
    "test_distribution.py",
    "test_packaging.py",
    "test_prose.py",
    "test_publishing.py",
)
WHY: dict[str, str] = {}
"""Why a test comes out otherwise, where somebody has found out."""
COUNTED = re.compile(r"(\d+) (passed|failed|skipped|error)")


@dataclasses.dataclass(frozen=True)
class Chapter:
    """How a chapter's solution ran.

    The error that stopped it, the numbers in its prose that came out otherwise, and the exercises whose checks did not pass.
    """

    name: str
    error: str = ""
    numbers: tuple[str, ...] = ()
    unpassed: tuple[str, ...] = ()


def test(arguments: Sequence[str]) -> tuple[dict[str, int], list[str]]:
    """How many of the helper's tests passed, failed and were skipped, and those that failed."""
    ignored = [f"--ignore=tests/{name}" for name in NOT_THE_HELPER]
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", *ignored, *arguments]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    lines = ran.stdout.splitlines()
    failed = [line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return {word: int(count) for count, word in COUNTED.findall(lines[-1] if lines else "")}, failed


def chapters(root: pathlib.Path, folder: pathlib.Path) -> list[Chapter]:
    """Every solution, run from top to bottom."""
    folder.mkdir(parents=True, exist_ok=True)
    given = header.syllabus(root)
    return [_chapter(path, given, folder) for path in edition.chapters(root)]


def _chapter(path: pathlib.Path, given: header.Syllabus, folder: pathlib.Path) -> Chapter:
    (folder / progress_file.NAME).unlink(missing_ok=True)
    try:
        _, texts = executed.run(path, given, folder)
    except CellExecutionError as error:
        return Chapter(path.stem, f"{error.ename}: {error.evalue}".splitlines()[0])
    kept = numbers.load(path)
    differing = [
        f"{{{{ {expression} }}}} is {', '.join(told)} instead of {', '.join(kept.get(expression, []))}"
        for expression, told in texts.items()
        if list(told) != kept.get(expression) and _here(numbers.said_of(expression))
    ]
    return Chapter(path.stem, "", tuple(differing), tuple(_unpassed(path.stem[:2], given, folder / progress_file.NAME)))


def _here(version: str) -> bool:
    """Whether a sentence about this version of JAX, empty for all, is about the one that runs."""
    return f"{versions()['jax']}.".startswith(f"{version}." if version else "")


def _unpassed(chapter: str, given: header.Syllabus, path: pathlib.Path) -> list[str]:
    """The chapter's exercises that the progress file does not call passed."""
    checked: dict[str, Any] = json.loads(path.read_text())["questions"] if path.exists() else {}
    asked = [name for name in given.questions if int(name.split(".")[0]) == int(chapter)]
    return [name for name in asked if checked.get(name, {}).get("status") != "passed"]


def versions() -> dict[str, str]:
    """What this runs on."""
    import jax
    import numpy

    return {"python": platform.python_version(), "jax": jax.__version__, "numpy": numpy.__version__}


def main(arguments: Sequence[str]) -> int:
    """Run everything, keep what was found, and say it; 1 if something differs that did not before."""
    root = pathlib.Path.cwd()
    known: dict[str, Any] = json.loads(KEPT.read_text()) if KEPT.exists() else {"failed": {}, "chapters": []}
    counts, failed = test(arguments)
    ran = chapters(root, FOLDER)
    found = {
        "date": datetime.date.today().isoformat(),
        "versions": versions(),
        "tests": counts,
        "failed": {name: WHY.get(name, "") for name in failed},
        "chapters": [dataclasses.asdict(chapter) for chapter in ran],
    }
    KEPT.write_text(json.dumps(found, indent=1) + "\n")
    before = {*known["failed"], *(chapter["name"] for chapter in known["chapters"] if chapter["error"])}
    new = [name for name in [*failed, *(c.name for c in ran if c.error)] if name not in before]
    print(", ".join(f"{name} {version}" for name, version in versions().items()))
    print(", ".join(f"{count} tests {word}" for word, count in counts.items()), *failed, sep="\n  ")
    for chapter in ran:
        print(f"{chapter.name}: {chapter.error or 'ran'}", *chapter.numbers, *chapter.unpassed, sep="\n  ")
    print("new: " + ", ".join(new) if new else f"nothing that {KEPT} did not list before.")
    return int(bool(new))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
