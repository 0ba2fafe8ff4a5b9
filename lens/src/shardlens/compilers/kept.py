"""Programs that were compiled for targets, kept by their content: what was compiled before is read, not compiled again."""

from __future__ import annotations

import contextlib
import hashlib
import importlib.metadata
import os
import pickle
import tempfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

from shardlens.compilers.child import Reply, Request

FOLDER = "SHARDLENS_CACHE"
"""The variable of the environment that names the folder; nothing is kept where it is not set, or "off"."""
LIMIT = 2**30
"""Bytes that the folder may have; the least recently used go first."""
_FLAGS = ("XLA_FLAGS", "LIBTPU_INIT_ARGS")

COMPILERS = ("jaxlib", "libtpu", "jax-cuda12-pjrt", "jax-cuda13-pjrt")
"""Packages that bring compilers."""

Compiled = tuple[Reply, str]
"""What the compiler made, and what it wrote to stderr."""


def kept(request: Request, compiled: Callable[[], Compiled]) -> Compiled:
    """What was kept of this very program, by the same versions and flags; else what is compiled now, which is then kept."""
    named = os.environ.get(FOLDER, "off")
    if named in ("", "off"):
        return compiled()
    file = Path(named) / f"{_key(request)}.program"
    # A file that is damaged or was just removed is none.
    with contextlib.suppress(OSError, ValueError, EOFError, zlib.error, pickle.UnpicklingError):
        found: Compiled = pickle.loads(zlib.decompress(file.read_bytes()))
        os.utime(file)
        return found
    made = compiled()
    with contextlib.suppress(OSError):  # a folder that cannot be written keeps nothing
        _write(file, zlib.compress(pickle.dumps(made), 1))
        _shrink(file.parent)
    return made


@contextlib.contextmanager
def keeping(folder: Path | None) -> Iterator[None]:
    """While it lasts programs are kept there, if the environment names no folder itself; with `None` nowhere."""
    before = os.environ.get(FOLDER)
    os.environ[FOLDER] = "off" if folder is None else str(folder) if before is None else before
    try:
        yield
    finally:
        os.environ.pop(FOLDER, None)
        if before is not None:
            os.environ[FOLDER] = before


def usual_folder() -> Path:
    """Where the command keeps programs."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shardlens"


def version(package: str) -> str:
    """Of an installed package; "not installed" of another."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"


def _key(request: Request) -> str:
    versions = [version(name) for name in ("shardlens", "jax", *COMPILERS)]
    flags = [os.environ.get(name, "") for name in _FLAGS]
    return hashlib.sha256(pickle.dumps((request, versions, flags))).hexdigest()


def _write(file: Path, raw: bytes) -> None:
    """All of it or nothing: another process may read it."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile(dir=file.parent, delete=False) as part:
        part.write(raw)
    os.replace(part.name, file)


def _shrink(folder: Path) -> None:
    files = sorted(folder.glob("*.program"), key=lambda file: file.stat().st_mtime, reverse=True)
    total = 0
    for file in files:
        total += file.stat().st_size
        if total > LIMIT:
            file.unlink(missing_ok=True)
