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
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.causes.stages import blocks_in, has, likely
from shardlab_judge.inputs import hidden_inputs, wide
from shardlab_judge.items.design import DesignItem
from shardlab_judge.items.program import ProgramItem, judge_case
from shardlab_judge.measuring import values_inside

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
        "sum. No value that your program uses is `weights`.",
    ),
    "not scaled": (attend(scale=1.0), "No value that your program uses is `scores`: one is 2.828 times it."),
    "another product": (
        attend(mix=lambda w, x: w.swapaxes(1, 2) @ x),
        "`weights` is right (cut along 0 over x). No value that your program uses is `mixed`.",
    ),
    "after all": (
        attend(mix=lambda w, x: jnp.sin(w @ x)),
        "`mixed` is right (cut along 0 over x). The mistake comes after this value.",
    ),
    "along one axis": (
        along_one,
        "`scores` is right (the same on every device). No value that your program uses is `weights`.",
    ),
    "without shard_map": (by_itself, "`scores` is right. No value that your program uses is `weights`."),
}


def module_of(function: Any, case: Case, name: str = "attend") -> bytes:
    """What a student's process sends of a function."""
    with jax.numpy_rank_promotion("allow"), jax.numpy_dtype_promotion("standard"):
        (entry,) = exported(function, {"name": name, "cases": [case.to_json()]})
    return base64.b64decode(entry["module"])


@pytest.mark.thorough(after=3)
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
    seen = blocks_in(values_inside(module, CASE, inputs))
    assert all(has(seen, whole) for whole in steps(*map(wide, inputs)).values())


def test_a_cause_that_is_known_comes_first() -> None:
    """Where values relate to the right ones in a way of their own, the finding says that."""
    (finding,) = judge_case(ITEM, CASE, module_of(attend(mix=lambda w, x: 4 * (w @ x)), CASE), None, 7)
    assert finding.misconception not in (None, "first-wrong-stage", "wrong-after-the-stages")


def test_an_output_before_the_last_stage() -> None:
    """Where the last stage is right, and so is all but an output that comes before it, that output is named."""

    def energetic(*arrays: np.ndarray) -> dict[str, np.ndarray]:
        named = steps(*arrays)
        return {"scores": named["scores"], "energy": np.sum(named["scores"] ** 2), "mixed": named["mixed"]}

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        def body(x: Any, q: Any, k: Any) -> Any:
            scores = jax.lax.psum((x @ q) @ (x @ k).swapaxes(1, 2), "y") / 8**0.5
            energy = jax.lax.psum(jnp.sum(jnp.sin(scores) + jnp.tanh(scores)), "x")
            return energy, jax.nn.softmax(scores) @ x

        specs = P("x"), P(None, "y"), P(None, "y")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=(P(), P("x")))(x, q, k)

    case = Case(CASE.axes, CASE.inputs, ((), ("x",)))
    item = ProgramItem("attend", {"V": 1}, oracle=lambda *a: (energetic(*a)["energy"], energetic(*a)["mixed"]),
                       names=energetic, cases=(case, case))  # fmt: skip
    (finding,) = judge_case(item, case, module_of(answer, case), None, 7)
    assert finding.cause == "`mixed` is right (cut along 0 over x). No value that your program uses is `energy`."


@pytest.mark.thorough
def test_a_multiple_of_an_earlier_value() -> None:
    """Where the next value is one, it is not told that the program has a multiple of it."""

    def doubled(*arrays: np.ndarray) -> dict[str, np.ndarray]:
        scores = steps(*arrays)["scores"]
        return {"scores": scores, "twice": 2 * scores, "mixed": softmax(2 * scores) @ arrays[0]}

    item = ProgramItem("attend", {"V": 1}, oracle=lambda *a: doubled(*a)["mixed"], names=doubled, cases=(CASE, CASE))
    (finding,) = judge_case(item, CASE, module_of(attend(), CASE), None, 7)
    assert finding.cause == "`scores` is right (cut along 0 over x). No value that your program uses is `twice`."


def in_two(turned: bool) -> Any:
    """The scores in one `shard_map` and what is made of them in another; `turned`, with softmax over the queries."""

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        def scored(x: Any, q: Any, k: Any) -> Any:
            return jax.lax.psum((x @ q) @ (x @ k).swapaxes(1, 2), "y") / 8**0.5

        def mixed(scores: Any, x: Any) -> Any:
            return jax.nn.softmax(scores, 1 if turned else -1) @ x

        specs = P("x"), P(None, "y"), P(None, "y")
        scores = jax.shard_map(scored, mesh=mesh, in_specs=specs, out_specs=P("x"))(x, q, k)
        # Over x alone: the other axis stays the compiler's.
        both = jax.shard_map(mixed, mesh=mesh, in_specs=(P("x"), P("x")), out_specs=P("x"), axis_names={"x"})
        return both(scores, x)

    return answer


