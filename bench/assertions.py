"""What an instructor writes for stock nbgrader: a grade cell's assertions, with the checks and cases of the question.

Copied beside the notebook as `checks.py`. No export, border or judge: the student's function is compiled and run as it is.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Mapping
from typing import Any

import jax
import numpy as np

from shardlab.answers.context import situation
from shardlab.answers.in_the_box import GIVEN
from shardlab.as_json import as_json
from shardlab_course.chapters import QUESTIONS
from shardlab_judge.cases import Case, Observed
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem, matches
from shardlab_judge.references import References
from shardlab_judge.rights import rights
from shardlens.placement import place, placement_of
from shardlens.programs.inspection import read_program
from shardlens.programs.program import Program
from shardlens.reading.collectives import price


def check(question: str, namespace: Mapping[str, Any], seed: int | None, references: str) -> None:
    """Raise AssertionError when a part of the answer is wrong."""
    facts = References.load(pathlib.Path(references))
    for item in QUESTIONS[question].items:
        given = GIVEN.get(question, {}) if getattr(item, "predicted", False) else namespace
        answer = given[item.name]
        match item:
            case ValueItem(predicted=True):
                pass  # it counts by being made, before its cell runs
            case ValueItem():
                assert matches(item.key, as_json(answer), item.rtol)
            case CallsItem():
                for arguments in item.calls_of(question, seed):
                    assert matches(item.oracle(*arguments), as_json(answer(*arguments)), item.rtol)
            case ProgramItem():
                for case in item.cases_of(question, seed):
                    _check_program(item, case, answer, facts.cost(question, item.name, case), seed)
            case GuardItem():
                assert all(answer(one.facts) is one.good for one in item.asked(question, seed))
            case _:
                raise NotImplementedError(f"{item.kind} in {question}")


def _check_program(item: ProgramItem, case: Case, answer: Any, costs: Any, seed: int | None) -> None:
    mesh, specs = situation(case.to_json())
    explicit = jax.set_mesh(mesh) if case.to_json()["explicit"] else contextlib.nullcontext()
    with explicit:
        jitted = jax.jit(lambda *arrays: jax.tree.leaves(answer(mesh, *arrays)), keep_unused=True)
        compiled = jitted.lower(*specs).compile()
    inputs = hidden_inputs(case, seed)
    observed = Observed(case, inputs=inputs)
    _check_costs(item, observed, read_program(compiled, case.axes), costs)
    outputs = compiled(*(jax.device_put(x, spec.sharding) for x, spec in zip(inputs, specs)))
    wanted = rights(item, observed)
    for output, right, spec in zip(outputs, wanted, case.outputs, strict=True):
        for shard in output.addressable_shards:
            np.testing.assert_allclose(np.asarray(shard.data), right[shard.index], rtol=item.rtol, atol=item.near(observed))
        if "S" in item.points and spec is not None:
            assert placement_of(output).same_as(place(output.shape, case.axes, spec))


def _check_costs(item: ProgramItem, observed: Observed, program: Program, costs: Any) -> None:
    if "H" in item.points:
        assert price(program.collectives) <= costs.price + item.beyond(observed)
    if "M" in item.points:
        assert program.memory.argument + program.memory.output <= costs.memory
    if "F" in item.points:
        assert program.flops <= 1.01 * costs.flops
