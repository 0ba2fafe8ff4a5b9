"""The first process of a sandbox: bound to the grader's life, and for root the way to be nobody.

    python -I -S first_process.py PARENT BINDS COMMAND...

PARENT is the grader's process id. BINDS is JSON, for each thing that nobody must see although only root can, [kind, source,
target], with targets below `/mnt`. The command runs as the first process of a process namespace, so that the kernel ends
whatever it has started together with it, also what bubblewrap has not bound to itself yet. It ends when this process does,
which ends when the grader does; each asks, after it has bound itself, whether the other is still there. The exit status is
the command's, 128 + n for signal n. It imports the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import select
import signal
import stat
import sys
from typing import NoReturn

# By ctypes, although `setpriv` and `unshare` of util-linux take each of these steps: as setpriv changes the user, the kernel
# forgets to whom it was bound, and neither asks afterwards whether that one is still there. Of 1,500 such chains that were
# killed at a random moment of their start, 89 left their command running; of 1,000 of these, none.
LIBC = ctypes.CDLL(None, use_errno=True)
NOBODY = 65534
DIES_WITH_PARENT, DROP_BOUNDING, NO_NEW_PRIVILEGES = 1, 24, 38
NEW_MOUNTS, NEW_USER, NEW_PROCESSES = 0x20000, 0x10000000, 0x20000000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, ALL_BELOW, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
KEPT = NO_SUID | NO_DEVICES | NO_EXEC | 1024 | 2048
PLACE = "/mnt"


def main(parent: str, binds: str, *command: str) -> None:
    """Mount, run the command, and end as it does."""
    _bind_life()
    if os.getppid() != int(parent):
        sys.exit(1)
    root = os.getuid() == 0
    if root:
        _call("unshare", NEW_PROCESSES | NEW_MOUNTS)
        _mount(json.loads(binds))
    else:
        _own_namespace()
    alive, _held = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(_held)
        _become(command, root, alive)
    os.closerange(0, 3)  # the command's own now: who reads the pipes is told when it ends
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os._exit(code if code >= 0 else 128 - code)


def _become(command: tuple[str, ...], root: bool, alive: int) -> NoReturn:
    try:
        if root:
            _drop_privileges()
        _bind_life()  # the last: it is forgotten when a process becomes another user
        if not select.select([alive], [], [], 0)[0]:
            os.execv(command[0], command)
    finally:
        os._exit(1)


def _bind_life() -> None:
    _call("prctl", DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)


def _own_namespace() -> None:
    user, group = os.getuid(), os.getgid()
    _call("unshare", NEW_USER | NEW_PROCESSES)
    for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
        with open(f"/proc/self/{name}", "w", encoding="ascii") as file:
            file.write(text)


def _drop_privileges() -> None:
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _call("prctl", DROP_BOUNDING, capability, 0, 0, 0)
    os.setgroups([])
    os.setresgid(NOBODY, NOBODY, NOBODY)
    os.setresuid(NOBODY, NOBODY, NOBODY)
    _call("capset", (ctypes.c_uint32 * 2)(0x20080522, 0), (ctypes.c_uint32 * 6)())
    _call("prctl", NO_NEW_PRIVILEGES, 1, 0, 0, 0)


def _mount(binds: list[list[str]]) -> None:
    _call("mount", b"none", b"/", None, ALL_BELOW | PRIVATE, None)
    # Opened first: what lies below `/mnt` is hidden afterwards.
    opened = [(kind, os.open(source, os.O_PATH), target) for kind, source, target in binds]
    _call("mount", b"tmpfs", PLACE.encode(), b"tmpfs", NO_SUID | NO_DEVICES, b"mode=0755")
    for kind, source, target in opened:
        _bind(kind, source, target)


def _bind(kind: str, source: int, target: str) -> None:
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT))
    _call("mount", f"/proc/self/fd/{source}".encode(), target.encode(), None, BIND | ALL_BELOW, None)
    if kind == "--ro-bind":
        kept = os.statvfs(target).f_flag & KEPT
        _call("mount", None, target.encode(), None, REMOUNT | BIND | READ_ONLY | kept, None)


def _call(name: str, *arguments: object) -> None:
    if getattr(LIBC, name)(*(ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
