"""Guards: what they are asked, how they are judged, and that what is said of the programs is so."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlab as sl
from shardlab.answers.record import record
from shardlab.errors import ShardlabError
from shardlab_authoring import guards
from shardlab_course.chapters import QUESTIONS
from shardlab_judge.items.guard import GuardItem
from shardlab_judge.judging import judge
from shardlab_judge.references import References
from shardlab_judge.verdict import Verdict

ITEMS = {q.id: item for q in QUESTIONS.values() for item in q.items if isinstance(item, GuardItem)}
MEASURED = pytest.mark.skipif(jax.__version__ != "0.10.2", reason="what is kept are the facts of JAX 0.10.2")
SEED = 7


def guarded(id: str) -> Any:
    """The programs, as they are written."""
    return guards.declared(ITEMS[id])


def verdict_on(id: str, guard: Any, seed: int | None = SEED) -> Verdict:
    """What a guard earns."""
    question = QUESTIONS[id]
    return judge(question, record(question.manifest(seed), {ITEMS[id].name: guard}, {}), References({}, {}), seed)


@MEASURED
@pytest.mark.thorough
@pytest.mark.stored
@pytest.mark.parametrize("id", ITEMS)
def test_what_is_kept_is_measured_again(id: str) -> None:
    """On XLA for CPU each program has these facts, up to rounding, and each label follows from the rule."""
    found = [*guards.measured(guarded(id), targets=False)]
    kept = [dataclasses.asdict(one) for one in ITEMS[id].programs if one.facts["made_with"]["target"] is None]
    assert guards.renewed(kept, found) == kept, f"run `python -m shardlab_authoring.guards {id.split('.')[0]}`"


ERRORS = {
    "the same": (0.0, 0.0, True),
    "rounding of float32": (6.8e-08, 1.1e-07, True),
    "none, and rounding of float32": (0.0, 7.5e-07, True),
    "wrong values, and rounding": (0.6603058, 0.6603061, True),
    "values eight times too large, and rounding": (6.9999988, 7.0000006, True),
    "rounding of bfloat16": (0.0037, 0.0022, True),
    "float32 and bfloat16": (6.8e-08, 0.0022, False),
    "other wrong values": (0.66, 0.67, False),
    "wrong by little, and by the double": (0.01, 0.02, False),
    "what cannot be compared": (0.66, 1e9, False),
}


@pytest.mark.parametrize(("first", "second", "same"), ERRORS.values(), ids=ERRORS)
def test_errors_are_compared_up_to_rounding(first: float, second: float, same: bool) -> None:
    """Another processor rounds otherwise; all else is the same on each."""
    one, other = ({"name": "a", "facts": {"error": error, "price": 8}} for error in (first, second))
    assert guards.alike(one, other) == guards.alike(other, one) == same
    other["facts"]["price"] = 9
    assert not guards.alike(one, other)


def test_a_file_written_on_another_processor_is_the_same() -> None:
    """What is alike stays as it is kept; what is not, and what is new, is what was found."""
    kept = [{"name": name, "facts": {"error": 1e-07, "price": 8}} for name in "ab"]
    found = [{"name": name, "facts": {"error": 2e-07, "price": price}} for name, price in (("b", 8), ("a", 9), ("c", 8))]
    assert guards.renewed(kept, found) == [kept[1], *found[1:]]


@MEASURED
@pytest.mark.stored
@pytest.mark.parametrize("id", ITEMS)
def test_chips_are_asked_about(id: str) -> None:
    """Right and wrong programs, as XLA for v5e compiles them; and a few of them are compiled again."""
    kept = {one.name: one for one in ITEMS[id].programs if one.facts["made_with"]["target"] == "v5e:2x4"}
    assert {one.good for one in kept.values()} == {True, False} and len(kept) >= 12
    asked = guarded(id)
    chips = tuple(situation for situation in asked.situations if situation.target)
    few = dataclasses.replace(asked, programs=asked.programs[:1] + asked.programs[-1:], situations=chips)
    for found, program in zip(guards.measured(few), few.programs, strict=True):
        assert guards.alike({"facts": found["facts"]}, {"facts": kept[program.name].facts})


@pytest.mark.parametrize("id", ITEMS)
def test_both_sorts_are_asked_about_everywhere(id: str) -> None:
    """In public and hidden, several of each; one name is one sort."""
    item = ITEMS[id]
    for some in (item.asked(id, None), [one for one in item.programs if not one.public]):
        assert min(sum(one.good for one in some), sum(not one.good for one in some)) >= 2
    assert len({(one.name, one.good) for one in item.programs}) == len({one.name for one in item.programs})


LIMITS = {
    # exercise: of right programs the largest error, of wrong ones that only values tell the smallest; the limit between
    ("4.7", "error"): (4.1e-07, 2.16e-03, 1e-5),
    ("9.8", "error"): (5.25e-03, 1.07e-01, 3e-2),
    ("10.9", "error"): (2.02e-07, 2.60e-03, 1e-4),
    # the same of prices, in units of what is owed
    ("4.7", "price"): (1.0, 1.25, 1.0),
    ("9.8", "price"): (1.0, 1.25, 1.0),
    ("10.9", "price"): (1.0, 1.22, 1.0),
}
OWED = {
    "4.7": lambda facts: 8 * math.prod(facts["outputs"][0]["shape"]),
    "9.8": lambda facts: (
        (4 if facts["inputs"][0]["dtype"] == "bfloat16" else 8)
        * facts["inputs"][1]["shape"][0]
        * math.prod(facts["inputs"][0]["shape"])
    ),
    "10.9": lambda facts: 8 * sum(math.prod(w["shape"]) for w in facts["inputs"][:2]),
}


@pytest.mark.parametrize(("id", "what"), LIMITS)
def test_limits_lie_between_right_and_wrong(id: str, what: str) -> None:
    """Of the programs that only this limit tells apart: the right one farthest off, and the nearest wrong one.

    Wrong errors are at least three times the limit, and right ones at most half of it.
    """
    right, wrong, limit = LIMITS[id, what]
    figures: dict[bool, list[float]] = {True: [], False: []}
    for one in ITEMS[id].programs:
        facts = one.facts
        owed = {"error": facts["error"], "price": (facts["price"] or 0) / OWED[id](facts)}
        whole = all(out["shard"] == out["shape"] for out in facts["outputs"])
        if one.good or (whole and owed.pop(what) > limit and facts["price"] is not None and _else_fair(id, owed)):
            figures[one.good].append(facts["error"] if what == "error" else facts["price"] / OWED[id](facts))
    # Rounding depends on the processor that measured what is kept.
    assert max(figures[True]) == pytest.approx(right, rel=0.5 if what == "error" else 0)
    assert min(figures[False]) == pytest.approx(wrong, rel=0.5 if what == "error" else 0.01)
    assert max(figures[True]) <= limit * (0.5 if what == "error" else 1) and min(figures[False]) >= 1.2 * limit


def _else_fair(id: str, owed: dict[str, float]) -> bool:
    return all(value <= LIMITS[id, name][2] for name, value in owed.items())


def test_a_comparison_with_none_stops_a_program() -> None:
    """Of a wrong program whose price nobody knows an exception is a refusal; of another one it is an answer that fails."""
    fair = guarded("4.7").fair

    def plain(facts: Any) -> bool:
        (out,) = facts["outputs"]
        cheap = facts["price"] <= OWED["4.7"](facts)
        return bool(cheap and facts["error"] < 1e-5 and out["shard"] == out["shape"])

    unknown = next(one.facts for one in ITEMS["4.7"].programs if one.facts["price"] is None)
    with pytest.raises(TypeError):
        plain(unknown)
    assert verdict_on("4.7", plain).points == verdict_on("4.7", fair).points == QUESTIONS["4.7"].points


def test_nothing_of_the_labels_leaves() -> None:
    """The manifest holds facts, in an order that follows from the seed, and neither names nor labels."""
    item = ITEMS["4.7"]
    manifest = json.dumps(item.manifest("4.7", SEED))
    assert not any(word in manifest for word in ('"good"', '"why"', *(one.name for one in item.programs if "-" in one.name)))
    orders = [[one.name for one in item.asked("4.7", seed)] for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2] and sorted(orders[0]) == sorted(orders[2])
    assert len(item.asked("4.7", None)) < len(orders[0])


@pytest.mark.parametrize("id", ITEMS)
def test_points(id: str) -> None:
    """All for the rules; none for a guard that always says the same; less for each program that is taken for another."""
    fair = guarded(id).fair
    assert (verdict_on(id, fair).status, verdict_on(id, fair).points) == ("passed", QUESTIONS[id].points)
    assert verdict_on(id, fair, None).status == "passed"
    assert verdict_on(id, lambda facts: True).points == verdict_on(id, lambda facts: False).points == 0
    asked, points = ITEMS[id].asked(id, SEED), ITEMS[id].points
    missed = next(one for one in asked if not one.good and not one.public)
    found = verdict_on(id, lambda facts: fair(facts) or facts == missed.facts)
    lost = sum(points[letter] / sum(letter in one.breaks for one in asked) for letter in missed.breaks)
    assert found.points == pytest.approx(QUESTIONS[id].points - lost, abs=0.005)
    assert {finding.letter for finding in found.findings} == {*missed.breaks}
    assert all("lets through 1 of" in finding.what and missed.why in finding.where for finding in found.findings)
    alone = [one for one in asked if one.good and [one.facts for one in asked].count(one.facts) == 1]
    refused = next(one for one in alone if not one.public)
    found = verdict_on(id, lambda facts: fair(facts) and facts != refused.facts)
    assert found.points == pytest.approx(QUESTIONS[id].points * (1 - 1 / sum(one.good for one in asked)), abs=0.02)
    assert {finding.letter for finding in found.findings} == {*points}
    assert "refuses 1 of" in found.findings[0].what and refused.why in found.findings[0].where


@pytest.mark.parametrize("seed", [None, SEED])
@pytest.mark.parametrize("id", ITEMS)
def test_an_exact_fit(id: str, seed: int | None) -> None:
    """Who refuses what moves exactly as much as is allowed, or what moves less, loses half of that rule and nothing else."""
    item = ITEMS[id]
    for tie, words in ((True, "exactly what is allowed"), (False, "less than is allowed")):
        right = [one.facts for one in item.programs if one.good and one.tie is not tie]
        found = verdict_on(id, right.__contains__, seed)
        assert {part.letter: part.points for part in found.parts} == {**item.points, "H": item.points["H"] / 2}
        (finding,) = found.findings
        assert words in finding.what and finding.letter == "H"


def test_other_answers() -> None:
    """What is no True or False, what raises, and nothing yet."""
    (finding,) = verdict_on("4.7", lambda facts: facts["price"]).findings
    assert "where True or False is asked for" in finding.what
    (finding,) = verdict_on("4.7", lambda facts: facts["bites"] > 3).findings
    assert "raised an exception" in finding.what and "bites" in finding.got
    assert verdict_on("4.7", lambda facts: np.bool_(True)).points == 0
    assert verdict_on("4.7", lambda facts: ...).status == "unattempted"


def test_an_unfair_label_is_refused() -> None:
    """Nobody's programs are measured that are not what they are said to be."""
    asked = guarded("4.7")
    wrong = dataclasses.replace(asked.programs[0], good=False)
    with pytest.raises(ShardlabError, match="a program that should be wrong is not"):
        list(guards.measured(dataclasses.replace(asked, programs=(wrong,)), targets=False))


