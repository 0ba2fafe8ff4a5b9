"""What a run asks for, and what is collected for it."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

import asked

ROOT = pathlib.Path(__file__).parents[1]
KEYWORDS = {
    "4.2": {"4.2"},
    "4.2 or 14.1": {"4.2", "14.1"},
    "4.2 and gathers": {"4.2"},
    "reference": set(),
    "4.2 or reference": set(),
    "not 4.2": set(),
    "4.2 and not gathers": set(),
    "14.25.1": set(),
    "": set(),
}
RUNS = {
    "a keyword": (["-k", "4.2"], {"4.2"}),
    "a question": (["--question", "14.2"], {"14.2"}),
    "two of them": (["--question", "4.2", "--question", "0.1"], {"4.2", "0.1"}),
    "a chapter": (["--chapter", "0"], {"0.1", "0.2", "0.3", "0.4"}),
}


@pytest.fixture
def own() -> Iterator[None]:
    """What this run was asked for is left as it was."""
    before = set(asked._questions), set(asked._chapters)
    yield
    asked.narrow(*before, "")


@pytest.mark.parametrize(("keyword", "questions"), KEYWORDS.items(), ids=KEYWORDS)
def test_a_keyword_names_exercises(keyword: str, questions: set[str]) -> None:
    """Only if nothing else can be meant: then answers to others are not read."""
    assert asked.named(keyword) == questions


@pytest.mark.usefixtures("own")
def test_an_exercise_asks_for_its_chapter() -> None:
    """And a chapter for its exercises; nothing asks for everything."""
    asked.narrow(["4.2"], [], "")
    assert [asked.question(id) for id in ("4.2", "4.1", "14.2")] == [True, False, False]
    assert [asked.chapter(number) for number in (4, 14)] == [True, False] and not asked.everything()
    asked.narrow([], [14], "")
    assert [asked.question(id) for id in ("4.2", "14.2")] == [False, True]
    asked.narrow([], [], "reference")
    assert asked.question("4.2") and asked.chapter(14) and asked.everything()


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("options", "questions"), RUNS.values(), ids=RUNS)
def test_what_is_collected(options: list[str], questions: set[str]) -> None:
    """Answers to what is asked for, and no others."""
    command = [sys.executable, "-m", "pytest", "-q", "--collect-only", "-p", "no:cacheprovider", *options]
    ran = subprocess.run([*command, "tests/test_answers.py"], cwd=ROOT, capture_output=True, text=True)
    answers = [line.partition("[")[2] for line in ran.stdout.splitlines() if "test_answer_gets_its_verdict[" in line]
    assert ran.returncode == 0 and {line.partition("-")[0] for line in answers} == questions, ran.stdout + ran.stderr


@pytest.mark.parametrize("rows", [True, False])
def test_a_mark_for_rows_needs_rows(rows: bool, tmp_path: pathlib.Path) -> None:
    """Of a table all rows but the first are thorough; where a test is no table, its mark is refused."""
    table = '@pytest.mark.parametrize("row", [1, 2, 3])\n' if rows else ""
    marked = f"import pytest\n\n@pytest.mark.thorough(after=1)\n{table}def test_it({'row' if rows else ''}):\n    pass\n"
    (tmp_path / "test_rows.py").write_text(marked)
    (tmp_path / "conftest.py").write_text("from sizes import pytest_itemcollected as pytest_itemcollected\n")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = thorough\n")
    asked = [sys.executable, "-m", "pytest", "-q", "-m", "thorough", "-p", "no:cacheprovider", "."]
    found = os.environ | {"PYTHONPATH": str(ROOT / "lens" / "tests")}
    ran = subprocess.run(asked, cwd=tmp_path, env=found, capture_output=True, text=True)
    assert ran.returncode == (0 if rows else pytest.ExitCode.USAGE_ERROR)
    assert ("2 passed, 1 deselected" if rows else "this test has no rows") in ran.stdout + ran.stderr
