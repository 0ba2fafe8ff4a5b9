"""Sample submissions: small files that say what a student wrote, and the score that it must get.

A sample is `grader/samples/<assignment>/<student>.py`. Its first comment lines are its facts, then come cells:

    # points: 6.5                 the total, or: ungraded
    # reason: forgot-psum         text that the reason in the report must contain (may be left out)
    # Forgets the sum over the contracted axis.
    # %% q4-1-answer              the lines up to the next mark replace this cell's source
    # %% q4-2-answer = solution   this cell is taken from the solution, and the lines up to the next mark come after it
    # %% * = solution             and so are all answers
    # %% raw                      the file that is handed in is these lines, whatever they are
"""

from __future__ import annotations

import copy
import dataclasses
import pathlib
import re
from collections.abc import Mapping

from nbformat import NotebookNode

from shardlab.errors import ShardlabError
from shardlab_course.editions import edition

FOLDER = pathlib.Path(__file__).parents[2] / "samples"
MARK = re.compile(r"^# %% (\S+)( = solution)?[ \t]*$", re.MULTILINE)
FACT = re.compile(r"^# (points|reason): (.+)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True)
class Sample:
    """One student of the sample class; `points` is `None` for a submission that cannot be graded.

    `cells` says of each answer whether the solution's text comes first, and what comes after it.
    """

    student: str
    about: str
    points: float | None
    reason: str
    cells: Mapping[str, tuple[bool, str]]
    raw: str | None = None

    def submission(self, released: NotebookNode, solved: NotebookNode) -> str:
        """The file that this student hands in: the released notebook with the sample's answers filled in.

        Raises:
            ShardlabError: the sample names a cell that the notebook does not have.
        """
        if self.raw is not None:
            return self.raw
        notebook, answers = copy.deepcopy(released), _answers(solved)
        unknown = set(self.cells) - set(answers) - {"*"}
        if unknown:
            mend = f"use one of: {', '.join(answers)}."
            what = f"the notebook has no cell {', '.join(sorted(unknown))}."
            raise ShardlabError("unknown-cell", what, where=self.student, mend=mend)
        for name, cell in _answers(notebook).items():
            if name in self.cells or "*" in self.cells:
                solved_too, text = self.cells.get(name, (True, ""))
                cell.source = "\n\n\n".join(filter(None, (answers[name].source * solved_too, text)))
        return edition.to_ipynb(notebook)


def assignments() -> list[str]:
    """The assignments that have samples, in their order.

    Raises:
        ShardlabError: none has.
    """
    names = sorted({path.parent.name for path in FOLDER.glob("*/*.py")})
    if not names:
        mend = "write grader/samples/<assignment>/<student>.py as this module's first lines say."
        raise ShardlabError("no-samples", "there is no sample class.", where=str(FOLDER), mend=mend)
    return names


def read(assignment: str) -> list[Sample]:
    """The sample class of an assignment, by student."""
    return [parse(path) for path in sorted((FOLDER / assignment).glob("*.py"))]


def parse(path: pathlib.Path) -> Sample:
    """The sample in one file.

    Raises:
        ShardlabError: it does not say its points.
    """
    head, *rest = MARK.split(path.read_text())
    facts = dict(FACT.findall(head))
    if "points" not in facts:
        mend = "write in its first line: # points: 6.5, or: # points: ungraded"
        raise ShardlabError("sample-without-points", "the sample does not say its points.", where=str(path), mend=mend)
    parts = zip(rest[::3], rest[1::3], rest[2::3])
    cells = {name: (bool(solved), text.strip("\n")) for name, solved, text in parts}
    about = " ".join(line.removeprefix("#").strip() for line in FACT.sub("", head).splitlines()).strip()
    _, raw = cells.pop("raw", (False, None))
    points = None if facts["points"] == "ungraded" else float(facts["points"])
    return Sample(path.stem, about, points, facts.get("reason", ""), cells, raw)


def _answers(notebook: NotebookNode) -> dict[str, NotebookNode]:
    marked = {cell.metadata.get("nbgrader", {}).get("grade_id"): cell for cell in notebook.cells}
    return {name: cell for name, cell in marked.items() if name and cell.metadata.nbgrader.solution}
