"""Programs are judged by their values, places and price, from bytes alone."""

from __future__ import annotations

import base64
import dataclasses
from collections.abc import Iterator

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from sample_questions import PROGRAM, P, product, question
from shardlab.answers.exporting import exported
from shardlab.answers.record import record
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.program import ProgramItem, unequal
from shardlab_judge.judging import judge
from shardlab_judge.measuring import measure
from shardlab_judge.question import Check
from shardlab_judge.references import References, build
from shardlab_judge.verdict import Finding, Verdict

SEED = 5


@pytest.fixture(scope="module")
def references() -> References:
    return build([PROGRAM], {PROGRAM.id: record(PROGRAM.manifest(SEED), {"product": product}, {})}, SEED)


def verdict_on(function, references: References, seed: int | None = SEED) -> Verdict:
    answer = record(PROGRAM.manifest(seed), {"product": function}, {})
    return judge(PROGRAM, answer, references, seed)


def manual(body, mesh, a, b, **change):
    specs = dict(mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P(), check_vma=False) | change
    return jax.shard_map(body, **specs)(a, b)


def constrained(x, mesh, *spec):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P(*spec)))


RIGHT = {
    "reference": product,
    "left to the compiler": lambda mesh, a, b: constrained(a @ b, mesh),
    "list around it": lambda mesh, a, b: [product(mesh, a, b)],
    "prints while debugging": lambda mesh, a, b: (jax.debug.print("{}", a[0, 0]), product(mesh, a, b))[1],
    "numpy inputs allowed in constants": lambda mesh, a, b: product(mesh, a, b) + np.float32(0),
}


@pytest.mark.parametrize("function", RIGHT.values(), ids=RIGHT)
def test_right_program_passes(function, references: References) -> None:
    """However it is written, a program with the right values, place and price gets all points."""
    verdict = verdict_on(function, references)
    assert (verdict.status, verdict.points) == ("passed", 4), verdict.findings


def test_an_oracle_is_asked_once(references: References) -> None:
    """The causes of a wrong program ask for the right outputs again and again; they are computed once for each input."""
    asked: list[bytes] = []

    def oracle(a: np.ndarray, b: np.ndarray) -> np.ndarray:
        asked.append(a.tobytes() + b.tobytes())
        return a @ b

    (item,) = PROGRAM.items
    counted = dataclasses.replace(PROGRAM, items=(dataclasses.replace(item, oracle=oracle),))
    answer = record(PROGRAM.manifest(SEED), {"product": lambda mesh, a, b: jnp.sin(product(mesh, a, b))}, {})
    assert judge(counted, answer, references, SEED).points == 0
    assert len(asked) == len(set(asked)) > 1


class Counter:
    """A program that depends on Python state: another one at each call."""

    calls = 0

    def __call__(self, mesh, a, b):
        self.calls += 1
        return product(mesh, a, b) * self.calls


def one_device(mesh, a, b):
    alone = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:1])
    return constrained(a, alone) @ constrained(b, alone)


def raising(mesh, a, b):
    raise KeyError("no such axis")


def by_callback(mesh, a, b):
    return jax.pure_callback(np.matmul, jax.ShapeDtypeStruct((a.shape[0], b.shape[1]), "float32"), a, b)


