"""Waiting for a child that may hang, flood its pipes or leave others behind."""

from __future__ import annotations

import contextlib
import functools
import os
import pathlib
import re
import selectors
import signal
import subprocess
import threading
import time
from collections.abc import Iterator, Sequence
from typing import IO, Literal, Protocol

Stopped = Literal["", "time", "output", "memory", "interrupt"]
TAIL = 4000
GRACE = 2.0
POLL = 0.2
INTERRUPT = threading.Event()
"""Set while a grading run is being broken off: no child is waited for."""


class Watched(Protocol):
    """What is waited for; both pipes are read here, and closed."""

    @property
    def pid(self) -> int:
        """The process whose descendants are all that was started."""
        ...

    @property
    def pipes(self) -> tuple[IO[bytes], IO[bytes]]:
        """stdout and stderr."""
        ...

    def ended(self, seconds: float) -> bool:
        """Whether it has ended, or does within these seconds."""
        ...

    def kill(self) -> None:
        """End it and all that it started, if they have not ended, and wait for that."""
        ...


class Command:
    """A command with both pipes, started as the leader of its own session."""

    def __init__(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdout is not None and child.stderr is not None
        self._child, self.pid, self.pipes = child, child.pid, (child.stdout, child.stderr)

    def ended(self, seconds: float) -> bool:
        try:
            self._child.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self) -> None:
        end(self._child)


def end(child: subprocess.Popen[bytes]) -> None:
    """Kill a child that leads a session, with its group, and wait for it."""
    try:
        os.killpg(child.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        pass
    child.kill()
    child.wait()


def watch(child: Watched, wall: float, printed: int, together: int) -> tuple[Stopped, str, str]:
    """Read a child's pipes until it ends or must be killed: the limit that it broke, and the tails of stdout and stderr.

    Memory stays bounded whatever is printed. On return the child and all that it started have ended.

    Args:
        wall: seconds from now.
        printed: bytes on both pipes together.
        together: bytes of memory in all its processes.
    """
    pipes = _Pipes(child.pipes)
    try:
        stopped = _wait(child, pipes, time.monotonic() + wall, printed, together)
    finally:
        child.kill()
        # The last holder of a pipe is gone when it ends; in mode `none` a child that left the group may hold it for ever.
        pipes.drain(time.monotonic() + GRACE)
        pipes.close()
    return stopped, *pipes.tails()


class _Pipes:
    def __init__(self, files: tuple[IO[bytes], IO[bytes]]) -> None:
        self._files = files
        self._kept = {file.fileno(): b"" for file in self._files}
        self._selector = selectors.DefaultSelector()
        self.total = 0
        for file in self._files:
            os.set_blocking(file.fileno(), False)
            self._selector.register(file.fileno(), selectors.EVENT_READ)

    @property
    def open(self) -> bool:
        return bool(self._selector.get_map())

    def read(self, seconds: float) -> None:
        for key, _ in self._selector.select(max(seconds, 0)):
            chunk = os.read(key.fd, 65536)
            self.total += len(chunk)
            self._kept[key.fd] = (self._kept[key.fd] + chunk)[-TAIL:]
            if not chunk:
                self._selector.unregister(key.fd)

    def drain(self, until: float) -> None:
        while self.open and time.monotonic() < until:
            self.read(until - time.monotonic())

    def close(self) -> None:
        self._selector.close()
        for file in self._files:
            file.close()

    def tails(self) -> tuple[str, str]:
        first, second = (self._kept[fd].decode(errors="replace") for fd in self._kept)
        return first, second


def takes_more(pid: int, most: int) -> bool:
    """Whether a process and its descendants hold more than `most` bytes of memory."""
    tasks = list(_family(pid))
    left = most - _in_sockets(tasks)
    # Quick, and too much where forked processes share pages; only then the other is asked, which is slow.
    return sum(map(_resident, tasks)) > left and sum(map(_share, tasks)) > left


def _family(pid: int) -> Iterator[int]:
    waiting = [pid]
    while waiting:
        one = waiting.pop()
        yield one
        waiting += _children(one)


def _children(pid: int) -> Iterator[int]:
    """Those of all its threads; of a process that ends meanwhile, those that could still be read."""
    with contextlib.suppress(OSError):
        for task in os.listdir(f"/proc/{pid}/task"):
            with contextlib.suppress(OSError):
                yield from map(int, pathlib.Path(f"/proc/{pid}/task/{task}/children").read_bytes().split())


def _in_sockets(pids: Sequence[int]) -> int:
    """Bytes at most that the sockets of their own networks hold, whose buffers inside nobody can raise."""
    sockets = {}
    for pid in pids:
        with contextlib.suppress(OSError):  # it has ended
            network = os.stat(f"/proc/{pid}/ns/net").st_ino
            found = re.match(rb"sockets: used (\d+)", pathlib.Path(f"/proc/{pid}/net/sockstat").read_bytes())
            sockets[network] = int(found[1]) if found else 0
    sockets.pop(os.stat("/proc/self/ns/net").st_ino, None)
    return sum(sockets.values()) * sum(buffers().values())


@functools.cache
def buffers() -> dict[str, int]:
    """Bytes that wait in a socket at most, to be sent (`wmem`) and received (`rmem`): the machine's defaults."""
    # Asked here, since older kernels do not show them in a network namespace of one's own.
    return {name: int(pathlib.Path(f"/proc/sys/net/core/{name}_default").read_bytes()) for name in ("wmem", "rmem")}


def _resident(pid: int) -> int:
    return _kilobytes(f"/proc/{pid}/status", rb"^(?:RssAnon|RssShmem|VmSwap):\s+(\d+)")


def _share(pid: int) -> int:
    return _kilobytes(f"/proc/{pid}/smaps_rollup", rb"^(?:Pss_Anon|Pss_Shmem|SwapPss):\s+(\d+)") or _resident(pid)


def _kilobytes(path: str, rows: bytes) -> int:
    try:
        return 1024 * sum(map(int, re.findall(rows, pathlib.Path(path).read_bytes(), re.MULTILINE)))
    except OSError:  # it has ended
        return 0


def _wait(child: Watched, pipes: _Pipes, until: float, printed: int, together: int) -> Stopped:
    looked = time.monotonic()
    while not child.ended(0.0):
        left = until - time.monotonic()
        if time.monotonic() - looked > POLL:
            looked = time.monotonic()
            if takes_more(child.pid, together):
                return "memory"
        if INTERRUPT.is_set():
            return "interrupt"
        if left <= 0:
            return "time"
        if pipes.total > printed:
            return "output"
        if pipes.open:
            pipes.read(min(left, POLL))
        else:
            child.ended(min(left, POLL))
    return ""
