"""The parts of the suite, each recorded once at a commit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from strength.copies import PYTHON, Copy
from strength.recording import FOLDER

ANSWERS = "tests/test_answers.py"


def parts(root: Path) -> Mapping[str, Sequence[str]]:
    """What pytest is asked for, by the name of a part: each folder of tests, the answers, and the modules beside them."""
    modules = sorted(str(path.relative_to(root)) for path in (root / "tests").glob("test_*.py"))
    folders = sorted({path.parent.name for path in (root / "tests").glob("*/test_*.py")})
    found = {"modules": [name for name in modules if name != ANSWERS], "answers": [ANSWERS]}
    return found | {name: [f"tests/{name}"] for name in folders}


def record(copy: Copy, folder: Path, asked: Sequence[str]) -> None:
    """Run a part, unless it was run before, and note what each test reaches."""
    if not (folder / "tests.json").exists():
        folder.mkdir(parents=True, exist_ok=True)
        options = ["-q", "-m", "not programs", "-p", "no:cacheprovider", "-p", "strength.recording"]
        copy.run([PYTHON, "-m", "pytest", *options, *asked], None, **{FOLDER: str(folder)})
    print(f"recorded: {folder.name}", flush=True)
