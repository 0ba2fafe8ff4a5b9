"""A student's program in other situations: what is asked of it is run again in the sandbox, and measured in the judge's."""

from __future__ import annotations

import dataclasses
import itertools
import json
import pathlib
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from shardlab.errors import ShardlabError
from shardlab_course.chapters import QUESTIONS
from shardlab_course.variants import with_names
from shardlab_course.viva.changes import programs
from shardlab_course.viva.questions import Asked, Facts, in_order, sheet, worded
from shardlab_course.viva.tried import Tried, tried
from shardlab_grader.border import artifact
from shardlab_grader.classes import judging, stages
from shardlab_grader.classes.judging import Shared
from shardlab_grader.classes.notebook import Cell, Job, Settings
from shardlab_grader.classes.stages import Grading
from shardlab_grader.inside.cells import defined
from shardlab_grader.records.submissions import Contents, Submission
from shardlab_grader.releases import variants
from shardlab_grader.sandbox.box import Mount, RunScript, Sandbox
from shardlab_judge.items.program import ProgramItem

SCRIPT = "/trusted/examiner.py"
CHILD = pathlib.Path(__file__).parents[1] / "inside" / "examiner.py"
EXERCISES = 5
"""For one student, with one function of each."""
EACH = 4
"""Of a function in a bank: the meshes, the sizes, and the calls left out, that are tried."""


@dataclasses.dataclass(frozen=True)
class Sitting:
    """What one student is asked; `code` has the cell of each function, and `problem` says why nothing is asked."""

    student: str
    key: str
    asked: Sequence[Asked] = ()
    code: Mapping[str, str] = dataclasses.field(default_factory=dict)
    problem: str = ""


def sittings(
    grading: Grading, contents: Contents, found: Sequence[Submission], seed: int, run: RunScript
) -> Iterator[Sitting]:
    """The questions of each submission, repeatable by `seed`: a draw for each student, of equal notebooks too.

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
    job, rng = stages.restored(grading, one.key, contents[one.key]), random.Random(f"{seed}/{one.student}/{one.key}")
    found = _chosen(job, passed, rng)
    if not found:
        return Sitting(one.student, one.key, problem="passed no exercise that asks for a program on a mesh")
    try:
        facts = _measured(job, found, seed, run)
    except (OSError, ShardlabError, artifact.Refused) as error:
        return Sitting(one.student, one.key, problem=f"the sandbox did not start: {error}")
    drawn = [asked for each in found for asked in each.asked(facts, rng)]
    asked = sheet(worded(drawn, variants.names_in(contents[one.key])), rng)
    code = {each.item.name: each.source for each in found}
    return Sitting(one.student, one.key, asked, code, "" if asked else "no two ways of computing agreed on a question")


def bank(grading: Grading, solved: bytes, seed: int, run: RunScript) -> Sitting:
    """Every question about the programs of a solution of the assignment, for whoever has none of their own.

    Args:
        solved: the handed-in form of a notebook of the assignment with right answers.
        run: how scripts are run in a sandbox.
    Raises:
        ShardlabError, OSError, artifact.Refused: the sandbox could not be made.
    """
    names = grading.release.common
    job, rng = stages.restored(grading, "bank", variants.marked(solved, names)), random.Random(seed)
    left = [[_tried(job, q, item, rng, EACH) for item in programs(QUESTIONS[q])] for q in job.manifests]
    code, asked = dict[str, str](), list[Asked]()
    # A run of the notebook asks each exercise for one function.
    for found in itertools.zip_longest(*left):
        some = [one for one in found if one is not None]
        facts = _measured(job, some, seed, run)
        asked += [each for one in some for each in one.asked(facts, rng)]
        code |= {one.item.name: one.source for one in some}
    return Sitting("bank", "", in_order(worded(asked, names)), code)


def _chosen(job: Job, passed: Sequence[str], rng: random.Random) -> list[Tried]:
    """One function each of some exercises that the student passed, and what is tried of it."""
    able = {q: found for q in passed if (found := programs(QUESTIONS[q]))}
    chosen = rng.sample(sorted(able), min(EXERCISES, len(able)))
    return [_tried(job, q, rng.choice(able[q]), rng) for q in chosen]


def _tried(job: Job, question: str, item: ProgramItem, rng: random.Random, most: int = 0) -> Tried:
    return tried(QUESTIONS[question], item, _cell(job, question, item.name), rng, most)


def _cell(job: Job, question: str, function: str) -> str:
    """The last cell before an exercise's check that defines the function; else the one that names it, or none."""
    check = next((n for n, cell in enumerate(job.cells) if cell.question == question), len(job.cells))
    before = [cell.source for cell in job.cells[:check] if cell.question is None]
    named = [source for source in before if function in defined(source)] or [s for s in before if function in s]
    return named[-1] if named else ""


def _measured(job: Job, found: Sequence[Tried], seed: int, run: RunScript) -> dict[tuple[str, int], Facts]:
    """By the name of what the sandbox was asked and the number of the change: the facts, where there are some."""
    axes = {each.question.id: job.manifests[each.question.id].get("axes", {}) for each in found}
    manifests = {n: with_names(asked, axes[each.question.id]) for each in found for n, asked in each.manifests.items()}
    more = {each.question.id: _more(each) for each in found}
    cells = [c for cell in job.cells for c in (cell, *(more.get(cell.question or "", ())))]
    other = dataclasses.replace(job, cells=tuple(cells), manifests=manifests)
    answers = stages.admitted(other, *stages.run(other, Shared(run))).checked
    programs = [program for each in found for program in each.programs(answers)]
    told = [{key: value for key, value in program.items() if key != "of"} for program in programs]
    facts = _facts(job.settings, {"programs": told, "seed": seed}, run)
    return {program["of"]: facts[n] for n, program in enumerate(programs) if n in facts}


def _more(one: Tried) -> list[Cell]:
    """Cells after the exercise's check: each variant, the taking of its answer, and then the student's cell again."""
    each = [(Cell(left.source), Cell("", name)) for name, left in zip(one.names, one.left_out)]
    return [cell for pair in each for cell in pair] + [Cell(one.source)] * bool(each)


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
