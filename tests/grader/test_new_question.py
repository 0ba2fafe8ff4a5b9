"""A new exercise: what `make new-question` writes works, and so does the authoring guide's example, word for word."""

from __future__ import annotations

import os
import pathlib
import re
import shutil
import subprocess
import sys

import pytest

from shardlab.errors import ShardlabError
from shardlab_authoring import new_question
from shardlab_course.chapters import CHAPTERS

ROOT = pathlib.Path(__file__).parent.parent.parent
ID = "4.8"
CHAPTER = "solutions/04_four_matmul_cases.md"
DECLARED = "src/shardlab_course/ch04/questions.py"
FENCED = re.compile(r"^(?P<fence>`{3,4})(?:python|text)\n(?P<text>.*?)^(?P=fence)\n", re.MULTILINE | re.DOTALL)


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """The parts of the repository that an exercise lives in."""
    for name in ("src", "grader", "solutions", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "samples"))
    tests = (f"tests/{name}.py" for name in ("conftest", "corpus", "reach", "test_answers", "together", "variants"))
    for path in ("pyproject.toml", *tests):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def run(copy: pathlib.Path, *command: str) -> str:
    """What a Python command prints in the copy, whose packages it uses; its failure is the test's."""
    environment = {**os.environ, "PYTHONPATH": f"{copy / 'src'}:{copy / 'grader'}", "JAX_PLATFORMS": "cpu"}
    ran = subprocess.run([sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def works(copy: pathlib.Path) -> str:
    """The chapter is generated, and every answer of the new question gets its verdict; what pytest said last."""
    run(copy, "-m", "shardlab_course.editions.edition")
    assert 'sl.check("4.8", ' in (copy / "notebooks" / "myst" / "04_four_matmul_cases.md").read_text()
    told = run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_answers.py", "-k", ID)
    return told.splitlines()[-1]


@pytest.mark.notebook
def test_what_is_written_works(copy: pathlib.Path) -> None:
    """From the command to green tests without a keystroke in between."""
    told = run(copy, "-m", "shardlab_authoring.new_question", ID)
    assert [line for line in told.splitlines() if line.startswith("wrote")] == [
        f"wrote {path}" for path in (DECLARED, CHAPTER, f"tests/answers/{ID}.py")
    ]
    assert "5 passed" in works(copy)


@pytest.mark.notebook
def test_the_guide_leads_to_an_exercise(copy: pathlib.Path) -> None:
    """The guide's own blocks, put where it says, make an exercise whose answers get their verdicts."""
    guide = (ROOT / "jupyter_book" / "authoring.md").read_text()
    assert f"make new-question ID={ID}" in guide
    new_question.write(copy, ID)
    blocks = [match["text"] for match in FENCED.finditer(guide)]
    declaration = next(text for text in blocks if text.startswith("QUESTION_4_8"))
    exercise = next(text for text in blocks if text.startswith(f"<!-- exercise {ID}"))
    replace(copy / DECLARED, new_question.DECLARATION.format(name="QUESTION_4_8", id=ID), declaration)
    replace(copy / CHAPTER, new_question.EXERCISE.format(id=ID).lstrip(), exercise)
    answers = next(text for text in blocks if "from variants import" in text)
    replace(copy / "tests" / "answers" / f"{ID}.py", new_question.ANSWERS, answers)
    assert "5 passed" in works(copy)


def replace(path: pathlib.Path, old: str, new: str) -> None:
    text = path.read_text()
    assert text.count(old) == 1
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_a_declaration_fits_into_every_chapter(chapter: int) -> None:
    """However a chapter's questions are listed, one more stands at the end of the list."""
    path, asked = ROOT / "src" / "shardlab_course" / f"ch{chapter:02}" / "questions.py", CHAPTERS[chapter]
    names = {"__name__": f"shardlab_course.ch{chapter:02}.more"}
    id = f"{chapter}.{len(asked) + 1}"
    exec(compile(new_question._with_declaration(path.read_text(), id), str(path), "exec"), names)
    assert [question.id for question in names["QUESTIONS"]] == [*(question.id for question in asked), id]


@pytest.mark.parametrize("id", ["4", "99.1", "4.x", "4.2"])
def test_ids_that_cannot_be(id: str) -> None:
    """An id without a chapter, or of an exercise that is there, is refused, and nothing is written."""
    with pytest.raises(ShardlabError, match="question-exists" if id == "4.2" else "unknown-question"):
        new_question.write(ROOT, id)
