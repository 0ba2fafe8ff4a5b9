"""What the judge of one submission is told of the programs of others, and what it may say about them."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from typing import Any

import pytest

from shardlab_grader.classes.judging import Findings, Judging, Shared
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.sandbox.box import Outcome, Sandbox
from shardlab_judge.verdict import Verdict

FINDINGS = [
    {"item": "f", "letter": "V", "what": "Wrong.", "expected": "", "got": "", "where": "", "cause": "", "hint": 1,
     "miss": None, "pictures": None}
]  # fmt: skip
PROGRAM = {"module": "AAAA", "outputs": ["[0]"]}
ANSWERS = {"1.1": {"items": {"f": {"programs": [PROGRAM, {"todo": True}]}, "a": {"value": 1}}}}
VERDICT = Verdict("1.1", "failed").to_json()


@pytest.fixture
def settings(tmp_path: pathlib.Path) -> Settings:
    """A judge that is never started."""
    return Settings(tmp_path, packages=tmp_path, seed=7, question_seconds=1.0)


def told(known: Findings, settings: Settings, *lines: dict[str, Any], answers: Any = ANSWERS) -> Any:
    """What a judge that says these lines was told of earlier programs."""
    jobs: list[Any] = []

    def run_script(script: str, sandbox: Sandbox, box: pathlib.Path, job: bytes) -> Outcome:
        jobs.append(json.loads(job))
        said = [{"question": "1.1"}, *lines, {"verdict": VERDICT}]
        (box / "output").write_text("\n".join(map(json.dumps, said)))
        return Outcome(0, "", "", "", 0.0, sandbox.limits)

    judge = Judging(answers, {}, settings, Shared(run_script, known))
    judge.run()
    assert judge.verdicts["1.1"].status == "failed"
    return jobs[0]["known"]["1.1"]


def test_equal_programs_are_known(settings: Settings) -> None:
    """What a judge found in a program is told to the next one that gets the same."""
    known = Findings()
    assert told(known, settings, {"item": "f", "case": 0, "findings": FINDINGS}) == {"f": [None, None]}
    assert told(known, settings) == {"f": [FINDINGS, None]}


def test_other_programs_are_not_known(settings: Settings) -> None:
    """Another program, case, seed or reference file is measured anew."""
    known = Findings()
    told(known, settings, {"item": "f", "case": 0, "findings": []})
    other = {"1.1": {"items": {"f": {"programs": [{**PROGRAM, "module": "BBBB"}, PROGRAM]}}}}
    assert told(known, settings, answers=other) == {"f": [None, None]}
    for change in ({"seed": 8}, {"references": settings.site / "other.json"}):
        assert told(known, dataclasses.replace(settings, **change)) == {"f": [None, None]}


LIES: dict[str, dict[str, Any]] = {
    "other-item": {"item": "g", "case": 0, "findings": []},
    "value": {"item": "a", "case": 0, "findings": []},
    "other-case": {"item": "f", "case": 2, "findings": []},
    "no-findings": {"item": "f", "case": 0, "findings": [{"points": 100}]},
}


@pytest.mark.parametrize("line", LIES.values(), ids=LIES)
def test_judge_speaks_of_its_own_programs_only(settings: Settings, line: dict[str, Any]) -> None:
    """A line about a program that was not given to it, or without findings, is left out."""
    known = Findings()
    told(known, settings, line)
    assert known._findings == {}
