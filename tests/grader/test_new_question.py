"""A new exercise: what `make new-question` writes works, and so does the authoring guide's example, word for word."""

from __future__ import annotations

import json
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
from shardlab_grader.own import templates
from shardlab_judge.items.program import ProgramItem

ROOT = pathlib.Path(__file__).parent.parent.parent
NEW = ("2.6", "4.8", "8.10")
"""In a chapter of plain functions, in one of programs, and in one of programs that are written with `shard_map`."""
ID = "4.8"
FENCED = re.compile(r"^(?P<fence>`{3,4})(?:python|text)\n(?P<text>.*?)^(?P=fence)\n", re.MULTILINE | re.DOTALL)
TESTS = ("asked", "conftest", "corpus", "drawn", "reach", "test_answers", "together", "variants")


@pytest.fixture
def copy(tmp_path: pathlib.Path) -> pathlib.Path:
    """The parts of the repository that an exercise lives in."""
    for name in ("lens", "src", "grader", "solutions", "notebooks"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__", "samples"))
    for path in ("pyproject.toml", "constraints.txt", *(f"tests/{name}.py" for name in TESTS)):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / path, tmp_path / path)
    return tmp_path


def run(copy: pathlib.Path, *command: str) -> str:
    """What a Python command prints in the copy, whose packages it uses; its failure is the test's."""
    environment = {
        **os.environ,
        "PYTHONPATH": ":".join(str(copy / name) for name in ("lens/src", "src", "grader")),
        "JAX_PLATFORMS": "cpu",
    }
    ran = subprocess.run([sys.executable, *command], cwd=copy, env=environment, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout + ran.stderr
    return ran.stdout


def answers(copy: pathlib.Path, id: str) -> str:
    """What pytest says last when every answer of the new question got its verdict."""
    return run(copy, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests/test_answers.py", "-k", id).splitlines()[-1]


@pytest.mark.thorough(after=1)
@pytest.mark.sandbox
@pytest.mark.notebook
@pytest.mark.parametrize("id", NEW)
def test_what_is_written_works(copy: pathlib.Path, id: str) -> None:
    """From the command to green tests without a keystroke in between: answers, style, types, notebook and references."""
    told = run(copy, "-m", "shardlab_authoring.new_question", id)
    chapter, number = map(int, id.split("."))
    folder = copy / f"src/shardlab_course/ch{chapter:02}/ex{number:02}"
    assert {path.name for path in folder.iterdir()} == {"question.py", "oracle.py", "answers.py"}
    assert all(f"wrote {path.relative_to(copy)}\n" in told for path in folder.iterdir())
    (page,) = (copy / "notebooks" / "myst").glob(f"{chapter:02}_*.md")
    assert f'sl.check("{id}", ' in page.read_text()
    run(copy, "-m", "shardlab_course.editions.edition", "--check", str(chapter))
    assert " passed" in answers(copy, id)
    kept = json.loads((folder.parent / "references.json").read_text()) if chapter != 2 else {"programs": {}}
    assert (chapter == 2) is not any(key.startswith(f"{id}/") for key in kept["programs"])
    for command in (("ruff", "check"), ("ruff", "format", "--check")):
        run(copy, "-m", *command, "--config", str(ROOT / "pyproject.toml"), str(folder))


@pytest.mark.thorough
@pytest.mark.notebook
def test_the_guide_leads_to_an_exercise(copy: pathlib.Path) -> None:
    """The guide's own blocks, put where it says, make an exercise whose answers get their verdicts."""
    guide = (ROOT / "jupyter_book" / "authoring.md").read_text()
    assert f"make new-question ID={ID}" in guide
    text = copy / "solutions" / "04_four_matmul_cases.md"
    *_, written = new_question.write(copy, ID)
    assert written == text
    blocks = [match["text"] for match in FENCED.finditer(guide)]
    exercise = next(block for block in blocks if block.startswith(f"<!-- exercise {ID}"))
    begun = templates.PROGRAM.exercise.format(id=ID).lstrip()
    assert text.read_text().count(begun) == 1
    text.write_text(text.read_text().replace(begun, exercise))
    folder = copy / "src/shardlab_course/ch04/ex08"
    (folder / "oracle.py").unlink()
    for name, sign in (("question.py", '"""Chapter 4, exercise 4.8'), ("answers.py", "import jax\n")):
        (folder / name).write_text(next(block for block in blocks if block.startswith(sign)))
    assert " passed" in answers(copy, ID)


@pytest.mark.parametrize("chapter", CHAPTERS)
def test_every_chapter_has_a_template(chapter: int) -> None:
    """Programs where it asks for any, with `shard_map` where most of them are."""
    programs = [i for q in CHAPTERS[chapter] for i in q.items if isinstance(i, ProgramItem)]
    manual = sum(item.manual for item in programs)
    expected = templates.FUNCTION if not programs else templates.MANUAL if 2 * manual >= len(programs) else templates.PROGRAM
    assert new_question.like_its_neighbours(chapter) is expected


@pytest.mark.parametrize(
    ("id", "said"),
    [
        ("4", "unknown-question"),
        ("99.1", "unknown-question"),
        ("4.x", "unknown-question"),
        ("4.2", "question 4.2 is there already(?s:.*)ID=4.8"),
        ("4.9", "question 4.9 is not the next(?s:.*)ID=4.8"),
        ("4.08", "question 4.08 is not the next(?s:.*)ID=4.8"),
    ],
)
def test_ids_that_cannot_be(id: str, said: str) -> None:
    """An id without a chapter, of an exercise that is there, or not the next, is refused, and nothing is written."""
    with pytest.raises(ShardlabError, match=said):
        new_question.write(ROOT, id)
    assert not any((ROOT / "src" / "shardlab_course" / "ch04").glob("ex0[89]"))
