"""What chapter 3 asks of the judge: specs as answers, how often a program communicates, and an input given twice."""

from __future__ import annotations

import jax
import numpy as np
import pytest

from shardlab.answers.record import record
from shardlab.as_json import as_json
from shardlab_course.checking.feedback import text
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.layout import LayoutItem, Situation
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.judging import judge
from shardlab_judge.question import Question, WrongCost
from shardlab_judge.references import References, build
from shardlab_judge.verdict import Verdict

P = jax.P
NONE = References({}, {})
WIDE, TALL = axes(x=4, y=2), axes(x=2, y=4)
CASES = tuple(Situation((("A", (16, 8)), ("B", (8, 24))), mesh) for mesh in (WIDE, TALL))


def product(a, b):
    return a @ b


CUT = LayoutItem(
    "cut", {"H": 1, "M": 1}, function=product, reference={"A": ["x", None], "B": [None, "y"]}, cases=CASES,
    misconceptions=(WrongCost("inner", "The inner dimension is cut.", when=lambda o: bool(o.collectives)),),
)  # fmt: skip


def on(item, answer) -> Verdict:
    question = Question("3.9", "", (item,), 1, 1, ("",) * 3, "")
    return judge(question, record(question.manifest(), {item.name: answer}, {}), NONE)


@pytest.mark.parametrize(
    ("specs", "points"),
    [
        ({"A": P("x", None), "B": P(None, "y")}, 2),
        ({"A": ["x"], "B": [None, "y"]}, 2),
        ({"A": P(), "B": P()}, 1),
        ({"A": P(None, "x"), "B": P("x", "y")}, 0),
    ],
    ids=["specs", "lists", "whole", "inner"],
)
def test_specs_are_judged_by_what_they_compile_to(specs, points) -> None:
    """Specs, or lists of their entries, are priced; the output may lie anywhere, as no letter asks for it."""
    assert on(CUT, specs).points == points


@pytest.mark.parametrize(
    "entries", [P("x", "x"), P("z"), P(None, None, "x"), [1, None], [["x", ["y"]]], [{}]], ids=str
)  # fmt: skip
def test_spec_that_does_not_fit_is_a_finding(entries) -> None:
    """Whatever is no spec for the array costs the item, with the entries as they were given."""
    question = Question("3.9", "", (CUT,), 1, 1, ("",) * 3, "")
    verdict = on(CUT, {"A": entries, "B": P()})
    assert (verdict.points, verdict.status) == (0, "failed")
    assert "P(" in text(verdict, question)


def test_spec_becomes_a_list() -> None:
    """A spec is recorded as its entries."""
    assert as_json(P("x", None, ("x", "y"))) == ["x", None, ["x", "y"]]


def as_rows(rng, shape, before):
    return before[1]


HELD = (Input((8, 4), ("x", None)), Input((8, 8), ("x", None)), Input((8, 8), (None, "x"), values=as_rows))


def reference(mesh, x, rows, columns):
    return rows @ (columns @ x)


def rows_twice(mesh, x, rows, columns):
    return rows @ (rows @ x)


def test_how_often_a_program_communicates() -> None:
    """With `most`, as many bytes in more collectives are too much; without it they are not."""
    case = Case(axes(x=8), HELD, (("x", None),))
    for most, status in ((None, "passed"), (1, "failed")):
        item = ProgramItem("two", {"V": 1, "H": 1}, oracle=lambda x, r, c: r @ (r @ x), cases=(case,), most=most)
        question = Question("3.9", "", (item,), 1, 1, ("",) * 3, "")
        right = record(question.manifest(), {"two": reference}, {})
        costs = build([question], {"3.9": right})
        assert judge(question, right, costs).status == "passed"
        verdict = judge(question, record(question.manifest(), {"two": rows_twice}, {}), costs)
        assert verdict.status == status
    assert "at most 1 collectives" in text(verdict, question)


def test_copy_has_the_values_of_its_original() -> None:
    """An input that is a copy repeats an earlier one and draws nothing of its own."""
    x, rows, columns = hidden_inputs(Case(axes(x=8), HELD), 5)
    assert np.array_equal(rows, columns) and not np.array_equal(x[:4], rows[:4, :4])
