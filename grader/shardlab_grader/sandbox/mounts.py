"""The command line of bubblewrap: what is seen inside, and how root first becomes nobody."""

from __future__ import annotations

import functools
import json
import os
import pathlib
import shutil
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from shardlab.errors import ShardlabError

NOBODY = 65534
FIRST = pathlib.Path(__file__).parents[1] / "inside" / "first_process.py"
TOOLS = ("bwrap", "prlimit", "choom")


class Bind(NamedTuple):
    """A host file or directory, and its name inside."""

    kind: Literal["--ro-bind", "--bind"]
    source: str
    target: str


def bubblewrap(
    command: Sequence[str],
    binds: Sequence[Bind],
    scratch: int,
    environment: Mapping[str, str],
    capabilities: Sequence[str] = (),
) -> list[str]:
    """The command that runs `command` in a sandbox.

    Args:
        binds: what is seen besides `/usr`; a directory before what lies in it.
        scratch: bytes of `/tmp`, where the command starts, and of `/dev/shm`.
        environment: all that the command finds there.
        capabilities: what it may do in its own namespaces, where no further user namespace can be made.
    """
    first = _first_process([])
    if os.getuid() == 0:
        # RLIMIT_NPROC does not bind root, so root becomes nobody. Nobody cannot look into root's home: what is needed
        # goes to /mnt first.
        neutral = [Bind(bind.kind, f"/mnt/{i}", bind.target) for i, bind in enumerate(binds)]
        first = _first_process([Bind(bind.kind, bind.source, f"/mnt/{i}") for i, bind in enumerate(binds)])
        binds = neutral
    line = [tool("bwrap"), *"--unshare-all --unshare-user --disable-userns --die-with-parent --new-session".split()]
    line += ["--cap-drop", "ALL", *(word for name in capabilities for word in ("--cap-add", name))]
    line += [*f"--uid {NOBODY} --gid {NOBODY}".split(), *_system()]
    line += f"--proc /proc --dev /dev --size {scratch} --tmpfs /dev/shm --remount-ro /dev".split()
    line += f"--size {scratch} --tmpfs /tmp".split()
    line += [*_words(binds), *"--remount-ro / --chdir /tmp --clearenv".split()]
    line += [word for pair in environment.items() for word in ("--setenv", *pair)]
    return [*first, *line, "--", *command]


def unavailable(what: str, where: str) -> ShardlabError:
    """The error for a sandbox that does not start."""
    mend = "apt-get install bubblewrap util-linux (bubblewrap 0.8 or newer), and allow unprivileged user namespaces;\n"
    mend += "or, for submissions that you trust as much as your own code, ask for no sandbox: --sandbox none"
    return ShardlabError("sandbox-unavailable", what, where=where, mend=mend)


@functools.cache
def tool(name: str) -> str:
    """The path of a program of the system.

    Raises:
        ShardlabError: it is not installed.
    """
    path = shutil.which(name, path="/usr/bin:/bin:/usr/local/bin")
    if path is None:
        raise unavailable(f"{name} is not installed.", f"the sandbox is made of {', '.join(TOOLS)}")
    return path


def _first_process(binds: Sequence[Bind]) -> list[str]:
    return [sys.executable, "-I", "-S", str(FIRST), str(os.getpid()), json.dumps(binds)]


def _system() -> list[str]:
    words = "--ro-bind /usr /usr --ro-bind-try /etc/ld.so.cache /etc/ld.so.cache".split()
    for name in ("bin", "sbin", "lib", "lib32", "lib64"):
        root = pathlib.Path("/", name)
        if root.is_symlink():
            words += ["--symlink", os.readlink(root), str(root)]
        elif root.is_dir():
            words += ["--ro-bind", str(root), str(root)]
    return words


def _words(binds: Iterable[Bind]) -> list[str]:
    return [word for bind in binds for word in bind]
