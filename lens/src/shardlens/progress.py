"""A line on stderr while something takes long: what, of how many, for how many seconds. Off unless a command turns it on."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Iterator
from typing import IO

FIRST, BETWEEN = 1.0, 30.0
"""Seconds after which a terminal has the line, and between lines where there is no terminal, as in a log of CI."""

_steps: list[tuple[str, float]] = []


@contextlib.contextmanager
def shown() -> Iterator[None]:
    """While it lasts, what takes long is said."""
    try:
        # A descriptor of its own, since XLA's warnings are caught on number 2.
        out = os.fdopen(os.dup(2), "w")
    except OSError:  # there is no descriptor 2
        yield
        return
    ended = threading.Event()
    thread = threading.Thread(target=_tell, args=(out, ended), daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
        out.close()


@contextlib.contextmanager
def step(what: str) -> Iterator[None]:
    """What is being done while it lasts; of steps inside of others the outermost is said."""
    _steps.append((what, time.monotonic()))
    try:
        yield
    finally:
        _steps.pop()


def now() -> str:
    """The step that is being done, the outermost, and for how long; empty between steps.

    Example:
        >>> with step("compiling f for v5e:2x4"):
        ...     now()
        'compiling f for v5e:2x4, 0 s'
    """
    if not _steps:
        return ""
    what, began = _steps[0]
    return f"{what}, {time.monotonic() - began:.0f} s"


def _tell(out: IO[str], ended: threading.Event) -> None:
    terminal = out.isatty()
    width = 0
    while not ended.wait(FIRST if terminal else BETWEEN):
        said = now()
        if terminal and (said or width):
            out.write(f"\r{said:<{width}}\r" if not said else f"\r{said:<{width}}")
            width = len(said)
        elif said:
            out.write(f"{said}\n")
        out.flush()
    if width:
        out.write(f"\r{'':<{width}}\r")
        out.flush()
