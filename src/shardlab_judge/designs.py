"""Judging free designs: values and placements first, then how far bytes and memory are from the front of our own."""

from __future__ import annotations

import base64
from collections.abc import Mapping
from typing import Any

from shardlab_judge.design_items import ARITHMETIC, Cost, DesignItem, distance, share
from shardlab_judge.findings import Entry, Judged, asked, explained
from shardlab_judge.fronts import Front, cost_of, front_of
from shardlab_judge.measuring import measure
from shardlab_judge.misses import find_miss
from shardlab_judge.programs import describe, judge_program
from shardlab_judge.question import Case, Observed
from shardlab_judge.verdict import Finding


def judge_design(item: DesignItem, layout: Mapping[str, Any], entries: list[Entry], seed: int | None) -> Judged:
    """The shares of all letters over all cases, D by the case that is farthest out; the first finding of each letter."""
    findings: dict[str, Finding] = {}
    worst = 1.0
    for case, entry in zip(item.cases, entries, strict=True):
        try:
            placed = item.laid_out(case, layout)
        except ValueError as error:
            return {}, [Finding(item.name, "V", f"The layout cannot be used: {error}.", asked(item), where=case.title)]
        for finding in judge_program(item.program, placed, entry, _no_costs, seed):
            findings.setdefault(finding.letter, finding)
        if "V" in findings:
            return {}, list(findings.values())
        if "S" not in findings:
            part, found = _placed(item, case, measure(base64.b64decode(entry["module"]), placed).observed)
            worst = min(worst, part)
            if found is not None:
                findings.setdefault("D", found)
    shares = {letter: 1.0 for letter in "VS" if letter not in findings}
    return {**shares, "D": worst if "S" not in findings else 0.0}, list(findings.values())


def measured(item: DesignItem, case: Case, layout: Mapping[str, Any], entry: Entry) -> tuple[Cost, str]:
    """What a recorded design costs in one case, and why it does not count, if it does not; its values are not looked at."""
    observed = measure(base64.b64decode(entry["module"]), item.laid_out(case, layout)).observed
    off = unfair(item, case, observed, front_of(item, case))
    return cost_of(observed), off[0] if off else ""


def unfair(item: DesignItem, case: Case, observed: Observed, reached: Front) -> tuple[str, str, str] | None:
    """What keeps a design off the map: a sentence, what is allowed, what it does; nothing, where it is on it."""
    if any(c.executions is None for c in observed.collectives):
        return "A loop's number of rounds depends on values, so its bytes cannot be counted.", "fixed rounds", "unknown"
    held = int(cost_of(observed).memory)
    if held > item.limit(case):
        what = "A device has not the room for this design."
        return what, f"at most {item.limit(case):,} B a device", f"{held:,} B a device"
    if _loops(observed):
        return "The arithmetic in a loop is counted once, however often it runs.", "a step without a loop", "a loop"
    most = ARITHMETIC * min(fact.flops for fact in reached.values())
    if observed.flops > most:
        what = "Devices do one another's arithmetic."
        return what, f"at most {most:,.0f} FLOPs a device", f"{observed.flops:,.0f} FLOPs a device"
    return None


def _placed(item: DesignItem, case: Case, observed: Observed) -> tuple[float, Finding | None]:
    """The share of D in one case, and what there is to say."""
    reached = front_of(item, case)
    finding = None
    part = 0.0
    if off := unfair(item, case, observed, reached):
        finding = Finding(item.name, "D", *off, where=case.title)
    else:
        cost = cost_of(observed)
        found = distance(cost, [Cost(fact.price, fact.memory) for fact in reached.values()])
        part = share(found)
        if part < 1:
            what = f"Your design is {found:.2f} times as far out as the nearest on the front."
            got = f"{cost.price:,} B moved and {cost.memory:,} B held a device: {describe(observed.collectives)}"
            finding = Finding(item.name, "D", what, "at most 1.10 times, for all points", got, case.title)
    if finding is None:
        return part, None
    # What is known of bytes and room explains no loop.
    return part, finding if _loops(observed) else explained(finding, find_miss(item.program, observed, "D"))


def _loops(observed: Observed) -> bool:
    return "stablehlo.while" in {name for name, _ in observed.operations}


def _no_costs(case: Case) -> Any:
    raise AssertionError("values and placements have no price")
