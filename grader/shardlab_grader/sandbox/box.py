"""The box that runs code we do not trust: what it can see, what it may use, and how it ends.

In mode `bubblewrap` a command finds read-only `/usr` and the mounts that it was given, a private `/tmp` of limited size,
no network, no other user's or submission's files, no host environment, no capability, and no way to a new namespace.
It reads one file, `/box/job.json`, and can write one, `/box/output`; both names are its last two arguments. Nothing that
it starts outlives it. Mode `none` has the same limits of time and size and no isolation; it must be asked for.
"""

from __future__ import annotations

import dataclasses
import functools
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from typing import Literal

from shardlab_grader.sandbox.mounts import NOBODY, Bind, bubblewrap, tool, unavailable
from shardlab_grader.sandbox.watch import Command, Stopped, watch

Mode = Literal["bubblewrap", "none"]
JOB, OUTPUT = "job.json", "output"
CORES = os.cpu_count() or 1
MiB = 2**20
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1"}
"""For Pythons that fork: NumPy's and SciPy's own threads would start as they are imported."""


@dataclasses.dataclass(frozen=True)
class Limits:
    """What one command may use. Times are in seconds, sizes in bytes.

    `memory` is address space of each process; JAX on eight devices takes 1.6 GB of it on two cores and more on more, as it
    starts threads for each core. `together` is what all its processes may hold of the machine's memory; one alone meets its
    own limit first, as a MemoryError that its notebook survives. `processes` counts threads too. `file_size` bounds each
    file, so also the output file. `inodes` bounds the files in each scratch space. `printed` is what may be written to
    stdout and stderr together before the command is killed.
    """

    wall: float = 120.0
    cpu: int = 240
    memory: int = (4096 + 64 * CORES) * MiB
    together: int = (4096 + 64 * CORES) * MiB
    processes: int = 128 + 16 * CORES
    files: int = 256
    file_size: int = 16 * MiB
    scratch: int = 64 * MiB
    inodes: int = 20_000
    printed: int = 64 * MiB

    @property
    def watched(self) -> tuple[float, int, int]:
        """What is enforced from outside: seconds, and bytes printed and held."""
        return self.wall, self.printed, self.together

    @property
    def table(self) -> dict[str, tuple[int, int]]:
        """Soft and hard limit by the kernel's name of the resource."""
        rows = {"CORE": 0, "AS": self.memory, "NPROC": self.processes, "NOFILE": self.files, "FSIZE": self.file_size}
        # Soft below hard: SIGXCPU comes first and says in the status why the command ended.
        return {name: (limit, limit) for name, limit in rows.items()} | {"CPU": (self.cpu, self.cpu + 2)}


@dataclasses.dataclass(frozen=True)
class Mount:
    """A file or directory of the host, `source`, that is seen inside as `target`; it cannot be changed there unless said."""

    source: pathlib.Path
    target: str
    writable: bool = False


@dataclasses.dataclass(frozen=True)
class Sandbox:
    """How commands are run. Commands and `environment` name the paths that hold inside, whatever the mode."""

    mode: Mode = "bubblewrap"
    limits: Limits = Limits()
    mounts: tuple[Mount, ...] = ()
    environment: tuple[tuple[str, str], ...] = ()

    def seen(self, path: str) -> str:
        """The name by which the command finds an inside path: itself, or in mode `none` the host's own."""
        if self.mode == "bubblewrap":
            return path
        for mount in sorted(self.mounts, key=lambda m: -len(m.target)):
            if path == mount.target or path.startswith(mount.target + "/"):
                return str(mount.source) + path[len(mount.target) :]
        return path


