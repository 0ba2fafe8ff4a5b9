"""The judge: an answer's JSON and a question in, a verdict out. Runs the same in a notebook, a test and the grader."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from shardlab_judge.findings import raised
from shardlab_judge.question import Costing, Item, Judged, JudgeOne, Question, Response, Setting
from shardlab_judge.verdict import Finding, Part, Verdict

MISSING: Response = {"missing": True}
MANUAL = 4
"""The chapter that introduces `jax.shard_map`."""


def judge(
    question: Question,
    answer: Mapping[str, Any],
    references: Costing,
    seed: int | None = None,
    judge_one: JudgeOne | None = None,
) -> Verdict:
    """The verdict on one recorded answer.

    Args:
        question: what was asked.
        answer: what `shardlab.answers.record.record` made, for the manifest with the same `seed`.
        references: costs of the reference in each case.
        seed: the release's seed: with it the drawn cases are judged too, and inputs are other ones than in the notebook.
        judge_one: judges one program in one case; a class that holds equal programs need not measure each again.
    """
    responses = [(item, answer["items"].get(item.name, MISSING)) for item in question.items]
    if all(item.is_open(response) for item, response in responses):
        nothing = tuple(Part(i.name, letter, 0.0, of) for i in question.items for letter, of in i.points.items())
        return Verdict(question.id, "unattempted", nothing, reason="Not attempted yet: the answer is still open (`...`).")
    setting = Setting(question.id, seed, references, judge_one)
    parts: list[Part] = []
    findings: list[Finding] = []
    lost = set[str]()
    for item, response in responses:
        shares, found = _judge_item(item, response, setting)
        earned = {letter: shares.get(letter, 0.0) for letter in item.points}
        parts += [Part(item.name, letter, round(of * earned[letter], 2), of) for letter, of in item.points.items()]
        findings += found
        # An exercise that does not count in a course has no points to lose, and its wrong answers are wrong all the same.
        if any(round((of or 1) * earned[letter], 2) < (of or 1) for letter, of in item.points.items()):
            lost.add(item.name)
    findings = [_in_chapter(finding, question.id) for finding in findings]
    findings.sort(key=lambda finding: finding.item not in lost)
    return Verdict(question.id, "failed" if lost else "passed", tuple(parts), tuple(findings))


def _in_chapter(finding: Finding, question: str) -> Finding:
    """The finding without advice about `jax.shard_map`, where no chapter has introduced it yet."""
    chapter = question.partition(".")[0]
    if "shard_map" not in finding.cause or not chapter.isdigit() or int(chapter) >= MANUAL:
        return finding
    kept = [part for part in re.split(r"(?<=[.;]) ", finding.cause) if "shard_map" not in part]
    if not kept:
        return finding  # the answer itself calls it
    return dataclasses.replace(finding, cause=" ".join(kept).removesuffix(";").removesuffix(".") + ".")


def _judge_item(item: Item, response: Response, setting: Setting) -> Judged:
    if item.is_open(response):
        state = "is still `...`" if "missing" not in response else "was not given"
        return {}, [Finding(item.name, item.first, f"{item.name} {state}.", expected=item.form, got="nothing")]
    if "error" in response:
        return {}, [raised(item, response["error"], f"{item.name} could not be read as an answer.")]
    return item.judge(response, setting)
