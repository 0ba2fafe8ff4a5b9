"""What XLA made of a chapter's own programs: filled by its solution at release, read by students' runs, written by none.

Most of what a notebook's cells cost is compiling, and most of what they compile is the chapter's. The folder is one for each
version of JAX and kind of processor. A run that reads finds it read-only; and would compile a program of its own each time.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import pathlib
import platform
import shutil
import tempfile
from collections.abc import Iterator

from shardlab_grader.sandbox.box import Mount, give

INSIDE = "/compiled"
READING = {
    "JAX_COMPILATION_CACHE_DIR": INSIDE,
    "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
    "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "1e9",
}
QUICK = {"JAX_DISABLE_MOST_OPTIMIZATIONS": "1"}
"""LLVM optimises nothing, which leaves programs as they are: it takes most of a cell's time, and cells are small."""
FILLING = READING | {"JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0"}
ENTRY_BYTES = 16 * 2**20


def folder(cache: pathlib.Path) -> pathlib.Path:
    """Where compiled programs for this machine are kept; it may not be there yet."""
    versions = [importlib.metadata.version(package) for package in ("jax", "jaxlib")]
    return cache / f"compiled-{hashlib.sha256(' '.join([*versions, _processor()]).encode()).hexdigest()[:24]}"


@contextlib.contextmanager
def filling(cache: pathlib.Path) -> Iterator[Mount]:
    """A mount into which a run of our own writes what it compiles; afterwards it is kept. Students' runs never get it."""
    kept = folder(cache)
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=cache) as draft:
        give(pathlib.Path(draft))
        yield Mount(pathlib.Path(draft), INSIDE, writable=True)
        for path in sorted(pathlib.Path(draft).iterdir()):
            if path.is_file() and not path.is_symlink() and path.stat().st_size <= ENTRY_BYTES:
                with tempfile.NamedTemporaryFile(dir=cache, delete=False) as copy, open(path, "rb") as written:
                    shutil.copyfileobj(written, copy)
                os.chmod(copy.name, 0o644)
                os.replace(copy.name, kept / path.name)
    if kept.stat().st_uid == os.getuid():  # in a shared course another one may have made it, and given it this mode
        kept.chmod(kept.stat().st_mode | 0o755)


def _processor() -> str:
    try:
        lines = pathlib.Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((line for line in lines if line.startswith(("flags", "Features"))), platform.processor())
