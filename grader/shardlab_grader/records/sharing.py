"""A course directory of several people: what one of them makes the others can read, change and delete.

They share a Unix group, and the directory says so itself, as `chmod g+ws` writes it; nbgrader's own commands want
`c.CourseDirectory.groupshared = True` besides.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import stat
from collections.abc import Iterator

GROUP = stat.S_IRGRP | stat.S_IWGRP
SHARED = stat.S_ISGID | stat.S_IWGRP


def shared(folder: pathlib.Path) -> bool:
    """Whether a folder gives all that is made in it to its group, which may write."""
    return folder.stat().st_mode & SHARED == SHARED


def mode(folder: pathlib.Path, wanted: int) -> int:
    """The mode of a new file in a folder: the wanted one, with the group's part where the folder is shared."""
    return wanted | GROUP if shared(folder) else wanted


def make(folder: pathlib.Path) -> None:
    """Make a folder, and those above it, that only its owner can enter; in a shared one its group as well."""
    missing = [place for place in (folder, *folder.parents) if not place.exists()]
    for place in reversed(missing):
        place.mkdir(mode=0o700, exist_ok=True)
        if shared(place.parent):
            place.chmod(0o2770)


@contextlib.contextmanager
def among(course_dir: pathlib.Path) -> Iterator[None]:
    """In a shared course, what nbgrader writes for us is the group's too: it leaves modes to the umask."""
    if not (course_dir.exists() and shared(course_dir)):
        yield
        return
    before = os.umask(0o007)
    try:
        yield
    finally:
        os.umask(before)
        for database in course_dir.glob("*.db"):
            give(database)  # SQLite makes files that no group may write, whatever the umask


def give(path: pathlib.Path) -> None:
    """Let the group have a file of one's own, where its folder is shared."""
    state = path.stat()
    if shared(path.parent) and state.st_uid == os.geteuid() and state.st_mode & GROUP != GROUP:
        path.chmod(stat.S_IMODE(state.st_mode) | GROUP)
