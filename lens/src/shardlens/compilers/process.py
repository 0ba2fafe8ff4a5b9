"""The process that compiles, seen from the one that uses it: its start, question and answer, its end, its last words."""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import threading
from typing import IO

from shardlens.compilers.cards import folder
from shardlens.compilers.child import Reply, Request, receive, send
from shardlens.errors import LensError

START = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from shardlens.compilers.child import main; main()"
CHECK = re.compile(r"^F\d{4} [\d:.]+ +\d+ (\S+\] .*)$", re.MULTILINE)
"""The line in which Google's logging says what made it abort; a stack follows, and what a crash reporter tried."""
KNOWN = {"funcResultSharding": "it aborts on complex outputs of an exported function: return x.real and x.imag instead."}
"""What to try, by a word of what a compiler said."""
NOISE = re.compile(r"^(?:    @ |\*\*\* |https://|[IWE]\d{4} .*RAW:|PC: )")


class Compiler:
    """One compile process, started at its first use, and again after it died."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[bytes] | None = None
        self._said: IO[bytes] | None = None

    def start(self) -> None:
        """Start the process, if there is none; returns at once, while it imports."""
        with self._lock:
            self._started()

    def compile(self, request: Request) -> tuple[Reply, str]:
        """The compiled program, and what the compiler wrote to stderr.

        Raises:
            LensError: the compiler aborted.
            jax.errors.JaxRuntimeError: it refused the program, with its own words.
        """
        with self._lock:
            child, said = self._started()
            before = os.fstat(said.fileno()).st_size
            try:
                reply = _ask(child, request)
            except (EOFError, OSError):
                child.wait()
                words = _read(said, before)
                self._drop()
                raise _died(request, child.returncode, words) from None
            except BaseException:  # Ctrl-C: what it would answer must not be read as the next answer
                self._drop()
                raise
            words = _read(said, before)
        if isinstance(reply, Exception):
            raise reply
        return reply, words

    def end(self) -> None:
        """End the process, whatever it does."""
        with self._lock:
            self._drop()

    def _started(self) -> tuple[subprocess.Popen[bytes], IO[bytes]]:
        if self._child is None or self._said is None or self._child.poll() is not None:
            self._drop()
            self._said = tempfile.TemporaryFile()
            # A session of its own: Ctrl-C in a terminal goes to all of the foreground group. Accelerators are left to this
            # process, which may have loaded libtpu. JAX finds all of XLA for GPU, if it is there before JAX is imported.
            paths = [*(path or os.getcwd() for path in sys.path), str(folder())]
            self._child = subprocess.Popen(
                [sys.executable, "-I", "-c", START, json.dumps(paths)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                env={**os.environ, "JAX_PLATFORMS": "cpu", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"},
                start_new_session=True,
            )
        return self._child, self._said

    def _drop(self) -> None:
        child, said = self._child, self._said
        self._child = self._said = None
        if child is not None and child.stdin and child.stdout:
            child.kill()
            child.wait()
            child.stdout.close()
            with contextlib.suppress(OSError):  # what was not yet written to a pipe that nobody reads
                child.stdin.close()
        if said is not None:
            said.close()


def _ask(child: subprocess.Popen[bytes], request: Request) -> Reply | Exception:
    assert child.stdin and child.stdout
    send(child.stdin, request)
    reply: Reply | Exception = receive(child.stdout)
    return reply


def _read(said: IO[bytes], start: int) -> str:
    return os.pread(said.fileno(), 1 << 20, start).decode(errors="replace")


def _died(request: Request, status: int, words: str) -> LensError:
    cause = f"by signal {signal.Signals(-status).name}" if status < 0 else f"with status {status}"
    of = f"{request.name} for target={request.target!r}, {len(request.module):,} bytes of StableHLO"
    known = (mend for word, mend in KNOWN.items() if word in words)
    mend = next(known, "remove parts of the function until it compiles, then report the part that stopped it.")
    return LensError(
        "compiler-died",
        f"the compiler ended {cause} while it compiled; nothing in this session is lost.",
        where=f"{of}\n{last_words(words)}",
        mend=mend,
    )


def last_words(words: str) -> str:
    """What a dying compiler said of the cause, at most four lines."""
    fatal = CHECK.findall(words)
    lines = fatal[:1] or [line.strip() for line in words.splitlines() if line.strip() and not NOISE.match(line)][-4:]
    return "\n".join(line[:300] for line in lines) or "it said nothing."


compiler = Compiler()
"""The one of this process."""


def _forget() -> None:
    """A fork's own compiler: the lock may be held by a thread that is not here, and the pipes are the parent's."""
    global _parents, compiler
    _parents, compiler = compiler, Compiler()


_parents: Compiler | None = None
"""Kept in a fork, since a `Popen` that is collected there would warn of a child that is not its own."""

atexit.register(lambda: compiler.end())
os.register_at_fork(after_in_child=_forget)
