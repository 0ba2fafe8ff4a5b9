"""What a machine can do to a run is tried again once, alone; what stays in doubt is ours to look at, never a zero."""

from __future__ import annotations

import json
import pathlib
import shutil
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from shardlab.errors import ShardlabError
from shardlab_grader.border.artifact import Recording
from shardlab_grader.classes import again, jobs, judging, notebook, stages
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.classes.stages import Graded
from shardlab_grader.sandbox.box import Limits, Outcome, Sandbox
from shardlab_judge.verdict import Finding

QUESTIONS = ("1.1", "1.2")
ITEMS = {id: {"name": name, "kind": "value", "predicted": False} for id, name in zip(QUESTIONS, "ab")}
MANIFESTS: dict[str, Any] = {id: {"id": id, "variable": None, "items": [item]} for id, item in ITEMS.items()}
CELLS = (Cell("a = 1"), Cell("", "1.1"), Cell("b = 1"), Cell("", "1.2"))
KILLED, FAULT, COMPUTED = 128 + signal.SIGKILL, 128 + signal.SIGSEGV, 128 + signal.SIGXCPU
Try = dict[str, Any]
"""How one try ends: the cell that its notebook reaches, or the question at which its judge is, and the end."""


class Machine:
    """In place of a sandbox: the notebook's and the judge's runs end as each try says; without more to say, well."""

    def __init__(self, notebooks: list[Try], judges: list[Try]) -> None:
        self.notebooks, self.judges, self.walls = iter(notebooks), iter(judges), list[float]()

    def run(self, script: str, sandbox: Sandbox, box: pathlib.Path, job: bytes) -> Outcome:
        asked, judge = json.loads(job), script == judging.SCRIPT
        end = next(self.judges if judge else self.notebooks, {})
        lines = self._judged(asked, end) if judge else self._ran(asked, end)
        (box / "output").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
        if not judge:
            self.walls.append(sandbox.limits.wall)
        return Outcome(end.get("status", 0), end.get("stopped", ""), "started\n", "", 1.0, sandbox.limits)

    def _ran(self, asked: Any, end: Try) -> Iterator[dict[str, Any]]:
        lost = False
        for number, cell in enumerate(asked["cells"]):
            yield {"cell": number}
            if number == end.get("at"):
                return
            if number == end.get("late"):
                yield {"error": {"cell": number, "type": "CellTimeout", "message": "did not end within 60 s", "line": ""}}
                lost = True
            elif cell["source"].startswith("raise"):
                yield {"error": {"cell": number, "type": "RuntimeError", "message": cell["source"], "line": ""}}
                lost = True
            elif cell["question"] in asked["manifests"]:
                item = ITEMS[cell["question"]]["name"]
                yield {"question": cell["question"], "item": item, "entry": {"missing": True} if lost else {"value": 1}}
                lost = False
        yield {"end": True}

    def _judged(self, asked: Any, end: Try) -> Iterator[dict[str, Any]]:
        for question in [*asked["refused"], *asked["answers"]] if end.get("at") != "start" else ():
            yield {"question": question}
            if question == end.get("at"):
                return
            item = ITEMS[question]["name"]
            entry = asked["answers"].get(question, {"items": {item: {}}})["items"][item]
            points = 2.0 if entry == {"value": 1} else 0.0
            part = {"item": item, "letter": "V", "points": points, "of": 2.0}
            status = "passed" if points else "unattempted" if entry == {"missing": True} else "failed"
            said = [Finding(item, "V", json.dumps(entry)).to_json()] if status == "failed" else []
            yield {"verdict": {"question": question, "status": status, "parts": [part], "findings": said, "reason": ""}}


