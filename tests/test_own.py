"""Functions that students are to write are called without the laboratory's own."""

from __future__ import annotations

import sys
from typing import Any

import pytest

from shardlab.answers.record import record
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking.local import judge_here
from shardlens.costs import alphabeta
from shardlens.placement import place

ASKED = {"id": "0", "variable": None, "items": [{"name": "f", "kind": "calls", "calls": [[8]], "alone": True}]}


def entry(f: Any, **changed: Any) -> Any:
    """What is recorded of one call."""
    return record({**ASKED, "items": [{**ASKED["items"][0], **changed}]}, {"f": f}, {})["items"]["f"]["calls"][0]


def caught(n: int) -> int:
    """Asks a second time where the laboratory refuses."""
    try:
        return len(place((n,), (("x", n),), ("x",)).shards)
    except RuntimeError:
        return len(place((n,), (("x", n),), ("x",)).shards)


@pytest.mark.parametrize(
    "f",
    [lambda n: alphabeta.all_gather(n, n, 1.0), lambda n: place((n,), (("x", n),), ("x",)).copies],
    ids=["model", "place"],
)
def test_the_laboratory_refuses(f: Any) -> None:
    """By which of its functions is told; outside of such a call they answer as ever."""
    error = entry(f)["error"]
    assert error["type"] == "LaboratoryCalled" and "this function has to do the work itself" in error["message"]
    assert "value" in entry(f, alone=False) and f(8) > 0


def test_a_refusal_stays_one() -> None:
    """Also where it is caught and asked for again; a profiler's hook is there again afterwards."""
    before = sys.getprofile()
    assert entry(caught)["error"]["type"] == "LaboratoryCalled" and entry(lambda n: n + 1) == {"value": 9}
    assert sys.getprofile() is before


def test_the_cause_is_told() -> None:
    """It is a finding of the judge as any other."""
    answer = record(QUESTIONS["2.2"].manifest(), {"time_all_gather": alphabeta.all_gather}, {})
    (finding,) = judge_here("2.2", answer).findings
    assert finding.misconception == "laboratory-called" and finding.cause.startswith("Shardlab already has this function")
