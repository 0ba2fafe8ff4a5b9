"""The first process of a sandbox, which then becomes it: bound to the grader's life, and for root the way to be nobody.

    python -I -S outer.py PARENT BINDS COMMAND...

PARENT is the grader's process id: when that process ends, so does this one, whatever it has become. BINDS is JSON, for each
thing that nobody must see although only root can, [kind, source, target], with targets below `/mnt`. It forks nothing: a
process of root's between the grader and nobody's would have lost the right to kill it. It imports the standard library only.
"""

from __future__ import annotations

import ctypes
import json
import os
import signal
import stat
import sys

LIBC = ctypes.CDLL(None, use_errno=True)
DIES_WITH_PARENT, NEW_MOUNTS = 1, 0x20000
READ_ONLY, NO_SUID, NO_DEVICES, NO_EXEC, REMOUNT, BIND, ALL_BELOW, PRIVATE = 1, 2, 4, 8, 32, 4096, 16384, 1 << 18
KEPT = NO_SUID | NO_DEVICES | NO_EXEC | 1024 | 2048
PLACE = "/mnt"


def main(parent: str, binds: str, *command: str) -> None:
    """Mount, then become the command."""
    _call("prctl", DIES_WITH_PARENT, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != int(parent):
        sys.exit(1)  # it ended before this process was bound to it
    if wanted := json.loads(binds):
        _call("unshare", NEW_MOUNTS)
        _call("mount", b"none", b"/", None, ALL_BELOW | PRIVATE, None)
        # Opened first: what lies below `/mnt` is hidden afterwards.
        opened = [(kind, os.open(source, os.O_PATH), target) for kind, source, target in wanted]
        _call("mount", b"tmpfs", PLACE.encode(), b"tmpfs", NO_SUID | NO_DEVICES, b"mode=0755")
        for kind, source, target in opened:
            _bind(kind, source, target)
    os.execv(command[0], command)


def _bind(kind: str, source: int, target: str) -> None:
    if stat.S_ISDIR(os.fstat(source).st_mode):
        os.mkdir(target)
    else:
        os.close(os.open(target, os.O_CREAT))
    _call("mount", f"/proc/self/fd/{source}".encode(), target.encode(), None, BIND | ALL_BELOW, None)
    if kind == "--ro-bind":
        kept = os.statvfs(target).f_flag & KEPT
        _call("mount", None, target.encode(), None, REMOUNT | BIND | READ_ONLY | kept, None)


def _call(name: str, *arguments: bytes | int | None) -> None:
    if getattr(LIBC, name)(*(ctypes.c_ulong(a) if isinstance(a, int) else a for a in arguments)) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
