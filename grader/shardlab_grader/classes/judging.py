"""Starting the expendable judge, again after each question that kills it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import pathlib
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_grader.border import artifact
from shardlab_grader.classes import faults
from shardlab_grader.sandbox.box import ONE_THREAD, Limits, Mode, Mount, Outcome, Road, Sandbox, interpreter
from shardlab_grader.sandbox.student_package import PACKAGES, installed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Verdict

SCRIPT = "/trusted/judge.py"
CHILD = pathlib.Path(__file__).parents[1] / "inside" / "judge.py"
TEXT = 20_000
TOO_MUCH = "The program was too large, or did not end, while it was judged"


class Known:
    """What was found in the programs of a class so far, so that equal ones are measured once.

    Written by the grader's own process only, and only for programs of the submission that the judge was given; the names
    are hashes of all that a finding depends on. A release's reference programs were judged when it was made.
    """

    def __init__(self) -> None:
        self._findings: dict[str, list[Any]] = {}

    def of(self, answers: Mapping[str, Any], bench: Bench) -> dict[str, dict[str, list[list[Any] | None]]]:
        """By question and item, the findings in each case; `None` where the program is new."""
        return {
            question: {
                name: [self._found(question, name, n, entry, bench) for n, entry in enumerate(entries)]
                for name, entries in _programs(answer).items()
            }
            for question, answer in answers.items()
        }

    def _found(self, question: str, item: str, n: int, entry: Any, bench: Bench) -> list[Any] | None:
        if "module" in entry and entry["module"] == _references(bench).get((question, item, n)):
            return []
        return self._findings.get(_digest(question, item, n, entry, bench))

    def add(self, question: str, item: str, n: int, answer: Mapping[str, Any], bench: Bench, findings: list[Any]) -> None:
        """Remember the findings in one case of an answer.

        Raises:
            ValueError, TypeError, KeyError, IndexError: the answer has no such program, or these are no findings.
        """
        Verdict.from_json({"question": question, "status": "failed", "parts": [], "findings": findings, "reason": ""})
        self._findings[_digest(question, item, n, _programs(answer)[item][n], bench)] = findings


@dataclasses.dataclass(frozen=True)
class Bench:
    """What the judge of one submission needs besides its answers."""

    references: pathlib.Path | None
    seed: int | None
    site: pathlib.Path
    mode: Mode
    limits: Limits
    question_seconds: float


@dataclasses.dataclass
class _Docket:
    """What is still to be judged, and what was."""

    answers: dict[str, Any]
    refused: dict[str, str]
    verdicts: dict[str, Verdict] = dataclasses.field(default_factory=dict)
    seconds: float = 0.0
    hit: list[str] = dataclasses.field(default_factory=list)

    def settle(self, verdict: Verdict) -> None:
        """Take a question off the list."""
        self.verdicts[verdict.question] = verdict
        self.answers.pop(verdict.question, None)
        self.refused.pop(verdict.question, None)

    def give_up(self, reason: str) -> None:
        """Leave all that is open ungraded."""
        for question in [*self.refused, *self.answers]:
            self.settle(Verdict(question, "ungraded", reason=reason))


def judge_all(
    answers: Mapping[str, Any], refused: Mapping[str, str], bench: Bench, known: Known, road: Road
) -> tuple[dict[str, Verdict], float, tuple[str, ...]]:
    """Verdicts by question, the seconds that they took, and the limits that were hit.

    Args:
        answers: checked answers by question.
        refused: why the answers of the other questions cannot be judged.
        known: what was found before, and is added to.
        road: how the judge is run.
    """
    docket = _Docket(dict(answers), dict(refused))
    while docket.answers or docket.refused:
        try:
            _sit(docket, bench, known, road)
        except (OSError, ShardlabError, artifact.Refused) as error:
            faults.stop_when_full(error)
            docket.give_up(f"The judge did not start: {error}")
    return docket.verdicts, round(docket.seconds, 3), tuple(docket.hit)


def run(bench: Bench) -> tuple[str, Sandbox]:
    """The script that judges, and the sandbox in which it does."""
    return SCRIPT, _sandbox(bench)


def identities(answers: Mapping[str, Any]) -> dict[str, str]:
    """By question a hash of its programs in all cases: equal ones were the same operations in the same order."""
    programs = {question: _programs(answer) for question, answer in answers.items()}
    texts = {question: json.dumps(asked, sort_keys=True) for question, asked in programs.items() if _whole(asked)}
    return {question: hashlib.sha256(text.encode()).hexdigest()[:16] for question, text in texts.items()}


def _sit(docket: _Docket, bench: Bench, known: Known, road: Road) -> None:
    job = {
        "answers": docket.answers,
        "refused": docket.refused,
        "known": known.of(docket.answers, bench),
        "references": bench.references and _sandbox(bench).seen("/trusted/references.json"),
        "seed": bench.seed,
        "question_seconds": bench.question_seconds,
    }
    with tempfile.TemporaryDirectory() as directory:
        box = pathlib.Path(directory)
        outcome = road(SCRIPT, _sandbox(bench), box, json.dumps(job).encode())
        lines = artifact.content(box / "output").splitlines()
    docket.seconds += outcome.seconds
    open_question = _settle(docket, lines, bench, known)
    if outcome.status == 0:
        docket.give_up("The judge ended early.")
    elif open_question is None:
        docket.give_up(f"The judge did not start ({outcome.ending}): {_printable(outcome.stderr.strip()[-300:])}")
    else:
        _blame(docket, open_question, outcome, bench)


def _settle(docket: _Docket, lines: list[bytes], bench: Bench, known: Known) -> str | None:
    """Take the verdicts in; the question at which the child was when it ended, if any."""
    current: str | None = None
    for line in lines:
        try:
            match _printable(artifact.parse(line)):
                case {"question": str(question)} if question in docket.answers or question in docket.refused:
                    current = question
                case {"item": str(item), "case": int(n), "findings": list(found)} if current in docket.answers:
                    known.add(current, item, n, docket.answers[current], bench, found)
                case {"verdict": raw} if current is not None:
                    docket.settle(dataclasses.replace(Verdict.from_json(raw), question=current))
                    current = None
                case {"failed": str(reason)} if current is not None:
                    docket.settle(Verdict(current, "ungraded", reason=f"The judge failed: {reason}"))
                    current = None
        except (ValueError, TypeError, KeyError, IndexError, AttributeError):
            # The line was cut by the child's death: its question stays open.
            continue
    return current


def _printable(raw: Any) -> Any:
    """The same without control characters and halves of characters, which a program's names may hold."""
    match raw:
        case str():
            return artifact.said(raw, TEXT)
        case list():
            return [_printable(one) for one in raw]
        case dict():
            return {key: _printable(one) for key, one in raw.items()}
    return raw


