"""Why points were lost, on a student's page: part by part, and where another exercise's mistake costs points here too."""

from __future__ import annotations

import re
from collections.abc import Mapping

from shardlab_grader.classes.notebook import Job
from shardlab_grader.inside.cells import defined
from shardlab_judge.question import LETTERS
from shardlab_judge.verdict import Part, Verdict


def itemised(verdict: Verdict) -> str:
    """The points of each part of an exercise in which some were lost: `values 2 of 3, shardings 1 of 1`; else nothing."""
    if verdict.status != "failed" or len(verdict.parts) < 2 or not verdict.of:
        return ""
    items = list(dict.fromkeys(part.item for part in verdict.parts))
    told = []
    for item in items:
        parts = [part for part in verdict.parts if part.item == item]
        said = ", ".join(_part(part, parts[0], verdict) for part in parts)
        told.append(f"{item}: {said}" if len(items) > 1 else said)
    return "; ".join(told)


def borrowed(job: Job, verdicts: Mapping[str, Verdict]) -> dict[str, list[str]]:
    """For each failed exercise a sentence on each wrong function of another one that its own cells call."""
    names = {
        item["name"]: question
        for question, manifest in job.manifests.items()
        if manifest["variable"] is None and verdicts[question].status == "failed"
        for item in manifest["items"]
        if not item.get("predicted")
    }
    found: dict[str, list[str]] = {}
    for name, question in names.items():
        cells = [cell.source for cell in job.cells if cell.question is None and name in defined(cell.source)]
        for other, whose in names.items():
            if whose != question and any(re.search(rf"(?<!def )\b{re.escape(other)}\(", source) for source in cells):
                said = (
                    f"{name} calls your {other} of exercise {whose}, which is not right yet and can cost points here too. "
                )
                found.setdefault(question, []).append(f"{said}Mend {whose} first.")
    return found


def _part(part: Part, first: Part, verdict: Verdict) -> str:
    said = f"{LETTERS.get(part.letter, part.letter)} {part.points:g} of {part.of:g}"
    open_ = part.points < part.of and not any((f.item, f.letter) == (part.item, part.letter) for f in verdict.findings)
    needs = f" (counts only with right {LETTERS.get(first.letter, first.letter)})"
    return said + needs * (open_ and first.points < first.of)
