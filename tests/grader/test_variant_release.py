"""Releases whose exercises vary by year or by student: what is handed out, graded, and noticed."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping

import nbformat
import pytest
from click.testing import CliRunner
from nbformat import NotebookNode
from nbgrader.apps import AutogradeApp

from shardlab.errors import ShardlabError
from shardlab_course import variants as course
from shardlab_course.chapters import QUESTIONS
from shardlab_course.editions import edition
from shardlab_grader import cli
from shardlab_grader.classes import classroom, stages
from shardlab_grader.nbgrader.course import Course
from shardlab_grader.records import forgetting
from shardlab_grader.records.forms import handed_in
from shardlab_grader.releases import release, variants
from shardlab_grader.releases.release import Release
from shardlab_grader.releases.variants import Variants

from .conftest import ROOT
from .test_nbgrader import command, silent

NAME = "04_four_matmul_cases"
XY = {"x": "bay", "y": "quay"}


def form(*cells: str) -> bytes:
    """A notebook with these cells of code, as it is handed in."""
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(text) for text in cells])
    return handed_in(nbformat.writes(made).encode())


def test_a_form_says_its_names() -> None:
    """The grader's word and not the notebook's; without a variant it stays as it is."""
    given = form("sl.setup(8)")
    assert variants.marked(given, {}) == given and variants.names_in(given) == {}
    assert variants.names_in(variants.marked(given, XY)) == XY
    assert variants.names_in(handed_in(variants.marked(given, XY))) == {}


@pytest.mark.parametrize(
    ("cells", "theirs"),
    [
        (["sl.setup(8, axes={'x': 'bay', 'y': 'quay'})"], None),
        (["a = 1"], None),
        (["sl.setup(8)", "sl.setup(8, axes={'x': 'bay', 'y': 'quay'})"], None),
        (["sl.setup(8, axes={'x': 'quay', 'y': 'bay'})"], "quay, bay"),
        (["sl.setup(8, axes={'x': __import__('os')})"], None),
        (["import shardlab as sl\nsl.setup(8)"], "the course's own"),
    ],
)
def test_the_notebook_of_another_is_noticed(cells: list[str], theirs: str | None) -> None:
    """By the names in its first cell, which decide nothing else."""
    said = f"the notebook of another variant: its axes are {theirs}; this student was given bay, quay."
    assert variants.other(form(*cells), XY) == (said if theirs else "")
    assert variants.other(form(*cells), {}) == ""


@pytest.mark.parametrize(
    ("chapter", "by", "students", "reference"),
    [("01_meshes", "year", [], "no-variants"), (NAME, "student", [], "no-students"), (NAME, "student", ["ada"], "")],
)
def test_what_cannot_vary_is_told(chapter: str, by: variants.By, students: list[str], reference: str) -> None:
    """Before anything is measured."""
    if not reference:
        return variants.check(Variants(by), chapter, students)
    with pytest.raises(ShardlabError, match=reference):
        variants.check(Variants(by), chapter, students)


SEED = 0
"""With this seed no two of the three students share a name: of a shared one, a part of a copied answer would be right."""


@pytest.fixture(scope="module")
def by_student(tmp_path_factory: pytest.TempPathFactory) -> Release:
    """Chapter 4 for three students."""
    folder = tmp_path_factory.mktemp("by-student") / "course"
    with pytest.raises(ShardlabError, match="no-students"):
        release.release("04", folder, ROOT, vary=Variants("student"))
    for student in ("ada", "bob", "cy"):
        Course(folder).add_student(student)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("secrets.randbelow", lambda _: SEED)
        release.release("04", folder, ROOT, whole=False, core=True, vary=Variants("student"))
    return Release.load(folder, NAME)


def solved(made: Release, names: Mapping[str, str]) -> NotebookNode:
    """The solution of a variant."""
    path = made.course_dir / "source" / NAME / f"{NAME}.ipynb"
    return course.notebook(edition.solution(nbformat.read(path, as_version=4)), names)


def hand_in(made: Release, student: str, notebook: NotebookNode) -> None:
    """Put a student's notebook into `submitted/`."""
    path = made.course_dir / "submitted" / student / NAME / f"{NAME}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(edition.to_ipynb(notebook))


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_a_class_by_student(by_student: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who solves their own passes; copied names fail with a cause in one's own; another's notebook is named, not failed."""
    made = by_student
    ada, bob, cy = (made.names(student) for student in ("ada", "bob", "cy"))
    given = made.course_dir / "variants" / NAME / "bob" / f"{NAME}.ipynb"
    assert given.with_name("BEGIN.txt").exists() and repr(bob) in given.read_text() and ada != bob != cy
    copied = solved(made, bob)
    for cell, theirs in zip(copied.cells, solved(made, ada).cells, strict=True):
        if cell.metadata.get("nbgrader", {}).get("grade_id") == "q4-2-answer":
            cell.source = theirs.source
    for student, notebook in (("ada", solved(made, ada)), ("bob", copied), ("cy", solved(made, ada))):
        hand_in(made, student, notebook)
    rows = {row.student: row for row in classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)}
    assert rows["ada"].points == made.points
    assert rows["bob"].points == made.points | {"4.2": 0.0}
    assert rows["cy"].status == "ungraded" and rows["cy"].reason == variants.other(
        handed_in(edition.to_ipynb(solved(made, ada)).encode()), cy
    )
    page = (made.course_dir / "feedback" / "bob" / NAME / f"{NAME}.html").read_text()
    assert f"in_specs names the axis &#x27;{ada['x']}&#x27;" in page and f"mesh ({bob['x']}=4, {bob['y']}=2)" in page
    assert not classroom.grade(made.course_dir, NAME, "bubblewrap", 2, silent)[0].fresh
    assert set(classroom.answers(made.course_dir, NAME)) == {"ada", "bob"}
    monkeypatch.chdir(made.course_dir)
    command(AutogradeApp, NAME, "--student=ada", "--force")
    assert Course(made.course_dir).score(NAME, "ada") == sum(made.points.values())
    forgetting.forget(made.course_dir, "bob")
    assert not given.exists() and given.parents[1].joinpath("ada").exists()


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.notebook
def test_by_year(tmp_path: pathlib.Path) -> None:
    """One notebook for all, whose solution ran under its names; the year is kept, and last year's notebook is noticed."""
    made = release.release("04", tmp_path / "course", ROOT, whole=False, core=True, vary=Variants("year", 2027))
    names, before = made.names("ada"), Variants("year", 2026).names(NAME, made.seed, "ada")
    assert Release.load(made.course_dir, NAME).vary == made.vary and names == made.names("bob") != before
    assert repr(names) in edition.to_ipynb(made.notebook)
    hand_in(made, "ada", made.notebook)
    text = edition.to_ipynb(made.notebook).replace(repr(names), repr(before))
    hand_in(made, "bob", nbformat.reads(text, as_version=4))
    ada, bob = stages.found(made)
    assert variants.names_in(ada.content) == names and not ada.problem and ada.key
    assert bob.problem.startswith("the notebook of another variant: its axes are ")
    kept = json.loads((made.course_dir / "shardlab" / f"{NAME}.json").read_text())
    assert kept["variants"] == {"by": "year", "year": 2027}


def test_it_is_told_what_varies() -> None:
    """With the reason why the rest does not; every exercise of the course has one, or variants."""
    assert variants.told(Variants("year", 2027), ["4.1", "4.2"]) == [
        "by year: 4.2",
        "the same for all: 4.1 (no program on a mesh)",
    ]
    assert variants.told(Variants("year", 2027), ["4.2"]) == ["by year: 4.2"] and variants.told(Variants(), ["4.2"]) == []
    assert {course.unvaried(question) for question in QUESTIONS.values()} == {
        "",
        "no program on a mesh",
        *course.WHY.values(),
    }


def test_the_guide_names_the_chapters() -> None:
    """Those that vary, and no others."""
    text = (ROOT / "jupyter_book" / "instructors.md").read_text()
    assert "chapters 3, 4, 6 to 13, 16 and 17" in text and tuple(course.AXES) == (3, 4, *range(6, 14), 16, 17)


def test_the_command_has_an_example() -> None:
    """The help of `release` shows one."""
    said = CliRunner().invoke(cli.main, ["release", "--help"]).output
    assert "shardlab-grader release 04 --variant-by year --year 2027" in " ".join(said.split())