def test_facts(rng: np.random.Generator) -> None:
    """What goes in and out, on a mesh of two axes; how far values are off; and what is moved."""
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    a = rng.standard_normal((8, 12)).astype(np.float32)
    x = jax.device_put(a, jax.NamedSharding(mesh, jax.P("x", ("y",))))
    found = sl.facts(lambda x: (x.sum(1), jnp.float32(2) * x), x, right=(a.sum(1), 2 * a))
    assert json.loads(json.dumps(found)) == found
    assert found["mesh"] == {"x": 4, "y": 2} and found["inputs"] == [
        {"shape": [8, 12], "dtype": "float32", "spec": ["x", "y"]}
    ]
    assert [o["shape"] for o in found["outputs"]] == [[8], [8, 12]] and found["outputs"][1]["shard"] == [2, 6]
    assert found["error"] < 1e-6 and found["price"] == sl.inspect(lambda x: (x.sum(1), 2 * x), x).price > 0
    assert found["instructions"] > 3 and found["flops"] > 0 and found["made_with"]["target"] is None
    assert sl.facts(lambda x: x, x)["error"] is None
    assert sl.facts(lambda x: x + 1, x, right=a)["error"] == pytest.approx(1 / np.abs(a).max(), rel=1e-3)
    for wrong in (lambda x: x * jnp.nan, lambda x: x[:4], lambda x: (x, x)):
        assert sl.facts(wrong, x, right=a)["error"] == 1e9


def test_facts_of_plain_arrays() -> None:
    """On one device there is no mesh, and nothing is cut."""
    found = sl.facts(lambda x: 2 * x, jnp.arange(6.0).reshape(2, 3), right=2 * np.arange(6.0).reshape(2, 3))
    assert (found["mesh"], found["error"], found["price"]) == ({}, 0, 0)
    assert found["inputs"][0]["spec"] == [None, None] and found["outputs"][0]["shard"] == [2, 3]
