"""What may be answered at all, in one spelling for all chapters; and that nothing else makes the judge raise."""

from __future__ import annotations

import random
from typing import Any

import pytest

from shardlab.as_json import as_json
from shardlab_course.chapters import QUESTIONS
from shardlab_judge import responses
from shardlab_judge.domain import Reading, domain_of
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import KINDS as KIND_OF
from shardlab_judge.question import Item, Setting

KINDS = ("all-gather", "all-reduce")
VALUES = [(q, item) for q in QUESTIONS.values() for item in q.items if isinstance(item, ValueItem)]
MANY = {"value": 60, "expression": 30, "rules": 5, "calls": 3}
"""How often each kind is given anything; formulas have slow oracles."""
WORD, NUMBER, SET = domain_of(["all-gather"], KINDS), domain_of([3]), domain_of([frozenset({"all-gather"})], members=KINDS)
MIXED = domain_of([{"a": [1, 2], "b": "ValueError", "n": 3}], pattern=(r"\w+Error", "ValueError"))
FATE = domain_of(["hangs"], ("fine", "error", "hangs"))
SHAPED = domain_of([[2, 4]], length=2)


@pytest.mark.parametrize(
    "domain, said, read",
    [
        *(pytest.param(WORD, said, "all-gather", id=said)
          for said in ("all-gather", "all_gather", "ALL_GATHER", " All Gather. ", "'all-gather'", "AllGather", "allgather")),
        *(pytest.param(FATE, said, "hangs", id=said) for said in ("hangs", "hang", "Hanging", "hanged")),
        pytest.param(FATE, "errors", "error", id="errors"),
        pytest.param(WORD, "all-gathers", "all-gather", id="all-gathers"),
        pytest.param(NUMBER, 0.5, 0.5, id="number"),
        pytest.param(SET, ["all_gather", "ALL-REDUCE"], ["all-gather", "all-reduce"], id="list"),
        pytest.param(SET, "all_gather", ["all-gather"], id="word for a list"),
        pytest.param(SET, "none", [], id="none for an empty list"),
        pytest.param(MIXED, {"a": "TypeError", "b": [3], "n": 4}, {"a": "TypeError", "b": [3], "n": 4}, id="either"),
        pytest.param(SHAPED, [1, 2.5], [1, 2.5], id="length"),
        pytest.param(domain_of([True]), False, False, id="truth"),
        pytest.param(domain_of(["x"]), "whatever", "whatever", id="any text"),
        pytest.param(WORD, None, None, id="open"),
    ],
)  # fmt: skip
def test_what_can_be_an_answer(domain: Any, said: Any, read: Any) -> None:
    """It is read in the key's spelling."""
    assert domain.reading(said) == Reading(read, (), ())


@pytest.mark.parametrize(
    "domain, said, fault",
    [
        pytest.param(FATE, "hung", "'hung' is not one of fine, error, hangs", id="no ending"),
        pytest.param(WORD, "gather", "'gather' is not one of all-gather, all-reduce", id="another word"),
        pytest.param(domain_of(["8"], ("8", "error")), 8, '8 is not one of 8, error: write it as a string, "8"', id="8"),
        pytest.param(NUMBER, "1/8", "'1/8' is not a number: write it without quotation marks", id="text for number"),
        pytest.param(NUMBER, True, "True is not a number", id="truth for number"),
        pytest.param(NUMBER, float("inf"), "inf is not a number", id="infinite"),
        pytest.param(NUMBER, 10**5000, "a number of thousands of digits is not a number", id="huge"),
        pytest.param(domain_of([True]), 1, "1 is not True or False", id="number for truth"),
        pytest.param(SET, ["gather"], "'gather' is not one of all-gather, all-reduce", id="member"),
        pytest.param(SHAPED, [1], "[1] is not a list of 2 numbers", id="too short"),
        pytest.param(MIXED, [1], "[1] is not a dict with the keys a, b, n", id="no dict"),
        pytest.param(MIXED, {"a": "no", "b": "no", "n": 1, "c": 1},
                     "a, b: 'no' is not a string such as ValueError, or a list of numbers; "
                     "there is no entry 'c'; the entries are a, b, n", id="misspelt key"),
    ],
)  # fmt: skip
def test_what_cannot_be_an_answer(domain: Any, said: Any, fault: str) -> None:
    """It is told in a sentence, all faults at once."""
    assert "; ".join(domain.reading(said).faults) == fault


