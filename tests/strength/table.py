"""Outcomes counted, by room; and those faults that were looked at and make nothing different, named."""

from __future__ import annotations

import datetime
import json
import tomllib
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from strength.faults import Fault
from strength.outcomes import LINT, NOTHING, QUICK, THOROUGH, TYPES, Outcome

EQUIVALENT = "equivalent"
ENDS = (LINT, TYPES, QUICK, THOROUGH, EQUIVALENT, NOTHING)
NAMED = Path(__file__).with_name("equivalent.toml")
FIGURES = Path("jupyter_book", "strength.json")


def named(path: Path = NAMED) -> Mapping[tuple[str, str, str, str], str]:
    """By its key the reason why a fault is none."""
    listed = tomllib.loads(path.read_text()).get("fault", [])
    return {(one["file"], one["function"], one["before"], one["after"]): one["reason"] for one in listed}


def end(fault: Fault, outcome: Outcome, equivalent: Mapping[tuple[str, str, str, str], str]) -> str:
    """How a fault ended: one of `ENDS`."""
    return EQUIVALENT if fault.key in equivalent else outcome.by


def figures(ends: Mapping[Fault, str]) -> dict[str, dict[str, int]]:
    """By room how many faults ended in which way."""
    rooms = sorted({fault.room for fault in ends})
    counted = {room: Counter(end for fault, end in ends.items() if fault.room == room) for room in rooms}
    return {room: {end: counts[end] for end in ENDS} for room, counts in counted.items()}


def share(counts: Mapping[str, int]) -> float:
    """Of the faults that the whole suite finds, the part that `make test` finds."""
    quick = counts[LINT] + counts[TYPES] + counts[QUICK]
    return quick / max(quick + counts[THOROUGH], 1)


def total(rooms: Mapping[str, Mapping[str, int]]) -> dict[str, int]:
    """All rooms together."""
    return {end: sum(counts[end] for counts in rooms.values()) for end in ENDS}


def said(ends: Mapping[Fault, str], outcomes: Mapping[Fault, Outcome]) -> str:
    """The table, then each fault that `make test` does not find, with its change."""
    rooms = figures(ends)
    rows = [(room, *(str(counts[end]) for end in ENDS)) for room, counts in [*rooms.items(), ("all", total(rooms))]]
    lines = ["".join(f"{cell:>14}" for cell in row) for row in [("room", *ENDS), *rows]]
    missed = [fault for fault, end in ends.items() if end in (THOROUGH, NOTHING)]
    whole = f"Of the faults that the whole suite finds, make test finds {share(total(rooms)):.1%}."
    return "\n".join([*lines, whole, *(_missed(fault, outcomes[fault]) for fault in missed)])


def _missed(fault: Fault, outcome: Outcome) -> str:
    found = f"only make test-all finds it, by {outcome.test}" if outcome.by == THOROUGH else "nothing finds it"
    tests = f"{outcome.run} of {outcome.reaching} tests that come near were run"
    return f"\n{fault.file}:{fault.line}, {fault.function or 'top of the module'}: {found}; {tests}\n{fault.diff}"


def keep(
    ends: Mapping[Fault, str], seed: int, versions: Mapping[str, str], parts: Sequence[str] = (), path: Path = FIGURES
) -> None:
    """Write the figures that the status page shows; rooms that were not tried this time keep theirs.

    Args:
        parts: those of the suite that were tried, if not all were.
    """
    before = json.loads(path.read_text())["rooms"] if path.exists() else {}
    about: dict[str, Any] = {
        "date": datetime.date.today().isoformat(),
        "versions": versions,
        "seed": seed,
        "parts": [*parts],
    }
    rooms = before | {room: about | {"ends": counts} for room, counts in figures(ends).items()}
    path.write_text(json.dumps({"rooms": dict(sorted(rooms.items()))}, indent=1) + "\n")
