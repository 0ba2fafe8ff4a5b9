"""`make test-strength`: plant faults, and say which `make test` finds, which only `make test-all`, and which nothing."""

from __future__ import annotations

import argparse
import dataclasses
import hashlib
import importlib.metadata
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from strength import recorded, table
from strength.copies import copied
from strength.faults import Fault, drawn
from strength.outcomes import Outcome, Outcomes
from strength.reaching import Record
from strength.trying import Limits, Trial

ROOT = Path(__file__).parents[2]
NUMBER, SEED = 300, 35


def main() -> int:
    """Record what is not recorded yet at this commit, try the faults that are not tried yet, and keep the table."""
    parser = argparse.ArgumentParser(description="The strength of the suite.")
    parser.add_argument(
        "--number", type=int, default=NUMBER, help="how many faults are drawn; with 0 the tests are only recorded"
    )
    parser.add_argument("--seed", type=int, default=SEED, help="which ones are drawn")
    parser.add_argument("--rooms", nargs="*", help="packages to plant faults in, if not in all")
    parser.add_argument("--jobs", type=int, default=2, help="how many are tried at a time")
    parser.add_argument("--parts", nargs="*", default=[*recorded.parts(ROOT)], help="parts of the suite to record")
    asked = parser.parse_args()
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.strip()
    home = ROOT / "build" / "strength" / commit
    clean = copied(ROOT, home / "clean")
    for part in asked.parts:
        recorded.record(clean, home / "parts" / part, recorded.parts(ROOT)[part])
    if asked.number:
        faults = (fault for fault in drawn(clean.home, asked.seed) if not asked.rooms or fault.room in asked.rooms)
        found = tried([*islice(faults, asked.number)], home, asked.jobs, asked.parts)
        equivalent = table.named()
        ends = {fault: table.end(fault, outcome, equivalent) for fault, outcome in found.items()}
        table.keep(ends, asked.seed, _versions(), asked.parts if {*asked.parts} < {*recorded.parts(ROOT)} else ())
        (ROOT / "build" / "strength.json").write_text(
            json.dumps([_told(fault, found[fault], ends[fault]) for fault in found], indent=1)
        )
        print(table.said(ends, found))
    return 0


def tried(faults: Sequence[Fault], home: Path, jobs: int, parts: Sequence[str]) -> Mapping[Fault, Outcome]:
    """What of these parts finds each fault, in the order drawn; one that was tried so at this commit is not tried again."""
    asked = hashlib.sha256(" ".join(sorted(parts)).encode()).hexdigest()[:8]
    outcomes = Outcomes(home / f"outcomes-{asked}.jsonl")
    record = Record([home / "parts" / part for part in sorted(parts)], home / "clean")
    free: SimpleQueue[Trial] = SimpleQueue()
    for job in range(jobs):
        free.put(Trial(copied(ROOT, home / f"copy-{job}"), Limits()))

    def attempt(fault: Fault) -> Outcome:
        before = outcomes.get(fault)
        if before is not None:
            return before
        trial = free.get()
        try:
            found = trial.outcome(fault, record.reaching(fault))
        finally:
            free.put(trial)
        outcomes.add(fault, found)
        return found

    with ThreadPoolExecutor(jobs) as pool:
        return dict(zip(faults, pool.map(attempt, faults), strict=True))


def _told(fault: Fault, outcome: Outcome, end: str) -> dict[str, Any]:
    shown = {name: value for name, value in dataclasses.asdict(fault).items() if name != "text"}
    return {"end": end, **shown, **dataclasses.asdict(outcome)}


def _versions() -> dict[str, str]:
    return {name: importlib.metadata.version(name) for name in ("jax", "mutmut")}


if __name__ == "__main__":
    sys.exit(main())
