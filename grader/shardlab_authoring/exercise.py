"""One exercise looked at in seconds: its reference, one wrong answer for each cause, and the style of its files.

The process that watches has imported everything and started no backend of JAX, so it forks for each look, and a look imports
the exercise alone.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterable

from shardlab_course.chapters import folder

ENVIRONMENT = {"JAX_PLATFORMS": "cpu", "OPENBLAS_NUM_THREADS": "1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
"""For tests of answers and chapters: they use no plugin of pytest, and importing all that are installed takes seconds."""
SECONDS = 0.2
"""Between two looks at the times of files."""


def files(root: pathlib.Path, question: str) -> list[pathlib.Path]:
    """What an exercise is made of: its chapter's modules, and its text."""
    number = int(question.partition(".")[0])
    chapter = folder(number)
    return sorted([*chapter.rglob("*.py"), *chapter.rglob("*.json"), *(root / "solutions").glob(f"{number:02}_*.md")])


def prepare(root: pathlib.Path) -> None:
    """Import what every look needs, and nothing of a chapter."""
    os.environ |= ENVIRONMENT
    sys.path.insert(0, str(root / "tests"))
    for name in ("pytest", "corpus"):
        __import__(name)


def look(root: pathlib.Path, question: str) -> int:
    """Judge the answers and read the style of an exercise; pytest's exit status, or that of ruff."""
    started = time.monotonic()
    python = [str(path) for path in files(root, question) if path.suffix == ".py"]
    ruff = subprocess.Popen([sys.executable, "-m", "ruff", "check", "--quiet", *python])
    prepare(root)
    import pytest

    options = ["-q", "--no-header", "--assert=plain", "-p", "no:cacheprovider", "-m", "not thorough and not programs"]
    status = pytest.main([*options, "--question", question, str(root / "tests" / "test_answers.py")])
    print(f"exercise {question}: {time.monotonic() - started:.1f} s", flush=True)
    return int(status) or ruff.wait()


def watch(root: pathlib.Path, question: str) -> int:
    """Look, and look again after each change, until Ctrl-C."""
    prepare(root)
    with contextlib.suppress(KeyboardInterrupt):
        after_changes(lambda: files(root, question), lambda: forked(lambda: look(root, question)))
    return 0


def after_changes(found: Callable[[], Iterable[pathlib.Path]], do: Callable[[], object], seconds: float = SECONDS) -> None:
    """Do something now, and each time one of the files has come, gone, or been saved."""
    before: dict[pathlib.Path, int] = {}
    while True:
        now: dict[pathlib.Path, int] = {}
        for path in found():
            with contextlib.suppress(FileNotFoundError):
                now[path] = path.stat().st_mtime_ns
        if now != before:
            before = now
            do()
        time.sleep(seconds)


def forked(do: Callable[[], int]) -> int:
    """What it returns in a process of its own, which has all that this one has imported."""
    sys.stdout.flush()
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = do()
        finally:
            sys.stdout.flush()
            os._exit(status)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