def test_several_regions() -> None:
    """Values of each `shard_map` are found, with its own axes, in a right program and in a wrong one."""
    inputs = hidden_inputs(CASE, 7)
    seen = blocks_in(values_inside(module_of(in_two(False), CASE), CASE, inputs))
    assert {axes for axes, _ in seen} >= {CASE.axes, CASE.axes[:1]}
    assert all(has(seen, whole) for whole in steps(*map(wide, inputs)).values())
    (finding,) = judge_case(ITEM, CASE, module_of(in_two(True), CASE), None, 7)
    assert finding.cause == "`scores` is right (cut along 0 over x). No value that your program uses is `weights`."


def thrice(x: np.ndarray, q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """Attention three times over, round by round."""
    found: dict[str, np.ndarray] = {}
    for n in range(1, 4):
        found |= {f"{name} in layer {n} of 3": value for name, value in steps(x, q, k).items()}
        x = found[f"mixed in layer {n} of 3"]
    return found


LAYERS = ProgramItem(
    "attend", {"V": 1}, oracle=lambda *given: [*thrice(*given).values()][-1], names=thrice, cases=(CASE, CASE)
)


def in_rounds(where: str, wrong: int) -> Any:
    """A `scan` of three layers in a `shard_map`, around one, or with none; softmax is of other scores in round `wrong`."""

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        manual = where != "alone"

        def layer(x: Any, n: Any, q: Any, k: Any) -> Any:
            terms = (x @ q) @ (x @ k).swapaxes(1, 2)
            scores = (jax.lax.psum(terms, "y") if manual else terms) / 8**0.5
            return jax.nn.softmax(jnp.where(n == wrong, jnp.sin(scores), scores)) @ x

        def layers(x: Any, q: Any, k: Any, of: Any = layer) -> Any:
            return jax.lax.scan(lambda x, n: (of(x, n, q, k), None), x, jnp.arange(3))[0]

        def mapped(f: Any, *more: Any) -> Any:
            specs = P("x"), *more, P(None, "y"), P(None, "y")
            return jax.shard_map(f, mesh=mesh, in_specs=specs, out_specs=P("x"))

        if where == "inside":
            return mapped(layers)(x, q, k)
        return layers(x, q, k, mapped(layer, P()) if manual else layer)

    return answer


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("where", ["inside", "around", "alone"])
def test_rounds_of_a_loop(where: str) -> None:
    """The finding says the round in which the values part."""
    (finding,) = judge_case(LAYERS, CASE, module_of(in_rounds(where, 1), CASE), None, 7)
    relation = "" if where == "alone" else " (cut along 0 over x)"
    missing = "No value that your program uses is `weights in layer 2 of 3`"
    assert finding.cause == f"`scores in layer 2 of 3` is right{relation}. {missing}."
    inputs = hidden_inputs(CASE, 7)
    seen = blocks_in(values_inside(module_of(in_rounds(where, 3), CASE), CASE, inputs))
    assert all(has(seen, whole) for whole in thrice(*map(wide, inputs)).values())


def test_a_loop_whose_rounds_nobody_knows() -> None:
    """Its values stay inside; what the program computes around it is still told."""

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        def body(x: Any, q: Any, k: Any) -> Any:
            scores = jax.lax.psum((x @ q) @ (x @ k).swapaxes(1, 2), "y") / 8**0.5
            return jax.lax.while_loop(lambda s: s.sum() < 0, lambda s: s + 1, jax.nn.softmax(scores, 1)) @ x

        specs = P("x"), P(None, "y"), P(None, "y")
        return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x"), check_vma=False)(x, q, k)

    (finding,) = judge_case(ITEM, CASE, module_of(answer, CASE), None, 7)
    assert finding.cause == "`scores` is right (cut along 0 over x). No value that your program uses is `weights`."


def squares_and_sums(x: np.ndarray, q: np.ndarray, k: np.ndarray) -> dict[str, np.ndarray]:
    """In each of two rounds a sum, and a square that does not need it."""
    names: dict[str, np.ndarray] = {}
    totals, squares = np.zeros_like(x), np.zeros_like(x)
    for n in (1, 2):
        totals, squares = totals + np.cos(n * x), squares + np.sin(n * x) ** 2
        names |= {f"the sum in step {n} of 2": totals, f"the square in step {n} of 2": squares}
    return names | {"the quotient": totals / (1 + squares)}


@pytest.mark.thorough
@pytest.mark.parametrize("kept, missing", [(0, "the sum in step 2 of 2"), (1, "the quotient")])
def test_a_value_lost_beside_one_that_is_right(kept: int, missing: str) -> None:
    """It is told where the program had it in an earlier round, though what is named after it is right."""

    def answer(mesh: Any, x: Any, q: Any, k: Any) -> Any:
        totals, squares = jnp.cos(x), jnp.sin(x) ** 2
        totals, squares = kept * totals + jnp.cos(2 * x), squares + jnp.sin(2 * x) ** 2
        return totals / (2 + squares)

    inputs = hidden_inputs(CASE, 7)
    found = likely(squares_and_sums, module_of(answer, CASE), Observed(CASE, inputs=inputs))
    said = f"`the square in step 2 of 2` is right. No value that your program uses is `{missing}`."
    assert found is not None and found.cause == said


# What is said of refused answers, whether their cause is known or not.
TOLD = {
    "15.3 averaged": "The terms of `the loss` are right (term of a sum over stage), but no value of your program is their "
    "sum. No value that your program uses is `the gradient of all stages' outputs`: one is 1/8 times it.",
    "11.2 first_use": "`the gradient's term in v of W in step 1 of 5` is right. No value that your program uses is "
    "`the gradient of E in step 1 of 5`.",
    "11.2 forgets": "`the gradient of E in step 2 of 5` is right. No value that your program uses is "
    "`m of E in step 2 of 5`.",
    "15.1 check_off": "`the loss in step 1 of 5` is right (the same on every device). No value that your program uses is "
    "`the gradient of U in step 1 of 5`: one is 8 times it when added up over data.",
    "15.1 plain_descent": "`the gradient of E in step 2 of 5` is right (the same on every device). No value that your "
    "program uses is `the speed of E in step 2 of 5`.",
    "15.3 all_stages": "`the output of all stages` is right (cut along 0 over stage). No value that your program uses is "
    "`the loss`.",
    "15.3 gradient_psum": "`the gradient of W` is right (cut along 0 over stage). The mistake comes after this value.",
    "15.6 uphill": "`the gradient of W1` is right (cut along 1 over x, y). The mistake comes after this value.",
}


def exercised(question: str, item: Any, name: str) -> tuple[Any, list[Case]]:
    """An answer's function and the public cases, as the answer's layout has them where there is one."""
    function, cases = variants.of(question)[name].variables()[item.name], [*item.cases]
    if isinstance(item, DesignItem):
        layout = {array: tuple(spec) for array, spec in function["layout"].items()}
        return function["step"], [item.laid_out(case, layout) for case in cases]
    return function, cases


def named(item: Any, observed: Observed) -> Any:
    """What names an item's values on the way, in the situation that was observed."""
    return item.names if isinstance(item, DesignItem) else item.named(observed)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("answer", TOLD)
def test_a_refused_answer(answer: str) -> None:
    """In loops and pipelines too the sentence names the value, and the step in which it is the first that is wrong."""
    question, name = answer.split()
    item: Any = next(each for each in QUESTIONS[question].items if getattr(each, "names", None))
    function, (case, *_) = exercised(question, item, name)
    module, inputs = module_of(function, case, item.name), hidden_inputs(case, 7)
    observed = Observed(case, inputs=inputs)
    found = likely(named(item, observed), module, observed)
    assert found is not None and found.cause == TOLD[answer]


NAMED = [
    pytest.param(id, item, marks=pytest.mark.thorough)
    for id, question in QUESTIONS.items()
    for item in question.items
    if getattr(item, "names", None) is not None
]


@pytest.mark.parametrize("question, item", NAMED)
def test_the_solution_has_every_stage(question: str, item: Any) -> None:
    """What an exercise names is computed by its solution, in every public case."""
    function, cases = exercised(question, item, variants.REFERENCE)
    for case in cases:
        inputs = hidden_inputs(case, None)
        seen = blocks_in(values_inside(module_of(function, case, item.name), case, inputs))
        for name, whole in named(item, Observed(case, inputs=inputs))(*map(wide, inputs)).items():
            assert has(seen, whole), name
