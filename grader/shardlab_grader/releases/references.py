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

    Every program in it has been judged, and has earned all points.

    Raises:
        ShardlabError: the solution raises, does not end, or has a question without a program or with one that does not pass.
    """
    cells = job_cells(solution, None if whole else solution)
    told(f"running the solution's {len(cells)} cells in the sandbox")
    answers = recorded(Job("", tuple(cells), manifests, settings))
    told(f"compiling and judging the answers to {len(manifests)} question{'s' * (len(manifests) != 1)}")
    # Measured in a process of its own: forking after JAX has started a backend can hang.
    context = multiprocessing.get_context("spawn")
    with concurrent.futures.ProcessPoolExecutor(1, mp_context=context, initializer=eight_devices) as pool:
        try:
            return pool.submit(_measure, tuple(manifests), answers, settings.seed).result()
        except (KeyError, ValueError) as error:
            raise _fails("a solution has no reference program, or one that does not pass.", str(error)) from None


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
        raise _fails("cells of the solution raise.", "\n".join(lines[:SHOWN]))
    return recording.answers


def _fails(what: str, where: str) -> ShardlabError:
    mend = "open the chapter's source as a notebook, run it, and mend it."
    return ShardlabError("solution-fails", what, where=where, mend=mend)


def eight_devices() -> None:
    """What a process begins with in which programs are judged."""
    import jax

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", 8)


def _measure(questions: tuple[str, ...], answers: Answers, seed: int | None) -> str:
    from shardlab_course.chapters import question
    from shardlab_judge import references

    asked = [question(id) for id in questions]
    found = references.build(asked, answers, seed)
    references.passing(found, asked, answers, seed)
    return found.text()
