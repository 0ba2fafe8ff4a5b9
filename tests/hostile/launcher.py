"""Runs a command as its subreaper and says in JSON how it ended and what it left running.

    python launcher.py SECONDS COMMAND...

The command is killed by SIGKILL when it has not ended within SECONDS; what it started has some seconds more to end. Whatever
it starts and abandons becomes this process's child, whatever session or group it moved to.
"""

from __future__ import annotations

import ctypes
import json
import os
import pathlib
import resource
import signal
import subprocess
import sys
import time

SUBREAPER = 36
GRACE, QUIET = 5.0, 0.3


def main(seconds: str, *command: str) -> None:
    """Run, then print one line of JSON."""
    ctypes.CDLL(None).prctl(SUBREAPER, 1, 0, 0, 0)
    started = time.monotonic()
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    try:
        said = child.communicate(timeout=float(seconds))[0]
    except subprocess.TimeoutExpired:
        child.kill()
        said = child.communicate()[0] + b"\nthe command was killed"
    started_waiting = seen = time.monotonic()
    while time.monotonic() - seen < QUIET and time.monotonic() - started_waiting < GRACE:
        seen = time.monotonic() if children() else seen  # a parent that is dying hands its children on
        time.sleep(0.05)
    left = [line for pid in children() if (line := command_line(pid))]
    for pid in children():
        os.kill(pid, signal.SIGKILL)
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    seconds = time.monotonic() - started
    text = said.decode(errors="replace")
    print(json.dumps({"status": child.returncode, "said": text, "left": left, "seconds": seconds, "kilobytes": memory}))


def children() -> list[int]:
    """Processes that are ours now, zombies left out."""
    found = pathlib.Path("/proc/self/task", str(os.getpid()), "children").read_text().split()
    return [int(pid) for pid in found if _state(int(pid)) != "Z"]


def command_line(pid: int) -> str:
    """What the process was started as; empty when it is gone."""
    try:
        return pathlib.Path("/proc", str(pid), "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


def _state(pid: int) -> str:
    try:
        return pathlib.Path("/proc", str(pid), "stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return "Z"


if __name__ == "__main__":
    main(*sys.argv[1:])
