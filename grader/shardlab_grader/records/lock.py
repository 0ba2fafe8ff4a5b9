"""One run at a time in a course directory: commands that write, and nbgrader's on releases of ours, exclude one another."""

from __future__ import annotations

import contextlib
import contextvars
import datetime
import fcntl
import os
import pathlib
import socket
from collections.abc import Callable, Iterator
from typing import IO

from shardlab.errors import ShardlabError
from shardlab_grader.records import ledger, sharing

NAME = "lock"
"""Below `shardlab/`. The kernel holds the lock, not the file: it is free as soon as its holder has ended in any way."""
Told = Callable[[str], None]
_MINE: contextvars.ContextVar[frozenset[pathlib.Path]] = contextvars.ContextVar("mine", default=frozenset())


def mine(course_dir: pathlib.Path) -> bool:
    """Whether the caller works inside of `held` already."""
    return course_dir.resolve() in _MINE.get()


@contextlib.contextmanager
def held(course_dir: pathlib.Path, command: str, *, wait: bool = True, told: Told = lambda _: None) -> Iterator[None]:
    """Hold the course directory for a command, without what killed ones have left.

    Args:
        command: what others are told that runs.
        wait: until another one has ended; else stop.
        told: hears who holds it, once, before a wait.
    Raises:
        ShardlabError: another one holds it, and there is to be no wait.
    """
    path = course_dir / "shardlab" / NAME
    try:
        sharing.make(path.parent)
        opened = path.open("a+")
        sharing.give(path)
    except OSError:  # where no lock can be written nothing else can, and the command itself says so
        yield
        return
    with opened as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = _said(path)
            if not wait:
                mend = "wait until it has ended, or leave --no-wait out."
                raise ShardlabError("course-busy", f"{holder} runs.", where=str(course_dir), mend=mend) from None
            told(holder)
            fcntl.flock(file, fcntl.LOCK_EX)
        _say(file, f"{command}, process {os.getpid()} on {socket.gethostname()} since {datetime.datetime.now():%H:%M:%S},")
        before = _MINE.set(_MINE.get() | {course_dir.resolve()})
        try:
            ledger.sweep(course_dir)
            with sharing.among(course_dir), ledger.scratch(course_dir):
                yield
        finally:
            _MINE.reset(before)
            _say(file, "")


def _say(file: IO[str], text: str) -> None:
    # The lock does not need the words, which a full disk may refuse.
    with contextlib.suppress(OSError):
        file.truncate(0)
        file.write(text)
        file.flush()


def _said(path: pathlib.Path) -> str:
    return "".join(c for c in path.read_text(errors="replace")[:200] if c.isprintable()) or "another command"
