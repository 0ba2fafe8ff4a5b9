"""A verdict that only gets other points is the one that the judge would give; where it cannot be, none is made."""

from __future__ import annotations

import itertools

import pytest

from shardlab_grader.classes import restating
from shardlab_judge.items.value import ValueItem
from shardlab_judge.judging import judge
from shardlab_judge.question import Question
from shardlab_judge.references import References

from .conftest import DOUBLE, HINTS, KIND

SHARES = ValueItem("shares", {"C": 3}, key={"a": 1, "b": 2, "c": 3})
QUESTION = Question("90.1", "Parts", (SHARES, KIND, DOUBLE), 1, 2, HINTS, "Because.", variable="answer")
GIVEN = {
    "right": {"shares": {"value": {"a": 1, "b": 2, "c": 3}}, "kind": {"value": "all-reduce"}},
    "a part": {"shares": {"value": {"a": 1, "b": 2, "c": 4}}, "kind": {"value": "all-gather"}},
    "nothing right": {"shares": {"value": {"a": 0, "b": 0, "c": 0}}, "kind": {"todo": True}},
    "raised": {"shares": {"error": {"type": "ValueError", "message": "no", "line": ""}}, "kind": {"value": "all-gather"}},
    "open": {},
}
POINTS = (0.0, 0.01, 5.5, 7.0, 100.0)


@pytest.mark.parametrize("name", GIVEN)
def test_it_is_the_judges(name: str) -> None:
    """For each change of points; what was right or counts no longer is always found, a part of other points never."""
    of = {points: judge(QUESTION.worth(points), {"items": GIVEN[name]}, References({}, {})) for points in POINTS}
    assert len({verdict.status for verdict in of.values()}) == 1, of
    for before, now in itertools.permutations(POINTS, 2):
        found = restating._verdict(of[before], QUESTION.worth(now))
        assert found in (None, of[now]), (before, now)
        if before >= 5.5:  # less than that is lost in rounding
            assert (found is None) == (name == "a part" and now > 0), (before, now)
