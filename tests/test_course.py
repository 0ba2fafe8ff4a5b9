"""The course itself: each chapter's editions agree, its solutions earn all points and its stubs none."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import pathlib

import jax
import nbformat
import pytest
from nbformat import NotebookNode

import asked
from shardlab_authoring import lanes
from shardlab_course.chapters import CHAPTERS, HOME, QUESTIONS, folder
from shardlab_course.checking.feedback import text
from shardlab_course.editions import edition, header
from shardlab_grader.classes import classroom
from shardlab_grader.records import submissions
from shardlab_grader.records.store import Record, Store, key
from shardlab_grader.releases.release import release
from shardlab_grader.reports.report import Row
from shardlab_judge.items.program import ProgramItem

ROOT = pathlib.Path(__file__).parent.parent
SOURCES = {int(path.stem[:2]): path for path in edition.chapters(ROOT)}
ASKED = [chapter for chapter in SOURCES if asked.chapter(chapter)]
FOLDERS = ROOT / "notebooks", ROOT / "notebooks" / "myst"
SEED = 31
WRITTEN_BY = lanes.known(ROOT)[0]
"""The JAX whose programs are on file."""

each_chapter = pytest.mark.parametrize("chapter", ASKED)


@functools.cache
def source(chapter: int) -> NotebookNode:
    return edition.source(SOURCES[chapter], header.syllabus(ROOT))


@dataclasses.dataclass(frozen=True)
class Class:
    """A released chapter with two submissions, its solution and the notebook as shipped, graded by nbgrader."""

    chapter: int
    rows: dict[str, Row]
    records: dict[str, Record]
    folder: pathlib.Path


@pytest.fixture(scope="module", params=ASKED)
def graded(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Class:
    chapter, folder = request.param, tmp_path_factory.mktemp(f"course{request.param}")
    # Every cell of the solution has run where the book's pages come from; here run the answers and what they need.
    made = release(SOURCES[chapter].stem, folder, ROOT, whole=False)
    handed_in = {"perfect": edition.solution(source(chapter)), "untouched": made.notebook}
    paths = {name: folder / "submitted" / name / made.assignment / f"{made.assignment}.ipynb" for name in handed_in}
    for student, notebook in handed_in.items():
        paths[student].parent.mkdir(parents=True)
        paths[student].write_text(edition.to_ipynb(notebook))
    rows = {row.student: row for row in classroom.grade(folder, made.assignment, "bubblewrap", 2, silent)}
    read = {one.student: one.content for one in submissions.each(folder, made.assignment)}
    records = {name: Store(folder).get(key(read[name], made.fingerprint)) for name in paths}
    return Class(chapter, rows, records, folder)


def silent(step: str, length: int) -> contextlib.AbstractContextManager:
    return contextlib.nullcontext(lambda: None)


def test_chapters_and_questions_agree() -> None:
    """Every declared question has its exercise in its chapter, in order, and no chapter has another."""
    assert set(SOURCES) == set(CHAPTERS)
    declared = [question.id for chapter in ASKED for question in CHAPTERS[chapter]]
    assert [id for chapter in ASKED for id in edition.questions(source(chapter))] == declared


@pytest.mark.stored
@each_chapter
def test_notebooks_are_fresh(chapter: int) -> None:
    """Generating the student edition again changes nothing."""
    stale = [str(path.relative_to(ROOT)) for path in edition.stale(ROOT, [chapter])]
    assert stale == [], "run `make notebooks`"


def test_each_chapter_is_listed_once() -> None:
    """JupyterLab lists one file a chapter in `notebooks/`; its MyST text lies in `notebooks/myst/`, with nothing else."""
    names = [path.stem for path in SOURCES.values()]
    listed, twins = ((p for p in folder.iterdir() if p.suffix in (".md", ".ipynb")) for folder in FOLDERS)
    assert sorted(p.name for p in listed) == [f"{name}.ipynb" for name in names]
    assert sorted(p.name for p in twins) == [f"{name}.md" for name in names]


@each_chapter
def test_student_edition_is_the_solution_but_for_the_regions(chapter: int) -> None:
    """Outside the marked regions the two editions are the same, cell by cell; inside them nothing of the solution stays."""
    pairs = zip(edition.student(source(chapter)).cells, edition.solution(source(chapter)).cells, strict=True)
    differing = [(s, t) for s, t in pairs if s.source != t.source]
    assert all(s.metadata.get("nbgrader", {}).get("solution") for s, _ in differing)
    assert all("# TODO" in s.source for s, _ in differing)
    assert len(differing) >= len(CHAPTERS[chapter])


@each_chapter
def test_committed_notebooks_hold_no_outputs_and_no_markers(chapter: int) -> None:
    """What students open is unexecuted and has no trace of the solution regions."""
    path = ROOT / "notebooks" / f"{SOURCES[chapter].stem}.ipynb"
    notebook = nbformat.read(path, as_version=4)
    nbformat.validate(notebook)
    assert all(not c.outputs and c.execution_count is None for c in notebook.cells if c.cell_type == "code")
    assert "SOLUTION" not in path.read_text() + (path.parent / "myst" / f"{path.stem}.md").read_text()


@each_chapter
def test_points_in_the_notebook_are_the_questions(chapter: int) -> None:
    """nbgrader's points of a grade cell are those of the declaration; prose, that a person grades, has points of its own."""
    marks = [c.metadata.get("nbgrader", {}) for c in source(chapter).cells]
    points = {mark.grade_id: mark.points for mark in marks if mark.get("grade") and not mark.solution}
    assert points == {q.grade_id: q.points for q in CHAPTERS[chapter]}