@dataclasses.dataclass(frozen=True)
class Outcome:
    """How a command ended.

    `status` is the exit status, 128 + n for signal n. `stopped` is the limit that we had to enforce from outside, or empty.
    `stdout` and `stderr` are the last few thousand characters. `cpu` is its CPU time where a warm server could tell.
    `doubts` has what ended a run, and those that it goes on from, where that need not be its own doing.
    """

    status: int
    stopped: Stopped
    stdout: str
    stderr: str
    seconds: float
    limits: Limits
    cpu: float = 0.0
    doubts: tuple[str, ...] = ()

    @property
    def doubtful(self) -> bool:
        """Whether something else than the command can have ended it: time that passed, a signal, an error of the system's.

        What it printed, held and computed is its own doing.
        """
        own = (signal.SIGXCPU, signal.SIGXFSZ)
        return self.stopped == "time" or (not self.stopped and self.status != 0 and self.status - 128 not in own)

    @property
    def ending(self) -> str:
        """The end in a few words, for messages."""
        match self.stopped, self.status - 128:
            case "time", _:
                return f"time limit of {self.limits.wall:g} s"
            case "interrupt", _:
                return "interrupted by the grader"
            case "memory", _:
                return f"more than {self.limits.together // MiB} MB of memory in all its processes"
            case "output", _:
                return f"more than {self.limits.printed // MiB} MB printed"
            case _, signal.SIGXCPU | signal.SIGKILL:
                return f"limit of {self.limits.cpu} s of CPU time, or killed for lack of memory"
            case _, number if number in signal.valid_signals():
                return f"{signal.Signals(number).name}: {signal.strsignal(number)}"
        return f"exit status {self.status}"


RunScript = Callable[[str, Sandbox, pathlib.Path, bytes], Outcome]
"""A way to run a script of Python in a sandbox, with the arguments of `run`."""


def cold(script: str, sandbox: Sandbox, box: pathlib.Path, job: bytes) -> Outcome:
    """Run a script in a Python that is started for it alone."""
    return run([sys.executable, "-P", script], sandbox, box, job)


def run(command: Sequence[str], sandbox: Sandbox, box: pathlib.Path, job: bytes = b"") -> Outcome:
    """Run a command with two more arguments, its job file and its output file, and wait for its end.

    Args:
        command: program and arguments, by the names that hold inside.
        box: an empty private directory; afterwards its file `output` holds what the command wrote, to be read as hostile.
        job: what the command finds in its job file.
    Raises:
        ShardlabError: bubblewrap or another tool of the sandbox is not installed.
    """
    fill(box, job)
    isolated = sandbox.mode == "bubblewrap"
    files = [f"/box/{JOB}", f"/box/{OUTPUT}"] if isolated else [str(box / JOB), str(box / OUTPUT)]
    prlimit = [tool("prlimit"), *(f"--{name.lower()}={soft}:{hard}" for name, (soft, hard) in sandbox.limits.table.items())]
    started = time.monotonic()
    limited = [*prlimit, "--", *map(sandbox.seen, command), *files]
    null, pipe = subprocess.DEVNULL, subprocess.PIPE
    child = start(limited, sandbox, box, stdin=null, stdout=pipe, stderr=pipe)
    stopped, stdout, stderr = watch(Command(child), *sandbox.limits.watched)
    status = child.returncode if child.returncode >= 0 else 128 - child.returncode
    return Outcome(status, stopped, stdout, stderr, time.monotonic() - started, sandbox.limits)


def fill(box: pathlib.Path, job: bytes) -> None:
    """Put the job and an empty output into a box, for the user that runs inside."""
    for name, content in ((JOB, job), (OUTPUT, b"")):
        (box / name).write_bytes(content)
        (box / name).chmod(0o600)
        give(box / name)


