"""Judging expressions as text: one expression, a table of rules, a layout for a function."""

from __future__ import annotations

import pytest

from sample_questions import question
from shardlab.answers.record import record
from shardlab_course.checking.feedback import html, text
from shardlab_judge.cases import axes
from shardlab_judge.items.expression import ExpressionItem
from shardlab_judge.items.layout import LayoutItem, Situation
from shardlab_judge.items.rules import RulesItem, Tree
from shardlab_judge.judging import judge
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues
from shardlab_judge.references import References
from shardlab_judge.verdict import Verdict
from shardlens.placement import place

MESH = axes(data=2, model=4)
ROWS = place((16, 8), axes(x=2, y=4), ("y",))
ONE = question(ExpressionItem("said", {"S": 1}, target=ROWS, misconceptions=(
    WrongValues("copies-last", "Copies come first.", 2, like=place((16, 8), axes(y=4, x=2), ("y",))),
    WrongProgram("no-mesh", "There is no mesh.", error="mesh-missing"),
)))  # fmt: skip
NAMED = question(ExpressionItem("said", {"S": 1}, target=place((16, 8), MESH, (("model", "data"),)), axes=MESH))
TREES = (
    Tree(MESH, (("layers/0/up", (8, 16)), ("layers/0/down", (16, 8)), ("norm", (8,)))),
    Tree(axes(data=4, model=2), tuple((path, (16, 8) if "down" in path else (8, 16))
                                      for path in ("layers/0/up", "layers/1/up", "layers/0/down")) + (("norm", (8,)),)),
)  # fmt: skip
TABLE = question(RulesItem(
    "rules", {"S": 2, "M": 1}, trees=TREES,
    wanted=lambda path: (None, "model") if path.endswith("up") else ("model", None) if path.endswith("down") else (),
    draw=lambda rng: Tree(axes(data=1, model=8), tuple((f"layers/{i}/up", (8, 16)) for i in range(3)) + TREES[0].leaves[1:]),
    misconceptions=(
        WrongProgram("general-first", "The general rule stands first.", error="rule-never-used"),
        WrongValues("down-whole", "down is whole.", like=lambda cuts: cuts["layers/0/down"] == (1, 1)),
    ),
))  # fmt: skip
RULES = [("up", "d f -> d f@model"), ("down", "f d -> f@model d"), ("", "... -> ...")]
SHAPES = (("A", (16, 32)), ("B", (32, 8)))
LAYOUT = question(LayoutItem(
    "layout", {"S": 1, "H": 1, "M": 1, "F": 1}, function=lambda a, b: a @ b,
    reference={"A": "i j -> i* j", "B": "... -> * ..."}, cases=(Situation(SHAPES), Situation(SHAPES, devices=4)),
    misconceptions=(WrongCost("contracted", "j is cut.", when=lambda o: o.case.inputs[0].spec[1] is not None),),
))  # fmt: skip


def verdict_on(asked: Question, seed: int | None = None, **namespace: object) -> Verdict:
    """The verdict on these variables."""
    return judge(asked, record(asked.manifest(seed), namespace, {}), References({}, {}), seed)


@pytest.mark.parametrize(
    "asked, said",
    [
        pytest.param(ONE, "r c -> 2 r4 c", id="numbers"),
        pytest.param(ONE, "  r   c->* r4 c1 ", id="star and spaces"),
        pytest.param(ONE, "r ... -> 2 r2 r2 ...", id="dots and a repeated name"),
        pytest.param(NAMED, "r c -> r@(model data) c", id="axes"),
    ],
)
def test_right_expression_passes(asked: Question, said: str) -> None:
    """Only the index map counts."""
    assert verdict_on(asked, said=said).status == "passed"


@pytest.mark.parametrize(
    "asked, said, what, miss",
    [
        pytest.param(ONE, "r c -> r4 2 c", "The shards have the right shape, but 6 devices hold the wrong one: "
                     "[1, 2, 3, 4, 5, 6].", "copies-last", id="elsewhere"),
        pytest.param(ONE, "r c -> r@y c", "said: the expression names mesh axes, but there is no mesh.", "no-mesh", id="@"),
        pytest.param(ONE, "r c -> 3 r c", "said: the numbers give 3 parts, and there are 8 devices.", None, id="numbers"),
        pytest.param(ONE, "r -> r8", "said: the expression names 1 dimension, but the array has 2.", None, id="rank"),
        pytest.param(ONE, 8, "said: a sharding expression is text, not int.", None, id="no text"),
        pytest.param(ONE, ["r c -> 2 r4 c"], "said: a sharding expression is text, not list.", None, id="list"),
        pytest.param(ONE, "r c ->" + " r2" * 99, "said: the expression has 303 characters.", None, id="too long"),
        pytest.param(NAMED, "r c -> r8 c", "The shards have the right shape, but 6 devices hold the wrong one: "
                     "[1, 2, 3, 4, 5, 6].", "blocks-in-other-order", id="order of axes"),
    ],
)  # fmt: skip
def test_wrong_expression_fails(asked: Question, said: object, what: str, miss: str | None) -> None:
    """What differs is named; an expression that cannot be read fails in the words of its error."""
    verdict = verdict_on(asked, said=said)
    (finding,) = verdict.findings
    assert (verdict.status, verdict.points, finding.what, finding.misconception) == ("failed", 0, what, miss)


