"""The processes that `shardlab.launch` starts, seen from the one that starts them: their start, what they say, their end."""

from __future__ import annotations

import contextlib
import dataclasses
import json
import os
import pathlib
import re
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from typing import IO, Any

from shardlab.processes.clock import SAMPLE, Clock

PEER = pathlib.Path(__file__).with_name("peer.py")
HALF = 50_000
"""Characters kept of the beginning and of the end of what a process writes."""
GRACE = 2.0
"""Seconds for the other processes to meet the same error, and for one that is gone to end, before they are stopped."""
LAST = 5.0
"""Seconds for JAX to say goodbye after all have reported, and for a process to say where it is; few need a tenth of it."""
CHATTER = re.compile(r"^.*(?:\[Gloo\] Rank|peer ranks).*\n(?:\d*\n)*", re.MULTILINE)
"""What gloo says when it connects, from several threads at once."""
ALARM = re.compile(
    r"^[IWEF]\d{4} \S+ +\d+ (?:coordination_\w+|preemption_\w+|client)\.(?:cc|h):\d+\].*\n"
    r"(?:(?:Additional GRPC|:|\. This is only expected|=== Source Location|\*\*\* Check failure| +@ ).*\n"
    r"|external/\S+:\d+\n\n?)*",
    re.MULTILINE,
)
"""What JAX says, with a stack of its own, when the first process is gone, with which it ends all others."""

Heard = Callable[[int, str], None]


