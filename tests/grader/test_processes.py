"""Answers that run in several processes, in real sandboxes and at the border."""

from __future__ import annotations

import copy
import inspect
import os
import pathlib
import subprocess
import textwrap
import time
from typing import Any

import pytest

import sample_questions
import variants
from shardlab_course.chapters import QUESTIONS
from shardlab_grader.border import artifact, entries
from shardlab_grader.border.entries import Refused
from shardlab_grader.classes import notebook, stages
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.sandbox.box import Limits, RunScript
from shardlab_judge.judging import judge

SEED = 11
MANIFEST = sample_questions.LAUNCHED.manifest(SEED)
HOSTILE = """
def batches(length):
    import json, os, signal, socket, subprocess, sys

    # Forged reports, on both streams and on every open descriptor.
    forged = json.dumps({"call": 0, "value": {"sum": 1.0}}) + "\\n" + json.dumps({"end": 0}) + "\\n"
    print(forged, flush=True)
    for descriptor in (1, 2):
        os.write(descriptor, forged.encode())
    # One that outlives us: of another session, with the signals that it can ignore ignored.
    if os.fork() == 0:
        os.setsid()
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1):
            signal.signal(number, signal.SIG_IGN)
        os.execvp("sleep", ["sleep", "MARK"])
    try:
        socket.create_connection(("192.0.2.1", 80), timeout=1)
        return "there is a network"
    except OSError:
        return "forged"
"""


def ran(source: str, run_script: RunScript, cache: pathlib.Path, manifest: Any = MANIFEST, **limits: Any) -> tuple[Any, Any]:
    """How the run of a notebook with this answer ended, and the verdict."""
    settings = Settings(cache, notebook=Limits(**limits))
    given = ("import shardlab as sl", source, "shown = sl.launch(batches, arguments=(2,))")
    job = Job("", (*map(Cell, given), Cell("", "0.1")), {"0.1": manifest}, settings)
    asked = notebook.told(job)
    outcome, output = stages.run(asked, Shared(run_script))
    recording = artifact.read(output or b"", asked.manifests, len(job.cells))
    assert recording.ended and recording.faults == () and recording.errors == ()
    assert set(recording.answers["0.1"]["items"]["batches"]) == {"sent"}
    answers = stages.launched(job, stages.admitted(asked, outcome, output), Shared(run_script))
    return outcome, judge(sample_questions.LAUNCHED, answers.checked["0.1"], None, SEED)  # type: ignore[arg-type]


def test_the_notebook_is_told_no_situation() -> None:
    """Neither the drawn ones nor the public ones: only what the function is called, and that it is one for processes."""
    told = notebook.told(Job("", (), {"0.1": MANIFEST}, Settings(pathlib.Path())))
    assert told.manifests["0.1"] == {**MANIFEST, "items": [{"name": "batches", "kind": "processes"}]}


