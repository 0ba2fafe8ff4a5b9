"""Checks where JAX's devices are TPU chips: the chips are described and not there, so nothing runs on them."""

from __future__ import annotations

import importlib.util
from typing import Any

import jax
import pytest

import shardlab as sl
from shardlab.answers.record import record
from shardlab_course.chapters import QUESTIONS
from shardlab_course.checking import elsewhere, predictions
from shardlab_judge.items.program import ProgramItem
from shardlens.compilers.topology import devices
from variants import REFERENCE, Sample, of

pytestmark = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")

SEED = 7
PROGRAMS = {q.id for q in QUESTIONS.values() if any(isinstance(item, ProgramItem) for item in q.items)}
REFERENCES = [of(question)[REFERENCE] for question in QUESTIONS if question in PROGRAMS]
# Of each chapter the first exercise that asks for a program: all of them take a minute.
FIRST = {s.question.split(".")[0]: s for s in reversed(REFERENCES)}.values()
CHECKED = {s.name: s for s in of("4.2").values() if s.misconception != "-"}


def variables(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What an answer of the corpus defines, run on the CPU and not checked."""
    with monkeypatch.context() as patch:
        patch.setenv("SHARDLAB_RECORD", "1")
        predictions.GIVEN.clear()
        return sample.variables()


def on_chips(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight chips of a TPU v5e stand in for JAX's devices."""
    chips = list(devices("v5e:2x4"))
    monkeypatch.setattr(jax, "devices", lambda: chips)
    monkeypatch.setattr(jax, "default_backend", lambda: "tpu")
    jax.clear_caches()


@pytest.mark.thorough
@pytest.mark.parametrize("sample", FIRST, ids=lambda s: s.question)
def test_an_answer_is_the_same_on_chips(sample: Sample, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is handed in from a TPU is, byte by byte, what is handed in from simulated devices."""
    asked = QUESTIONS[sample.question].manifest(SEED)
    given = variables(sample, monkeypatch)
    with jax.numpy_rank_promotion("allow"):
        recorded = []
        for moved in (lambda: None, lambda: on_chips(monkeypatch)):
            moved()
            recorded.append(record(asked, given, {}))  # on one line, which is told of what no line of the answer wrote
        assert recorded[0] == recorded[1]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("sample", CHECKED.values(), ids=CHECKED)
def test_a_check_on_chips_says_the_same(sample: Sample, monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    """The judge's child compiles for eight simulated devices: the same pass, and the same diagnosis of each wrong answer."""
    given = variables(sample, monkeypatch)
    monkeypatch.setenv("SHARDLAB_PROGRESS", str(tmp_path / "progress.json"))
    on_chips(monkeypatch)
    feedback = sl.check("4.2", **{name: given[name] for name in QUESTIONS["4.2"].variables if name in given})
    assert feedback.passed == (sample.misconception is None)
    named = {finding.misconception for finding in feedback.verdict.findings}
    assert sample.misconception is None or sample.misconception in named


def test_a_judge_that_was_ended_is_started_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message that says what to do; then the next check has a judge."""
    answer = {"items": {item["name"]: {"todo": True} for item in QUESTIONS["4.2"].manifest()["items"]}}
    assert elsewhere.judge_elsewhere("4.2", answer).status == "unattempted"
    child, _ = elsewhere._child()
    child.kill()
    child.wait()
    with pytest.raises(sl.ShardlabError, match="judge-ended"):
        elsewhere.judge_elsewhere("4.2", answer)
    assert elsewhere.judge_elsewhere("4.2", answer).status == "unattempted"