WRONG = {
    "partial sums": (lambda m, a, b: manual(lambda a, b: a @ b, m, a, b), 0, "V", "partial-sums"),
    "transposed": (lambda m, a, b: product(m, a, b).T, 0, "V", None),
    "gathered": (lambda m, a, b: constrained(constrained(a, m) @ constrained(b, m), m), 3, "H", "gathered"),
    "elsewhere": (lambda m, a, b: constrained(product(m, a, b), m, "x"), 3, "S", None),
    "twice the value": (lambda m, a, b: 2 * product(m, a, b), 0, "V", None),
    "NaN": (lambda m, a, b: product(m, a, b) * jnp.nan, 0, "V", None),
    "whole numbers": (lambda m, a, b: product(m, a, b).astype(jnp.int32), 0, "V", None),
    "another rank": (lambda m, a, b: product(m, a, b)[None], 0, "V", None),
    "two outputs": (lambda m, a, b: (product(m, a, b), a), 0, "V", None),
    "no output": (lambda m, a, b: None, 0, "V", None),
    "raises": (raising, 0, "V", None),
    "depends on Python state": (Counter(), 0, "V", None),
    "NumPy": (lambda m, a, b: np.asarray(a) @ np.asarray(b), 0, "V", "numpy-inside"),
    "callback": (by_callback, 0, "V", "host-callback"),
    "one device": (one_device, 0, "V", "incompatible-devices"),
    "not a function": (3, 0, "V", None),
}  # fmt: skip


@pytest.mark.thorough(after=5)
@pytest.mark.parametrize("function, points, letter, miss", WRONG.values(), ids=WRONG)
def test_wrong_program_fails(function, points: float, letter: str, miss: str | None, references: References) -> None:
    """A wrong program loses the points of what is wrong, and the known mistakes are named."""
    verdict = verdict_on(function, references)
    assert (verdict.status, verdict.points) == ("failed", points), verdict.findings
    assert verdict.findings[0].letter == letter
    assert miss is None or verdict.findings[0].misconception == miss, verdict.findings[0]


def test_falsely_replicated_output_fails(references: References) -> None:
    """Every device's copy is compared: right on device 0 is not enough."""

    def lie(mesh, a, b):
        def body(a, b):
            return jax.lax.psum(a @ b, "x") + (jax.lax.axis_index("y") > 0).astype(a.dtype)

        return manual(body, mesh, a, b)

    verdict = verdict_on(lie, references, None)
    assert "device 1 are wrong" in verdict.findings[0].what


def test_same_bytes_same_verdict(references: References) -> None:
    """The judge is a pure function of bytes and question."""
    answer = record(PROGRAM.manifest(SEED), {"product": product}, {})
    assert judge(PROGRAM, answer, references, SEED) == judge(PROGRAM, answer, references, SEED)