@pytest.mark.parametrize("asked, item", VALUES, ids=lambda it: getattr(it, "id", None) or it.name)
def test_every_key_lies_in_its_domain(asked: Any, item: ValueItem) -> None:
    """Keys are spelt as their words are, and no question takes just any text."""
    right = as_json(item.key)
    assert item.read(right).value == right and not item.read(right).faults
    assert " a string" not in f" {item.domain.form.replace('a string such', '')}"


@pytest.mark.parametrize("asked, item", VALUES, ids=lambda it: getattr(it, "id", None) or it.name)
def test_every_spelling_is_the_same_answer(asked: Any, item: ValueItem) -> None:
    """Capitals, hyphens and underscores say nothing, in any chapter."""
    setting = Setting(asked.id, None, None)  # type: ignore[arg-type]
    if item.spelling is None and not item.pattern[0]:
        for change in (str.upper, str.lower, lambda text: text.replace("-", "_"), lambda text: text.replace("-", " ")):
            shares, findings = item.judge({"value": respelt(as_json(item.key), change)}, setting)
            assert shares == {item.first: 1.0} and not findings


def respelt(value: Any, change: Any) -> Any:
    """The value with all texts but the keys changed."""
    match value:
        case str():
            return change(value)
        case list():
            return [respelt(part, change) for part in value]
        case dict():
            return {key: respelt(part, change) for key, part in value.items()}
    return value


@pytest.mark.parametrize(
    "asked, item", [p for p in VALUES if p[1].predicted], ids=lambda it: getattr(it, "id", None) or it.name
)
def test_a_prediction_earns_by_being_made(asked: Any, item: ValueItem) -> None:
    """Whatever lies in the domain has all points, and a finding if it was wrong."""
    setting, rng = Setting(asked.id, None, None), random.Random(asked.id)  # type: ignore[arg-type]
    for _ in range(50):
        said = nearby(rng, as_json(item.key), item)
        shares, findings = item.judge({"value": said}, setting)
        if not item.read(said).faults and not item.read(said).open:
            assert shares == {item.first: 1.0}
            right = set(said) == item.key if isinstance(item.key, frozenset) else said == as_json(item.key)
            assert bool(findings) != right or item.read(said).value != said


def nearby(rng: random.Random, value: Any, item: ValueItem) -> Any:
    """A value of the key's kind, with other words and numbers."""
    match value:
        case bool():
            return rng.random() < 0.5
        case int() | float():
            return value if rng.random() < 0.5 else rng.randint(0, 9999)
        case str():
            return rng.choice((value, *item.words))
        case list():
            return [nearby(rng, part, item) if not isinstance(part, str) else rng.choice(item.members) for part in value]
        case dict():
            return {key: nearby(rng, part, item) for key, part in value.items()}
    return value


def anything(rng: random.Random, item: Item, depth: int = 0) -> Any:
    """JSON of any kind, some of it with the item's own words, keys and numbers."""
    words = [
        *getattr(item, "words", ()),
        *getattr(item, "members", ()),
        item.name,
        "",
        "none",
        "\ud7ff",
        "x" * 999,
        "r c -> r8 c",
    ]
    keys = list(item.key) if isinstance(getattr(item, "key", None), dict) else ["a", "shards", "shape"]
    leaves = [None, True, 0, -1, 8, 2**126, 0.5, 1e308, rng.choice(words)]
    match rng.randint(0, 3 if depth < 3 else 1):
        case 2:
            return [anything(rng, item, depth + 1) for _ in range(rng.randint(0, 4))]
        case 3:
            return {rng.choice([*keys, "?"]): anything(rng, item, depth + 1) for _ in range(rng.randint(0, 6))}
    return rng.choice(leaves)


@pytest.mark.parametrize("asked", QUESTIONS.values(), ids=lambda q: q.id)
def test_nothing_makes_the_judge_raise(asked: Any) -> None:
    """Whatever the border lets through ends in points from nothing to all, and in findings."""
    rng, setting = random.Random(asked.id), Setting(asked.id, 3, None)  # type: ignore[arg-type]
    for item in asked.items:
        for _ in range(MANY.get(item.kind, 0)):
            asks = item.manifest(asked.id, 3)
            raw = (
                {"calls": [{"value": anything(rng, item)} for _ in asks["calls"]]}
                if "calls" in asks
                else {"value": anything(rng, item)}
            )
            try:
                admitted = KIND_OF[asks["kind"]].admit(asks, raw)
            except responses.Refused:
                continue
            if item.is_open(admitted):
                continue
            shares, findings = item.judge(admitted, setting)
            assert all(0 <= share <= 1 for share in shares.values()) and set(shares) <= set(item.points)
            assert findings or shares == dict.fromkeys(item.points, 1.0)
            assert all(str(finding.to_json()) for finding in findings)
