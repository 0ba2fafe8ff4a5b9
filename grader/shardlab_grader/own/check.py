"""Whether a chapter of one's own is fit for students: its text, its solution, its questions, and every answer's verdict."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from shardlab.answers.record import record
from shardlab_course import answers, own
from shardlab_course.answers import Sample
from shardlab_course.editions import edition, header
from shardlab_grader.classes.notebook import Job, Settings
from shardlab_grader.classes.restore import job_cells
from shardlab_grader.releases import references
from shardlab_grader.releases.references import Told, silent
from shardlab_grader.releases.release import own_source
from shardlab_grader.sandbox.box import Mode
from shardlab_judge.question import Question
from shardlab_judge.verdict import Verdict

SEED = 20
"""The drawn cases that a check looks at; a release draws its own."""
HINT, LEAST, MOST = 40, 40, 180
"""The most words of a hint, and the fewest and most of an explanation."""
WRONG = 2
"""Wrong answers that a question needs."""
Samples = Mapping[str, Sequence[Sample]]


def check(
    folder: pathlib.Path, mode: Mode, *, only: str | None = None, question: str | None = None, told: Told = silent
) -> Iterator[tuple[str, list[str]]]:
    """What was looked at, and what is wrong with it, one after the other.

    The notebook, solved and as students get it, runs in the sandbox; the answers, which are yours, in a process beside this.

    Args:
        only: the one part to look at: questions, solution, notebook or answers.
        question: the one whose answers alone to look at.
        told: hears of each step, before it begins.
    Raises:
        ShardlabError: folder, text or solution has a mistake with which nothing else can be looked at.
    """
    path = own_source(folder)
    own.take(path.parent)
    given = header.installed()
    source = edition.source(path, given)
    asked = [given.questions[id] for id in edition.questions(source)]
    samples = answers.answers(path.parent, path)
    if question is not None:
        header.known(question, {each.id: each for each in asked}, "--question")
        only, samples = "answers", {question: samples[question]}
    parts = {only} if only else {"questions", "solution", "notebook", "answers"}
    if "questions" in parts:
        yield "questions", [fault for each in asked for fault in incomplete(each, samples[each.id])]
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context, initializer=references.eight_devices) as pool:
        if parts & {"solution", "notebook"}:
            manifests = {each.id: each.manifest(SEED) for each in asked}
            with tempfile.TemporaryDirectory() as cache:
                settings = Settings(pathlib.Path(cache), mode, seed=SEED)
                # The open notebook's answers are judged with what the solution costs.
                costs = references.text(edition.solution(source), manifests, settings, told=told)
                if "solution" in parts:
                    yield "solution", []
                if "notebook" in parts:
                    told("running the notebook as students get it")
                    cells = job_cells(edition.student(source))
                    left = references.recorded(Job("", tuple(cells), manifests, settings))
                    yield "notebook with everything open", pool.submit(answered, left, costs).result()
        if "answers" in parts:
            yield "answers", list(_all_misjudged(samples, pool, told))


def _all_misjudged(samples: Samples, pool: concurrent.futures.Executor, told: Told) -> Iterator[str]:
    for id, several in samples.items():
        told(f"judging {len(several)} answers to {id}")
        yield from pool.submit(misjudged, {id: several}).result()


def incomplete(question: Question, samples: Sequence[Sample]) -> list[str]:
    """What a question lacks, or has too much of."""
    words, due = len(question.explanation.split()), {sample.misconception for sample in samples}
    named = {miss.id for item in question.items for miss in item.misconceptions}
    found = {
        f"a hint has more than {HINT} words": any(len(hint.split()) > HINT for hint in question.hints),
        f"its explanation has {words} words, but needs {LEAST} to {MOST}": not LEAST <= words <= MOST,
        f"it has fewer than {WRONG} wrong answers": sum(sample.misconception is not None for sample in samples) < WRONG,
        f"there is no wrong answer for {', '.join(sorted(named - due))}": bool(named - {*due}),
    }
    return [f"{question.id}: {fault}" for fault, there in found.items() if there]


def answered(left: references.Answers, costs: str) -> list[str]:
    """The questions to which a notebook with everything open has an answer already; `costs` is the file of references."""
    from shardlab_course.chapters import question
    from shardlab_judge.judging import judge
    from shardlab_judge.references import References

    verdicts = [judge(question(id), answer, References(**json.loads(costs)), SEED) for id, answer in left.items()]
    return [f"{verdict.question}: it already has an answer" for verdict in verdicts if verdict.status != "unattempted"]


def misjudged(samples: Samples) -> list[str]:
    """The answers that do not get the verdict that they are due, in public cases and drawn ones."""
    from shardlab_course.chapters import question
    from shardlab_judge.judging import judge
    from shardlab_judge.references import build

    os.environ["SHARDLAB_RECORD"] = "1"
    found = []
    for id, several in samples.items():
        costs = None
        for sample in several:
            answer = _recorded(question(id), sample)
            costs = costs or build([question(id)], {id: answer}, SEED)
            found += _misjudged(sample, judge(question(id), answer, costs, SEED))
    return found


def _recorded(question: Question, sample: Sample) -> Mapping[str, object]:
    from shardlab.answers.in_the_box import GIVEN

    GIVEN.clear()
    variables = sample.variables()
    return record(question.manifest(SEED), variables, GIVEN.get(question.id, {}))


def _misjudged(sample: Sample, got: Verdict) -> list[str]:
    passes = sample.misconception is None or sample.due.passes
    causes = {finding.misconception for finding in got.findings}
    expected = got.of if passes else sample.due.points
    faults = {
        f"{got.status}, not {'passed' if passes else 'failed'}": got.status != ("passed" if passes else "failed"),
        f"not told {sample.misconception}": sample.misconception not in {None, "-"} | causes,
        f"{got.points:g} points, not {expected}": expected is not None and got.points != expected,
    }
    said = "; ".join(finding.what for finding in got.findings) or got.reason or "no difference was found"
    return [f"{sample.question}, {sample.name}: {fault} ({said})" for fault, there in faults.items() if there]
