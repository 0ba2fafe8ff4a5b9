"""A tiny course: one chapter with two questions, its course directory, and a stand-in for the sandbox and the judge."""

from __future__ import annotations

import pathlib
import shutil
import sys
import types
from collections.abc import Iterable, Iterator

import pytest

from shardlab_course.editions import edition, header
from shardlab_grader.classes import jobs
from shardlab_grader.classes.notebook import Job
from shardlab_grader.classes.stages import Graded
from shardlab_grader.releases import references, release
from shardlab_grader.sandbox import box as sandbox
from shardlab_grader.sandbox.box import RunScript
from shardlab_grader.sandbox.servers import Servers
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question
from shardlab_judge.verdict import Finding, Part, Verdict

ROOT = pathlib.Path(__file__).parents[2]
NAME = "90_tiny"
TINY = pathlib.Path(__file__).with_name("tiny") / f"{NAME}.md"
DOUBLE = CallsItem("double", {"C": 2}, oracle=lambda n: 2 * n, calls=((1,), (2,)))
KIND = ValueItem("kind", {"P": 0.5}, key="all-reduce", words=("all-gather", "all-reduce"), predicted=True)
HINTS = ("one", "two", "three")
QUESTIONS = (
    Question("90.1", "Double", (DOUBLE,), 1, 2, HINTS, "Because."),
    Question("90.2", "Parts", (KIND, ValueItem("A", {"C": 1}, key=3)), 2, 5, HINTS, "Because.", variable="parts"),
)
SYLLABUS = header.Syllabus({question.id: question for question in QUESTIONS}, "https://github.com/owner/course")


@pytest.fixture(scope="session")
def warm() -> Iterator[Servers]:
    """Warm servers for all tests that say the same of a cold start."""
    with Servers() as servers:
        yield servers


@pytest.fixture
def without_servers() -> None:
    """For a test in which no server can start, so that every start is a cold one."""


@pytest.fixture(params=["cold", "warm"])
def run_script(request: pytest.FixtureRequest) -> Iterator[RunScript]:
    """A way to run a script in a sandbox; with servers no job may have a cold start, but `without_servers`."""
    if request.param == "cold":
        yield sandbox.cold
        return
    servers: Servers = request.getfixturevalue("warm")
    before = servers.cold
    yield servers.run
    assert (servers.cold > before) == ("without_servers" in request.fixturenames)


@pytest.fixture
def tiny(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The root of a repository with one chapter, whose questions are the only ones."""
    return repository(tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def tiny_course(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A course directory with the tiny chapter released; made once, since nbgrader takes seconds for a new gradebook."""
    folder = tmp_path_factory.mktemp("released")
    with pytest.MonkeyPatch.context() as patch:
        release.release(NAME, folder / "course", repository(folder, patch))
    return folder / "course"


def repository(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    declared = types.ModuleType("shardlab_course.chapters")
    declared.QUESTIONS = SYLLABUS.questions
    declared.question = SYLLABUS.questions.__getitem__
    monkeypatch.setitem(sys.modules, "shardlab_course.chapters", declared)
    monkeypatch.setattr(references, "text", lambda *_, **__: '{"facts": {}, "programs": {}}')
    monkeypatch.setattr(jobs, "run_all", stand_in)
    monkeypatch.setattr(jobs, "grade", lambda job: next(stand_in([job], 1))[1])
    root = tmp_path / "repository"
    for folder in ("solutions", "notebooks"):
        (root / folder).mkdir(parents=True)
    (root / "pyproject.toml").write_text(f'[project]\n[project.urls]\nRepository = "{SYLLABUS.address}"\n')
    shutil.copy(TINY, root / "solutions")
    return root


def stand_in(work: Iterable[Job], workers: int, servers: object = None) -> Iterator[tuple[Job, Graded]]:
    """Verdicts by the words in a question's cells: TODO, wrong, lost; anything else passes."""
    for job in work:
        verdicts, text = {}, ""
        for cell in job.cells:
            if cell.question is None:
                text += cell.source
                continue
            verdicts[cell.question] = _verdict(_asked(cell.question, job), text)
            text = ""
        yield job, Graded(verdicts, mode=job.settings.mode)


def _asked(id: str, job: Job) -> Question:
    asked = SYLLABUS.questions[id]
    return asked.worth(job.settings.points.get(id, asked.points))


def _verdict(question: Question, text: str) -> Verdict:
    words = {"TODO": "unattempted", "wrong": "failed", "lost": "ungraded"}
    status = next((status for word, status in words.items() if word in text), "passed")
    share = 1.0 if status == "passed" else 0.0
    parts = tuple(Part(i.name, letter, share * of, of) for i in question.items for letter, of in i.points.items())
    findings = (Finding(question.items[0].name, "C", "It is <b>wrong</b>."),) if status == "failed" else ()
    return Verdict(question.id, status, parts, findings, "The judge <i>died</i>." if status == "ungraded" else "")


@pytest.fixture
def source() -> edition.NotebookNode:
    """The tiny chapter as nbgrader's source."""
    return edition.source(TINY, SYLLABUS)
