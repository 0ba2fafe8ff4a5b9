"""A script in several JAX processes on this machine: what they write, line by line, each with its number before it.

    python -m shardlab.launch -n 2 --devices 4 --seconds 60 script.py arguments...

The exit status is 0 when all is well, 124 when some did not end in time, else the first that is not 0. `sl.launch` is the
same for notebooks.
"""

from __future__ import annotations

import argparse
import sys
import types
from collections.abc import Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab.processes.launched import Launched
from shardlab.processes.launching import launch, run_script


def main(words: Sequence[str] | None = None) -> int:
    """The exit status of a launch that was asked for by these words, or by the command line's."""
    parser = argparse.ArgumentParser("python -m shardlab.launch", description="Run a script in several JAX processes.")
    parser.add_argument("-n", "--processes", type=int, default=2, help="how many (2)")
    parser.add_argument("--devices", type=int, default=4, help="simulated CPU devices of each process (4)")
    parser.add_argument("--seconds", type=float, default=60.0, help="seconds for the whole run (60)")
    parser.add_argument("script")
    parser.add_argument("arguments", nargs=argparse.REMAINDER)
    given = parser.parse_args(words)
    lines = _Lines(given.processes)
    try:
        launched = run_script(given.script, given.processes, given.devices, given.seconds, given.arguments, lines.heard)
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 2
    lines.close()
    if launched.error:
        print(launched.error, file=sys.stderr)
    return _status(launched)


def _status(launched: Launched) -> int:
    if not launched.ended:
        return 124
    own = [process.status for process in launched.processes if not process.stopped]
    return next((status if status > 0 else 128 - status for status in own if status), 0)


class _Lines:
    """Whole lines of several processes as they come."""

    def __init__(self, processes: int) -> None:
        self._open = [""] * max(processes, 0)

    def heard(self, number: int, piece: str) -> None:
        """Print what became whole."""
        *whole, self._open[number] = (self._open[number] + piece).split("\n")
        for line in whole:
            print(f"[{number}] {line}", flush=True)

    def close(self) -> None:
        """Print what had no end."""
        for number, rest in enumerate(self._open):
            if rest:
                print(f"[{number}] {rest}", flush=True)


class _Callable(types.ModuleType):
    """This module, for those who import it and then say `sl.launch(...)`: the function has the same name."""

    def __call__(self, *args: Any, **kwargs: Any) -> Launched:
        return launch(*args, **kwargs)


if __name__ == "__main__":
    sys.exit(main())
sys.modules[__name__].__class__ = _Callable