@pytest.mark.sandbox
@pytest.mark.thorough
def test_solution_earns_all_points(graded: Class) -> None:
    """The reference passes on public and drawn cases, from the sandbox to nbgrader's gradebook; no cell raises."""
    record, questions = graded.records["perfect"], CHAPTERS[graded.chapter]
    assert not any(record.errors.values()), record.errors
    for question in questions:
        verdict = record.verdicts[question.id]
        assert (verdict.status, verdict.points) == ("passed", question.points), text(verdict, question)
    row = graded.rows["perfect"]
    assert (row.status, row.total) == ("graded", sum(q.points for q in questions))


@pytest.mark.sandbox
@pytest.mark.thorough
def test_student_edition_earns_nothing_kindly(graded: Class) -> None:
    """As shipped, every question is graded as unattempted with no points, and every cell runs."""
    record = graded.records["untouched"]
    assert not any(record.errors.values()), record.errors
    for question in CHAPTERS[graded.chapter]:
        verdict = record.verdicts[question.id]
        assert (verdict.status, verdict.points) == ("unattempted", 0), text(verdict, question)
        assert "Not attempted yet" in verdict.reason
    assert (graded.rows["untouched"].status, graded.rows["untouched"].total) == ("graded", 0)


@pytest.mark.sandbox
@pytest.mark.thorough
def test_feedback_pages_tell_the_verdicts(graded: Class) -> None:
    """Each student's page has every question's headline, and no reference solution."""
    name = SOURCES[graded.chapter].stem
    for student, sign in (("perfect", "✓"), ("untouched", "·")):
        page = (graded.folder / "feedback" / student / name / f"{name}.html").read_text()
        assert all(f"{sign} {question.id} " in page for question in CHAPTERS[graded.chapter])
    assert "BEGIN SOLUTION" not in page


@pytest.mark.sandbox
@pytest.mark.thorough
def test_packaged_references_are_those_of_the_solutions(graded: Class) -> None:
    """The file that comes with the package holds what the solutions are and cost today, as the release has measured it.

    The programs are the oldest lane's; of those that another JAX writes, what they cost is kept.
    """
    path = folder(graded.chapter) / "references.json"
    kept = json.loads(path.read_text()) if path.exists() else {"programs": {}, "facts": {}}
    (path,) = (graded.folder / "shardlab").glob("*.references.json")
    found = json.loads(path.read_text())
    assert kept["programs"].keys() <= found["programs"].keys()
    assert jax.__version__ != WRITTEN_BY or kept["programs"].items() <= found["programs"].items(), "run `make references`"
    here = kept["facts"].get(jax.__version__, {})
    assert here.items() <= found["facts"].get(jax.__version__, {}).items(), "run `make references`"


def test_packaged_references_cover_every_public_case() -> None:
    """No check in a notebook is without its budget."""
    programs = [key for path in HOME.glob("*/references.json") for key in json.loads(path.read_text())["programs"]]
    keys = {
        f"{q.id}/{i.name}/{c.key}"
        for q in QUESTIONS.values()
        for i in q.items
        if isinstance(i, ProgramItem)
        for c in i.cases
    }
    assert sorted(programs) == sorted(keys)


@pytest.mark.parametrize("question", [q for n in ASKED for q in CHAPTERS[n]], ids=lambda q: q.id)
def test_programs_are_judged_on_two_mesh_shapes(question) -> None:
    """Some wrong programs are right on a mesh with one axis."""
    for item in question.items:
        if isinstance(item, ProgramItem):
            assert len({tuple(size for _, size in case.axes) for case in item.cases}) >= 2, item.name
            # Two cases of one key are judged once: other values alone make no other case.
            assert len({case.key for case in item.cases}) == len(item.cases), item.name