def _blame(docket: _Docket, question: str, outcome: Outcome, bench: Bench) -> None:
    ending = outcome.ending if outcome.status - 128 != 14 else f"limit of {bench.question_seconds:g} s"
    docket.hit.append(f"judge of {question}: {ending}")
    if question in docket.refused:
        docket.settle(Verdict(question, "ungraded", reason=f"The judge died ({ending})."))
        return
    del docket.answers[question]
    docket.refused[question] = f"{TOO_MUCH} ({ending})."


def _programs(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {name: entry["programs"] for name, entry in answer["items"].items() if "programs" in entry}


def _whole(programs: Mapping[str, list[Any]]) -> bool:
    return bool(programs) and all("module" in entry for entries in programs.values() for entry in entries)


def _references(bench: Bench) -> Mapping[tuple[str, str, int], str]:
    """The release's reference programs by question, item and number of the case; they earn all points."""
    if bench.references is None or bench.site != installed():
        return {}
    return _read_references(bench.references, bench.references.stat().st_mtime_ns, bench.seed)


@functools.lru_cache(maxsize=8)
def _read_references(path: pathlib.Path, written: int, seed: int | None) -> Mapping[tuple[str, str, int], str]:
    from shardlab_course.chapters import QUESTIONS

    programs: Mapping[str, str] = json.loads(path.read_text())["programs"]
    return {
        (question, item.name, n): programs[key]
        for question in {key.partition("/")[0] for key in programs}
        for item in QUESTIONS[question].items
        if isinstance(item, ProgramItem)
        for n, case in enumerate(item.cases_of(question, seed))
        if (key := f"{question}/{item.name}/{case.key}") in programs
    }


def _digest(question: str, item: str, n: int, entry: Any, bench: Bench) -> str:
    parts = [str(bench.references), bench.seed, str(bench.site), question, item, n, entry]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _sandbox(bench: Bench) -> Sandbox:
    trusted = [Mount(bench.site / package, f"/trusted/{package}") for package in PACKAGES]
    mounts = [*interpreter(), *trusted, Mount(CHILD, SCRIPT)]
    if bench.references is not None:
        mounts.append(Mount(bench.references.resolve(), "/trusted/references.json"))
    sandbox = Sandbox(bench.mode, bench.limits, tuple(mounts))
    path = str(pathlib.PurePath(sandbox.seen("/trusted/shardlab")).parent)
    environment = {"PYTHONPATH": path, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8", **ONE_THREAD}
    return dataclasses.replace(sandbox, environment=tuple(environment.items()))
