"""Programs whose outputs are left unreduced, and texts that may be spelt in several ways."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

from sample_questions import P, question
from shardlab.answers.record import record
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.judging import judge
from shardlab_judge.references import References, build
from shardlab_judge.verdict import Verdict

SEED = 3


def product_case(**mesh: int) -> Case:
    inputs = (Input((8, 16), (None, "x")), Input((16, 12), ("x", None)))
    return Case(axes(**mesh), inputs, ((None, None),), explicit=True, terms=(("x",),))


OPEN = question(
    ProgramItem(
        "terms", {"V": 1, "S": 1, "H": 1}, oracle=lambda a, b: a @ b, cases=(product_case(x=4, y=2), product_case(x=8))
    ),
)
SPELT = question(
    ValueItem("kind", {"P": 1}, key={"a": "float32[8@x]"}, spelling=lambda text: text.replace(" ", "")),
)


def terms(mesh, a, b):
    return jnp.dot(a, b, out_sharding=P(None, None, unreduced={"x"}))


@pytest.fixture(scope="module")
def references() -> References:
    return build([OPEN], {OPEN.id: record(OPEN.manifest(SEED), {"terms": terms}, {})}, SEED)


def verdict_on(function, references: References) -> Verdict:
    return judge(OPEN, record(OPEN.manifest(SEED), {"terms": function}, {}), references, SEED)


def over_another_axis(mesh, a, b):
    return jax.reshard(jnp.dot(a, b, out_sharding=P()), P(None, None, unreduced={"y"} if "y" in mesh.shape else {"x"}))


def by_hand(mesh, a, b):
    def body(a, b):
        return jax.lax.pcast(a @ b, "x", to="unreduced")

    return jax.shard_map(body, out_specs=P(unreduced={"x"}))(a, b)


@pytest.mark.parametrize("function", [terms, by_hand])
def test_terms_pass(function, references: References) -> None:
    """Their sum is compared with the oracle, and their type with what was asked for."""
    assert verdict_on(function, references).points == 3


WRONG = {
    "added up": (lambda mesh, a, b: jnp.dot(a, b, out_sharding=P()), 1, "S", "already added up"),
    "twice the value": (lambda mesh, a, b: terms(mesh, a + a, b), 0, "V", "2 times"),
    "over another axis": (over_another_axis, 1, "S", "left unadded over other axes than asked"),
    "one term for all": (lambda mesh, a, b: jnp.dot(a, b, out_sharding=P()) + 0, 1, "S", "already added up"),
}


@pytest.mark.parametrize(("function", "points", "letter", "what"), WRONG.values(), ids=WRONG)
def test_what_is_wrong_is_named(function, points: float, letter: str, what: str, references: References) -> None:
    """An output that is already added up has the right values and the wrong type."""
    verdict = verdict_on(function, references)
    assert verdict.points == points
    assert verdict.findings[0].letter == letter and what in verdict.findings[0].what


def test_terms_that_nobody_asked_for_are_wrong_values() -> None:
    """Where the case wants a reduced output, a term is no value."""
    plain = Case(axes(x=4, y=2), product_case(x=4, y=2).inputs, ((),), explicit=True)
    asked = question(ProgramItem("product", {"V": 1, "S": 1}, oracle=lambda a, b: a @ b, cases=(plain,)))
    answer = record(asked.manifest(), {"product": terms}, {})
    verdict = judge(asked, answer, References({}, {}))
    assert verdict.points == 0
    assert [finding.letter for finding in verdict.findings] == ["V", "S"]
    assert verdict.findings[1].got == "P(None, None, unreduced={'x'})"


@pytest.mark.parametrize(("said", "points"), [("float32[8@x]", 1), ("float32[8 @ x]", 1), ("float32[8]", 0)])
def test_spelling(said: str, points: float) -> None:
    """Texts are brought into the key's spelling, also inside of a dict."""
    verdict = judge(SPELT, record(SPELT.manifest(), {"kind": {"a": said}}, {}), References({}, {}))
    assert verdict.points == points
