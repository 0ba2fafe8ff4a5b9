"""What a student wrote becomes HTML in a process of its own, under limits: no text keeps the grader or Formgrader waiting.

Renderers take a time that no one has promised for texts that nobody meant. What takes too long, or is too long, is shown as
plain text that is cut, and says so.

The child is `rendered`.
"""

from __future__ import annotations

import atexit
import contextlib
import html
import json
import os
import select
import subprocess
import sys
import threading
import time
from typing import IO

from shardlab_grader.plain import plain

MOST = 100_000
"""Characters of a text that is rendered."""
SHOWN = 20_000
"""Characters that are shown of one that is not."""
SECONDS, WALL = 3.0, 60.0
"""CPU time for a text, and the time after which a child is given up that computes nothing."""
BUDGET, WINDOW = 20.0, 60.0
"""CPU seconds for all texts within so many seconds: a page of a thousand slow cells is slow no longer than that."""
MEMORY = 2 * 2**30
CUT = "This is shown as plain text, because it {why}. Your notebook was graded as a whole."


class Unrendered(Exception):
    """Why a text is shown as plain text: the end of a sentence."""


class Renderer:
    """The child of this process, started when it is needed, and again after a text that ended it."""

    def __init__(self) -> None:
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self._spent: list[tuple[float, float]] = []

    def render(self, name: str, source: str, language: str = "") -> str:
        """The HTML of a text.

        Args:
            name: `markdown` or `highlighted`.
        Raises:
            Unrendered: it is too long, or takes too long.
        """
        if len(source) > MOST:
            raise Unrendered(f"has {len(source):,} characters")
        with self._lock:
            if self._left() <= 0:
                raise Unrendered("came after others that took too long")
            started = time.monotonic()
            answer = self._ask([name, source, language])
            self._spent.append((started, answer[1] if answer else SECONDS))
        if answer is None:
            raise Unrendered("took too long to format")
        return answer[0]

    def begin(self) -> None:
        """Begin a page of its own, which may take what a page may take."""
        self._spent.clear()

    def close(self) -> None:
        """End the child."""
        if self._child is not None:
            self._child.kill()
            self._child.wait()
            for stream in (self._child.stdin, self._child.stdout):
                with contextlib.suppress(OSError):
                    _there(stream).close()
            self._child = None

    def _left(self) -> float:
        since = time.monotonic() - WINDOW
        self._spent = [(when, seconds) for when, seconds in self._spent if when > since]
        return BUDGET - sum(seconds for _, seconds in self._spent)

    def _ask(self, asked: list[str]) -> tuple[str, float] | None:
        child = self._child = self._child or _start()
        try:
            stdin, stdout = _there(child.stdin), _there(child.stdout)
            stdin.write(f"{json.dumps(asked)}\n".encode())
            stdin.flush()
            told = _line(stdout, WALL)
            page, seconds = json.loads(told)
            return str(page), float(seconds)
        except (OSError, ValueError):
            self.close()
            return None


def unrendered(source: str, why: str) -> str:
    """The beginning of a text as plain text, with the reason."""
    shown = plain(source[:SHOWN], keep="\n\t")
    more = f"\n... and {len(source) - SHOWN:,} characters more" if len(source) > SHOWN else ""
    return f"<p><em>{html.escape(CUT.format(why=why))}</em></p><pre>{html.escape(shown + more)}</pre>"


def _start() -> subprocess.Popen[bytes]:
    command = [sys.executable, "-P", "-m", "shardlab_grader.nbgrader.rendered"]
    path = os.pathsep.join(entry for entry in sys.path if entry)
    environment = {"PYTHONPATH": path, "PATH": os.defpath, "LANG": "C.UTF-8"}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=environment)


def _line(stream: IO[bytes], seconds: float) -> bytes:
    """The next line, or what there is of it in this time."""
    until, found = time.monotonic() + seconds, b""
    while not found.endswith(b"\n") and select.select([stream], [], [], max(0.0, until - time.monotonic()))[0]:
        piece = os.read(stream.fileno(), 2**20)
        if not piece:
            break
        found += piece
    return found


def _there(stream: IO[bytes] | None) -> IO[bytes]:
    assert stream is not None
    return stream


RENDERER = Renderer()
atexit.register(RENDERER.close)
