"""What a process makes and will remove again, entered before it is made: the next run removes what a killed one left.

Each process has a file below `shardlab/writing/`. Only what is entered there is ever taken for a leftover, whatever the
names of other files look like.
"""

from __future__ import annotations

import collections
import contextlib
import functools
import json
import os
import pathlib
import secrets
import shutil
import tempfile
import threading
from collections.abc import Iterator

from shardlab_grader.records import sharing

FOLDER, MARK = pathlib.PurePath("shardlab", "writing"), "nbgrader_config.py"
"""Where the files lie in a course directory, and by what a course directory is known."""
LOCK, OPEN = threading.Lock(), collections.Counter[pathlib.Path]()


@contextlib.contextmanager
def entered(path: pathlib.Path) -> Iterator[None]:
    """Enter a file or folder that does not exist yet, for as long as it may be a leftover.

    Outside of a course directory nothing is entered.
    """
    course = _course_of(path.parent)
    with _open(course, path) if course else contextlib.nullcontext():
        yield


@contextlib.contextmanager
def scratch(course_dir: pathlib.Path) -> Iterator[None]:
    """Have all temporary files of this process lie in one folder, which is entered: seeds and answers are among them."""
    before = tempfile.tempdir
    place = pathlib.Path(tempfile.gettempdir(), f"shardlab-{os.getpid()}-{secrets.token_hex(4)}")
    course = course_dir.resolve() if (course_dir / MARK).exists() else None
    with _open(course, place) if course else contextlib.nullcontext():
        place.mkdir()
        place.chmod(0o711)  # the user of the sandbox goes through it
        tempfile.tempdir = str(place)
        try:
            yield
        finally:
            tempfile.tempdir = before
            shutil.rmtree(place, ignore_errors=True)


def sweep(course_dir: pathlib.Path) -> None:
    """Remove what processes that have ended entered and did not remove."""
    for ledger in (course_dir / FOLDER).glob("[0-9]*"):
        if _runs(int(ledger.name)):
            continue
        for line in ledger.read_text().splitlines():
            with contextlib.suppress(ValueError):  # the last line of a killed process
                _remove(pathlib.Path(json.loads(line)))
        ledger.unlink(missing_ok=True)


@contextlib.contextmanager
def _open(course: pathlib.Path, path: pathlib.Path) -> Iterator[None]:
    """A line of the ledger, which goes with the last one that is open."""
    file = course / FOLDER / str(os.getpid())
    with LOCK:
        sharing.make(file.parent)
        with file.open("a", encoding="utf-8") as opened:
            opened.write(f"{json.dumps(os.fspath(path.absolute()))}\n")
        OPEN[file] += 1
    try:
        yield
    finally:
        with LOCK:
            OPEN[file] -= 1
            if not OPEN[file]:
                file.unlink(missing_ok=True)


@functools.lru_cache(maxsize=256)
def _course_of(folder: pathlib.Path) -> pathlib.Path | None:
    return next((place for place in (folder.absolute(), *folder.absolute().parents) if (place / MARK).exists()), None)


def _remove(path: pathlib.Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
