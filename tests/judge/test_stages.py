"""Refused answers without a known cause: which named value their program still has, and which it does not."""

from __future__ import annotations

import base64
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import variants
from shardlab.answers.exporting import exported
from shardlab_course.chapters import QUESTIONS
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.inputs import hidden_inputs, wide
from shardlab_judge.items.program import ProgramItem, judge_case
from shardlab_judge.measuring import values_inside
from shardlens import blocks_of, stablehlo

P = jax.P
CASE = Case(axes(x=2, y=4), (Input((4, 6, 8), ("x",)), Input((8, 8), (None, "y")), Input((8, 8), (None, "y"))), (("x",),))


def softmax(scores: np.ndarray) -> np.ndarray:
    """Rows that add up to 1."""
    shares = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(shares / shares.sum(-1, keepdims=True))


def steps(x: np.ndarray, q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """Attention whose values are the tokens themselves."""
    scores = (x @ q) @ (x @ k).swapaxes(1, 2) / 8**0.5
    return {"scores": scores, "weights": softmax(scores), "mixed": softmax(scores) @ x}


def oracle(x: np.ndarray, q: np.ndarray, k: np.ndarray) -> np.ndarray:
    """The last of these."""
    return steps(x, q, k)["mixed"]


ITEM = ProgramItem("attend", {"V": 1}, oracle=oracle, names=steps, cases=(CASE, CASE))


def attend(add: Any = lambda term: jax.lax.psum(term, "y"), scale: float = 8**0.5, mix: Any = lambda w, x: w @ x) -> Any:
    """Attention cut inside its only head, with something else at one place."""

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        def body(x: Any, q: Any, k: Any) -> Any:
            scores = add((x @ q) @ (x @ k).swapaxes(1, 2)) / scale
            return mix(jax.nn.softmax(scores), x)

        specs = P("x"), P(None, "y"), P(None, "y")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x"), check_vma=False)(x, q, k)

    return answer


def along_one(mesh: Any, x: Any, q: Any, k: Any) -> Any:
    """Manual along y alone, and with softmax over the queries."""

    def body(x: Any, q: Any, k: Any) -> Any:
        scores = jax.lax.psum((x @ q) @ (x @ k).swapaxes(1, 2), "y") / 8**0.5
        return jax.nn.softmax(scores, 1) @ x

    specs = P(), P(None, "y"), P(None, "y")
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P(), axis_names={"y"})(x, q, k)


def by_itself(mesh: Any, x: Any, q: Any, k: Any) -> Any:
    """Left to the compiler, and with softmax over the queries."""
    return jax.nn.softmax((x @ q) @ (x @ k).swapaxes(1, 2) / 8**0.5, 1) @ x


WRONG = {
    "not summed": (
        attend(lambda term: term),
        "The terms of `scores` are right (cut along 0 over x; term of a sum over y), but no value of your program is their "
        "sum. No value of your program is `weights`.",
    ),
    "not scaled": (attend(scale=1.0), "No value of your program is `scores`: one is 2.828 times it."),
    "another product": (
        attend(mix=lambda w, x: w.swapaxes(1, 2) @ x),
        "`weights` is right (cut along 0 over x). No value of your program is `mixed`.",
    ),
    "after all": (
        attend(mix=lambda w, x: jnp.sin(w @ x)),
        "`mixed` is right (cut along 0 over x). The mistake comes after this value.",
    ),
    "along one axis": (along_one, "`scores` is right (copy). No value of your program is `weights`."),
    "without shard_map": (by_itself, "`scores` is right (copy). No value of your program is `weights`."),
}


def module_of(function: Any, case: Case, name: str = "attend") -> bytes:
    """What a student's process sends of a function."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        (entry,) = exported(function, {"name": name, "cases": [case.to_json()]})
    return base64.b64decode(entry["module"])


@pytest.mark.parametrize("name", WRONG)
def test_the_first_stage_that_is_wrong(name: str) -> None:
    """The finding says the last value that is right, and the next one, which the program does not have."""
    function, sentence = WRONG[name]
    (finding,) = judge_case(ITEM, CASE, module_of(function, CASE), None, 7)
    assert finding.letter == "V" and finding.cause == sentence


def test_a_right_answer_has_no_finding() -> None:
    """And its stages are all there."""
    module = module_of(attend(), CASE)
    assert judge_case(ITEM, CASE, module, None, 7) == []
    inputs = hidden_inputs(CASE, 7)
    found, values = values_inside(module, CASE, inputs)
    for whole in steps(*map(wide, inputs)).values():
        assert any(blocks_of(whole, each, found).relation for each in values)


def test_a_cause_that_is_known_comes_first() -> None:
    """Where values relate to the right ones in a way of their own, the finding says that."""
    (finding,) = judge_case(ITEM, CASE, module_of(attend(mix=lambda w, x: 4 * (w @ x)), CASE), None, 7)
    assert finding.misconception not in (None, "first-wrong-stage", "wrong-after-the-stages")


def test_values_of_several_regions_are_told() -> None:
    """If all are mapped over the same axes; nothing is said of a program whose values cannot be brought out."""

    def twice(inner: Any) -> Any:
        return lambda mesh, x, q, k: inner(mesh, attend()(mesh, x, q, k), q, k)

    (finding,) = judge_case(ITEM, CASE, module_of(twice(attend()), CASE), None, 7)
    assert finding.cause == "`mixed` is right (cut along 0 over x). The mistake comes after this value."
    module = module_of(twice(along_one), CASE)
    with pytest.raises(stablehlo.Refused, match="several regions"):
        values_inside(module, CASE, hidden_inputs(CASE, 7))
    (finding,) = judge_case(ITEM, CASE, module, None, 7)
    assert finding.cause == ""


NAMED = [
    pytest.param(id, item, marks=pytest.mark.thorough)
    for id, question in QUESTIONS.items()
    for item in question.items
    if getattr(item, "names", None) is not None
]


@pytest.mark.parametrize("question, item", NAMED)
def test_the_solution_has_every_stage(question: str, item: ProgramItem) -> None:
    """What an exercise names is computed by its solution, in every public case."""
    solution = variants.of(question)[variants.REFERENCE].variables()[item.name]
    for case in item.cases:
        inputs = hidden_inputs(case, None)
        found, values = values_inside(module_of(solution, case, item.name), case, inputs)
        for name, whole in item.names(*map(wide, inputs)).items():  # type: ignore[misc]
            assert any(blocks_of(whole, each, found).relation for each in values), name
