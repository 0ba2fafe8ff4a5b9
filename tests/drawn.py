"""Whether the pictures of a verdict are drawn from the values that its sentences name."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from shardlab_judge.findings import placed_as, spec_text
from shardlab_judge.inputs import hidden_inputs, wide
from shardlab_judge.items.design import DesignItem
from shardlab_judge.items.expression import ExpressionItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.processes import ProcessesItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.rules import RulesItem
from shardlab_judge.question import Question
from shardlab_judge.verdict import Finding, Verdict
from shardlens import Placement


def disagreements(question: Question, verdict: Verdict, seed: int | None) -> list[Finding]:
    """The findings whose pictures show something else than their text says."""
    items = {item.name: item for item in question.items}
    return [f for f in verdict.findings if f.pictures and not _agrees(items[f.item], f, question, seed)]


def _agrees(item: Any, finding: Finding, question: Question, seed: int | None) -> bool:
    assert finding.pictures is not None
    expected, got = finding.pictures
    if isinstance(item, RulesItem):
        return (finding.expected, finding.got) == tuple(f"shards {list(each.shard_shape)}" for each in (expected, got))
    if isinstance(item, PlacementItem | ExpressionItem):
        return (finding.expected, finding.got) == (_placed(expected), _placed(got))
    if finding.got != spec_text(got.spec):
        return False
    if isinstance(item, DesignItem):
        # The answer's own layout says where an output belongs, and the sentence repeats it.
        (case,) = (case for case in item.cases if case.title == finding.where)
        said = placed_as(expected.shape, case.axes, eval(finding.expected, {"P": jax.P}))
        return said is not None and expected.same_as(said) and expected.shape in _shapes(item.program, case, seed)
    rights = _rights(item, finding, question, seed)
    return any(expected.same_as(right) and finding.expected == said for right, said in rights)


def _placed(placement: Placement) -> str:
    return f"shape {list(placement.shape)}, shards {list(placement.shard_shape)} on devices {list(placement.devices)}"


def _rights(item: Any, finding: Finding, question: Question, seed: int | None) -> Iterator[tuple[Placement, str]]:
    """For each output of the finding's case its right placement, of the oracle's own shape, and its spec in words."""
    for case in item.cases_of(question.id, seed):
        if case.title != finding.where:
            continue
        for spec, shape in zip(case.outputs, _shapes(item, case, seed)):
            right = placed_as(shape or finding.pictures[1].shape, case.axes, spec)
            if right is not None:
                yield right, spec_text(spec)


def _shapes(item: Any, case: Any, seed: int | None) -> list[tuple[int, ...] | None]:
    if item.oracle is None:
        return [None] * len(case.outputs)
    if isinstance(item, ProgramItem):
        returned = item.oracle(*map(wide, hidden_inputs(case, seed)))
        return [np.shape(each) for each in (returned if isinstance(returned, tuple) else (returned,))]
    assert isinstance(item, ProcessesItem)
    returned = [item.oracle(process, *case.arguments) for process in range(case.processes)]
    return [each.shape for one in returned for each in _leaves(one)]


def _leaves(returned: Any) -> list[np.ndarray]:
    if isinstance(returned, dict):
        return [leaf for key in sorted(returned) for leaf in _leaves(returned[key])]
    if isinstance(returned, list | tuple):
        return [leaf for part in returned for leaf in _leaves(part)]
    return [returned] if isinstance(returned, np.ndarray) else []
