"""Files that a student chose: only ordinary ones are opened, and no more is read than their limits."""

from __future__ import annotations

import os
import pathlib
import stat

from shardlab_grader.records.forms import Unreadable

MOST_BYTES = 64_000_000
"""Of a file with its outputs, which Python needs some thirty times as many bytes to read."""
READ = (".ipynb", ".json", ".md", ".markdown", ".py", ".qmd", ".rmd", ".txt")
"""Endings of files in which a notebook's cells may be."""
PACKED = (".zip", ".7z", ".rar", ".tar", ".gz", ".tgz", ".bz2", ".xz")
"""Endings of files in which other files are."""


def is_file(path: pathlib.Path) -> bool:
    """Whether there is an ordinary file of this name, and no link."""
    return os.path.lexists(path) and stat.S_ISREG(path.lstat().st_mode)


def read_file(path: pathlib.Path, most: int) -> bytes:
    """The bytes of an ordinary file. Links are not followed, and nothing that is no file is opened for reading."""
    status = path.lstat()
    if not stat.S_ISREG(status.st_mode):
        raise Unreadable(f"unreadable: {path.name} is not a regular file.")
    if status.st_size > most:
        raise Unreadable(f"unreadable: {path.name} has {status.st_size:,} bytes; the limit is {most:,}.")
    return path.read_bytes()
