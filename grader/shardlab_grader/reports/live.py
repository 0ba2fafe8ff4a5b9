"""What is seen while a class is graded: verdicts as they come, how many there are, and how long the rest will take."""

from __future__ import annotations

import collections
import contextlib
import time
from collections.abc import Callable, Iterator

from rich.console import Console, Group
from rich.live import Live
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from shardlab_grader.records.store import Record
from shardlab_grader.reports.figures import STATES, State, state

SHOWN = 8
"""Last verdicts in the table."""
EVERY = 30.0
"""Seconds between two lines where nothing can be redrawn."""


class Board:
    """A live table on a terminal; a line now and then elsewhere.

    Args:
        names: whether submissions are shown by their students' names, and not by their keys.
    """

    def __init__(self, console: Console, names: bool = False) -> None:
        self._console, self._names = console, names
        self._last: collections.deque[tuple[str, Record]] = collections.deque(maxlen=SHOWN)

    def told(self, student: str, key: str, record: Record) -> None:
        """Take a verdict in; it is drawn when the bar advances."""
        self._last.append((student if self._names else key, record))

    @contextlib.contextmanager
    def progress(self, step: str, length: int) -> Iterator[Callable[[], None]]:
        """Show a step of a known length, and say what it took when it is done."""
        started = time.monotonic()
        columns = (SpinnerColumn(), TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        bar = Progress(*columns, TextColumn("{task.fields[left]}"), console=self._console)
        task = bar.add_task(step, total=length, left="")
        with self._live(bar) as live:
            lines = _Lines(self._console, step, length, started)

            def advance() -> None:
                bar.advance(task)
                left = remaining(time.monotonic() - started, int(bar.tasks[0].completed), length)
                bar.update(task, left=left)
                if live:
                    live.update(Group(*self._table(), bar), refresh=True)
                else:
                    lines.advance(left)

            yield advance
        self._last.clear()
        self._console.print(f"{step}: {length} in {time.monotonic() - started:.1f} s")

    def _live(self, bar: Progress) -> contextlib.AbstractContextManager[Live | None]:
        if not self._console.is_terminal:
            return contextlib.nullcontext()
        return Live(bar, console=self._console, transient=True, refresh_per_second=4)

    def _table(self) -> list[Table]:
        if not self._last:
            return []
        shown = Table(box=None, pad_edge=False, header_style="bold")
        shown.add_column("student" if self._names else "submission", no_wrap=True)
        for name in (*STATES, "points", "seconds"):
            shown.add_column(name, justify="right")
        for label, record in self._last:
            counts = collections.Counter[State](state(verdict) for verdict in record.verdicts.values())
            told = [str(counts[name] or "-") for name in STATES]
            shown.add_row(escape(label), *told, f"{record.points:g}", f"{sum(record.seconds.values()):.1f}")
        return [shown]


class _Lines:
    """Progress for a log file: a line at most every `EVERY` seconds."""

    def __init__(self, console: Console, step: str, length: int, started: float) -> None:
        self._console, self._step, self._length = console, step, length
        self._done, self._said = 0, started

    def advance(self, left: str) -> None:
        self._done += 1
        if time.monotonic() - self._said >= EVERY and self._done < self._length:
            self._said = time.monotonic()
            self._console.print(f"{self._step}: {self._done} of {self._length}, {left}")


def remaining(elapsed: float, done: int, length: int) -> str:
    """How long the rest takes at the pace so far, in words; from a first part alone nothing is told."""
    if done >= length:
        return ""
    if done < 2:
        return "time left: not known yet"
    seconds = elapsed / done * (length - done)
    return f"about {seconds / 60:.0f} min left" if seconds >= 90 else f"about {max(1, round(seconds)):d} s left"
