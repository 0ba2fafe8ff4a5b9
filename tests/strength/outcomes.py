"""What found each fault, kept line by line, so that a run which is interrupted goes on."""

from __future__ import annotations

import dataclasses
import json
import threading
from pathlib import Path

from strength.faults import Fault

LINT, TYPES, QUICK, THOROUGH, NOTHING = "lint", "types", "make test", "make test-all", "nothing"


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What found a fault, the test that did, and how many of the tests that reach it were run."""

    by: str
    test: str
    run: int
    reaching: int


class Outcomes:
    """Outcomes by fault, in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        lines = path.read_text().splitlines() if path.exists() else []
        told = map(json.loads, lines)
        self._found = {tuple(one["key"]): Outcome(**one["outcome"]) for one in told}

    def get(self, fault: Fault) -> Outcome | None:
        """The outcome of a fault that was tried."""
        return self._found.get(fault.key)

    def add(self, fault: Fault, outcome: Outcome) -> None:
        """Keep one outcome, and say it."""
        with self._lock, self._path.open("a") as file:
            self._found[fault.key] = outcome
            file.write(json.dumps({"key": fault.key, "outcome": dataclasses.asdict(outcome)}) + "\n")
            print(f"{len(self._found)}: {outcome.by} {outcome.test} ({fault.file}:{fault.line})", flush=True)
