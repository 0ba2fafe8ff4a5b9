"""A student's program in other situations: what is asked of it is run again in the sandbox, and measured in the judge's."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_course.chapters import QUESTIONS
from shardlab_course.viva import questions
from shardlab_course.viva.changes import changes
from shardlab_course.viva.questions import Asked, Facts
from shardlab_grader.border import artifact
from shardlab_grader.classes import judging, stages
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.classes.stages import Grading
from shardlab_grader.inside.cells import defined
from shardlab_grader.records.submissions import Contents, Submission
from shardlab_grader.sandbox.box import Mount, RunScript, Sandbox
from shardlab_grader.viva.leaving_out import LeftOut, without_one
from shardlab_judge.items.program import ProgramItem

SCRIPT = "/trusted/examiner.py"
CHILD = pathlib.Path(__file__).parents[1] / "inside" / "examiner.py"
EXERCISES, MESHES, SIZES, CALLS = 5, 2, 1, 2
"""For one student: exercises, and of each the other meshes, the other sizes, and the calls left out, that are tried."""
GIVEN = 0
"""The number of the first public case among the changes."""


@dataclasses.dataclass(frozen=True)
class Sitting:
    """What one student is asked; `code` has the cell of each function, and `problem` says why nothing is asked."""

    student: str
    key: str
    asked: Sequence[Asked] = ()
    code: Mapping[str, str] = dataclasses.field(default_factory=dict)
    problem: str = ""


@dataclasses.dataclass(frozen=True)
class _Tried:
    """One function, and what is tried of it: numbers of changes, and its cell without calls."""

    question: str
    item: ProgramItem
    cell: str
    numbers: tuple[int, ...]
    left_out: tuple[LeftOut, ...]

    @property
    def manifests(self) -> dict[str, Any]:
        """What the sandbox is asked, by question, and by a name of ours where a call is left out."""
        question, cases = QUESTIONS[self.question], changes(self.item)
        one = {**self.item.manifest(self.question, None), "cases": [cases[n].case.to_json() for n in self.numbers]}
        found = {self.question: {"id": self.question, "variable": question.variable, "items": [one]}}
        first = {**one, "cases": [cases[GIVEN].case.to_json()]}
        for n in range(len(self.left_out)):
            found[f"{self.question}-{n}"] = {"id": self.question, "variable": None, "items": [first]}
        return found

    @property
    def more(self) -> list[Cell]:
        """Cells after the exercise's check: each variant, the taking of its answer, and then the student's cell again."""
        each = [(Cell(one.source), Cell("", f"{self.question}-{n}")) for n, one in enumerate(self.left_out)]
        return [cell for pair in each for cell in pair] + [Cell(self.cell)] * bool(each)


def sittings(
    grading: Grading, contents: Contents, found: Sequence[Submission], seed: int, run: RunScript
) -> Iterator[Sitting]:
    """The questions of each submission, repeatable by `seed`.

    Args:
        contents: the handed-in forms of `found`.
        run: how scripts are run in a sandbox.
    """
    for one in found:
        yield (
            _sitting(grading, one, contents, seed, run) if not one.problem else Sitting(one.student, "", problem=one.problem)
        )


def _sitting(grading: Grading, one: Submission, contents: Contents, seed: int, run: RunScript) -> Sitting:
    record = stages.kept(grading, one)
    if record is None:
        problem = f"it is not graded yet: shardlab-grader grade {grading.release.assignment}"
        return Sitting(one.student, one.key, problem=problem)
    passed = [question for question, verdict in record.verdicts.items() if verdict.status == "passed"]
    job, rng = stages.restored(grading, one.key, contents[one.key]), random.Random(f"{seed}/{one.key}")
    tried = _chosen(job, passed, rng)
    if not tried:
        return Sitting(one.student, one.key, problem="no function of an exercise that was passed can be asked about")
    try:
        asked = _asked(tried, _measured(job, tried, seed, run), rng)
    except (OSError, ShardlabError, artifact.Refused) as error:
        return Sitting(one.student, one.key, problem=f"the sandbox did not start: {error}")
    code = {each.item.name: each.cell for each in tried}
    return Sitting(one.student, one.key, asked, code, "" if asked else "no two ways of computing agreed on a question")


def _chosen(job: Job, passed: Sequence[str], rng: random.Random) -> list[_Tried]:
    """One function each of some exercises that the student passed, and what is tried of it."""
    able = [(q, item) for q in passed for item in QUESTIONS[q].items if isinstance(item, ProgramItem)]
    by_question = {q: [item for other, item in able if other == q] for q, _ in able}
    chosen = rng.sample(sorted(by_question), min(EXERCISES, len(by_question)))
    return [_tried(job, q, rng.choice(by_question[q]), rng) for q in chosen]


def _tried(job: Job, question: str, item: ProgramItem, rng: random.Random) -> _Tried:
    kinds = [change.kind for change in changes(item)]
    numbers = [GIVEN]
    for kind, most in (("mesh", MESHES), ("size", SIZES)):
        there = [n for n, found in enumerate(kinds) if found == kind]
        numbers += rng.sample(there, min(most, len(there)))
    cell = _cell(job, question, item.name)
    found = without_one(cell) if cell and QUESTIONS[question].variable is None else []
    return _Tried(question, item, cell, tuple(numbers), tuple(rng.sample(found, min(CALLS, len(found)))))


def _cell(job: Job, question: str, function: str) -> str:
    """The last cell before an exercise's check that defines the function; else the one that names it, or none."""
    check = next((n for n, cell in enumerate(job.cells) if cell.question == question), len(job.cells))
    before = [cell.source for cell in job.cells[:check] if cell.question is None]
    named = [source for source in before if function in defined(source)] or [s for s in before if function in s]
    return named[-1] if named else ""


