"""A class to grade: submissions of one chapter, each another combination of an exercise's right and wrong answers."""

from __future__ import annotations

import copy
import pathlib
import random
import sys
from collections.abc import Iterator, Mapping, Sequence

import nbformat
from nbformat import NotebookNode

from shardlab_course.editions import edition
from shardlab_grader.releases.release import Release

sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "tests"))

from variants import REFERENCE, of

RIGHT = 0.6
"""The share of questions that are answered as the reference does: most students hand in mostly right answers."""


DEFECTS = (
    "import os; os._exit(1)",
    "import ctypes; ctypes.string_at(0)",
    "while True: pass",
    "import sys; sys.exit()",
    "kept = []\nwhile True: kept.append(bytearray(2**26))",
    "for _ in range(10_000): print('x' * 1_000)",
)
"""What people hand in that ends a kernel, fills memory or a page, or does not end."""


def hand_in(made: Release, students: Sequence[str], seed: int = 0, *, defective: int = 0) -> None:
    """Write a submission for each student into `submitted/`; no two are equal, and the last ones are defective."""
    sound = len(students) - defective
    for number, chosen in enumerate(combinations(list(made.manifests), len(students), seed)):
        path = made.course_dir / "submitted" / students[number] / made.assignment / f"{made.assignment}.ipynb"
        path.parent.mkdir(parents=True, exist_ok=True)
        notebook = submission(made.notebook, chosen)
        if number >= sound:
            spoil(notebook, DEFECTS[(number - sound) % len(DEFECTS)])
        path.write_text(edition.to_ipynb(notebook))


def spoil(notebook: NotebookNode, code: str) -> None:
    """Put a cell with this code before the answer that stands in the middle."""
    answers = [n for n, cell in enumerate(notebook.cells) if cell.metadata.get("nbgrader", {}).get("solution")]
    notebook.cells.insert(answers[len(answers) // 2], nbformat.v4.new_code_cell(code))


def combinations(questions: Sequence[str], count: int, seed: int) -> list[dict[str, str]]:
    """For each student the name of the answer to each question."""
    rng, seen = random.Random(seed), []
    while len(seen) < count:
        chosen = {question: _choice(question, rng) for question in questions}
        if chosen not in seen:
            seen.append(chosen)
    return seen


def submission(released: NotebookNode, chosen: Mapping[str, str]) -> NotebookNode:
    """The released notebook, in which each question's first answer cell is an answer and its other ones are empty."""
    notebook = copy.deepcopy(released)
    for question, name in chosen.items():
        first, *others = _answer_cells(notebook, question)
        first.source = of(question)[name].source()
        for cell in others:
            cell.source = ""
    return notebook


def _choice(question: str, rng: random.Random) -> str:
    return REFERENCE if rng.random() < RIGHT else rng.choice(sorted(of(question)))


def _answer_cells(notebook: NotebookNode, question: str) -> Iterator[NotebookNode]:
    name = f"q{question.replace('.', '-')}-answer"
    return (cell for cell in notebook.cells if cell.metadata.get("nbgrader", {}).get("grade_id", "").startswith(name))
