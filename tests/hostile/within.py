"""Runs in mounts of its own: grades a course where there is little room, and says what happened in JSON.

    python within.py COURSE ROOM [filling] -- COMMAND...

COURSE is copied to a small file system in memory, mounted at `COURSE-small`, on which all but ROOM bytes are then filled;
with `filling`, only when the first verdict is there. The command is run once more after the room is free again.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time


def main(course: str, room: str, *rest: str) -> None:
    """Copy, fill, run, compare."""
    options, command = rest[: rest.index("--")], list(rest[rest.index("--") + 1 :])
    small = pathlib.Path(f"{course}-small")
    shutil.copytree(course, small, dirs_exist_ok=True, symlinks=True)
    filler, later = small / "filler", "filling" in options
    if later:
        threading.Thread(target=lambda: _when_graded(small, lambda: fill(filler, int(room))), daemon=True).start()
    else:
        fill(filler, int(room))
    before = fingerprint(small)
    first = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    same = fingerprint(small) == before
    filler.unlink(missing_ok=True)
    second = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    said = [ran.stdout.decode(errors="replace") for ran in (first, second)]
    print(json.dumps({"status": [first.returncode, second.returncode], "said": said, "same": same}))


def fill(path: pathlib.Path, room: int) -> None:
    """Take all but `room` bytes."""
    with open(path, "wb") as file:
        file.write(bytes(max(shutil.disk_usage(path.parent).free - room, 0)))


def fingerprint(place: pathlib.Path) -> dict[str, str]:
    """Every file's hash."""
    files = [path for path in sorted(place.rglob("*")) if path.is_file() and path.name != "filler"]
    return {str(path.relative_to(place)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def _when_graded(small: pathlib.Path, act: object) -> None:
    while not list((small / "shardlab").glob("verdicts/*.json")):
        time.sleep(0.02)
    act()  # type: ignore[operator]


if __name__ == "__main__":
    os.umask(0o077)
    main(*sys.argv[1:])
