"""The time of processes as it would pass on a machine that has nothing else to do."""

from __future__ import annotations

import contextlib
import pathlib
import time
from collections.abc import Sequence

SAMPLE = 0.25
"""Seconds between two looks."""
LEAST = 0.1
"""The part of the time that always counts: a limit of 20 s ends everything after 200 s."""
BUSY = 0.5
"""From this part of the time on, a thread that had a processor or waited for one computes."""

Counts = dict[pathlib.Path, tuple[int, int]]


class Clock:
    """Seconds that passed, without those in which the busiest thread of all these processes waited for a processor.

    So it counts what a thread computes, and what all threads spend waiting for something else, as in a hang. Where a system
    does not tell how long threads wait (Linux does), it counts what the clock on the wall does.

    `computing` says whether some thread computed when it was last read.
    """

    def __init__(self, pids: Sequence[int]) -> None:
        self.computing = False
        self._pids = pids
        self._seconds = 0.0
        self._counts, self._read = _counts(pids), time.monotonic()

    def seconds(self) -> float:
        """How many have passed by now."""
        counts, now = _counts(self._pids), time.monotonic()
        # A longer gap means that this thread was late, or that the machine slept.
        passed = min(now - self._read, 2 * SAMPLE)
        new = [(ran - old[0], waited - old[1]) for task, (ran, waited) in counts.items() if (old := self._counts.get(task))]
        ran, waited = max(new, key=sum, default=(0, 0))
        self.computing = (ran + waited) / 1e9 > BUSY * passed
        self._seconds += max(passed - waited / 1e9, LEAST * passed)
        self._counts, self._read = counts, now
        return self._seconds


def _counts(pids: Sequence[int]) -> Counts:
    """By thread the nanoseconds that it ran, and those that it waited for a processor: proc_pid_schedstat of Linux."""
    counts: Counts = {}
    for pid in pids:
        # Tasks end while they are read.
        with contextlib.suppress(OSError):
            for task in pathlib.Path(f"/proc/{pid}/task").iterdir():
                with contextlib.suppress(OSError, ValueError):
                    ran, waited, _ = map(int, (task / "schedstat").read_text().split())
                    counts[task] = ran, waited
    return counts