def test_carets_stay_below_their_place() -> None:
    """A mistake of the language is shown as sl.einshard shows it."""
    verdict = verdict_on(ONE, said="r c -> r8 d")
    lines = text(verdict, ONE).splitlines()
    quoted = next(i for i, line in enumerate(lines) if '"r c -> r8 d"' in line)
    assert [lines[quoted][i] for i, c in enumerate(lines[quoted + 1]) if c == "^"] == ["c", "d"]
    assert "<pre" in html(verdict, ONE)


@pytest.mark.parametrize(
    "rules, points, miss",
    [
        pytest.param(RULES, 3, None, id="right"),
        pytest.param(dict(RULES), 3, None, id="dict"),
        pytest.param([("(up)+$", "... f -> ... f@model"), *RULES[1:]], 3, None, id="regular expression"),
        pytest.param([RULES[0], ("", "... -> ...")], 0, "down-whole", id="too much held"),
        pytest.param([RULES[0], ("down", "f d -> f d@model"), RULES[2]], 1, None, id="cut the other way"),
        pytest.param([RULES[2], *RULES[:2]], 0, "general-first", id="order"),
        pytest.param(RULES[:2], 0, None, id="leaf left over"),
        pytest.param([("(", "... -> ...")], 0, None, id="no pattern"),
        pytest.param([*RULES[:2], ("", "a b -> a b")], 0, None, id="rank"),
        pytest.param(7, 0, None, id="no table"),
    ],
)
def test_rules(rules: object, points: float, miss: str | None) -> None:
    """A table is judged by where it puts every leaf of every tree, and by the bytes that takes."""
    verdict = verdict_on(TABLE, 3, rules=rules)
    assert verdict.points == points, text(verdict, TABLE)
    assert miss is None or verdict.findings[0].misconception == miss


def test_table_for_the_public_trees_fails_on_drawn_ones() -> None:
    """Numbers that fit one mesh fit no other."""
    numbers = [("up", "d f -> 2 d f4"), *RULES[1:]]
    assert verdict_on(TABLE, rules=numbers).points == 1
    assert verdict_on(TABLE, 3, rules=numbers).points == 0


def test_patterns_are_not_matched_by_the_judge() -> None:
    """What is recorded are expressions; a forged list of another length is not a table."""
    recorded = record(TABLE.manifest(), {"rules": RULES}, {})["items"]["rules"]["calls"]
    assert recorded[0] == {"value": ["d f -> d f@model", "f d -> f@model d", "... -> ..."]}
    forged = {"items": {"rules": {"calls": [{"value": ["... -> ..."]}, {"value": 3}]}}}
    verdict = judge(TABLE, forged, References({}, {}))
    assert (verdict.status, verdict.points) == ("failed", 0)


@pytest.mark.parametrize(
    "layout, points, miss",
    [
        pytest.param({"A": "i j -> i* j", "B": "j k -> * j k"}, 4, None, id="right"),
        pytest.param({"A": "i j -> * i j", "B": "j k -> * j k"}, 1, None, id="copies: nothing moves, and that is all"),
        pytest.param({"A": "i j -> i j*", "B": "j k -> j* k"}, 1, "contracted", id="smaller, and bytes move"),
        pytest.param({"A": "i j -> i8 j", "B": "... -> * ..."}, 0, None, id="fits one number of devices"),
        pytest.param({"A": "i j -> i* j"}, 0, None, id="incomplete"),
        pytest.param({"A": 1, "B": None}, 0, None, id="no texts"),
        pytest.param("i j -> i* j", 0, None, id="no dict"),
        pytest.param({"A": "... -> * ...", "B": "j k -> j k* 2"}, 1, None, id="two meshes, and JAX names the output on one"),
    ],
)
def test_layout(layout: object, points: float, miss: str | None) -> None:
    """A layout is judged by what our function compiles to under it."""
    verdict = verdict_on(LAYOUT, layout=layout)
    assert verdict.points == points, text(verdict, LAYOUT)
    assert miss is None or {finding.misconception for finding in verdict.findings} == {miss}


@pytest.mark.parametrize("asked, name", [(ONE, "said"), (TABLE, "rules"), (LAYOUT, "layout")])
def test_open_answers_are_unattempted(asked: Question, name: str) -> None:
    """`...`, and a dict of nothing else, are no attempts."""
    assert verdict_on(asked, **{name: ...}).status == "unattempted"
    assert verdict_on(LAYOUT, layout={"A": ..., "B": ...}).status == "unattempted"
