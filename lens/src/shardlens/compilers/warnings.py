"""What JAX and XLA warn of while they compile: caught, explained, and nothing else withheld."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import tempfile
import threading
import warnings
from collections.abc import Iterator
from typing import BinaryIO

_REMATERIALIZED = re.compile(r"from sharding (\{.*?\}) to (\{.*?\}) efficiently for HLO operation %?\S+ = (\S+?\])")
_FFT = re.compile(r"Falling back to replicated execution for tiled FFT operation \S+: (.*?)\. .*? = (\S+?\])")
_NAME = re.compile(r'op_name="([^"]*)"')
_NOISE = re.compile(rb"All log messages before absl::InitializeLog|Could not find cuda drivers on your machine")
"""What XLA for GPU says where there is no card, of which it needs none."""
_UNUSED = "Some donated buffers were not usable"
_ALIAS = re.compile(r"\((\d+), \{[^}]*\}, (?:may|must)-alias\)")
_ONE = threading.RLock()


@contextlib.contextmanager
def heard() -> Iterator[list[str]]:
    """While it lasts XLA's warnings are gathered, a sentence each; all else is printed where it would have been, at the end.

    XLA writes to file descriptor 2, past Python. In a second thread at the same time nothing is caught.
    """
    found: list[str] = []
    if not _ONE.acquire(blocking=False):
        yield found
        return
    try:
        with _python(found), _descriptor(found):
            yield found
    finally:
        _ONE.release()


def unused_donations(donated: list[bool], hlo: str) -> list[str]:
    """A sentence where arguments were donated and no output takes their place; JAX and XLA are mostly silent about it.

    Args:
        donated: of each argument, in order.
        hlo: the compiled text, whose first line says which outputs take the place of which arguments.
    """
    used, given = set(_ALIAS.findall(hlo.partition("\n")[0])), sum(donated)
    if given <= len(used):
        return []
    of = "The donated argument is" if given == 1 else f"{given - len(used)} of {given} donated arguments are"
    return [f"{of} not reused: no output took the place. One of the same shape, dtype and sharding can."]


@contextlib.contextmanager
def _python(found: list[str]) -> Iterator[None]:
    with warnings.catch_warnings(record=True) as said:
        warnings.filterwarnings("always", _UNUSED)
        try:
            yield
        finally:
            kept = list(said)
    for one in kept:
        if str(one.message).startswith(_UNUSED):
            found.append(f"JAX: {str(one.message).splitlines()[0]}")
        else:
            warnings.showwarning(one.message, one.category, one.filename, one.lineno, one.file, one.line)


@contextlib.contextmanager
def _descriptor(found: list[str]) -> Iterator[None]:
    try:
        kept = os.dup(2)
    except OSError:  # there is no descriptor 2: pythonw, some services
        yield
        return
    with _file() as file:
        _flush()
        os.dup2(file.fileno(), 2)
        failed = True
        try:
            yield
            failed = False
        finally:
            _flush()
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            text = file.read()
            _again(text if failed else sorted_out(text, found))


def _file() -> BinaryIO:
    """A file of this call's own; in memory where it may be, which is twenty times as fast. The sandbox forbids that."""
    try:
        return os.fdopen(os.memfd_create("said"), "w+b")
    except (AttributeError, OSError):
        return tempfile.TemporaryFile()


def sorted_out(text: bytes, found: list[str]) -> bytes:
    """What of `text` is no warning that we know; those are added to `found` in our words."""
    rest = []
    for line in text.splitlines(keepends=True):
        sentence = _explained(line.decode(errors="replace"))
        if not sentence:
            rest += [] if _NOISE.search(line) else [line]
        elif sentence not in found:
            found.append(sentence)
    return b"".join(rest)


def _explained(told: str) -> str:
    """A warning of XLA's that we know, in our words; empty for anything else."""
    name = _NAME.search(told)
    of = f" ({name[1]})" if name else ""
    if "Involuntary full rematerialization" in told:
        return _rematerialized(told, of)
    if fft := _FFT.search(told):  # of XLA in JAX 0.12
        return (
            f"XLA: an FFT along a dimension that is cut, which it takes apart in no array like this one ({fft[1]}). Every"
            f" device gathers all of {fft[2]} and transforms it whole{of}; before the FFT, cut another dimension."
        )
    return ""


def _rematerialized(told: str, of: str) -> str:
    found = _REMATERIALIZED.search(told)
    had, wants, array = found.groups() if found else ("one sharding", "another", "an array")
    if "maximal device=" in wants:
        return (
            f"XLA: involuntary full rematerialization. What runs on one device alone, as a callback of an array does,"
            f" takes {array}, cut by {had}{of}: it is brought whole to every device. Inside of shard_map each one"
            f" calls with its own block."
        )
    return (
        f"XLA: involuntary full rematerialization. It knows no way from {had} to {wants} but to bring {array} together whole"
        f" on every device{of}; another spec on one of the two sides avoids it."
    )


def _again(text: bytes) -> None:
    while text:
        text = text[os.write(2, text) :]


def _flush() -> None:
    for stream in filter(None, (sys.stderr, sys.__stderr__)):
        with contextlib.suppress(Exception):
            stream.flush()
