"""The newest version of everything, JAX among them, taken up in every lane, and what has changed by it.

Run as `python -m shardlab_tools.newer` at the root of the repository (`make newer`). It renews `constraints.txt`, has
each lane's Python measure what the references cost and run every solution and the tests of claims, and writes the notebooks
anew. What it says lies in `build/newer/` as well, a file for each lane. Nothing that differs is decided here: numbers in
prose stay as they were, and 1 is the exit status.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import pathlib
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from nbclient.exceptions import CellExecutionError

from shardlab.errors import ShardlabError
from shardlab_authoring import executed, fronts, lanes, packaged
from shardlab_course.checking import progress_file
from shardlab_course.editions import edition, header, numbers

FOLDER = pathlib.Path("build", "newer")
BEFORE = FOLDER / "before"
MEASURED = ("references.json", "fronts.json")
TESTED = ("tests/test_coming.py", "tests/test_claims.py", "tests/judge", "tests/test_clinic.py")
"""What a new JAX makes untrue first: names that it takes away, claims of the course, and what the judge says."""


def moved(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Each package whose version is another one."""
    names = sorted({*before, *after})
    return [f"{n}: {before.get(n, 'none')} -> {after.get(n, 'none')}" for n in names if before.get(n) != after.get(n)]


def costs_moved(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Each reference that costs something else, by what it costs."""
    return [f"{key}: {before[key]} -> {now}" for key, now in after.items() if key in before and before[key] != now]


def references(root: pathlib.Path, before: pathlib.Path) -> Iterator[str]:
    """Measure the references and fronts again; which cost something else than on the JAX that this lane had before.

    Args:
        before: a folder with the files as they were.
    """
    packaged.main([])
    fronts.main()
    was, now = lanes.jax_of(before, platform.python_version()), importlib.metadata.version("jax")
    for path in measured(root):
        old, new = json.loads((before / path).read_text()), json.loads((root / path).read_text())
        then, today = (one.get("facts", one).get(jax, {}) for one, jax in ((old, was), (new, now)))
        yield from (f"{path.parent.name}/{line}" for line in costs_moved(then, today))


def measured(root: pathlib.Path) -> list[pathlib.Path]:
    """The files, below the root, that hold what references and designs cost on each lane."""
    home = root / packaged.FOLDER
    return sorted(path.relative_to(root) for name in MEASURED for path in home.glob(f"*/{name}"))


def chapter(path: pathlib.Path, given: header.Syllabus) -> Iterator[str]:
    """Run a solution: what stopped it, which numbers of its prose are others, and which exercises do not pass."""
    progress = FOLDER / progress_file.NAME
    progress.unlink(missing_ok=True)
    try:
        _, texts = executed.run(path, given, FOLDER)
        numbers.compare(path, texts)
    except (CellExecutionError, ShardlabError) as error:
        yield str(error)
    checked: dict[str, Any] = json.loads(progress.read_text())["questions"] if progress.exists() else {}
    for question in (name for name in given.questions if int(name.split(".")[0]) == int(path.stem[:2])):
        if checked.get(question, {}).get("status") != "passed":
            yield f"exercise {question} does not pass"


def tests() -> Iterator[str]:
    """Which tests fail of those that a new JAX concerns first."""
    command = [sys.executable, "-m", "pytest", "-q", *TESTED]
    ran = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    failed = [line for line in ran.stdout.splitlines() if line.startswith(("FAILED ", "ERROR "))]
    yield from failed or [f"pytest ended with {ran.returncode}:\n{ran.stdout}"] * bool(ran.returncode)


def lane(root: pathlib.Path, before: pathlib.Path) -> Iterator[tuple[str, list[str]]]:
    """All that differs on the Python that runs, part by part."""
    yield "what references cost", list(references(root, before))
    given = header.syllabus(root)
    for path in edition.chapters(root):
        yield path.stem, list(chapter(path, given))
    yield "tests", list(tests())


def say(found: Iterator[tuple[str, list[str]]], path: pathlib.Path) -> bool:
    """Print what was found, part by part, and write it into a file; whether nothing was."""
    same = True
    with path.open("w") as file:
        for part, lines in found:
            same = same and not lines
            text = "\n".join(
                [f"{part}: {f'{len(lines)} differ' if lines else 'nothing differs'}", *(f"  {line}" for line in lines)]
            )
            print(text, flush=True)
            file.write(f"{text}\n")
    return same


def here(before: pathlib.Path) -> int:
    """Look at the lane of the Python that runs; 1 if anything differs."""
    root, python = pathlib.Path.cwd(), platform.python_version()
    old, new = (lanes.jax_of(home, python) for home in (before, root))
    print(f"Python {python}, JAX {new}, which was {old}")
    return int(not say(lane(root, before), FOLDER / f"{new}.txt"))


def everywhere() -> int:
    """Renew the pins, and look at one Python of each lane; 1 if anything differs, or a lane has no Python here."""
    root, old = pathlib.Path.cwd(), lanes.CONSTRAINTS.read_text()
    for path in (lanes.CONSTRAINTS, *measured(root)):
        (BEFORE / path).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, BEFORE / path)
    subprocess.run(["make", "--no-print-directory", "constraints", "UPGRADE=--upgrade"], check=True)
    subprocess.run([sys.executable, "-m", "shardlab_course.editions.edition"], check=True)
    found, codes = lanes.pythons(), []
    for jax in lanes.known(root):
        version = next((version for version in found if lanes.jax_of(root, version) == jax), "")
        if not version:
            print(f"JAX {jax}: no Python of this lane is here.\n  mend:  install one, and run `make newer` again.")
            codes.append(1)
            continue
        changes = moved(*(lanes.pins(text, version) for text in (old, lanes.CONSTRAINTS.read_text())))
        print(f"Python {version}: {len(changes)} pins changed", *changes, sep="\n  ", flush=True)
        made = ["make", "--no-print-directory", f"PYTHON={found[version]}", "newer-here", f"BEFORE={BEFORE}"]
        codes.append(subprocess.run(made).returncode)
    return int(any(codes))


def main(arguments: Sequence[str]) -> int:
    """Take up what is newest, or look at one lane; the exit status."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("--here", metavar="FOLDER", type=pathlib.Path, help="this lane alone, against the files in a folder")
    before = parser.parse_args(arguments).here
    return here(before) if before else everywhere()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
