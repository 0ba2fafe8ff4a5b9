"""The parts of the suite, each recorded once at a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from strength.copies import PYTHON, Copy
from strength.recording import FOLDER, HOME

ANSWERS = "tests/test_answers.py"
"""A part by itself, since it takes longer than all other modules together."""


def parts(root: Path) -> Mapping[str, Sequence[str]]:
    """What pytest is asked for, by the name of a part: `make test`'s modules and folders, then the thorough ones."""
    modules = sorted(str(path.relative_to(root)) for path in (root / "tests").glob("test_*.py"))
    folders = sorted({path.parent.name for path in (root / "tests").glob("*/test_*.py")})
    answers = [module for module in modules if module == ANSWERS]
    found = {"lens": ["lens/tests"], "answers": answers, "modules": [module for module in modules if module != ANSWERS]}
    found |= {name: [f"tests/{name}"] for name in folders}
    sizes = {"quick": "not thorough and not programs", "thorough": "thorough and not programs"}
    named = [(name, asked) for name, asked in found.items() if asked]
    return {f"{size}-{name}": ["-m", marked, *asked] for size, marked in sizes.items() for name, asked in named}


def record(copy: Copy, folder: Path, asked: Sequence[str]) -> None:
    """Run a part, unless it was run before, and note what each test reaches."""
    if not (folder / "tests.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        options = ["-q", "-p", "no:cacheprovider", "-p", "strength.recording"]
        copy.run([PYTHON, "-m", "pytest", *options, *asked], None, **{FOLDER: str(folder), HOME: str(copy.home)})
    if not (folder / "tests.json").exists():
        raise SystemExit(f"The tests of {folder.name} did not start: {copy.log} says why.")
    print(f"recorded: {folder.name}", flush=True)
