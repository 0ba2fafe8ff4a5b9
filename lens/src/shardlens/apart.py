"""A function of the user's as it is, and as it was at a commit: two folders whose modules have the same names."""

from __future__ import annotations

import contextlib
import functools
import io
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from shardlens.errors import LensError
from shardlens.sources import is_users


class Apart:
    """A user's folders and modules, which are known only while it is entered: another folder may have their names too."""

    def __init__(self) -> None:
        self.path, self.modules = [*sys.path], dict[str, ModuleType]()

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """While it lasts modules are imported as they were before in it."""
        path, before = [*sys.path], {*sys.modules}
        sys.path[:] = self.path
        sys.modules.update(self.modules)
        try:
            yield
        finally:
            self.path, sys.path[:] = [*sys.path], path
            for name in {*sys.modules} - before:
                if (file := getattr(sys.modules[name], "__file__", None)) and is_users(file):
                    self.modules[name] = sys.modules.pop(name)

    def calling(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The function, called while this is entered."""

        @functools.wraps(f)
        def called(*args: Any) -> Any:
            with self.entered():
                return f(*args)

        return called


@contextlib.contextmanager
def at_commit(commit: str, name: str) -> Iterator[str]:
    """While it lasts the working directory is what it was at a commit of its git repository, elsewhere on the disk.

    Gives the function's name there. Packages that are installed stay as they are installed, and links that lead out of the
    repository are left out.

    Raises:
        LensError: this is no git repository, or it has no such commit; the function's file lies outside of it.
    """

    def git(*words: str) -> bytes:
        ran = subprocess.run(["git", *words], capture_output=True)
        if ran.returncode:
            said = ran.stderr.decode(errors="replace").strip().partition("\n")[0]
            mend = "run it in a checkout, and name a commit that it has: HEAD~1, main, v1.2."
            raise LensError("no-commit", f"git does not give {commit!r}.", where=said, mend=mend)
        return ran.stdout

    top = Path(git("rev-parse", "--show-toplevel").decode().rstrip("\n")).resolve()
    here = Path.cwd().resolve()
    file, colon, function = name.partition(":")
    if file.endswith(".py"):
        at = Path(file).parent.resolve() / Path(file).name
        if not at.is_relative_to(top):
            mend = "name a file of the repository that you are in."
            what = f"{file} is not in the repository {top}."
            raise LensError("outside-repository", what, where=f"--git {commit}", mend=mend)
        file = os.path.relpath(at, here)
    archive = git("-C", str(top), "archive", "--format=tar", commit)
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
            tar.extractall(folder, filter=_inside)
        there = Path(folder).resolve() / here.relative_to(top)
        there.mkdir(parents=True, exist_ok=True)
        with contextlib.chdir(there):
            yield file + colon + function


def _inside(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo | None:
    with contextlib.suppress(tarfile.FilterError):
        return tarfile.data_filter(member, folder)
    return None