def usable_cores() -> int:
    """How many cores this process may run on: in a container or a batch job often fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def give(path: pathlib.Path) -> None:
    """Make a file or directory the property of the user that runs inside."""
    if os.getuid() == 0:
        os.chown(path, NOBODY, NOBODY)


def start(
    command: Sequence[str],
    sandbox: Sandbox,
    box: pathlib.Path,
    more: Sequence[Bind] = (),
    capabilities: Sequence[str] = (),
    **streams: int,
) -> subprocess.Popen[bytes]:
    """Start a command, without limits of its own, as the leader of a session.

    Args:
        box: with both its files.
        more: further things that are seen inside.
        capabilities: see `mounts.bubblewrap`.
        streams: stdin, stdout and stderr as for `subprocess.Popen`.
    """
    isolated = sandbox.mode == "bubblewrap"
    environment = _environment(sandbox, "/tmp" if isolated else str(box))
    # When the host runs out of memory, the kernel takes these commands first.
    line = [tool("choom"), "-n", "1000", "--", *command]
    if isolated:
        binds = [*_binds(sandbox.mounts, box), *more]
        line = bubblewrap(line, binds, sandbox.limits.scratch, environment, capabilities)
    started: subprocess.Popen[bytes] = subprocess.Popen(  # type: ignore[call-overload]
        line, env={} if isolated else environment, cwd="/" if isolated else box, start_new_session=True, **streams
    )
    return started


def interpreter() -> tuple[Mount, ...]:
    """Mounts of this Python: its virtual environment and the installation below it."""
    links = [pathlib.Path(sys.executable)]
    while links[-1].is_symlink():
        links.append(pathlib.Path(os.path.abspath(links[-1].parent / links[-1].readlink())))
    homes = {pathlib.Path(sys.prefix), pathlib.Path(sys.base_prefix)}
    # An environment may name its Python by a path of links. What holds no Python, like ~/.local, is not shown.
    library = pathlib.Path("lib", f"python{sys.version_info.major}.{sys.version_info.minor}", "os.py")
    homes |= {link.parent.parent for link in links if (link.parent.parent / library).exists()}
    seen = {home for home in homes if home != pathlib.Path("/") and not home.is_relative_to("/usr")}
    return tuple(Mount(home, str(home)) for home in sorted(seen))


@functools.cache
def probe(mode: Mode = "bubblewrap") -> None:
    """Start this Python once in a sandbox, so that a grading run stops before its first submission and not at each.

    Raises:
        ShardlabError: it does not start.
    """
    with tempfile.TemporaryDirectory() as box:
        outcome = run([sys.executable, "-I", "-c", "pass"], Sandbox(mode, mounts=interpreter()), pathlib.Path(box))
    if outcome.status:
        raise unavailable(f"this Python does not start in a sandbox ({outcome.ending}).", outcome.stderr.strip()[-500:])


def limits_in_force(sandbox: Sandbox, *more: tuple[str, str, str]) -> str:
    """A table of the limits and of what enforces each; `more` are rows of the caller's: what, how much, enforced by what."""
    limits, isolated = sandbox.limits, sandbox.mode == "bubblewrap"
    rows = [
        ("wall time", f"{limits.wall:g} s", "killed from outside"),
        ("CPU time of a process", f"{limits.cpu} s", "RLIMIT_CPU"),
        ("memory of a process", f"{limits.memory // MiB} MB", "RLIMIT_AS"),
        ("memory of all", f"{limits.together // MiB} MB", "killed from outside"),
        (
            "processes and threads",
            str(limits.processes),
            "RLIMIT_NPROC" if isolated or os.getuid() else "not in force: root",
        ),
        ("open files of a process", str(limits.files), "RLIMIT_NOFILE"),
        ("size of a file", f"{limits.file_size // MiB} MB", "RLIMIT_FSIZE"),
        ("scratch space", f"{limits.scratch // MiB} MB", "size of a private /tmp" if isolated else "not in force"),
        ("printed text", f"{limits.printed // MiB} MB", "killed from outside"),
        ("network", "none" if isolated else "open", "own namespace" if isolated else "not in force"),
        (
            "files of the host",
            "read-only /usr and Python" if isolated else "all",
            "own namespace" if isolated else "not in force",
        ),
        *more,
    ]
    return "\n".join([f"sandbox: {sandbox.mode}", *(f"  {name:<24} {value:<26} {by}" for name, value, by in rows)])


def _binds(mounts: Sequence[Mount], box: pathlib.Path) -> list[Bind]:
    ordered = sorted(mounts, key=lambda m: len(m.target))
    seen = [Bind("--bind" if m.writable else "--ro-bind", str(m.source), m.target) for m in ordered]
    return [*seen, Bind("--ro-bind", str(box / JOB), f"/box/{JOB}"), Bind("--bind", str(box / OUTPUT), f"/box/{OUTPUT}")]


def _environment(sandbox: Sandbox, home: str) -> dict[str, str]:
    base = {"PATH": "/usr/bin:/bin", "HOME": home, "TMPDIR": home, "USER": "student", "LANG": "C.UTF-8"}
    # glibc reserves address space for each thread's heap, which would count against RLIMIT_AS.
    base["MALLOC_ARENA_MAX"] = "2"
    return base | {name: ":".join(map(sandbox.seen, value.split(":"))) for name, value in sandbox.environment}
