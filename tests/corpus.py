"""The corpus's answers recorded as a submission's would be, and judged; what a variant does not change is not done again."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from typing import Any

import jax
import pytest

import together
import variants
from reach import untouched
from shardlab.answers.record import record
from shardlab.processes import recorded
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import predictions
from shardlab_judge import judging
from shardlab_judge.cases import Case
from shardlab_judge.costs import Cost
from shardlab_judge.items.program import ProgramItem, judge_program
from shardlab_judge.question import JudgeOne, Response
from shardlab_judge.references import References, build
from shardlab_judge.verdict import Finding, Verdict
from variants import REFERENCE, Sample

SEED = 20
"""The release's seed."""


# `verdict` and `notebook_verdict` ask for the same sample, one after the other.
@functools.lru_cache(maxsize=1)
def answer(sample: Sample, seed: int | None) -> dict[str, Any]:
    """What the sample's variables leave behind; what the reference's did, where they are the same."""
    before = _reference(sample.question, seed)
    if sample.name == REFERENCE:
        return before
    among = variants.first_of_each_cause(sample.question) if seed is None else tuple(variants.of(sample.question).values())
    return _answer(sample, among, QUESTIONS[sample.question].manifest(seed), before)


def _answer(
    sample: Sample, among: tuple[Sample, ...], manifest: Mapping[str, Any], before: dict[str, Any]
) -> dict[str, Any]:
    """What is recorded of one of several samples for a manifest; what is the reference's own was recorded `before`."""
    kept = _kept(sample, manifest)
    changed = [item for item in manifest["items"] if item["name"] not in kept]
    again = _record(sample, among, {**manifest, "items": changed})
    return {"items": {**before["items"], **again["items"]}}


def verdict(sample: Sample, seed: int | None) -> Verdict:
    """What the judge says of the sample, with the costs of its own reference in public cases and in drawn ones."""
    references, judge_one = _judging(sample.question, seed)
    return judging.judge(QUESTIONS[sample.question], answer(sample, seed), references, seed, judge_one)


def notebook_verdict(sample: Sample, seed: int) -> Verdict:
    """What `sl.check` says of the sample: the answer that was recorded for a release begins with all public cases."""
    public = _beginnings(answer(sample, seed), QUESTIONS[sample.question].manifest(None))
    references, judge_one = _judging(sample.question, None)
    return judging.judge(QUESTIONS[sample.question], public, references, None, judge_one)


def first_verdict(sample: Sample) -> Verdict:
    """What `sl.check` would say of the sample by the first case of the items that know its cause."""
    question = QUESTIONS[sample.question]
    known = [item for item in question.items if sample.misconception in {miss.id for miss in item.misconceptions}]
    question = dataclasses.replace(question, items=tuple(map(_with_first_case, known or question.items)))
    manifest = question.manifest(None)
    before = _beginnings(_reference(sample.question, None), manifest)
    among = variants.first_of_each_cause(sample.question)
    references, judge_one = _judging(sample.question, None)
    return judging.judge(question, _answer(sample, among, manifest, before), references, None, judge_one)


def _with_first_case(item: Any) -> Any:
    return dataclasses.replace(item, cases=item.cases[:1]) if hasattr(item, "cases") else item


def _beginnings(answer: Mapping[str, Any], manifest: Mapping[str, Any]) -> dict[str, Any]:
    items = answer["items"]
    return {"items": {item["name"]: _beginning(items[item["name"]], item) for item in manifest["items"]}}


def _beginning(response: Response, asked: Mapping[str, Any]) -> Response:
    many = len(asked.get("cases", asked.get("calls", ())))
    return {key: value[:many] if key in ("programs", "calls", "launches") else value for key, value in response.items()}


# Samples come question by question, so what is kept of one question can go when the next begins.
@functools.lru_cache(maxsize=2)
def _reference(question: str, seed: int | None) -> dict[str, Any]:
    """The recorded reference of a question; a notebook's was recorded for a release."""
    manifest = QUESTIONS[question].manifest(seed)
    if seed is None:
        return _beginnings(_reference(question, SEED), manifest)
    return _record(variants.of(question)[REFERENCE], (), manifest)


@functools.lru_cache(maxsize=2)
def _judging(question: str, seed: int | None) -> tuple[References, JudgeOne]:
    """What the reference costs, and a judge that judges a program in a case once."""
    found: dict[tuple[str, ...], list[Finding]] = {}

    def judge_once(
        item: ProgramItem, case: Case, entry: Response, costs: Callable[[Case], Cost], seed: int | None
    ) -> list[Finding]:
        key = (item.name, case.key, json.dumps(entry, sort_keys=True))
        if key not in found:
            found[key] = judge_program(item, case, entry, costs, seed)
        return found[key]

    return build([QUESTIONS[question]], {question: _reference(question, seed)}, seed), judge_once


def _kept(sample: Sample, manifest: Mapping[str, Any]) -> set[str]:
    """The items that are the reference's own; predictions cost nothing and are always read again."""
    asked = {item["name"] for item in manifest["items"] if not item.get("predicted")}
    variable = manifest["variable"]
    same = untouched(sample.reference, sample.body, {variable} if variable else asked)
    return asked if variable in same else same


def _record(sample: Sample, among: tuple[Sample, ...], manifest: Mapping[str, Any]) -> dict[str, Any]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SHARDLAB_RECORD", "1")
        predictions.GIVEN.clear()
        # Students run with JAX's own settings, not with the suite's.
        with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
            namespace = sample.variables()
            if QUESTIONS[sample.question].observed:
                patch.setattr(recorded, "launches", together.launches(sample, among, recorded.launches))
            return record(manifest, namespace, predictions.GIVEN.get(sample.question, {}))
