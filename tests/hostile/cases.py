"""What a hostile or broken submission is, and what a fair grader must answer to it."""

from __future__ import annotations

import copy
import dataclasses
import json
import os
import pathlib
import textwrap
from collections.abc import Callable, Mapping
from typing import Any, Literal

NAME = "90_small"
POINTS = {"90.1": 2.0, "90.2": 1.5, "90.3": 4.0, "90.4": 1.0}
MARK = f"86.625{os.getpid():07}"
"""Seconds that every process sleeps which an attack leaves behind."""
RIGHT = {
    "q90-1-answer": "def double(n):\n    return 2 * n",
    "q90-2-answer": 'sl.predict("90.2", kind="all-reduce")',
    "q90-2-answer-2": 'parts = {"A": 3}',
    "q90-3-answer": """\
def product(mesh, A, B):
    return jax.shard_map(
        lambda a, b: jax.lax.psum(a @ b, "x"), mesh=mesh,
        in_specs=(P(None, "x"), P("x", None)), out_specs=P())(A, B)""",
    "q90-4-answer": 'rows = jax.NamedSharding(\n    jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,)), P("x"))',
}
WRONG = {
    "q90-1-answer": "def double(n):\n    return 3 * n",
    "q90-2-answer": 'sl.predict("90.2", kind="all-sorts")',
    "q90-2-answer-2": 'parts = {"A": 4}',
    "q90-3-answer": "def product(mesh, A, B):\n    return jnp.zeros((A.shape[0], B.shape[1]))",
    "q90-4-answer": 'rows = jax.NamedSharding(\n    jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,)), P())',
}
Notebook = dict[str, Any]
Points = Mapping[str, float]
Status = Literal["graded", "ungraded"]


@dataclasses.dataclass(frozen=True)
class Case:
    """One submission.

    Args:
        name: the student's, unless `hand_in` says otherwise.
        hand_in: writes the submission into the student's assignment folder, given the released notebook.
        points: what it deserves, by question; all others deserve nothing.
        status: how it must end.
        reason: text that the reason in the report must hold.
        slow: whether it runs into a limit of time, and so only in the full run.
    """

    name: str
    hand_in: Callable[[pathlib.Path, Notebook], None]
    points: Points
    status: Status = "graded"
    reason: str = ""
    slow: bool = False


def deserved(right: str) -> Points:
    """Full points for the questions in a text like `90.1 90.3`; `all` of them."""
    return POINTS if right == "all" else {question: POINTS[question] for question in right.split()}


def cells(name: str, code: str, right: str = "", *, at: str = "q90-1-answer", reason: str = "", slow: bool = False) -> Case:
    """A notebook whose answers are wrong but for those named, with a cell more: this code, before the cell `at`."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        notebook = answered(released, right)
        new = {"cell_type": "code", "id": "attack", "metadata": {}, "outputs": [], "execution_count": None}
        place = next((i for i, cell in enumerate(notebook["cells"]) if grade_id(cell) == at), len(notebook["cells"]))
        notebook["cells"].insert(place, new | {"source": textwrap.dedent(code).strip()})
        save(folder, notebook)

    return Case(name, hand_in, deserved(right), reason=reason, slow=slow)


def answers(name: str, points: Points, *, reason: str = "", slow: bool = False, **sources: str) -> Case:
    """A notebook whose answers are right but for these: `q90_3_answer="def ..."`."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        notebook = answered(released, "all")
        for key, source in sources.items():
            find(notebook, key.replace("_", "-"))["source"] = textwrap.dedent(source).strip()
        save(folder, notebook)

    return Case(name, hand_in, POINTS | points, reason=reason, slow=slow)


def damaged(
    name: str, harm: Callable[[Notebook], Any], right: str = "all", *, status: Status = "graded", reason: str = ""
) -> Case:
    """The right notebook, changed: `harm` edits it, or returns the bytes or the text of the file."""

    def hand_in(folder: pathlib.Path, released: Notebook) -> None:
        notebook = answered(released, "all")
        made = harm(notebook)
        save(folder, made if isinstance(made, bytes | str) else notebook)

    return Case(name, hand_in, deserved(right), status, reason)


def folder(
    name: str, put: Callable[[pathlib.Path], Any], right: str = "all", *, status: Status = "graded", reason: str = ""
) -> Case:
    """The right notebook in its place, and then whatever `put` does to the assignment's folder."""

    def hand_in(place: pathlib.Path, released: Notebook) -> None:
        save(place, answered(released, "all"))
        put(place)

    return Case(name, hand_in, deserved(right), status, reason)


def answered(released: Notebook, right: str) -> Notebook:
    """The notebook with the answers to these questions right, and all others wrong."""
    notebook = copy.deepcopy(released)
    asked = list(deserved(right))
    for cell in notebook["cells"]:
        name = grade_id(cell)
        if name in RIGHT:
            question = name.partition("-answer")[0].removeprefix("q").replace("-", ".")
            cell["source"] = (RIGHT if question in asked else WRONG)[name]
    return notebook


def find(notebook: Notebook, name: str) -> dict[str, Any]:
    """The cell with this grade id."""
    return next(cell for cell in notebook["cells"] if grade_id(cell) == name)


def grade_id(cell: dict[str, Any]) -> str:
    """The cell's grade id, or nothing."""
    return cell["metadata"].get("nbgrader", {}).get("grade_id", "")


def save(folder: pathlib.Path, content: Notebook | str | bytes) -> None:
    """Write the notebook's file."""
    path = folder / f"{NAME}.ipynb"
    text = json.dumps(content) if isinstance(content, dict) else content
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