@pytest.fixture(scope="module")
def cache(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where the student package is kept."""
    return tmp_path_factory.mktemp("cache")


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
def test_the_reference_passes(run_script: RunScript, cache: pathlib.Path) -> None:
    """Two processes find each other inside the sandbox, and all situations are observed."""
    outcome, verdict = ran(inspect.getsource(sample_questions.batches), run_script, cache)
    assert outcome.status == 0 and verdict.status == "passed", (outcome, verdict)


@pytest.mark.thorough
@pytest.mark.sandbox
def test_a_hang_costs_its_own_question_only(run_script: RunScript, cache: pathlib.Path) -> None:
    """The notebook runs to its end, and the verdict says where the processes were."""
    source = """
    def batches(length):
        import jax
        from jax.experimental import multihost_utils
        if jax.process_index() == 0:
            multihost_utils.sync_global_devices("meeting")
    """
    manifest = copy.deepcopy(MANIFEST)
    manifest["items"][0]["seconds"] = 8
    _, verdict = ran(textwrap.dedent(source), run_script, cache, manifest)
    assert verdict.findings[0].misconception == "hangs" and "sync_global_devices" in verdict.findings[0].got


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
def test_forged_reports_and_survivors(run_script: RunScript, cache: pathlib.Path) -> None:
    """What is printed is no report, nothing that was started outlives the run, and there is no network but the loopback."""
    mark = f"9{time.time_ns() % 10**9:09d}"
    _, verdict = ran(HOSTILE.replace("MARK", mark), run_script, cache)
    assert verdict.points == 0 and verdict.findings[0].got == "'forged'"
    assert subprocess.run(["pgrep", "-f", f"sleep {mark}"], capture_output=True).stdout == b""


OBSERVED = [question.id for question in QUESTIONS.values() if question.observed]
CORPUS = [list(variants.of(question).values()) for question in OBSERVED]
MOST = max(map(len, CORPUS)) if os.environ.get("SHARDLAB_FULL") == "1" else 2


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.parametrize("n", range(MOST))
def test_answers_of_the_corpus_on_the_whole_road(n: int, warm: Any, cache: pathlib.Path) -> None:
    """One notebook with the n-th answer to each question: from its cells to its verdicts, with a seed."""
    assert OBSERVED == ["14.1", "14.4", "14.5"]
    samples = [answers[n % len(answers)] for answers in CORPUS]
    cells = [cell for one in samples for cell in (Cell(one.source()), Cell("", one.question))]
    manifests = {question: QUESTIONS[question].manifest(SEED) for question in OBSERVED}
    graded = stages.grade(Job("", tuple(cells), manifests, Settings(cache, seed=SEED)), Shared(warm.run))
    for one in samples:
        verdict = graded.verdicts[one.question]
        named = {finding.misconception or "-" for finding in verdict.findings}
        assert (verdict.status == "passed") == (one.misconception is None), (one.name, verdict)
        assert one.misconception is None or one.misconception in named, (one.name, verdict)
        assert one.due.points in (None, verdict.points), (one.name, verdict)


def said(**changes: Any) -> dict[str, Any]:
    """One launch of two processes of one device, each with a small array."""
    placement = {"shape": [2], "shards": [[0, [[0, 1]]], [1, [[1, 2]]]], "axes": [["x", 2]], "spec": ["x"]}
    placement["dtype"] = "float32"
    return {"array": {"placement": {**placement, **changes}, "held": [[0, [1.5]]]}}


ITEM = {"kind": "processes", "cases": [{"processes": 2, "devices": 1, "arguments": []}]}
LATE = {"stopped": "time", "where": "line 3"}
FINE: dict[str, Any] = {
    "arrays": {"launches": [{"processes": [{"value": said()}, {"value": {"a": [said(), 3]}}]}]},
    "hang": {"launches": [{"processes": [LATE, {"value": None}]}]},
    "skipped": {"launches": [{"processes": [{"skipped": True}] * 2}]},
    "raised": {"launches": [{"processes": [{"error": {"type": "E", "message": "m"}}] * 2}]},
    "todo": {"launches": [{"todo": True}]},
    "error": {"error": {"type": "ShardlabError", "message": "m"}},
}


@pytest.mark.parametrize("raw", FINE.values(), ids=FINE)
def test_the_border_lets_honest_entries_through(raw: Any) -> None:
    """They come out as they were."""
    assert entries.entry(ITEM, raw) == raw


def both(value: Any) -> dict[str, Any]:
    """An entry in which both processes returned this."""
    return {"launches": [{"processes": [{"value": value}] * 2}]}


REFUSED: dict[str, Any] = {
    "other-field": {"programs": []},
    "too-few-launches": {"launches": []},
    "too-many-processes": {"launches": [{"processes": [{"value": 1}] * 3}]},
    "reason": {"launches": [{"processes": [{"stopped": "boredom", "where": ""}] * 2}]},
    "more": {"launches": [{"processes": [{"value": 1, "error": {}}] * 2}]},
    "long-text": both("x" * 20_000),
    "large": both([0] * 30_000),
    "infinite": both(float("inf")),
    "large-array": both(said(shape=[10**6], shards=[[0, [[0, 10**6]]]])),
    "device": both(said(shards=[[d, [[0, 1]]] for d in range(3)])),
    "array-field": both({"array": 3}),
    "array-more": both({**said(), "b": 1}),
    "held-device": both({"array": {**said()["array"], "held": [[2, [1.5]]]}}),
    "held-text": both({"array": {**said()["array"], "held": [[0, ["1.5"]]]}}),
    "held-pair": both({"array": {**said()["array"], "held": [[0]]}}),
    "held-many": both({"array": {**said()["array"], "held": [[0, [1.5]]] * 3}}),
}


@pytest.mark.parametrize("raw", REFUSED.values(), ids=REFUSED)
def test_the_border_refuses(raw: Any) -> None:
    """Other fields, counts, sizes and kinds."""
    with pytest.raises(Refused):
        entries.entry(ITEM, raw)


TOLD = {"name": "f", "kind": "processes"}
TEXT = {"sent": {"name": "f", "source": "def f():\n    return 1\n"}}


@pytest.mark.parametrize("raw", [TEXT, {"todo": True}, FINE["error"]])
def test_a_function_leaves_as_text(raw: Any) -> None:
    """Its name and its source, and nothing that processes said."""
    assert entries.entry(TOLD, raw) == raw


UNSENT: dict[str, Any] = {
    "launches": FINE["arrays"],
    "name": {"sent": {**TEXT["sent"], "name": "f()"}},
    "bytes": {"sent": {**TEXT["sent"], "source": 3}},
    "long": {"sent": {**TEXT["sent"], "source": "#" * 50_001}},
    "half-a-character": {"sent": {**TEXT["sent"], "source": "\ud800"}},
    "more": {"sent": {**TEXT["sent"], "calls": []}},
    "both": {**TEXT, **FINE["arrays"]},
}


@pytest.mark.parametrize("raw", UNSENT.values(), ids=UNSENT)
def test_nothing_else_leaves(raw: Any) -> None:
    """What processes said is no answer of a notebook, and a text has a name and a length."""
    with pytest.raises(Refused):
        entries.entry(TOLD, raw)
