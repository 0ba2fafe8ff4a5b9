"""Copies of the tree at its commit, in which faults are planted: nothing is changed in the working tree."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

PYTHON = sys.executable
HOMES = ("lens/src", "src", "grader")
"""Where packages lie."""


@dataclass(frozen=True)
class Copy:
    """A clone whose packages come before those of the environment."""

    home: Path

    def run(self, command: Sequence[str], seconds: float | None, **more: str) -> int | None:
        """The status of a command, its output left out; none if it had to be ended, with all that it started."""
        with self.log.open("w") as log:
            started = subprocess.Popen(
                command, cwd=self.home, env={**os.environ, **self.environment, **more}, stdin=subprocess.DEVNULL,
                stdout=log, stderr=log, start_new_session=True,
            )  # fmt: skip
            try:
                return started.wait(seconds)
            except subprocess.TimeoutExpired:
                return None
            finally:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(started.pid, 9)
                started.wait()

    @property
    def log(self) -> Path:
        """What the last command said."""
        return self.home.parent / f"{self.home.name}.log"

    @property
    def environment(self) -> Mapping[str, str]:
        """Modules of this copy, in every child too."""
        return {"PYTHONPATH": os.pathsep.join(str(self.home / name) for name in (*HOMES, "tests"))}

    @contextlib.contextmanager
    def planted(self, file: str, text: str) -> Iterator[None]:
        """Within it a file has another text. What Python compiles is known by size and second, which two texts may share."""
        path = self.home / file
        before = path.read_text()
        path.write_text(text)
        try:
            yield
        finally:
            path.write_text(before)
            for compiled in path.parent.glob(f"__pycache__/{path.stem}.*.pyc"):
                compiled.unlink()


def copied(root: Path, home: Path) -> Copy:
    """The copy at `home`, made if it is not there."""
    if not home.exists():
        home.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["git", "clone", "--quiet", "--shared", str(root), str(home)], check=True)
        (home / ".venv").symlink_to(root / ".venv")
        if (root / ".mypy_cache").exists():
            shutil.copytree(root / ".mypy_cache", home / ".mypy_cache")
    return Copy(home)
