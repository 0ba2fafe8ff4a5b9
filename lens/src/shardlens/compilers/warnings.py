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

from shardlens.messages.recognising import recognise

_ROWS = ("full-rematerialization", "whole-on-one-device", "tiled-fft")
"""Of the table: what XLA writes on stderr while it partitions, each on one line."""
_NAME = re.compile(r'op_name="([^"]*)"')
_NOISE = re.compile(rb"All log messages before absl::InitializeLog|Could not find cuda drivers on your machine")
"""What XLA for GPU says where there is no card, of which it needs none."""
_UNUSED = "Some donated buffers were not usable"
_ALIAS = re.compile(r"\((\d+, \{[^}]*\}), (?:may|must)-alias\)")
"""An argument, which is one of a tuple's where there are more than two thousand."""
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
    return [f"{of} not reused: no output took their place. An output of the same shape, dtype and sharding could."]


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
    """A warning of XLA's that the table knows, in our words; empty for anything else."""
    found = next((each for each in recognise("", told) if each.message.name in _ROWS), None)
    if found is None:
        return ""
    name = _NAME.search(told)
    operation = f" The operation is {name[1]}." if name else ""
    row = found.message
    return f"XLA: {row.means[0].lower()}{row.means[1:]}. {found.mistake} {row.cure}{operation}"


def _again(text: bytes) -> None:
    while text:
        text = text[os.write(2, text) :]


def _flush() -> None:
    for stream in filter(None, (sys.stderr, sys.__stderr__)):
        with contextlib.suppress(Exception):
            stream.flush()
