"""The judge: an answer's JSON and a question in, a verdict out. Runs the same in a notebook, a test and the grader."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Protocol

from shardlab.placement import Placement
from shardlab_judge.design_items import DesignItem
from shardlab_judge.designs import judge_design
from shardlab_judge.expression_items import ExpressionItem, LayoutItem, RulesItem
from shardlab_judge.expressions import judge_expression, judge_layout, judge_rules
from shardlab_judge.findings import Entry, Judged, asked, raised
from shardlab_judge.placements import judge_placement
from shardlab_judge.processes import judge_processes
from shardlab_judge.processes_item import ProcessesItem
from shardlab_judge.programs import Costs, JudgeProgram, judge_program, judge_programs
from shardlab_judge.question import (
    CallsItem,
    Case,
    Item,
    PlacementItem,
    ProgramItem,
    Question,
    ValueItem,
    calls_of,
    cases_of,
)
from shardlab_judge.values import judge_calls, judge_value
from shardlab_judge.verdict import Finding, Part, Verdict


class Costing(Protocol):
    """Where the costs of reference solutions are looked up."""

    def fact(self, question: str, item: str, case: Case) -> Costs:
        """The costs of the reference in one case."""
        ...


def judge(
    question: Question,
    answer: Mapping[str, Any],
    references: Costing,
    seed: int | None = None,
    judge_one: JudgeProgram = judge_program,
) -> Verdict:
    """The verdict on one recorded answer.

    Args:
        question: what was asked.
        answer: what `shardlab.answers.record.record` made, for the manifest with the same `seed`.
        references: costs of the reference in each case.
        seed: the release's seed: with it the drawn cases are judged too, and inputs are other ones than in the notebook.
        judge_one: judges one program in one case; a class that holds equal programs need not measure each again.
    """
    entries = [(item, answer["items"].get(item.name, {"missing": True})) for item in question.items]
    if all(_is_todo(entry) for _, entry in entries):
        nothing = tuple(Part(i.name, letter, 0.0, of) for i in question.items for letter, of in i.points.items())
        return Verdict(question.id, "unattempted", nothing, reason="Not attempted yet: the answer is still open (`...`).")
    parts: list[Part] = []
    findings: list[Finding] = []
    for item, entry in entries:
        shares, found = _judge_item(question, item, entry, references, seed, judge_one)
        parts += [Part(item.name, letter, round(of * shares.get(letter, 0.0), 2), of) for letter, of in item.points.items()]
        findings += found
    passed = all(part.points == part.of for part in parts)
    return Verdict(question.id, "passed" if passed else "failed", tuple(parts), tuple(findings))


def _is_todo(entry: Entry) -> bool:
    several = entry.get("programs") or entry.get("calls") or entry.get("launches") or ()
    return "todo" in entry or "missing" in entry or (bool(several) and all("todo" in e for e in several))


def _judge_item(
    question: Question, item: Item, entry: Entry, references: Costing, seed: int | None, judge_one: JudgeProgram
) -> Judged:
    first = next(iter(item.points))
    if _is_todo(entry):
        state = "is still `...`" if "missing" not in entry else "was not given"
        return {}, [Finding(item.name, first, f"{item.name} {state}.", expected=asked(item), got="nothing")]
    if "error" in entry:
        return {}, [raised(item, entry["error"], f"{item.name} could not be read as an answer.")]
    match item:
        case PlacementItem():
            return judge_placement(item, Placement.from_json(entry["placement"]))
        case ValueItem():
            return judge_value(item, entry["value"])
        case CallsItem():
            return judge_calls(item, calls_of(item, question.id, seed), entry["calls"])
        case ExpressionItem():
            return judge_expression(item, entry["value"])
        case RulesItem():
            return judge_rules(item, item.trees_of(question.id, seed), entry["calls"])
        case LayoutItem():
            return judge_layout(item, item.cases_of(question.id, seed), entry["value"])
        case DesignItem():
            return judge_design(item, entry["layout"], entry["programs"], seed)
        case ProcessesItem():
            return judge_processes(item, item.cases_of(question.id, seed), entry["launches"])
        case ProgramItem():
            cases = cases_of(item, question.id, seed)
            costs = partial(references.fact, question.id, item.name)
            return judge_programs(item, cases, entry["programs"], costs, seed, judge_one)
    raise TypeError(f"no judge for {type(item).__name__}")
