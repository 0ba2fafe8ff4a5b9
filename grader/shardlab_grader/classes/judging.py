"""Starting the expendable judge, again after each question that kills it."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import os
import pathlib
import signal
import tempfile
from collections.abc import Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_course import own
from shardlab_grader.border import artifact
from shardlab_grader.classes import faults
from shardlab_grader.classes.notebook import Settings
from shardlab_grader.sandbox.box import ONE_THREAD, Mount, Outcome, RunScript, Sandbox, cold, interpreter
from shardlab_grader.sandbox.student_package import PACKAGES, STUDENT, home, installed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Verdict

SCRIPT = "/trusted/judge.py"
CHILD = pathlib.Path(__file__).parents[1] / "inside" / "judge.py"
REFERENCES = "/trusted/references.json"
TEXT = 20_000
TOO_MUCH = "The program was too large, or did not end, while it was judged"
UNREADABLE = (ValueError, TypeError, KeyError, IndexError, AttributeError)


class Findings:
    """What was found in the programs of a class so far, so that equal ones are measured once.

    Written by the grader's own process only, and only for programs of the submission that the judge was given; the names
    are hashes of all that a finding depends on. A release's reference programs were judged when it was made.
    """

    def __init__(self) -> None:
        self._findings: dict[str, list[Any]] = {}

    def of(self, answers: Mapping[str, Any], settings: Settings) -> dict[str, dict[str, list[list[Any] | None]]]:
        """By question and item, the findings in each case; `None` where the program is new."""
        return {
            question: {
                name: [self._found(question, name, n, entry, settings) for n, entry in enumerate(entries)]
                for name, entries in _programs(answer).items()
            }
            for question, answer in answers.items()
        }

    def _found(self, question: str, item: str, n: int, entry: Any, settings: Settings) -> list[Any] | None:
        if "module" in entry and entry["module"] == _references(settings).get((question, item, n)):
            return []
        return self._findings.get(_digest(question, item, n, entry, settings))

    def add(
        self, question: str, item: str, n: int, answer: Mapping[str, Any], settings: Settings, findings: list[Any]
    ) -> None:
        """Remember the findings in one case of an answer.

        Raises:
            ValueError, TypeError, KeyError, IndexError: the answer has no such program, or these are no findings.
        """
        Verdict.from_json({"question": question, "status": "failed", "parts": [], "findings": findings, "reason": ""})
        self._findings[_digest(question, item, n, _programs(answer)[item][n], settings)] = findings


@dataclasses.dataclass(frozen=True)
class Shared:
    """What the notebooks of a class share: the way in which scripts are run, and what was found in their programs."""

    run_script: RunScript = cold
    findings: Findings = dataclasses.field(default_factory=Findings)


class Judging:
    """One notebook's judging: what is still open, `answers` and `refused`, and what came of the rest.

    `seconds` is the judge's wall time, `limits_hit` names each limit that ended it, and `doubts` each end of it that need
    not be the program's doing.
    """

    def __init__(self, answers: Mapping[str, Any], refused: Mapping[str, str], settings: Settings, shared: Shared) -> None:
        """Take over checked answers by question, and why the answers of the other questions cannot be judged."""
        self.answers, self.refused = dict(answers), dict(refused)
        self.verdicts: dict[str, Verdict] = {}
        self.seconds = 0.0
        self.limits_hit: list[str] = []
        self.doubts: list[str] = []
        self._settings, self._shared, self._sandbox = settings, shared, sandbox(settings)

    def run(self) -> None:
        """Start judges until no question is open."""
        while self.answers or self.refused:
            try:
                self._start()
            except (OSError, ShardlabError, artifact.Refused) as error:
                faults.stop_when_full(error)
                self._give_up(f"The judge did not start: {error}")

    def _start(self) -> None:
        """Start a judge, and take what it says before it ends."""
        settings = self._settings
        job = {
            "answers": self.answers,
            "refused": self.refused,
            "known": self._shared.findings.of(self.answers, settings),
            "references": settings.references and self._sandbox.seen(REFERENCES),
            "seed": settings.seed,
            "points": dict(settings.points),
            "question_seconds": settings.question_seconds,
            "question_wall_seconds": settings.question_wall_seconds,
        }
        with tempfile.TemporaryDirectory() as directory:
            box = pathlib.Path(directory)
            outcome = self._shared.run_script(SCRIPT, self._sandbox, box, json.dumps(job).encode())
            lines = artifact.content(box / "output").splitlines()
        self.seconds += outcome.seconds
        open_question = self._take(lines)
        if outcome.status == 0:
            self._give_up("The judge ended early.")
        elif open_question is None:
            self._give_up(f"The judge did not start ({outcome.ending}): {_printable(outcome.stderr.strip()[-300:])}")
        else:
            self._blame(open_question, outcome)

    def _take(self, lines: list[bytes]) -> str | None:
        """Take the verdicts in; the question at which the judge was when it ended, if any."""
        current: str | None = None
        for line in lines:
            try:
                match _printable(artifact.parse(line)):
                    case {"question": str(question)} if question in self.answers or question in self.refused:
                        current = question
                    case {"item": str(item), "case": int(n), "findings": list(found)} if current in self.answers:
                        self._shared.findings.add(current, item, n, self.answers[current], self._settings, found)
                    case {"verdict": raw} if current is not None:
                        self._settle(dataclasses.replace(Verdict.from_json(raw), question=current))
                        current = None
                    case {"failed": str(reason)} if current is not None:
                        self._settle(Verdict(current, "ungraded", reason=f"The judge failed: {reason}"))
                        current = None
            except UNREADABLE:
                # The line was cut by the judge's death: its question stays open.
                continue
        return current

    def _blame(self, question: str, outcome: Outcome) -> None:
        limits: dict[int, str] = {
            signal.SIGPROF: f"limit of {self._settings.question_seconds:g} s of CPU time",
            signal.SIGALRM: f"limit of {self._settings.question_wall_seconds:g} s",
        }
        ending = limits.get(outcome.status - 128, outcome.ending)
        if outcome.doubtful and outcome.status - 128 != signal.SIGPROF:
            self.doubts.append(f"judge of {question}: {ending}")
        self.limits_hit.append(f"judge of {question}: {ending}")
        if question in self.refused:
            self._settle(Verdict(question, "ungraded", reason=f"The judge died ({ending})."))
            return
        del self.answers[question]
        self.refused[question] = f"{TOO_MUCH} ({ending})."

    def _settle(self, verdict: Verdict) -> None:
        self.verdicts[verdict.question] = verdict
        self.answers.pop(verdict.question, None)
        self.refused.pop(verdict.question, None)

    def _give_up(self, reason: str) -> None:
        for question in [*self.refused, *self.answers]:
            self._settle(Verdict(question, "ungraded", reason=reason))


def identities(answers: Mapping[str, Any]) -> dict[str, str]:
    """By question a hash of its programs in all cases: equal ones were the same operations in the same order."""
    programs = {question: _programs(answer) for question, answer in answers.items()}
    texts = {question: json.dumps(asked, sort_keys=True) for question, asked in programs.items() if _whole(asked)}
    return {question: hashlib.sha256(text.encode()).hexdigest()[:16] for question, text in texts.items()}


def sandbox(settings: Settings) -> Sandbox:
    """The sandbox of the judge: this Python, what judges, the references, and an own chapter, which no other box sees."""
    trusted = [Mount(home(package, settings.site), f"/trusted/{package}") for package in PACKAGES]
    mounts = [*interpreter(), *trusted, Mount(CHILD, SCRIPT)]
    if settings.references is not None:
        mounts.append(Mount(settings.references.resolve(), REFERENCES))
    chapter = f"/trusted/chapters/{settings.chapter.name}" if settings.chapter else ""
    if settings.chapter:
        mounts.append(Mount(settings.chapter, chapter))
    made = Sandbox(settings.mode, settings.judge, tuple(mounts))
    paths = dict.fromkeys(str(pathlib.PurePath(made.seen(f"/trusted/{package}")).parent) for package in STUDENT)
    environment = {"PYTHONPATH": os.pathsep.join(paths), "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8", **ONE_THREAD}
    environment |= {own.VARIABLE: chapter} if chapter else {}
    return dataclasses.replace(made, environment=tuple(environment.items()))


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


def _programs(answer: Mapping[str, Any]) -> dict[str, list[Any]]:
    # Without what is said of the student's text: equal programs are equal wherever they stand.
    said = {"lines", "puts"}
    return {
        name: [{field: value for field, value in program.items() if field not in said} for program in entry["programs"]]
        for name, entry in answer["items"].items()
        if "programs" in entry
    }


def _whole(programs: Mapping[str, list[Any]]) -> bool:
    return bool(programs) and all("module" in entry for entries in programs.values() for entry in entries)


def _references(settings: Settings) -> Mapping[tuple[str, str, int], str]:
    """The release's reference programs by question, item and number of the case; they earn all points."""
    if settings.references is None or settings.site != installed():
        return {}
    return _read_references(settings.references, settings.references.stat().st_mtime_ns, settings.seed)


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


def _digest(question: str, item: str, n: int, entry: Any, settings: Settings) -> str:
    parts = [str(settings.references), settings.seed, str(settings.site), question, item, n, entry]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()
