"""Which variant a submission has: drawn from the release's seed, by year or by student, and never read from the notebook."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
import shutil
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import nbformat
from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course import variants
from shardlab_course.editions import edition
from shardlab_grader.releases import places

By = Literal["", "year", "student"]
FIELD = "axes"
"""Of a handed-in form's metadata, in which nothing of the student's is left."""


@dataclasses.dataclass(frozen=True)
class Variants:
    """How a release's exercises vary: not at all, by year or by student."""

    by: By = ""
    year: int = 0

    def names(self, assignment: str, seed: int, student: str) -> dict[str, str]:
        """What the notebook of this student calls the course's axes."""
        drawn_for = {"": "", "year": f"year {self.year}", "student": f"student {student}"}[self.by]
        return variants.drawn(int(assignment[:2]), f"{seed}/{drawn_for}") if self.by else {}

    def of(self, released: NotebookNode, names: Mapping[str, str]) -> NotebookNode:
        """The notebook that a student with these names was given."""
        return variants.notebook(released, names) if self.by == "student" else released

    def to_json(self) -> dict[str, Any]:
        """What is kept of it with a release; nothing where nothing varies."""
        return {"variants": dataclasses.asdict(self)} if self.by else {}


def kept(course_dir: pathlib.Path, assignment: str) -> Variants:
    """How a release's exercises vary, by the file that was kept of it."""
    try:
        return Variants(**json.loads(places.kept(course_dir, assignment).read_bytes()).get("variants", {}))
    except (OSError, ValueError, TypeError):
        return Variants()


def released(course_dir: pathlib.Path, assignment: str, student: str) -> NotebookNode:
    """The notebook that a student was given."""
    path = course_dir / "release" / assignment / f"{assignment}.ipynb"
    given, vary = nbformat.read(path, as_version=4), kept(course_dir, assignment)
    if not vary.by:
        return given
    seed = json.loads(places.kept(course_dir, assignment).read_bytes())["seed"]
    return vary.of(given, vary.names(assignment, seed, student))


def check(vary: Variants, assignment: str, students: Iterable[str]) -> None:
    """Do nothing where a chapter can vary in this way.

    Raises:
        ShardlabError: its exercises have no variants, or nobody is there to whom they could be given.
    """
    if vary.by and not vary.names(assignment, 0, ""):
        has = ", ".join(map(str, variants.AXES))
        what, mend = (
            "the exercises of this chapter have no variants.",
            f"leave --variant-by out; these chapters vary: {has}.",
        )
        raise ShardlabError("no-variants", what, where=assignment, mend=mend)
    if vary.by == "student" and not [*students]:
        mend = "enter the students first, for instance: nbgrader db student import students.csv"
        raise ShardlabError("no-students", "the gradebook has no students.", where=assignment, mend=mend)


def told(vary: Variants, questions: Iterable[str]) -> list[str]:
    """Which exercises vary, and why the others do not."""
    from shardlab_course.chapters import QUESTIONS

    why = {id: variants.unvaried(QUESTIONS[id]) for id in questions} if vary.by else {}
    others = [f"{id} ({reason})" for id, reason in why.items() if reason]
    said = [f"by {vary.by}: {', '.join(id for id in why if not why[id])}", f"the same for all: {', '.join(others)}"]
    return said[: 1 + bool(others)] if why else []


def write(course_dir: pathlib.Path, assignment: str, vary: Variants, seed: int, students: Iterable[str]) -> pathlib.Path:
    """Lay each student's notebook, with what belongs beside it, into a folder of the student's own; the folder of these."""
    source, target = course_dir / "release" / assignment, places.variants(course_dir) / assignment
    given = nbformat.read(source / f"{assignment}.ipynb", as_version=4)
    shutil.rmtree(target, ignore_errors=True)
    for student in students:
        shutil.copytree(source, target / student)
        own = vary.of(given, vary.names(assignment, seed, student))
        (target / student / f"{assignment}.ipynb").write_text(edition.to_ipynb(own), encoding="utf-8")
    return target


def marked(form: bytes, names: Mapping[str, str]) -> bytes:
    """A handed-in form that says which names its notebook has; where they are the course's, as it is."""
    if not names:
        return form
    return json.dumps({**json.loads(form), "metadata": {FIELD: dict(names)}}, sort_keys=True, indent=1).encode()


def names_in(form: bytes) -> dict[str, str]:
    """The names in a marked form."""
    return dict(json.loads(form)["metadata"].get(FIELD, {}))


def other(form: bytes, names: Mapping[str, str]) -> str:
    """What is wrong where the notebook says that it is another student's or another year's; else nothing."""
    cells = [cell["source"] for cell in json.loads(form)["cells"] if cell["cell_type"] == "code"] if names else []
    told = (found[1] for source in cells for found in variants.TOLD.finditer(source))
    said = [dict(re.findall(r"'([a-z]+)': '([a-z]+)'", pairs)) for pairs in told]
    if (not said and variants.SETUP in "\n".join(cells)) or (said and names not in said):
        theirs = ", ".join(said[0].values()) if said else "the course's own"
        return f"the notebook of another variant: its axes are {theirs}; this student was given {', '.join(names.values())}."
    return ""
