"""Warm servers: a Python in a sandbox that has imported everything, and forks a child in namespaces of its own for each job.

A server does one job at a time, so that its limit of processes is the job's. Its inside is `inside/fork_server.py`.
Whenever a server dies, says something unexpected, or had to be killed, it is given up, and the job is done again by a fresh
one, and then by a Python of its own; never without a sandbox.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from types import TracebackType
from typing import IO

from shardlab_grader.sandbox.box import OUTPUT, Limits, Mount, Outcome, Sandbox, cold, fill, give, start
from shardlab_grader.sandbox.mounts import Bind
from shardlab_grader.sandbox.watch import INTERRUPT, POLL, Stopped, buffers, end, watch

FORK_SERVER = pathlib.Path(__file__).parents[1] / "inside" / "fork_server.py"
INSIDE = "/grader/fork_server.py"
CAPABILITIES = ("CAP_SYS_ADMIN", "CAP_NET_ADMIN", "CAP_SETPCAP")
START_SECONDS = 60.0
TRIES = 2


class Doubt(Exception):
    """The server cannot be trusted to have done the job."""


class Servers:
    """Servers by script and sandbox, started when they are needed; for several threads, and closed when those have ended.

    With `workers` threads each job has its share of the cores: what a hundred busy processes of one take, no other misses.
    """

    def __init__(self, workers: int = 1) -> None:
        self._shares = shares(sorted(os.sched_getaffinity(0)), workers)
        self._idle: dict[tuple[str, Sandbox], list[Server]] = {}
        self._coming: dict[tuple[str, Sandbox], list[Future[Server]]] = {}
        self._failing: set[tuple[str, Sandbox]] = set()
        self._lock = threading.Lock()
        # One thread: each server's start keeps a core busy. It lives until the servers are closed, because they end with it.
        self._starter = ThreadPoolExecutor(1)
        self.cold = 0
        """How many jobs had a Python started for them alone."""

    def __enter__(self) -> Servers:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def prepare(self, script: str, sandbox: Sandbox) -> None:
        """Start a server that will be needed, while something else is done."""
        if sandbox.mode == "bubblewrap":
            kind = _kind(script, sandbox)
            self._coming.setdefault(kind, []).append(self._starter.submit(Server, *kind))

    def run(self, script: str, sandbox: Sandbox, box: pathlib.Path, job: bytes) -> Outcome:
        """Run a script as `sandbox.cold` does, on a warm server where one starts."""
        if sandbox.mode == "bubblewrap":
            for _ in range(TRIES):
                with contextlib.suppress(Doubt):
                    return self._run(script, sandbox, box, job)
        self.cold += 1
        return cold(script, sandbox, box, job)

    def close(self) -> None:
        """Stop all servers."""
        self._starter.shutdown(wait=True, cancel_futures=True)
        with self._lock:
            servers = [server for idle in self._idle.values() for server in idle]
            coming = [one for futures in self._coming.values() for one in futures if not one.cancelled()]
            self._idle.clear()
            self._coming.clear()
        for server in [*servers, *(one.result() for one in coming if not one.exception())]:
            server.stop()

    def _run(self, script: str, sandbox: Sandbox, box: pathlib.Path, job: bytes) -> Outcome:
        kind = _kind(script, sandbox)
        server = self._take(kind)
        with self._lock:
            cores = self._shares.pop() if self._shares else []
        try:
            outcome = server.run(box, job, sandbox.limits, cores)
        except BaseException:
            server.stop()
            raise
        finally:
            with self._lock:
                self._shares += [cores] * bool(cores)
        if server.alive:
            with self._lock:
                self._idle.setdefault(kind, []).append(server)
        else:
            server.stop()
        return outcome

    def _take(self, kind: tuple[str, Sandbox]) -> Server:
        with self._lock:
            if idle := self._idle.get(kind):
                return idle.pop()
            if kind in self._failing:
                raise Doubt("it did not start before")
            coming = self._coming[kind].pop(0) if self._coming.get(kind) else None
        try:
            return coming.result() if coming else Server(*kind)
        except Doubt:
            self._failing.add(kind)
            raise


def _kind(script: str, sandbox: Sandbox) -> tuple[str, Sandbox]:
    """What servers are told apart by; limits are each child's own."""
    return script, dataclasses.replace(sandbox, limits=Limits())


def shares(cores: Sequence[int], workers: int) -> list[list[int]]:
    """The cores dealt out to so many workers; a core serves several where there are too few."""
    if workers <= 1:
        return []
    return [list(cores[n % len(cores) :: workers]) for n in range(workers)]


