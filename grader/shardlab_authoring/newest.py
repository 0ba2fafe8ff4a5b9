"""The course on other versions than those it is pinned to: what passes, and what differs.

Run as `python -m shardlab_authoring.newest [PART...]` at the root of the repository, by the Python of an environment with
those versions (`make test-newest`). Each part's findings lie in `build/newest/`, beside what pytest said. Once all parts
have run on the same files and versions, at once or one by one, they make up `jupyter_book/newest.json`, which the book's
status page shows.
"""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import datetime
import hashlib
import json
import pathlib
import platform
import re
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
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
    "test_distribution.py",
    "test_packaging.py",
    "test_prose.py",
    "test_publishing.py",
)
NAMED = {"answers": ("test_answers.py",), "judge": ("judge", "test_claims.py", "test_course.py")}
CHAPTERS = "chapters"
AT_ONCE = 2
SOURCES = ("src", "grader", "solutions", "tests", "notebooks", "pyproject.toml")
COUNTED = re.compile(r"(\d+) (passed|failed|skipped|error)")
SKIPPED = re.compile(r"SKIPPED \[(\d+)\] \S+: (.+)")


@dataclasses.dataclass(frozen=True)
class Chapter:
    """How a chapter's solution ran.

    The error that stopped it, the numbers in its prose that came out otherwise, and the exercises whose checks did not pass.
    """

    name: str
    error: str = ""
    numbers: tuple[str, ...] = ()
    unpassed: tuple[str, ...] = ()


def parts(root: pathlib.Path) -> dict[str, list[str]]:
    """What each part hands to pytest: all tests of helper, judge and course, each in one part; the chapters hand nothing."""
    held = {name: [f"tests/{given}" for given in files] for name, files in NAMED.items()}
    taken = {*NOT_THE_HELPER, *(given for files in NAMED.values() for given in files)}
    others = sorted(
        path.relative_to(root).as_posix()
        for path in (root / "tests").rglob("test_*.py")
        if path.relative_to(root / "tests").parts[0] not in taken
    )
    return {**held, "helper-0": others[::2], "helper-1": others[1::2], CHAPTERS: []}


def test(name: str, given: Sequence[str]) -> dict[str, Any]:
    """How many of a part's tests passed, failed and were skipped; those that failed; and why others were skipped."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *given]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    (FOLDER / f"{name}.log").write_text(ran.stdout)
    lines = ran.stdout.splitlines()
    failed = [line.split(" ")[1] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    if ran.returncode not in (0, 1) or (ran.returncode and not failed):
        failed.append(f"{name}: pytest ended with {ran.returncode}")
    skipped: collections.Counter[str] = collections.Counter()
    for match in filter(None, map(SKIPPED.match, lines)):
        skipped[match[2]] += int(match[1])
    counts = {word: int(count) for count, word in COUNTED.findall(lines[-1] if lines else "")}
    return {"tests": counts, "failed": failed, "skipped": dict(skipped), "chapters": []}


def chapters(root: pathlib.Path, folder: pathlib.Path) -> list[Chapter]:
    """Every solution, run from top to bottom."""
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


def sources(root: pathlib.Path) -> str:
    """A hash of all files that the outcome depends on."""
    found = hashlib.sha256()
    for top in (root / name for name in SOURCES):
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and not {"__pycache__", ".ipynb_checkpoints"}.intersection(path.parts):
                found.update(f"{path.relative_to(root)}\0{hashlib.sha256(path.read_bytes()).hexdigest()}\n".encode())
    return found.hexdigest()[:16]


def run(name: str, root: pathlib.Path) -> None:
    """Run a part, and keep what was found with the files and versions that it was found on."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    (FOLDER / f"{name}.json").unlink(missing_ok=True)
    about = {"date": datetime.date.today().isoformat(), "versions": versions(), "sources": sources(root)}
    if name == CHAPTERS:
        ran = [dataclasses.asdict(chapter) for chapter in chapters(root, FOLDER)]
        found: dict[str, Any] = {"tests": {}, "failed": [], "skipped": {}, "chapters": ran}
    else:
        found = test(name, parts(root)[name])
    (FOLDER / f"{name}.json").write_text(json.dumps(about | found, indent=1) + "\n")


def composed(found: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """All parts as one finding, of the day on which the first of them ran."""
    each = list(found)
    added: dict[str, collections.Counter[str]] = {
        field: sum((collections.Counter(one[field]) for one in each), collections.Counter())
        for field in ("tests", "skipped")
    }
    return {
        "date": min(one["date"] for one in each),
        "versions": each[0]["versions"],
        "tests": dict(added["tests"]),
        "failed": [name for one in each for name in one["failed"]],
        "skipped": dict(sorted(added["skipped"].items())),
        "chapters": [chapter for one in each for chapter in one["chapters"]],
    }


def missing(found: Mapping[str, Mapping[str, Any]], root: pathlib.Path) -> list[str]:
    """The parts that have not run on the files and versions that are here."""
    here = (versions(), sources(root))
    return [name for name in parts(root) if name not in found or (found[name]["versions"], found[name]["sources"]) != here]


def report(found: Mapping[str, Any]) -> bool:
    """Say what was found; whether all is as on the pinned versions."""
    print(", ".join(f"{name} {version}" for name, version in found["versions"].items()))
    print(", ".join(f"{count} tests {word}" for word, count in found["tests"].items()), *found["failed"], sep="\n  ")
    for chapter in found["chapters"]:
        print(f"{chapter['name']}: {chapter['error'] or 'ran'}", *chapter["numbers"], *chapter["unpassed"], sep="\n  ")
    return not found["failed"] and not any(one["error"] or one["numbers"] or one["unpassed"] for one in found["chapters"])


def main(arguments: Sequence[str]) -> int:
    """Run the parts, or all of them two at a time; 1 if anything differs. All together are kept for the book."""
    root = pathlib.Path.cwd()
    if unknown := {*arguments} - {*parts(root)}:
        print(f"There is no part {', '.join(sorted(unknown))}.\n  mend:  choose of {', '.join(parts(root))}.")
        return 2
    if len(arguments) == 1:
        run(arguments[0], root)
    else:
        command = [sys.executable, "-m", "shardlab_authoring.newest"]
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            list(
                pool.map(lambda name: subprocess.run([*command, name], stdout=subprocess.DEVNULL), arguments or parts(root))
            )
    found = {path.stem: json.loads(path.read_text()) for path in FOLDER.glob("*.json") if path.stem in parts(root)}
    absent = missing(found, root)
    now = composed(one for name, one in found.items() if name in (arguments or parts(root)))
    same = report(now)
    if absent:
        print(f"{KEPT} is left as it is. Not run on these files and versions: {', '.join(absent)}.")
        return int(not same or bool({*absent}.intersection(arguments or parts(root))))
    KEPT.write_text(json.dumps(composed(found[name] for name in parts(root)), indent=1) + "\n")
    return int(not same)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
