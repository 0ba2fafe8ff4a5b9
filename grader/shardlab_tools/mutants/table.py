"""Outcomes counted: the line that `make mutants` ends with, and the figures of the status page."""

from __future__ import annotations

import datetime
import json
import pathlib
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from shardlab_course import dependence
from shardlab_tools.mutants.outcomes import BARE, CAUSE, EQUIVALENT, SURVIVED, Outcome

FIGURES = pathlib.Path("jupyter_book", "mutants.json")
ENDS = (CAUSE, BARE, EQUIVALENT, SURVIVED)


def line(outcomes: Sequence[Outcome]) -> str:
    """`mutants: N judged, C refused with a cause, ...`."""
    ends = Counter(outcome.end for outcome in outcomes)
    return f"mutants: {len(outcomes)} judged, " + ", ".join(f"{ends[end]} {end}" for end in ENDS)


def faults(outcomes: Sequence[Outcome]) -> int:
    """How many survived, or were told a cause that is not true."""
    return sum(outcome.end == SURVIVED or bool(outcome.false) for outcome in outcomes)


def told(outcome: Outcome) -> str:
    """A survivor, or a false cause, as text; empty for any other."""
    if outcome.end != SURVIVED and not outcome.false:
        return ""
    what = f"false cause {', '.join(outcome.false)}" if outcome.false else "survived"
    changed = "".join(f"  {changed}\n" for changed in outcome.difference.splitlines())
    return f"{outcome.question}, {outcome.answer}, {outcome.operator}: {what}: {outcome.why}\n{changed}\n"


def figures(outcomes: Sequence[Outcome]) -> dict[str, Any]:
    """How many ended in which way, and of those refused how many were told a cause, or the line that raised."""
    refused = [o for o in outcomes if o.end in (CAUSE, BARE)]
    returned = [o for o in refused if not o.raised]
    return {
        "judged": len(outcomes),
        **{end: sum(o.end == end for o in outcomes) for end in ENDS},
        "values or costs": len(returned),
        "of them with a cause": sum(o.end == CAUSE for o in returned),
        "raised": len(refused) - len(returned),
        "of them with the line": sum(o.raised and o.line for o in refused),
        "false causes": sum(bool(o.false) for o in outcomes),
        "unsteady": sum(bool(o.unsteady) for o in outcomes),
    }


def keep(found: Mapping[int, Sequence[Outcome]]) -> None:
    """Write the figures that the status page shows; those of other chapters stay, with their date."""
    versions = {name: version for name, version in dependence.versions().items() if name == "jax"}
    before = json.loads(FIGURES.read_text())["chapters"] if FIGURES.exists() else {}
    date = datetime.date.today().isoformat()
    now = {str(chapter): {**figures(outcomes), "date": date} for chapter, outcomes in found.items()}
    chapters = {chapter: (before | now)[chapter] for chapter in sorted(before | now, key=int)}
    FIGURES.write_text(json.dumps({"versions": versions, "chapters": chapters}, indent=1) + "\n")