class Server:
    """One warm server.

    Raises:
        Doubt: it does not start.
    """

    def __init__(self, script: str, sandbox: Sandbox) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self._turns, self.alive = 0, True
        self._kept = [mount.target for mount in sandbox.mounts if mount.target.startswith("/tmp/")]
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            with theirs:
                self._child = self._start(script, sandbox, theirs.fileno())
        except BaseException:
            self._line.close()
            self._folder.cleanup()
            raise
        self.pid = self._child.pid
        until = time.monotonic() + START_SECONDS
        while not self.waits(POLL) and time.monotonic() < until and not INTERRUPT.is_set():
            pass
        word, _, seconds = self.said().partition(b" ")
        if word != b"ready":
            self.stop()
            raise Doubt("it did not start")
        self.cpu = float(seconds)

    def _start(self, script: str, sandbox: Sandbox, line: int) -> subprocess.Popen[bytes]:
        root = pathlib.Path(self._folder.name)
        self._boxes = root / "boxes"
        self._boxes.mkdir(mode=0o700)
        give(self._boxes)
        fill(root, b"")  # what the boxes of the children are mounted on
        inside = dataclasses.replace(sandbox, mounts=(*sandbox.mounts, Mount(FORK_SERVER, INSIDE)))
        boxes, null = Bind("--bind", str(self._boxes), "/tmp/boxes"), subprocess.DEVNULL
        command = [sys.executable, "-P", INSIDE, script]
        return start(command, inside, root, (boxes,), CAPABILITIES, stdin=line, stdout=null, stderr=null)

    def run(self, box: pathlib.Path, job: bytes, limits: Limits, cores: Sequence[int] = ()) -> Outcome:
        """Run the server's script on a job, as `sandbox.run` does.

        Args:
            cores: where it may run; anywhere unless given.
        Raises:
            Doubt: the job must be done again.
        """
        self._turns += 1
        mine = self._boxes / str(self._turns)
        mine.mkdir(mode=0o700)
        give(mine)
        fill(mine, job)
        request = {"box": mine.name, "limits": limits.table, "scratch": limits.scratch, "inodes": limits.inodes}
        request |= {"buffers": buffers(), "kept": self._kept, "cores": cores}
        started = time.monotonic()
        turn = _Turn(self, json.dumps(request).encode())
        stopped, stdout, stderr = watch(turn, *limits.watched)
        status, cpu = turn.reply(stopped)
        seconds = time.monotonic() - started
        os.chmod(mine / OUTPUT, 0o600)  # the child may have closed it to its owner
        shutil.move(mine / OUTPUT, box / OUTPUT)
        shutil.rmtree(mine)
        return Outcome(status, stopped, stdout, stderr, seconds, limits, cpu)

    def send(self, request: bytes, *descriptors: int) -> None:
        """Ask for a child."""
        socket.send_fds(self._line, [request], descriptors)

    def waits(self, seconds: float) -> bool:
        """Whether the server has said something, has died, or does within these seconds."""
        return bool(select.select([self._line], [], [], max(seconds, 0.0))[0])

    def said(self) -> bytes:
        """What the server has said: nothing when it is silent or dead."""
        try:
            return self._line.recv(100, socket.MSG_DONTWAIT)
        except OSError:
            return b""

    def kill(self) -> None:
        """End the server and whatever runs in it."""
        self.alive = False
        end(self._child)

    def stop(self) -> None:
        """The same, and remove its boxes."""
        self.kill()
        self._line.close()
        self._folder.cleanup()


class _Turn:
    """A child of a server, as `watch` waits for it."""

    def __init__(self, server: Server, request: bytes) -> None:
        self._server, self._said, self.pid = server, b"", server.pid
        (out, its_out), (err, its_err) = os.pipe(), os.pipe()
        self.pipes: tuple[IO[bytes], IO[bytes]] = (open(out, "rb", buffering=0), open(err, "rb", buffering=0))
        try:
            server.send(request, its_out, its_err)
        except OSError:
            self._said = b"failed"
        finally:
            os.close(its_out)
            os.close(its_err)

    def ended(self, seconds: float) -> bool:
        if not self._said and self._server.waits(seconds):
            self._said = self._server.said() or b"failed"
        return bool(self._said)

    def kill(self) -> None:
        if not self._said:
            self._server.kill()

    def reply(self, stopped: Stopped) -> tuple[int, float]:
        """The child's exit status, and the seconds of CPU time that it took with all that it started.

        Raises:
            Doubt: the server did not say so.
        """
        if stopped:
            return 128 + signal.SIGKILL, 0.0
        try:
            status, cpu = self._said.split()
            return int(status), float(cpu)
        except ValueError:
            raise Doubt("it did not run its child to the end") from None
