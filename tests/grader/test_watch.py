"""What a process and its descendants hold, while some of them end."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from shardlab_grader.sandbox import watch

MiB = 2**20
TREE = """
import subprocess, sys
child = subprocess.Popen([sys.executable, "-c", "x = bytearray(60 * 2**20); print(len(x), flush=True); input()"], stdin=0)
child.wait()
"""


@contextlib.contextmanager
def tree() -> Iterator[subprocess.Popen[bytes]]:
    """A process whose child holds 60 MiB."""
    started = subprocess.Popen([sys.executable, "-c", TREE], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with started:
        assert started.stdout is not None and started.stdout.readline()
        try:
            yield started
        finally:
            end(started)


def end(process: subprocess.Popen[bytes]) -> None:
    """Let it and its child end, if they run."""
    if process.poll() is None:
        process.communicate(b"\n")


def test_descendants_count() -> None:
    """What a child holds is counted, and all is over when it ends."""
    with tree() as process:
        assert watch.takes_more(process.pid, 60 * MiB)
        assert not watch.takes_more(process.pid, 200 * MiB)
        assert len(list(watch._family(process.pid))) == 2
    assert not watch.takes_more(process.pid, 0)


def test_a_process_may_end_while_it_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    """Between any two looks: its folder, its threads, and what they started may be gone."""
    listed = os.listdir

    def ends_then(path: str) -> list[str]:
        tasks = listed(path)
        end(process)
        while os.path.exists(path):
            time.sleep(0.01)
        return tasks

    with tree() as process:
        monkeypatch.setattr(os, "listdir", ends_then)
        assert list(watch._family(process.pid)) == [process.pid]
        monkeypatch.setattr(os, "listdir", listed)
        assert list(watch._family(process.pid)) == [process.pid]