@pytest.fixture
def grade(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> Callable[..., Graded]:
    """Grades one notebook as a class does, on a machine whose tries end as is said."""
    monkeypatch.setattr(notebook, "student_sandbox", lambda settings: Sandbox(settings.mode, settings.notebook))
    monkeypatch.setattr(judging, "sandbox", lambda settings: Sandbox(settings.mode, settings.judge))

    def start(notebooks: list[Try], judges: list[Try], machine: list[Machine] | None = None) -> Graded:
        made = Machine(notebooks, judges)
        if machine is not None:
            machine.append(made)

        class Servers:
            run, close = staticmethod(made.run), staticmethod(lambda: None)

        job = Job("", CELLS, MANIFESTS, Settings(tmp_path))
        ((_, done),) = jobs.run_all([job], 1, Servers())  # type: ignore[arg-type]
        return done

    return start


def end(status: int, at: Any, stopped: str = "") -> Try:
    """A try that ends before its time."""
    return {"status": status, "at": at, "stopped": stopped}


SIGPROF, SIGALRM = 128 + signal.SIGPROF, 128 + signal.SIGALRM
SETTLED: dict[str, tuple[list[Try], list[Try], list[str], int]] = {
    "nothing happens": ([], [], ["passed", "passed"], 1),
    "killed once": ([end(KILLED, 2)], [], ["passed", "passed"], 3),
    "out of time once": ([end(KILLED, 0, "time")], [], ["passed", "passed"], 3),
    "an error of the system's once": ([end(1, 3)], [], ["passed", "passed"], 3),
    "a cell late once": ([{"late": 2}], [], ["passed", "passed"], 2),
    "a judge killed once": ([], [end(KILLED, "1.1")], ["passed", "passed"], 2),
    "a judge out of time once": ([], [end(SIGALRM, "1.2")], ["passed", "passed"], 2),
    "a judge that does not start once": ([], [end(1, "start")], ["passed", "passed"], 2),
    "another cell each time": ([end(KILLED, 0), {}, end(KILLED, 2)], [], ["passed", "passed"], 4),
    "a crash each time": ([end(FAULT, 2), {}, end(FAULT, 2)], [], ["passed", "failed"], 4),
    "asleep each time": ([{"late": 2}, {"late": 2}], [], ["passed", "failed"], 2),
    "two ways": ([{"late": 2}, end(KILLED, 2)], [], ["passed", "ungraded"], 3),
    "a judge killed each time": ([], [end(KILLED, "1.1"), {}, end(KILLED, "1.1")], ["failed", "passed"], 2),
    "a judge that never starts": ([], [end(1, "start"), end(1, "start")], ["ungraded", "ungraded"], 2),
    "too much computed": ([end(COMPUTED, 2)], [], ["passed", "failed"], 2),
    "too much printed": ([end(KILLED, 2, "output")], [], ["passed", "failed"], 2),
    "too much held": ([end(KILLED, 2, "memory")], [], ["passed", "failed"], 2),
    "a judge that computes too long": ([], [end(SIGPROF, "1.1")], ["failed", "passed"], 1),
}
"""How the tries end, what becomes of the questions, and how many notebooks ran."""


@pytest.mark.parametrize("name", SETTLED)
def test_what_is_in_doubt_is_tried_again(name: str, grade: Callable[..., Graded]) -> None:
    """Once, and only what can be somebody else's doing; what is a student's own twice stands."""
    notebooks, judges, statuses, runs = SETTLED[name]
    machine: list[Machine] = []
    graded = grade(notebooks, judges, machine)
    assert [verdict.status for verdict in graded.verdicts.values()] == statuses
    assert len(machine[0].walls) == runs
    assert all(verdict.reason for verdict in graded.verdicts.values() if verdict.status == "ungraded")


def test_the_second_try_waits_longer(grade: Callable[..., Graded]) -> None:
    """On a machine that is busy a right answer takes longer, and computes no more."""
    machine: list[Machine] = []
    grade([{"late": 2}], [], machine)
    assert machine[0].walls == [Limits().wall, again.PATIENCE * Limits().wall]


@pytest.mark.parametrize("tries", [([end(1, 1)], []), ([], [end(1, "1.2")])], ids=["notebook", "judge"])
def test_a_full_disk_is_nobodys_zero(
    tries: tuple[list[Try], list[Try]], grade: Callable[..., Graded], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nothing can be written the class stops, and nothing is kept of what was cut off."""
    usage = shutil.disk_usage(".")
    monkeypatch.setattr(shutil, "disk_usage", lambda place: usage._replace(free=1000))
    with pytest.raises(ShardlabError, match="disk-full"):
        grade(*tries)


def test_one_submission_alone_is_tried_again_too(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    """As Formgrader's button and a cluster's worker do it."""
    done = Graded(stages.ungraded(MANIFESTS, "Ours."), doubts=("killed",))
    seen: list[float] = []
    job = Job("", CELLS, MANIFESTS, Settings(tmp_path))
    monkeypatch.setattr(stages, "restored", lambda *_: job)

    def grade(one: Job) -> Graded:
        seen.append(one.settings.cell_seconds)
        return done

    monkeypatch.setattr(jobs, "grade", grade)
    jobs.graded(None, "", b"")  # type: ignore[arg-type]
    assert seen == [Settings.cell_seconds, again.PATIENCE * Settings.cell_seconds]


LATE: dict[str, tuple[dict[str, Any], int]] = {
    "in time": ({"launches": [{"processes": [{"value": 1}, {"value": 1}]}]}, 0),
    "late": ({"launches": [{"processes": [{"stopped": "time", "where": "line 1"}, {"value": 1}]}]}, 1),
    "still computing": ({"launches": [{"processes": [{"stopped": "computing", "where": "line 1"}, {"value": 1}]}]}, 0),
    "its peer raised": ({"launches": [{"processes": [{"stopped": "peer", "where": "line 1"}, {"error": {}}]}]}, 0),
    "an answer that waits": ({"error": {"type": "CellTimeout", "message": "did not end within 60 s"}}, 1),
    "an answer that computes": ({"error": {"type": "CellTimeout", "message": "did not end within 15 s of CPU time"}}, 0),
}


@pytest.mark.parametrize("name", LATE)
def test_time_that_passed_is_in_doubt(name: str) -> None:
    """Processes and answers that a busy machine makes late; time that they computed is their own."""
    entry, doubts = LATE[name]
    assert len(list(stages._late(Recording({"1.1": {"items": {"a": entry}}})))) == doubts


def test_processes_get_more_time_too(tmp_path: pathlib.Path) -> None:
    """A right answer that takes 8 s alone takes longer than its 20 s beside a load."""
    manifests = {"1.1": {"variable": None, "items": [{"name": "a", "kind": "processes", "seconds": 20.0}, {"name": "b"}]}}
    job = again.patient(Job("", CELLS, manifests, Settings(tmp_path)))
    assert job.manifests["1.1"]["items"] == [{"name": "a", "kind": "processes", "seconds": 60.0}, {"name": "b"}]
    assert (job.settings.cell_cpu_seconds, job.settings.question_seconds) == (15.0, 60.0)
