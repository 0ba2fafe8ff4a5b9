"""A finding about communication names the student's lines that communicate."""

from __future__ import annotations

import inspect

import jax
import pytest

from sample_questions import PROGRAM, P, product
from shardlab.answers.record import record
from shardlab_judge import responses
from shardlab_judge.judging import judge
from shardlab_judge.references import References, build
from shardlab_judge.verdict import Finding, Verdict

SEED = 5


@pytest.fixture(scope="module")
def references() -> References:
    return build([PROGRAM], {PROGRAM.id: record(PROGRAM.manifest(SEED), {"product": product}, {})}, SEED)


def whole(x, mesh):
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P()))


def gathered(mesh, a, b):
    first = whole(a, mesh)
    second = whole(b, mesh)
    return first @ second


def manual(mesh, a, b):
    def body(a, b):
        a = jax.lax.all_gather(a, "x", axis=1, tiled=True)
        return a @ jax.lax.all_gather(b, "x", tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P(), check_vma=False)(a, b)


def looping(mesh, a, b):
    def body(a, b):
        def step(i, total):
            return total + jax.lax.psum(a @ (b + 0 * total[0, 0]), "x") / 3

        return jax.lax.fori_loop(0, 3, step, jax.lax.psum(a @ b, "x") * 0)

    return jax.shard_map(body, mesh=mesh, in_specs=(P(None, "x"), P("x")), out_specs=P())(a, b)


def first(function, part: str) -> int:
    """The number of the function's line that has these words."""
    lines, start = inspect.getsourcelines(function)
    return start + next(n for n, line in enumerate(lines) if part in line)


def told(function, references: References) -> str:
    """The lines in the finding about communication."""
    answer = record(PROGRAM.manifest(SEED), {"product": function}, {})
    (finding,) = [f for f in judge(PROGRAM, answer, references, SEED).findings if f.letter == "H"]
    assert finding.moves == ()
    return finding.line


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(
    ("function", "parts", "written"),
    [
        (gathered, ["jax.lax.with_sharding_constraint"], whole),
        (manual, ['"x", axis=1', "return a @ jax"], manual),
        (looping, ["return total + jax", "return jax.lax.fori_loop"], looping),
    ],
    ids=["constraints", "shard_map", "loop"],
)
def test_lines_that_communicate(function, parts, written, references: References) -> None:
    """The innermost of the student's own, with what it became; of a loop the one in it, too."""
    text = told(function, references)
    for part in parts:
        assert f"line {first(written, part)} of test_lines.py: " in text and part in text
    assert text.count("line ") == len(parts)
    assert "all-reduce over x" in text if function is looping else "all-gather over x" in text


def test_equal_programs_of_other_notebooks_tell_their_own_lines(references: References) -> None:
    """The program is the same data, the lines are not part of it."""
    other: dict[str, object] = {"jax": jax, "P": P}
    exec(compile("\n" * 70 + inspect.getsource(manual), "<another notebook>", "exec"), other)
    entries = [
        record(PROGRAM.manifest(SEED), {"product": f}, {})["items"]["product"]["programs"] for f in (manual, other["manual"])
    ]
    one, two = (entry[0] for entry in entries)
    assert one["module"] == two["module"] and one["lines"] != two["lines"]
    assert "of another notebook" in told(other["manual"], references)


def put(mesh, a, b):
    @jax.jit
    def product(a, b):
        return jax.device_put(a @ b, jax.NamedSharding(mesh, P("x")))

    return jax.lax.with_sharding_constraint(product(a, b), jax.NamedSharding(mesh, P("y")))


def cut(mesh, a, b):
    return jax.lax.with_sharding_constraint(jax.numpy.asarray(a @ b), jax.NamedSharding(mesh, P("y")))


@pytest.mark.parametrize(("function", "known"), [(put, "device-put-inside"), (cut, "cut-too-much")], ids=["put", "not put"])
def test_device_put_is_dropped_and_said_to_be(function, known: str, references: References) -> None:
    """The cause of an output that lies elsewhere, where the program holds no trace of it; the points are the same."""
    answer = record(PROGRAM.manifest(SEED), {"product": function}, {})
    verdict = judge(PROGRAM, answer, references, SEED)
    (finding,) = [f for f in verdict.findings if f.letter == "S"]
    assert (finding.misconception, "with_sharding_constraint" in finding.cause) == (known, known == "device-put-inside")
    programs = [{**one, "puts": True} for one in answer["items"]["product"]["programs"]]
    claimed = judge(PROGRAM, {"items": {"product": {"programs": programs}}}, references, SEED)
    assert claimed.parts == verdict.parts


@pytest.mark.parametrize(
    "lines",
    [[], {"line 1": 3}, {"line 1": [True]}, {"line 1": [-1]}, {"line 1": [4000]}, {3: [1]}, {"x" * 5000: [1]}, {"a": [[]]}],
    ids=repr,
)
def test_lines_come_from_a_box(lines) -> None:
    """They are refused if they are no table of numbers."""
    with pytest.raises(responses.Refused):
        responses.lines(lines)


def test_lines_are_text() -> None:
    """Without what moves a terminal's cursor, and no longer than a line."""
    assert responses.lines({"\x1b[31mred" + "y" * 400: [1]}) == {"\ufffd[31mred" + "y" * 149 + "...": [1]}
    assert len(next(iter(responses.lines({"z" * 1000: []})))) == 160


def test_moves_are_read_back() -> None:
    """From the JSON in which the judge's own process says them, and from that of before, which has none."""
    finding = Finding("f", "H", "It moves more.", moves=((3, "all-gather over x, 8 B"),))
    verdict = Verdict("4.2", "failed", findings=(finding,))
    assert Verdict.from_json(verdict.to_json()).findings[0].moves == finding.moves
    raw = verdict.to_json()
    del raw["findings"][0]["moves"]
    assert Verdict.from_json(raw).findings[0].moves == ()