def test_hidden_inputs_differ_by_seed() -> None:
    """Another release, other values."""
    case = PROGRAM.items[0].cases[0]
    first, same, other = (hidden_inputs(case, seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(first, same) and not np.allclose(first, other)


def test_inputs_may_be_shifted() -> None:
    """Values around another number than 0, for programs whose mistakes show only there."""
    inputs = (Input((64,), shift=100.0), Input((64,), dtype="int32", shift=-200.0))
    floats, integers = hidden_inputs(Case((("x", 8),), inputs), 1)
    assert 99 < floats.mean() < 101 and 0.5 < floats.std() < 1.5
    assert floats.dtype == np.float32 and integers.max() < -100


def test_bytes_that_are_no_program_are_refused(references: References) -> None:
    """Garbage in place of a program is a finding, not an exception."""
    answer = record(PROGRAM.manifest(SEED), {"product": product}, {})
    entry = {"module": base64.b64encode(b"ML\xefR garbage").decode(), "outputs": [""]}
    answer["items"]["product"]["programs"][0] = entry
    verdict = judge(PROGRAM, answer, references, SEED)
    assert verdict.points == 0
    assert "refused" in verdict.findings[0].what


def test_a_program_that_xla_cannot_compile_is_a_finding(references: References, monkeypatch) -> None:
    """What XLA says of it is told; the judge goes on."""
    answer = record(PROGRAM.manifest(SEED), {"product": product}, {})

    def broken(*args: object) -> None:
        raise jax.errors.JaxRuntimeError("INTERNAL: RET_CHECK failure in a thunk\nmore")

    monkeypatch.setattr("shardlab_judge.measuring.measure", broken)
    verdict = judge(PROGRAM, answer, references, SEED)
    assert (verdict.status, verdict.points) == ("failed", 0)
    assert verdict.findings[0].what.endswith("run your program here: INTERNAL: RET_CHECK failure in a thunk")


def test_facts_are_measured_again_for_another_jax(references: References, tmp_path, monkeypatch) -> None:
    """References on file without facts of this JAX version are compiled when asked for."""
    text = references.text().replace(jax.__version__, "0.0.1")
    (tmp_path / "references.json").write_text(text)
    again = References.load(tmp_path / "references.json")
    case = PROGRAM.items[0].cases[1]
    assert again.cost("0.1", "product", case) == references.cost("0.1", "product", case)


@pytest.mark.parametrize("sign, status", [(1, "passed"), (-1, "passed"), (2, "failed")])
def test_one_of_several_right_outputs_passes(sign: int, status: str) -> None:
    """Where more than one output is right, the question's check says which of them is nearest."""

    def either_sign(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
        x, (_, index, block) = observed.inputs[0].astype(np.float64), observed.shards[0][0]
        yield from unequal(item, observed, np.sign((x[index] * block).sum()) * x)

    cases = tuple(Case(mesh, (Input((8, 6), ("x", None)),)) for mesh in (axes(x=2, y=4), axes(x=4)))
    item = ProgramItem("same", {"V": 1}, checks=(Check("V", either_sign),), cases=cases)
    asked = question(item)
    answer = record(asked.manifest(SEED), {"same": lambda mesh, x: sign * x}, {})
    assert judge(asked, answer, References({}, {}), SEED).status == status


def in_region(mesh, a, b):
    return manual(lambda a, b: jax.lax.psum(a @ b, "y"), mesh, a, b, in_specs=(P("x", "y"), P("y", None)), out_specs=P("x"))


def in_an_inner_jit(mesh, a, b):
    return jax.jit(lambda a, b: in_region(mesh, a, b))(a, b)


def in_a_loop(mesh, a, b):
    zeros = jnp.zeros((a.shape[0], b.shape[1]))
    return jax.lax.fori_loop(0, 1, lambda _, total: total + in_region(mesh, a, b), zeros)


def dead_region(mesh, a, b):
    in_region(mesh, a, b)
    return a @ b


def dead_output(mesh, a, b):
    def body(a, b):
        return b, jax.lax.psum(a[0, 0], ("x", "y"))

    b, _ = jax.shard_map(body, mesh=mesh, in_specs=(P("x", "y"), P("y")), out_specs=(P("y"), P()))(a, b)
    return a @ b


def decoy(mesh, a, b):
    return a @ b + 0 * in_region(mesh, a, b)


def gathered_at_the_border(mesh, a, b):
    return manual(lambda a, b: a @ b, mesh, a, b, in_specs=(P("x"), P()), out_specs=P("x"))


def placed_as_it_is(mesh, a, b):
    return constrained(gathered_at_the_border(mesh, a, b) + 0 * in_region(mesh, a, b), mesh, "x")


def gathered_behind(mesh, a, b):
    return constrained(in_region(mesh, a, b), mesh)


def summed_outside(mesh, a, b):
    specs = {"in_specs": (P("x", "y"), P("y", None)), "out_specs": P("y", "x")}
    terms = manual(lambda a, b: (a @ b)[None] + 0 * jax.lax.psum(a[0, 0], "y"), mesh, a, b, **specs)
    return terms.sum(0)


def multiplied_outside(mesh, a, b):
    a = jax.shard_map(lambda a: a, mesh=mesh, in_specs=P("x", "y"), out_specs=P("x", "y"))(a)
    return (a[:, :, None] * b[None]).sum(1)


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        (in_region, True),
        (in_an_inner_jit, True),
        (lambda mesh, a, b: jnp.maximum(in_region(mesh, a, b), 0) * 2, True),
        (lambda mesh, a, b: a @ b, False),
        (dead_region, False),
        (dead_output, False),
        (decoy, False),
        (gathered_at_the_border, False),
        (placed_as_it_is, False),
        (gathered_behind, True),
        (summed_outside, False),
        (multiplied_outside, False),
        (in_a_loop, True),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.parametrize("mesh", [axes(x=2, y=4), axes(x=4, y=2)], ids=str)
def test_what_moves_is_written_by_hand(written, wanted: bool, mesh) -> None:
    """Only what outputs are made from counts: products and what moves stand in `jax.shard_map`, and nothing is left."""
    case = Case(mesh, (Input((8, 12), ("x", "y")), Input((12, 6), ("y",))))
    (program,) = exported(written, {"name": "answer", "cases": [case.to_json()]})
    assert measure(base64.b64decode(program["module"]), case).observed.manual is wanted


def test_a_second_run_has_other_whole_numbers() -> None:
    """A check may ask for a second run, with another seed and the same floats."""

    def keeps_seed(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
        again = observed.again
        assert again is not None
        assert observed.inputs[0] != again.inputs[0]
        assert 0 <= again.inputs[0] < 100
        np.testing.assert_array_equal(observed.inputs[1], again.inputs[1])
        yield from unequal(item, observed, again.shards[0][0][2])

    cases = tuple(Case(mesh, (Input((), (), "int32"), Input((8, 6)))) for mesh in (axes(x=2, y=4), axes(x=4)))
    item = ProgramItem("kept", {"V": 1}, checks=(Check("V", keeps_seed),), cases=cases)
    asked = question(item)
    for kept, status in ((lambda mesh, seed, x: x, "passed"), (lambda mesh, seed, x: x + seed.astype("float32"), "failed")):
        answer = record(asked.manifest(SEED), {"kept": kept}, {})
        assert judge(asked, answer, References({}, {}), SEED).status == status


WRONG_OUTPUT = {
    "Output 2 of 3: 48 of 48 elements on device 0 are wrong; all are 2 times the right value.": lambda mesh, x: (
        x,
        2 * x,
        x,
    ),
    "Output 2 of 3 has the wrong shape.": lambda mesh, x: (x, x.T, x),
    "Output 2 of 3 has the wrong dtype.": lambda mesh, x: (x, x.astype("int32"), x),
    "Output 2 of 3 has the wrong sharding.": lambda mesh, x: (x, constrained(x, mesh, "x"), x),
}


@pytest.mark.parametrize("what", WRONG_OUTPUT)
def test_of_several_outputs_the_wrong_one_is_named(what: str) -> None:
    """A reader of three outputs is told which of them to look at."""
    cases = tuple(Case(mesh, (Input((8, 6)),), ((),) * 3) for mesh in (axes(x=2, y=4), axes(x=4)))
    asked = question(ProgramItem("f", {"V": 1, "S": 1}, oracle=lambda x: (x, x, x), cases=cases))
    verdict = judge(asked, record(asked.manifest(), {"f": WRONG_OUTPUT[what]}, {}), References({}, {}))
    assert verdict.findings[0].what.startswith(what)


def summed_in_turn(mesh, x):
    def body(row):
        return jax.lax.psum(jax.lax.psum(row, "y"), "x")

    return jax.shard_map(body, mesh=mesh, in_specs=P(("x", "y")), out_specs=P())(x)


def summed_in_parts(mesh, x):
    def body(row):
        part = jax.lax.psum(jax.lax.psum_scatter(row, "y", scatter_dimension=1, tiled=True), "x")
        return jax.lax.all_gather(part, "y", axis=1, tiled=True, to="invarying")

    return jax.shard_map(body, mesh=mesh, in_specs=P(("x", "y")), out_specs=P())(x)


@pytest.mark.parametrize("axis", ["x", "y", ""])
def test_slow_axis_has_a_budget_of_its_own(axis: str, tmp_path) -> None:
    """What crosses the slow axis is measured of the reference, kept, and named where it is too much."""
    cases = tuple(Case(axes(x=x, y=8 // x), (Input((8, 24), (("x", "y"), None)),), ((),), slow=axis) for x in (2, 4))
    item = ProgramItem("f", {"V": 1, "H": 1}, oracle=lambda x: x.sum(0, keepdims=True), cases=cases)
    asked = question(item)
    facts = build([asked], {"0.1": record(asked.manifest(), {"f": summed_in_parts}, {})})
    (tmp_path / "facts.json").write_text(facts.text())
    assert ('"slow"' in (tmp_path / "facts.json").read_text()) == bool(axis)
    again = References.load(tmp_path / "facts.json")
    assert [again.cost("0.1", "f", case).slow for case in cases] == {"x": [48, 96], "y": [192, 192], "": [0, 0]}[axis]
    verdict = judge(asked, record(asked.manifest(), {"f": summed_in_turn}, {}), again)
    assert (verdict.status, verdict.points) == ("failed", 1)
    assert ("along x" in verdict.findings[0].what) == (axis == "x")


def other_donations(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
    if observed.donated != {0}:
        yield Finding(item.name, "M", "Other arrays are donated.")


def not_twice(item: ProgramItem, observed: Observed) -> Iterator[Finding]:
    if dict(observed.operations)["stablehlo.tanh"] != 2:
        yield Finding(item.name, "J", "There are not two.")


def test_what_a_jit_gives_away_is_donated() -> None:
    """The student's own `jax.jit` donates; its positions reach the judge, and the memory of outputs is counted once."""
    case = Case(axes(x=8), (Input((16, 3), ("x",)), Input((16, 3), ("x",))), (("x",),))
    item = ProgramItem(
        "f", {"V": 1, "M": 1}, oracle=lambda a, b: a + b, cases=(case,), checks=(Check("M", other_donations),)
    )
    asked = question(item, id="5.9")
    gives = jax.jit(lambda mesh, a, b: a + b, static_argnums=0, donate_argnums=1)
    answers = {"gives": gives, "keeps": lambda mesh, a, b: a + b, "gives both": lambda m, a, b: gives(m, b, a)}
    known = build([asked], {"5.9": record(asked.manifest(), {"f": gives}, {})})
    got = {name: judge(asked, record(asked.manifest(), {"f": f}, {}), known).points for name, f in answers.items()}
    assert got == {"gives": 2, "keeps": 1, "gives both": 1}


def test_operations_of_a_function_count_for_each_call() -> None:
    """Letter J: a helper under its own jit stands once in the module, and is counted where it is called."""
    case = Case(axes(x=8), (Input((16, 3), ("x",)),), (("x",),))
    item = ProgramItem(
        "f", {"V": 1, "J": 1}, oracle=lambda a: np.tanh(np.tanh(a)), cases=(case,), checks=(Check("J", not_twice),)
    )
    asked, helper = question(item, id="5.9"), jax.jit(jnp.tanh)
    answers = {2: lambda mesh, a: helper(helper(a)), 3: lambda mesh, a: helper(helper(a)) + 0 * helper(a)}
    recorded = {n: record(asked.manifest(), {"f": f}, {}) for n, f in answers.items()}
    assert {n: judge(asked, entry, References({}, {})).points for n, entry in recorded.items()} == {2: 2, 3: 1}


@pytest.mark.parametrize(
    ("kind", "said"), [("float32", " at [0], within 0.003 (three are as good as four)"), ("int32", " at [0]")]
)
def test_a_tolerance_is_told_with_its_reason(kind: str, said: str) -> None:
    """Where values are wrong, it says how far off they may be, and why; of whole numbers nothing of the kind."""
    case = Case(axes(x=8), (Input((16,), ("x",), dtype=kind),), (("x",),))
    item = ProgramItem(
        "f", {"V": 1}, oracle=lambda a: 0 * a, cases=(case,), rtol=0, atol=0.003, tolerance="three are as good as four"
    )
    asked = question(item)
    verdict = judge(asked, record(asked.manifest(), {"f": lambda mesh, a: 0 * a + 1}, {}), References({}, {}))
    assert verdict.findings[0].expected == f"0{said}"


def judged_alone(program, oracle, *inputs: Input, **more) -> list[tuple[str, str, str]]:
    """What is found in a program that is asked for nothing but its values: what, expected, got."""
    case = Case(axes(x=8), inputs)
    asked = question(ProgramItem("made", {"V": 1}, oracle=oracle, cases=(case,), **more))
    verdict = judge(asked, record(asked.manifest(), {"made": program}, {}), References({}, {}))
    return [(one.what, one.expected, one.got) for one in verdict.findings]


LARGE, SMALL = Input((16, 4), ("x",)), 1e-5
PRECISE = {
    "small values beside large ones": (lambda mesh, a: (a, 0 * a), lambda a: (a, SMALL * a), LARGE, "Output 2 of 2"),
    "whole numbers": (
        lambda mesh, a: jnp.floor(a * 1e6).astype(int) + 1,
        lambda a: np.floor(np.float32(a) * np.float32(1e6)).astype(np.int64), LARGE, "elements on device 0 are wrong"),
    "no x64": (lambda mesh, a: a, lambda a: a.astype(np.int64), LARGE, "wrong dtype"),
}  # fmt: skip


@pytest.mark.parametrize("name", PRECISE)
def test_a_tolerance_hides_nothing(name: str) -> None:
    """Neither an output of small values, nor a whole number that is off by one; a dtype is one that JAX has."""
    program, oracle, given, said = PRECISE[name]
    ((what, expected, _),) = judged_alone(program, oracle, given)
    assert said in what and "int64" not in expected
    assert judged_alone(lambda mesh, a: (a, SMALL * a), lambda a: (a, SMALL * a), LARGE) == []


def test_floats_of_sixteen_bits_are_floats() -> None:
    """They are drawn as floats are, and a right product of them is right."""
    inputs = Input((16, 8), ("x",), "bfloat16"), Input((8, 4), (), "bfloat16")
    assert hidden_inputs(Case(axes(x=8), inputs), 1)[0].astype(float).min() < 0
    assert judged_alone(lambda mesh, a, b: a @ b, lambda a, b: a @ b, *inputs, rtol=0.02, atol=0.02) == []
    assert judged_alone(lambda mesh, a, b: a @ b + 1, lambda a, b: a @ b, *inputs, rtol=0.02, atol=0.02)


def test_a_check_is_not_asked_about_outputs_that_there_are_not() -> None:
    """It may look at the first one."""
    check = Check("V", lambda item, o: [] if o.shards[0] else [])
    ((what, _, _),) = judged_alone(lambda mesh, a: (), lambda a: a, LARGE, checks=(check,))
    assert what == "Your function returns the wrong number of arrays."


def test_a_larger_budget_is_told_with_its_reason() -> None:
    """What may be moved beyond the reference is part of what is expected."""
    case = Case(axes(x=2, y=4), (Input((8, 24), (("x", "y"), None)),), ((),))
    given = {"oracle": lambda x: x.sum(0, keepdims=True), "cases": (case,), "slack": 4, "slack_reason": "it rains"}
    asked = question(ProgramItem("f", {"V": 1, "H": 1}, **given))
    known = build([asked], {"0.1": record(asked.manifest(), {"f": summed_in_parts}, {})})
    wasteful = record(asked.manifest(), {"f": lambda mesh, x: constrained(x, mesh).sum(0, keepdims=True)}, {})
    (found,) = judge(asked, wasteful, known).findings
    budget = known.cost("0.1", "f", case).price + 4
    assert found.letter == "H" and found.expected == f"at most {budget} B a device, 4 of them because it rains"
