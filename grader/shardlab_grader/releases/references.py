"""The references of a release: the solution runs where students' notebooks run, and its programs are measured."""

from __future__ import annotations

import concurrent.futures
import json
import multiprocessing
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_grader.border import artifact
from shardlab_grader.classes.notebook import Job, Settings, run_ours
from shardlab_grader.classes.restore import job_cells
from shardlab_judge.verdict import Verdict

Answers = Mapping[str, Any]
Told = Callable[[str], None]
"""Hears of each step, before it begins."""
SHOWN = 5


def silent(step: str) -> None:
    """Tell nobody."""


def text(
    solution: NotebookNode, manifests: Mapping[str, Any], settings: Settings, *, whole: bool = True, told: Told = silent
) -> str:
    """The references file, for the public cases and those that the settings' seed draws.

    Every answer of the solution has been judged by these questions, and has earned all points.

    Raises:
        ShardlabError: the solution raises, does not end, has a question without a program, or does not pass one.
    """
    cells = job_cells(solution, None if whole else solution)
    told(f"running the solution's {len(cells)} cells in the sandbox")
    answers = recorded(Job("", tuple(cells), manifests, settings))
    told(f"compiling and judging the answers to {len(manifests)} question{'s' * (len(manifests) != 1)}")
    # Measured in a process of its own: forking after JAX has started a backend can hang.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context, initializer=eight_devices) as pool:
        try:
            text, lost = pool.submit(_judged, tuple(manifests), answers, settings.seed).result()
        except (KeyError, ValueError) as error:
            raise _fails("a solution has no reference program.", str(error)) from None
    if lost:
        what = f"the chapter's own solution does not pass {len(lost)} of its {len(manifests)} questions."
        raise _fails(what, "\n".join(lost[:SHOWN]), "mend the question or the solution, whichever is wrong.")
    return text


def programs(solution: NotebookNode, manifests: Mapping[str, Any], settings: Settings) -> dict[str, str]:
    """The programs alone, by question, item and case: what answers and what they need are run for.

    Raises:
        ShardlabError: the solution raises, does not end, or has a question without a program.
    """
    from shardlab_course.chapters import question
    from shardlab_judge.references import recorded as written

    answers = recorded(Job("", tuple(job_cells(solution, solution)), manifests, settings))
    try:
        return written(map(question, manifests), answers, settings.seed)
    except (KeyError, ValueError) as error:
        raise _fails("a solution has no reference program.", str(error)) from None


def public(references: str, questions: Iterable[str]) -> str:
    """The same file without what the seed has drawn: for students."""
    from shardlab_course.chapters import question
    from shardlab_judge.items.program import ProgramItem

    raw = json.loads(references)
    items = [(id, item) for id in questions for item in question(id).items if isinstance(item, ProgramItem)]
    known = {f"{id}/{item.name}/{case.key}" for id, item in items for case in item.cases_of(id, None)}
    facts = {version: {key: fact for key, fact in found.items() if key in known} for version, found in raw["facts"].items()}
    programs = {key: program for key, program in raw["programs"].items() if key in known}
    return json.dumps({"facts": facts, "programs": programs}, indent=1, sort_keys=True) + "\n"


def recorded(job: Job) -> Answers:
    """What a notebook of ours leaves behind, by question.

    Raises:
        ShardlabError: it does not run to its end, or cells of it raise.
    """
    outcome, output = run_ours(job)
    recording = artifact.read(output or b"", job.manifests, len(job.cells))
    if not recording.ended:
        raise _fails("the solution does not run to its end.", f"{outcome.ending}; {outcome.stderr.strip()[-300:]}")
    if recording.errors:
        errors = [(e, job.cells[e.cell].source.splitlines()[0]) for e in recording.errors]
        lines = [f"code cell {e.cell + 1} ({first}): {e.type}: {e.message}" for e, first in errors]
        raise _fails("cells of the solution raise exceptions.", "\n".join(lines[:SHOWN]))
    return recording.answers


def _fails(
    what: str, where: str, mend: str = "open the chapter's source as a notebook, run it, and mend it."
) -> ShardlabError:
    return ShardlabError("solution-fails", what, where=where, mend=mend)


def eight_devices() -> None:
    """What a process begins with in which programs are judged."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)


def _judged(questions: tuple[str, ...], answers: Answers, seed: int | None) -> tuple[str, list[str]]:
    """The references file, and a line for each question that these answers do not pass by it."""
    from shardlab_course.chapters import question
    from shardlab_judge import references
    from shardlab_judge.judging import judge

    asked = [question(id) for id in questions]
    found = references.build(asked, answers, seed)
    verdicts = [judge(one, answers[one.id], found, seed) for one in asked]
    # A prediction that is not the key's costs no points, and our own is the key's.
    return found.text(), [_said(verdict) for verdict in verdicts if verdict.status != "passed" or verdict.findings]


def _said(verdict: Verdict) -> str:
    """What is wrong with an answer of ours first of all."""
    if not verdict.findings:
        return f"{verdict.question}: {verdict.reason}"
    found = verdict.findings[0]
    due = f" Expected: {found.expected}; found: {found.got}." * bool(found.expected and found.got)
    return f"{verdict.question}, {found.item}: {found.what}{due}"
