"""What a run asks for, and what is collected for it."""

from __future__ import annotations

import itertools
import os
import pathlib
import subprocess
import sys
import types
from collections.abc import Iterator

import pytest

import asked
import share

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


SHARES = {
    "tests/a.py::test_one": "tests/a.py",
    "tests/a.py::TestTwo::test_two": "tests/a.py",
    "tests/a.py::test_it[9-light]": "tests/a.py[9-light]",
    "tests/a.py::test_other[9-light]": "tests/a.py[9-light]",
    "tests/a.py::test_it[12.10-reference]": "tests/a.py12.10",
    "tests/a.py::test_it[12.10-mean[0]]": "tests/a.py12.10",
}


@pytest.mark.parametrize("nodeid", SHARES)
def test_what_stays_in_one_share(nodeid: str) -> None:
    """A module's tests, and of its tables the rows of one exercise or parameter."""
    assert share.together(nodeid) == SHARES[nodeid]


def of(asked_for: str, items: list[types.SimpleNamespace]) -> tuple[list[str], list[str]]:
    """The ids of the tests that a share has, and of those that it deselects."""
    items, others = [*items], list[types.SimpleNamespace]()
    hook = types.SimpleNamespace(pytest_deselected=lambda items: others.extend(items))
    share.pytest_collection_modifyitems(types.SimpleNamespace(getoption=lambda name: asked_for, hook=hook), items)
    return [item.nodeid for item in items], [item.nodeid for item in others]


def test_shares_are_everything_once() -> None:
    """Three shares of a module's rows are disjoint, in order, all its rows, and none is empty."""
    rows = [f"tests/test_rows.py::test_it[{row}]" for row in range(30)]
    items = [types.SimpleNamespace(nodeid=row) for row in rows]
    shares = [of(f"{number}/3", items) for number in (1, 2, 3)]
    assert sorted(itertools.chain(*(mine for mine, _ in shares))) == sorted(rows)
    for mine, others in shares:
        assert mine and mine == [row for row in rows if row in mine] and sorted(mine + others) == sorted(rows)
    for none in ("0/3", "4/3", "a third", "1/0"):
        with pytest.raises(pytest.UsageError, match="there is no such share"):
            of(none, items)


@pytest.mark.parametrize(("target", "share"), [("test", ""), ("test-all", "2/3")])
def test_make_test_has_no_shares(target: str, share: str) -> None:
    """Whatever the environment says; `make test-all` hands on what it is asked for."""
    line = ["make", "--dry-run", "--no-print-directory", target]
    # A make that runs this test hands on its own command line's variables, which weigh more than the environment's.
    around = {name: value for name, value in os.environ.items() if not name.startswith(("MAKE", "MFLAGS"))}
    said = subprocess.run(line, cwd=ROOT, env=around | {"SHARE": "2/3"}, capture_output=True, text=True).stdout
    (suite,) = (line for line in said.splitlines() if " parts, three at a time" in line)
    assert (" SHARE= " in suite) == (not share) and suite.endswith(
        f"$started{share and ' ' + share} || status=1; exit $status"
    )
