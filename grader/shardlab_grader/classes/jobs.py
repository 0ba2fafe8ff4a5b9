"""One notebook or a whole class: cells in, verdicts out, through a sandbox for the student's code and one for the judge."""

from __future__ import annotations

import atexit
import concurrent.futures
import dataclasses
import functools
import pathlib
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_grader.border import artifact
from shardlab_grader.border.artifact import CellError, Recording
from shardlab_grader.border.entries import refused
from shardlab_grader.classes import faults, judging
from shardlab_grader.classes.notebook import Cell as Cell
from shardlab_grader.classes.notebook import Manifest, student_sandbox
from shardlab_grader.classes.notebook import Settings as Settings
from shardlab_grader.classes.notebook import record as record
from shardlab_grader.classes.notebook import record_ours as record_ours
from shardlab_grader.classes.notebook import run as notebook_run
from shardlab_grader.classes.streams import flow
from shardlab_grader.sandbox.box import Mode, Outcome, Road, Sandbox, cold
from shardlab_grader.sandbox.servers import Servers
from shardlab_grader.sandbox.watch import INTERRUPT
from shardlab_judge.verdict import Verdict


@dataclasses.dataclass(frozen=True)
class Graded:
    """A notebook's verdicts by question id.

    `errors` are the exceptions of its cells. `limits_hit` names each limit that ended something. `seconds` has the wall time
    of the stages `notebook` and `judge`. `mode` is the sandbox's. `programs` has a hash of each question's programs.
    """

    verdicts: dict[str, Verdict]
    errors: tuple[CellError, ...] = ()
    limits_hit: tuple[str, ...] = ()
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)
    mode: Mode = "bubblewrap"
    programs: dict[str, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Shared:
    """What the notebooks of a class share: the way in which scripts are run, and what was found in their programs."""

    road: Road = cold
    known: judging.Known = dataclasses.field(default_factory=judging.Known)
    _sandboxes: dict[Settings, Sandbox] = dataclasses.field(default_factory=dict)

    def sandbox(self, settings: Settings) -> Sandbox:
        """The sandbox of the notebooks' code; what it is made of is looked at once."""
        if settings not in self._sandboxes:
            self._sandboxes[settings] = student_sandbox(settings)
        return self._sandboxes[settings]


@dataclasses.dataclass(frozen=True)
class Job:
    """The arguments of `grade_notebook`, under a key of the caller's."""

    key: str
    cells: tuple[Cell, ...]
    manifests: Mapping[str, Manifest]
    references: pathlib.Path | None
    seed: int | None
    settings: Settings


def starting(settings: Settings, references: pathlib.Path | None, workers: int) -> Servers:
    """Servers for a class, each being started while its submissions are read.

    Args:
        settings, references: as they will be for the notebooks.
        workers: how many notebooks will run at once.
    """
    servers, bench = Servers(workers), _bench(references, None, settings)
    for _ in range(workers):
        servers.prepare(*notebook_run(settings))
        servers.prepare(*judging.run(bench))
    return servers


def run_all(jobs: Iterable[Job], workers: int, servers: Servers | None = None) -> Iterator[tuple[Job, Graded]]:
    """Every job with its verdicts, as each is done; none is dropped.

    Args:
        jobs: taken as they are needed.
        workers: how many notebooks run at once.
        servers: as `starting` gives them; they are closed afterwards.
    """
    own, servers = concurrent.futures.ThreadPoolExecutor(workers), servers or Servers(workers)
    start = functools.partial(grade, shared=Shared(servers.run))
    try:
        for job, done in flow(functools.partial(own.submit, start), jobs, 2 * workers):
            yield job, _collected(done, job)
    except BaseException:
        INTERRUPT.set()
        raise
    finally:
        own.shutdown(wait=True, cancel_futures=True)
        servers.close()
        INTERRUPT.clear()


def grade(job: Job, shared: Shared | None = None) -> Graded:
    """`grade_notebook` for a job; what is not given is shared by all jobs of this process."""
    shared = shared or _of_this_process()
    return grade_notebook(list(job.cells), job.manifests, job.references, job.seed, job.settings, shared)


@functools.cache
def _of_this_process() -> Shared:
    servers = Servers()
    atexit.register(servers.close)
    return Shared(servers.run)


def grade_notebook(
    cells: list[Cell],
    manifests: Mapping[str, Manifest],
    references: pathlib.Path | None,
    seed: int | None,
    settings: Settings,
    shared: Shared | None = None,
) -> Graded:
    """Run a notebook in a sandbox, then judge what it recorded in another.

    Nothing raised here is the student's: where our side fails, verdicts are *ungraded* with the reason.

    Args:
        cells: all code cells in order.
        manifests: `Question.manifest(seed)` by question id.
        references: file of the reference programs for this seed; the packaged one when `None`.
        seed: the release's seed; `None` for the public cases only.
        shared: by others of its class; alone and on the cold road unless given.
    """
    shared = shared or Shared()
    try:
        outcome, recording = record(cells, manifests, settings, shared.road, shared.sandbox(settings))
    except (OSError, ShardlabError) as error:
        faults.stop_when_full(error)
        return _ungraded(manifests, f"The sandbox did not start: {error}", settings.mode)
    seconds = {"notebook": round(outcome.seconds, 3)}
    hit = _limits_hit(outcome, recording, settings)
    begun = recording is not None and (recording.cell is not None or recording.ended)
    if not begun and not outcome.stdout:
        return dataclasses.replace(_ungraded(manifests, _unstarted(outcome), settings.mode), seconds=seconds, limits_hit=hit)
    recording = recording or Recording({})
    answers, lost = _complete(manifests, recording, outcome)
    bench = _bench(references, seed, settings)
    verdicts, seconds["judge"], more = judging.judge_all(answers, lost, bench, shared.known, shared.road)
    ordered = {question: verdicts[question] for question in manifests}
    return Graded(ordered, recording.errors, hit + more, seconds, settings.mode, judging.identities(answers))


def _bench(references: pathlib.Path | None, seed: int | None, settings: Settings) -> judging.Bench:
    return judging.Bench(references, seed, settings.site, settings.mode, settings.judge, settings.question_seconds)


def _complete(
    manifests: Mapping[str, Manifest], recording: Recording, outcome: Outcome
) -> tuple[dict[str, Any], dict[str, str]]:
    """Answers to judge, where single items that are missing are errors; and the questions without any, with the reason."""
    reason = _unfinished(recording, outcome)
    answers: dict[str, Any] = {}
    lost: dict[str, str] = {}
    for question, manifest in manifests.items():
        if question not in recording.answers:
            lost[question] = reason
            continue
        items = recording.answers[question]["items"]
        answers[question] = {"items": {i["name"]: items.get(i["name"], refused(reason)) for i in manifest["items"]}}
    return answers, lost


def _unfinished(recording: Recording, outcome: Outcome) -> str:
    if recording.ended:
        said = f" ({recording.faults[0]})" if recording.faults else ""
        return f"Your notebook ran to its end, but no answer to this question could be read{said}."
    if recording.cell is None:
        return f"Your notebook's run left nothing to read ({outcome.ending})."
    return f"Your notebook did not finish: {outcome.ending} at cell {recording.cell + 1}."


def _limits_hit(outcome: Outcome, recording: Recording | None, settings: Settings) -> tuple[str, ...]:
    hit = (
        [f"{error.message} (cell {error.cell + 1})" for error in recording.errors if error.type == "CellTimeout"]
        if recording
        else []
    )
    if outcome.status:
        hit.append(f"notebook: {outcome.ending}")
    return tuple(hit)


def _unstarted(outcome: Outcome) -> str:
    last = artifact.said(outcome.stderr.strip()[-300:], 300)
    return f"The notebook's run left nothing to read ({outcome.ending}): {last or 'it said nothing'}"


def _ungraded(manifests: Mapping[str, Manifest], reason: str, mode: Mode) -> Graded:
    return Graded({question: Verdict(question, "ungraded", reason=reason) for question in manifests}, mode=mode)


def _collected(done: concurrent.futures.Future[Graded], job: Job) -> Graded:
    try:
        return done.result()
    except ShardlabError:
        raise
    except Exception as error:
        return _ungraded(job.manifests, f"The grader failed: {type(error).__name__}: {error}", job.settings.mode)