@dataclasses.dataclass
class Peer:
    """One process: its end of the pipes, and what came through them.

    `said` is what Python wrote there, `native` what libraries and further programs wrote to stdout, `lines` its reports so
    far, malformed ones left out, and `unread` the beginning of the next.
    `stopped` says why we ended it: "time" when all waited, "computing" when some computed, or "peer" for another's failure.
    """

    number: int
    child: subprocess.Popen[bytes]
    report: IO[bytes]
    leash: int
    releasing: int
    stack: pathlib.Path
    said: bytes = b""
    native: bytes = b""
    lines: list[dict[str, Any]] = dataclasses.field(default_factory=list)
    unread: bytes = b""
    gone: bool = False
    stopped: str = ""
    where: str = ""

    def hear(self, piece: bytes) -> None:
        """Take what came of its reports."""
        *whole, self.unread = (self.unread + piece).split(b"\n")
        for line in whole:
            with contextlib.suppress(ValueError):
                found = json.loads(line)
                self.lines += [found] if isinstance(found, dict) else []

    @property
    def end(self) -> int | None:
        """The status that it reported at its end."""
        return next((line["end"] for line in self.lines if "end" in line), None)

    @property
    def done(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.gone or self.end is not None

    @property
    def calls(self) -> int:
        """How many calls it has come to the end of."""
        return sum("call" in line for line in self.lines)

    @property
    def failed(self) -> int:
        """The last call that failed, counted from 1, or 0: it raised, or this process ended in it."""
        raised = [n for n, line in enumerate(self.lines, 1) if "error" in line]
        ended = self.gone and self.end is None or bool(self.end) and not raised
        return self.calls + 1 if ended else max(raised, default=0)

    @property
    def extra(self) -> str:
        """What libraries and further programs wrote to stdout."""
        return CHATTER.sub("", self.native.decode(errors="replace"))

    @property
    def output(self) -> str:
        """All that it wrote, to stdout and stderr, without what JAX says of the others."""
        return ALARM.sub("", self.said.decode(errors="replace")) + self.extra

    @property
    def abandoned(self) -> bool:
        """Whether JAX ended it because the first process was gone."""
        return self.gone and self.end is None and bool(ALARM.search(self.said.decode(errors="replace")))

    def settle(self) -> None:
        """Where its reports have ended, give it a moment to end by itself, with its own exit status."""
        if self.gone:
            # No other group gets its number meanwhile: the process of `_bind_life` is still in this one.
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(GRACE)

    def stop(self) -> None:
        """End it, and all in its process group; harmless when it has ended."""
        # Before it is waited for: until then no other group can have its number.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.child.pid, signal.SIGKILL)

    def release(self) -> None:
        """Let it end."""
        with contextlib.suppress(OSError):
            os.write(self.releasing, b"1")


@contextlib.contextmanager
def reserved_port() -> Iterator[int]:
    """A free port of the loopback interface, which nobody else is given meanwhile.

    The coordinator, who shares its port as this socket does, can still listen on it.
    """
    with socket.socket() as holder:
        holder.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        holder.bind(("127.0.0.1", 0))
        yield holder.getsockname()[1]


def start(job: dict[str, Any], folder: pathlib.Path) -> list[Peer]:
    """The processes of a job, started; see `shardlab.processes.peer` for what a job holds."""
    file = folder / "job.json"
    file.write_text(json.dumps(job), encoding="utf-8")
    peers: list[Peer] = []
    try:
        for number in range(job["processes"]):
            peers.append(_start(number, file, folder / f"stack{number}.txt"))
    except BaseException:
        end(peers)
        raise
    return peers


def watch(peers: list[Peer], seconds: float, heard: Heard) -> None:
    """Wait until all have reported, one has failed, or the time is over; then end them all.

    Args:
        seconds: from now, on a clock that stands still while they wait for a processor.
        heard: is told each piece of a process's output as it comes.
    """
    with selectors.DefaultSelector() as selector:
        for peer in peers:
            assert peer.child.stdout and peer.child.stderr
            for stream, kind in ((peer.child.stderr, "said"), (peer.child.stdout, "native"), (peer.report, "told")):
                os.set_blocking(stream.fileno(), False)
                selector.register(stream, selectors.EVENT_READ, (peer, kind))
        reason = _until_done(peers, selector, seconds, heard)
        if reason in ("time", "computing"):
            _ask_where(peers)
        for peer in peers:
            peer.stopped = "" if peer.done else reason
        # Where one has failed, goodbyes fail too, and fill the output with what JAX says of that.
        if all(peer.end == 0 for peer in peers):
            for peer in peers:
                peer.release()
            _hear(selector, peers, LAST, heard, lambda: all(p.gone for p in peers))
        for peer in peers:
            peer.settle()
        # Before the first is stopped, for what the others say of that is JAX's and not theirs. A read takes all that a pipe
        # holds, so that one round is enough, and one that writes without end delays nothing.
        for key, _ in selector.select(0):
            _take(selector, key, heard)
        for peer in peers:
            peer.stopped = "peer" if peer.abandoned else peer.stopped
            peer.stop()


def end(peers: list[Peer]) -> None:
    """Leave nothing of them behind."""
    for peer in peers:
        peer.stop()
    for peer in peers:
        with peer.child, peer.report:  # which waits for it, and closes its streams
            os.close(peer.leash)
            os.close(peer.releasing)


def environment() -> dict[str, str]:
    """This process's environment without what decides over platforms and devices, proxies, and JAX's folder of programs."""
    # gRPC would ask a proxy for the coordinator's loopback address; JAX itself warns that proxies make `initialize` hang.
    # In the folder, processes that compile the same at the same moment would read what another has half written.
    left = (
        "JAX_PLATFORMS",
        "JAX_NUM_CPU_DEVICES",
        "JAX_COORDINATOR_ADDRESS",
        "JAX_LOCAL_DEVICE_IDS",
        "JAX_COMPILATION_CACHE_DIR",
    )
    kept = {k: v for k, v in os.environ.items() if k not in left and not k.lower().endswith("_proxy")}
    flags = [flag for flag in kept.pop("XLA_FLAGS", "").split() if "host_platform_device_count" not in flag]
    return {**kept, **({"XLA_FLAGS": " ".join(flags)} if flags else {})}


def _start(number: int, job: pathlib.Path, stack: pathlib.Path) -> Peer:
    pipes = [os.pipe() for _ in range(3)]
    (report, reporting), (held, leash), (released, releasing) = pipes
    theirs = (reporting, held, released)
    try:
        child = subprocess.Popen(
            # -P: else the folder of peer.py comes first on the path, and hides modules that are named as those in it.
            # -u: what is written before a kill must not be lost in a buffer.
            [sys.executable, "-u", "-P", str(PEER), str(job), *map(str, (number, *theirs)), str(stack)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            pass_fds=theirs,
            # A group of its own, so that what it starts is ended with it.
            start_new_session=True,
            env=environment(),
        )
    except BaseException:
        for ours in (report, leash, releasing):
            os.close(ours)
        raise
    finally:
        for descriptor in theirs:
            os.close(descriptor)
    return Peer(number, child, os.fdopen(report, "rb", buffering=0), leash, releasing, stack)


def _until_done(peers: list[Peer], selector: selectors.BaseSelector, seconds: float, heard: Heard) -> str:
    """Why there is no more to wait for: "" when all have reported, else what to stop the others for."""
    clock = Clock([peer.child.pid for peer in peers])
    while clock.seconds() < seconds:
        if not _hear(selector, peers, SAMPLE, heard, lambda: _uneven(peers) or all(p.done for p in peers)):
            continue
        if not _uneven(peers):
            return ""
        # The others may meet the same error, and then their words are worth having too.
        if not _hear(selector, peers, GRACE, heard, lambda: not _uneven(peers)):
            return "peer"
    return "computing" if clock.computing else "time"


def _uneven(peers: list[Peer]) -> bool:
    """Whether one has failed where another one has yet to come."""
    worst = max(peer.failed for peer in peers)
    return any(not peer.done and peer.calls < worst for peer in peers)


def _hear(
    selector: selectors.BaseSelector, peers: list[Peer], seconds: float, heard: Heard, enough: Callable[[], bool]
) -> bool:
    """Take in what they say until it is enough; False when the time is over before."""
    deadline = time.monotonic() + seconds
    while not enough():
        left = deadline - time.monotonic()
        ready = selector.select(max(left, 0.0)) if selector.get_map() else []
        if not ready and (left <= 0 or not selector.get_map()):
            return enough()
        for key, _ in ready:
            _take(selector, key, heard)
    return True


def _take(selector: selectors.BaseSelector, key: selectors.SelectorKey, heard: Heard) -> None:
    peer, kind = key.data
    try:
        piece = os.read(key.fd, 65536)
    except BlockingIOError:
        return
    if not piece:
        selector.unregister(key.fileobj)
        peer.gone = peer.gone or kind == "told"
    elif kind == "told":
        peer.hear(piece)
    elif kind == "native":
        peer.native = _cut(peer.native + piece)
    else:
        peer.said = _cut(peer.said + piece)
        heard(peer.number, piece.decode(errors="replace"))


def _cut(said: bytes) -> bytes:
    # Not at 2 halves already: else each further piece would be copied, and marked as left out again.
    if len(said) <= 3 * HALF:
        return said
    return said[:HALF] + b"\n... (left out) ...\n" + said[-HALF:]


def _ask_where(peers: list[Peer]) -> None:
    """Make each write down where it is, and read it."""
    for peer in peers:
        if not peer.gone:
            with contextlib.suppress(ProcessLookupError):
                os.kill(peer.child.pid, signal.SIGUSR1)
    deadline = time.monotonic() + LAST
    waiting = [peer for peer in peers if not peer.done]
    while waiting and time.monotonic() < deadline:
        time.sleep(0.02)
        waiting = [peer for peer in waiting if not peer.stack.read_text(errors="replace").endswith("\n")]
    for peer in peers:
        with contextlib.suppress(OSError):
            peer.where = peer.stack.read_text(errors="replace")
