"""A class of twenty-five to ten of whom something happened: each score is the one deserved, or ungraded with a reason."""

from __future__ import annotations

import copy
import html
import json
import pathlib
import random

import jupytext
import nbformat
import pytest

from shardlab_grader import statuses

from .cases import NAME, POINTS, RIGHT, Case, Notebook, answered, answers, cells, damaged, deserved, find, folder, save
from .harness import Course
from .test_hostile import unfair

pytestmark = pytest.mark.sandbox


def text(notebook: Notebook, format: str) -> str:
    """The notebook as jupytext writes it."""
    return str(jupytext.writes(nbformat.from_dict(notebook), fmt=format))


def as_a_text(place: pathlib.Path) -> None:
    """Handed in as Markdown, under its own name."""
    path = place / f"{NAME}.ipynb"
    (place / "my chapter.md").write_text(text(json.loads(path.read_text()), "md:myst"))
    path.unlink()


def packed(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").rename(place / "work.zip")


def beside(place: pathlib.Path) -> None:
    (place / f"{NAME}.ipynb").rename(place.parent / "90.ipynb")
    place.rmdir()


def another_chapter(notebook: Notebook) -> str:
    return json.dumps(notebook).replace('\\"90.', '\\"4.').replace('"q90-', '"q4-')


def all_in_one_with_a_colon_missing(notebook: Notebook) -> None:
    """A single cell holds the answers to 90.1 and 90.3, the one of 90.1 without its colon."""
    find(notebook, "q90-1-answer")["source"] = RIGHT["q90-1-answer"].replace("):", ")") + "\n\n" + RIGHT["q90-3-answer"]
    notebook["cells"].remove(find(notebook, "q90-3-answer"))


def below_the_checks(notebook: Notebook, released: Notebook) -> None:
    """The given cells are as they were; the answers stand in new cells below the checks."""
    for name, answer in RIGHT.items():
        given = next(
            cell["source"] for cell in released["cells"] if cell["metadata"].get("nbgrader", {}).get("grade_id") == name
        )
        find(notebook, name)["source"] = given
        at = notebook["cells"].index(find(notebook, name.partition("-answer")[0]))
        new = {"cell_type": "code", "id": f"mine-{name}", "metadata": {}, "outputs": [], "execution_count": None}
        notebook["cells"].insert(at + 1, new | {"source": answer})


def hand_in_below(place: pathlib.Path, released: Notebook) -> None:
    notebook = answered(released, "all")
    below_the_checks(notebook, released)
    save(place, notebook)


def split_in_two(notebook: Notebook) -> None:
    """JupyterLab's Split Cell: both halves keep the metadata, and so the grade id."""
    whole = find(notebook, "q90-3-answer")
    half = copy.deepcopy(whole) | {"id": "split-off"}
    whole["source"] = 'def summed(a, b):\n    return jax.lax.psum(a @ b, "x")'
    half["source"] = RIGHT["q90-3-answer"].replace('lambda a, b: jax.lax.psum(a @ b, "x")', "summed")
    notebook["cells"].insert(notebook["cells"].index(whole) + 1, half)


def worked_in_the_copy(place: pathlib.Path, released: Notebook) -> None:
    """Duplicated and solved; the file of the assignment's name is as it was given out."""
    save(place, released)
    (place / f"{NAME}-Copy1.ipynb").write_text(json.dumps(answered(released, "all")))


ACCIDENTS = (
    damaged("script", lambda n: text(n, "py:percent")),
    folder("markdown", as_a_text),
    damaged("other-chapter", another_chapter, "", status="ungraded", reason="another chapter's"),
    folder("zipped", packed, "", status="ungraded", reason="handed in as an archive"),
    folder("beside", beside, "", status="ungraded", reason="in the wrong place"),
    answers("colon", {"90.3": 0.0}, reason="SyntaxError", q90_3_answer=RIGHT["q90-3-answer"].replace("B):", "B)")),
    damaged("colon-in-one", all_in_one_with_a_colon_missing, "90.2 90.3 90.4"),
    Case("below", hand_in_below, deserved("all")),
    damaged("windows", lambda n: json.dumps(n, ensure_ascii=False).replace("# A small", "# “Ein” großes").encode("cp1252", "replace")),
    cells("crash", "import os; os.kill(os.getpid(), 9)", "90.1 90.3 90.4", at="q90-2-answer"),
)  # fmt: skip

HABITS = (
    damaged("split", split_in_two),
    Case("copied", worked_in_the_copy, {}, "ungraded", "work in another file: 90_small.ipynb is as it was released"),
    answers("no-break", {"90.1": 0.0}, reason="U+00A0", q90_1_answer=RIGHT["q90-1-answer"].replace("    ", "\u00a0" * 4)),
    answers("indented", {"90.1": 0.0}, reason="TabError", q90_1_answer="def double(n):\n    m = 2 * n\n\treturn m"),
    answers("quotes", {"90.2": 1.0}, reason="U+201C", q90_2_answer="sl.predict(“90.2”, kind=“all-reduce”)"),
    answers("pasted", {}, q90_1_answer=">>> def double(n):\n...     return 2 * n"),
    cells("mesh-for-all", "jax.set_mesh(jax.make_mesh((4, 2), ('a', 'b'), (jax.sharding.AxisType.Auto,) * 2))", "all"),
    cells("not-compiled", "jax.config.update('jax_disable_jit', True)", "all"),
    cells("strict", "import warnings; warnings.simplefilter('error'); jax.config.update('jax_enable_x64', True)", "all"),
    cells("waits", "import asyncio\nawait asyncio.sleep(0)\nlen, max, print, mesh = 3, 4, None, 'm'", "all"),
)
"""What editors, browsers and cells of one's own do to a notebook."""


def honest(seed: int) -> list[Case]:
    """Fifteen of whom each has drawn exercises right, and the others wrong."""
    drawn = random.Random(seed)

    def case(number: int) -> Case:
        right = " ".join(question for question in POINTS if drawn.random() < 0.7)

        def hand_in(place: pathlib.Path, released: Notebook) -> None:
            save(place, answered(released, right))

        return Case(f"honest-{number:02}", hand_in, deserved(right))

    return [case(number) for number in range(15)]


@pytest.mark.thorough
@pytest.mark.parametrize("seed, happened", [(25, ACCIDENTS), (44, HABITS)], ids=["accidents", "habits"])
def test_a_class_to_which_things_happen(seed: int, happened: tuple[Case, ...], course: Course) -> None:
    """Nobody has a score but the one deserved, and each row that is ungraded says what it is."""
    everybody = [*honest(seed), *happened]
    assert len(everybody) == 25
    for case in everybody:
        case.hand_in(course.place(case.name), course.released)
    ended = course.run("grade", NAME, "--workers", "2", "--names")
    rows, scores = course.rows(), course.scores()
    wrong = [line for case in everybody for line in unfair(case, rows.get(case.name), scores.get(case.name))]
    assert not wrong, "\n".join([*wrong, ended.said])
    assert ended.status == statuses.LOOK and "Traceback" not in ended.said
    if "colon" in course.pages():
        page = html.unescape(course.pages()["colon"])
        assert page.index("expected ':'") < page.index("Exercises, and cells of your own")
    assert not list((course.folder / "tmp").iterdir())