def _measured(job: Job, tried: Sequence[_Tried], seed: int, run: RunScript) -> dict[tuple[str, int], Facts]:
    """By the name of what the sandbox was asked and the number of the change: the facts, where there are some."""
    manifests = {name: asked for each in tried for name, asked in each.manifests.items()}
    more = {each.question: each.more for each in tried}
    cells = [c for cell in job.cells for c in (cell, *(more.get(cell.question or "", ())))]
    other = dataclasses.replace(job, cells=tuple(cells), manifests=manifests)
    answers = stages.admitted(other, *stages.run(other, Shared(run))).checked
    programs = [program for each in tried for program in _programs(each, answers)]
    told = [{key: value for key, value in program.items() if key != "of"} for program in programs]
    facts = _facts(job.settings, {"programs": told, "seed": seed}, run)
    return {tuple(program["of"]): facts[n] for n, program in enumerate(programs) if n in facts}


def _programs(tried: _Tried, answers: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for name, manifest in tried.manifests.items():
        numbers = tried.numbers if name == tried.question else (GIVEN,)
        entry = answers.get(name, {}).get("items", {}).get(manifest["items"][0]["name"], {})
        for number, program in zip(numbers, entry.get("programs", ())):
            if "module" in program:
                where = {"question": tried.question, "item": tried.item.name, "change": number}
                yield {"of": (name, number), **where, "module": program["module"]}


def _facts(settings: Settings, job: Mapping[str, Any], run: RunScript) -> dict[int, Facts]:
    """By its number what was measured of each program; after one that killed the child, it goes on with the next."""
    found: dict[int, Facts] = {}
    done = 0
    while done < len(job["programs"]):
        rest = {**job, "programs": job["programs"][done:]}
        with tempfile.TemporaryDirectory() as directory:
            box = pathlib.Path(directory)
            run(SCRIPT, sandbox(settings), box, json.dumps(rest).encode())
            lines = artifact.content(box / "output").splitlines()
        for n, line in enumerate(lines):
            try:
                if "facts" in (said := artifact.parse(line)):
                    found[done + n] = said["facts"]
            except artifact.Refused:
                continue
        done += len(lines) + 1 if len(lines) < len(rest["programs"]) else len(lines)
    return found


def sandbox(settings: Settings) -> Sandbox:
    """The judge's sandbox, with the examiner in the judge's place."""
    made = judging.sandbox(settings)
    mounts = (*(mount for mount in made.mounts if mount.target != judging.SCRIPT), Mount(CHILD, SCRIPT))
    return dataclasses.replace(made, mounts=mounts)


def _asked(tried: Sequence[_Tried], facts: Mapping[tuple[str, int], Facts], rng: random.Random) -> list[Asked]:
    found = [one for each in tried for one in _of_one(each, facts, rng)]
    return questions.sheet(found, rng)


def _of_one(tried: _Tried, facts: Mapping[tuple[str, int], Facts], rng: random.Random) -> Iterator[Asked]:
    given, there = facts.get((tried.question, GIVEN)), changes(tried.item)
    if given is None or given["wrong"][0]:
        return
    for number in tried.numbers[1:]:
        now = facts.get((tried.question, number))
        # What the function does elsewhere is asked only where it is still right.
        if now is not None and not now["wrong"][0]:
            yield from questions.asked(tried.question, tried.item.name, there[GIVEN].case, there[number], given, now, rng)
    for n, one in enumerate(tried.left_out):
        if now := facts.get((f"{tried.question}-{n}", GIVEN)):
            yield from questions.without(tried.question, tried.item.name, one.line, one.name, now)
