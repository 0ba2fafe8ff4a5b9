"""The measurement of the suite's strength: faults drawn and planted, the tests that reach them, what is told of them."""

from __future__ import annotations

import dataclasses
import json
import random
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from strength import recorded, recording, table
from strength.copies import Copy, copied
from strength.faults import Fault, drawn, module_of, planted, sites
from strength.outcomes import LINT, NOTHING, QUICK, THOROUGH, TYPES, Outcome, Outcomes
from strength.reaching import Record, TimedTest, imports, statement
from strength.trying import Limits, Trial, batches, limit, together

CODE = '''
"""A module with a docstring."""

LARGEST = 3


def price(size: "int | None", rounds: int = 1) -> int:
    """Bytes."""
    if size is None:
        raise ValueError("there is no size")
    return size * rounds + LARGEST


def name(large: bool) -> str:
    return "large" if large else "small"
'''
TESTS = """
import pytest

from room.prices import name, price


@pytest.fixture(scope="module")
def shared():
    return name(False)


def test_a_price():
    assert price(4, 3) == 15


@pytest.mark.thorough
def test_a_name():
    assert name(True) == "large"


def test_what_is_shared(shared):
    assert shared == "small"


def test_what_is_shared_again(shared):
    assert len(shared) == 5


def test_a_child(tmp_path):
    import subprocess, sys
    assert subprocess.run([sys.executable, "-c", "from room.more import far; import os; os._exit(far())"]).returncode == 7
"""
FILE = "src/room/prices.py"


def fault(**changed: str) -> Fault:
    """A fault of the module above."""
    told = {
        "file": FILE,
        "function": "price",
        "operator": "number",
        "before": "a",
        "after": "b",
        "text": "",
        "diff": "-a\n+b",
    }
    return Fault(line=11, **(told | changed))


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a module, one that nobody imports but a child process, and tests."""
    root = tmp_path_factory.mktemp("tree")
    files = {
        FILE: CODE, "src/room/more.py": "def far():\n    return 7\n", "src/room/__init__.py": "",
        "tests/test_prices.py": TESTS,
        "lens/tests/test_far.py": "from room.more import far\n\n\ndef test_far():\n    assert far() == 7\n",
        "lens/pyproject.toml": "[tool.pytest.ini_options]\nmarkers = ['thorough: a', 'sandbox: b', 'programs: c']\n",
        "pytest.ini": "[pytest]\nmarkers =\n    thorough: a\n    sandbox: b\n    programs: c\n",
        "mypy.ini": "[mypy]\nfiles = src\n",
    }  # fmt: skip
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    strength = Path(recording.__file__).parent
    (root / "tests" / "strength").symlink_to(strength)
    for command in ("init -q", "add -A", "-c user.name=a -c user.email=a@b commit -qm one"):
        subprocess.run(["git", *command.split()], cwd=root, check=True)
    return root


@pytest.fixture(scope="module", autouse=True)
def plain() -> Iterator[None]:
    """The repository's tests need no plugin of ours, and start in a third of the time without."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        yield


@pytest.fixture(scope="module")
def record(tree: Path) -> Record:
    """What the repository's tests reach."""
    copy = copied(tree, tree / "build" / "clean")
    for name, asked in recorded.parts(tree).items():
        recorded.record(copy, tree / "build" / "parts" / name, asked)
    return Record((tree / "build" / "parts").iterdir(), copy.home)


def test_sites_are_code_and_not_prose() -> None:
    """Numbers, operators, names and calls; no docstring, sentence or annotation."""
    _, found = sites(CODE)
    told = {(site.function, site.operator.__name__.removeprefix("operator_")) for site in found}
    assert told == {
        ("", "assignment"), ("", "number"), ("price", "number"), ("price", "swap_op"), ("price", "arg_removal"),
        ("price", "keywords"), ("name", "if_exp"), ("name", "string"),
    }  # fmt: skip


def test_a_fault_is_one_change() -> None:
    """Each site gives a text that differs in one place, with its line, its function and both lines."""
    _, found = sites(CODE)
    made = [planted(FILE, CODE, i, random.Random(1)) for i in range(len(found))]
    changed = {(one.line, one.function, one.before) for one in made if one is not None}
    assert changed == {
        (4, "", "LARGEST = 3"), (7, "price", 'def price(size: "int | None", rounds: int = 1) -> int:'),
        (9, "price", "if size is None:"), (10, "price", 'raise ValueError("there is no size")'),
        (11, "price", "return size * rounds + LARGEST"), (15, "name", 'return "large" if large else "small"'),
    }  # fmt: skip
    assert all(one.text.count("\n") == CODE.count("\n") and one.room == "room" for one in made if one)


def test_the_seed_draws(tree: Path) -> None:
    """The same seed draws the same faults in the same order, another seed others."""
    first, again, other = ([one.key + (one.text,) for one in drawn(tree, seed)] for seed in (1, 1, 2))
    assert first == again != other and {key[0] for key in first} == {FILE, "src/room/more.py"}


@pytest.mark.parametrize(
    ("line", "lines"),
    [(1, [1]), (2, [2, 3]), (3, [2, 3]), (4, [4, 5]), (6, [6, 7, 8]), (8, [6, 7, 8])],
    ids=["alone", "first of two", "second of two", "above a body", "in a body", "last of a body"],
)
def test_the_statement_around_a_line(line: int, lines: list[int]) -> None:
    """All lines of the smallest statement; of one with a body those above it."""
    source = "a = 1\nb = (2,\n     3)\nif (a\n        and b):\n    c = [\n        a,\n        b]\n"
    assert [*statement(source, line)] == lines


def test_modules_and_what_they_import() -> None:
    """Names as they are imported."""
    assert [module_of(f"src/{name}.py") for name in ("a/b", "a/__init__")] == ["a.b", "a"]
    assert imports("import a.b\nfrom c import d") == {"a.b", "c", "c.d"}


FAR = "lens/tests/test_far.py::test_far"
REACHED = {
    "by a test": (FILE, 11, "price", ["a_price"]),
    "by what two tests share": (FILE, 15, "name", ["a_name", "what_is_shared", "what_is_shared_again"]),
    "in a child, and in another part": ("src/room/more.py", 2, "far", ["a_child", FAR]),
    "when imported": (FILE, 4, "", ["a_child", "a_price", "a_name", "what_is_shared", "what_is_shared_again"]),
}


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("file", "line", "function", "names"), REACHED.values(), ids=REACHED)
def test_tests_that_reach_a_line(record: Record, file: str, line: int, function: str, names: list[str]) -> None:
    """By name, those of a shared fixture and of a child included."""
    found = record.reaching(Fault(file, line, function, "", "", "", "", ""))
    assert {test.name for test in found} == {
        name if "::" in name else f"tests/test_prices.py::test_{name}" for name in names
    }


PLANTED = {
    "lint": ("return size * rounds + LARGEST", "return size * rounds + largest", "price", LINT, ""),
    "types": ("return size * rounds + LARGEST", "return None", "price", TYPES, ""),
    "test": ("rounds + LARGEST", "rounds - LARGEST", "price", QUICK, "a_price"),
    "thorough test": ('"large" if', '"LARGE" if', "name", THOROUGH, "a_name"),
    "nothing": ("large else", "large or False else", "name", NOTHING, None),
}


@pytest.mark.parametrize(
    ("before", "after", "function", "by", "test"),
    [pytest.param(*row, id=name, marks=() if name == "test" else pytest.mark.thorough) for name, row in PLANTED.items()],
)
def test_what_finds_a_fault(
    tree: Path, record: Record, before: str, after: str, function: str, by: str, test: str | None
) -> None:
    """Lint, then types, then tests by size; the copy is as it was afterwards."""
    copy, text = copied(tree, tree / "build" / "copy"), CODE.replace(before, after)
    line = next(i for i, (a, b) in enumerate(zip(CODE.splitlines(), text.splitlines()), start=1) if a != b)
    planted = Fault(FILE, line, function, "", before, after, text, "")
    outcome = Trial(copy, Limits()).outcome(planted, record.reaching(planted))
    assert (outcome.by, outcome.test) == (by, f"tests/test_prices.py::test_{test}" if test else "")
    assert (copy.home / FILE).read_text() == CODE


def test_a_part_with_its_own_settings_is_run_by_itself(tree: Path, record: Record) -> None:
    """A test below `lens` finds a fault too, and is named as in the repository; a name of no test is no finding."""
    trial, far = Trial(copied(tree, tree / "build" / "copy"), Limits()), record.tests[FAR]
    planted = Fault("src/room/more.py", 2, "far", "", "7", "8", "def far():\n    return 8\n", "")
    assert trial.outcome(planted, [record.tests["tests/test_prices.py::test_a_price"], far]).test == FAR
    with pytest.raises(RuntimeError, match="without a fault either"):
        trial.outcome(planted, [dataclasses.replace(far, name="lens/tests/test_away.py::test_far")])


def test_a_command_that_does_not_end_is_ended(tmp_path: Path) -> None:
    """With no status."""
    (tmp_path / "home").mkdir()
    assert Copy(tmp_path / "home").run([sys.executable, "-c", "import time; time.sleep(60)"], 1) is None


def test_each_file_of_tests_is_in_one_part_of_each_size() -> None:
    """The answers' tests are a part by themselves."""
    root = Path(recording.__file__).parents[2]
    files = sorted((root / "tests").glob("test_*.py")) + sorted((root / "tests").glob("*/test_*.py"))
    for size in ("quick", "thorough"):
        asked = {name: paths[2:] for name, paths in recorded.parts(root).items() if name.startswith(size)}
        assert asked[f"{size}-answers"] == ["tests/test_answers.py"]
        for file in files:
            assert (
                sum((file == root / one) or (root / one in file.parents) for paths in asked.values() for one in paths) == 1
            )


def test_lots_double_until_the_limit() -> None:
    """Cheap tests first, what they share counted once in a lot; one at least, and no more than the whole limit."""
    tests = [TimedTest(f"{i}", 1.0, [("fixture", 2.0)], False, False) for i in range(20)]
    assert [len(lot) for lot in batches(tests, Limits(4, 20))] == [2, 6, 6]
    assert [len(lot) for lot in batches(tests[:1], Limits(1, 1))] == [1]
    assert [*batches([], Limits())] == []
    assert together(tests) == 22 and limit(tests) == 400


def test_outcomes_are_kept(tmp_path: Path) -> None:
    """A second run finds what the first one kept."""
    Outcomes(tmp_path / "kept").add(fault(), Outcome(QUICK, "a", 1, 2))
    again = Outcomes(tmp_path / "kept")
    assert (again.get(fault()), again.get(fault(after="c"))) == (Outcome(QUICK, "a", 1, 2), None)


def test_the_table(tmp_path: Path) -> None:
    """Ends by room, the share of make test, and each fault that it misses with its change."""
    outcomes = {
        fault(): Outcome(QUICK, "test_a", 1, 1),
        fault(after="c", file="grader/other/a.py"): Outcome(THOROUGH, "test_b", 2, 3),
        fault(after="d"): Outcome(NOTHING, "", 3, 3),
        fault(after="e"): Outcome(NOTHING, "", 3, 3),
    }
    ends = {one: table.end(one, outcome, {fault(after="e").key: "why"}) for one, outcome in outcomes.items()}
    assert table.said(ends, outcomes) == textwrap.dedent("""\
              room          lint         types     make test make test-all    equivalent       nothing
             other             0             0             0             1             0             0
              room             0             0             1             0             1             1
               all             0             0             1             1             1             1
    Of the faults that the whole suite finds, make test finds 50.0%.

    grader/other/a.py:11, price: only make test-all finds it, by test_b; 2 of 3 tests that come near were run
    -a
    +b

    src/room/prices.py:11, price: nothing finds it; 3 of 3 tests that come near were run
    -a
    +b""")


def test_figures_of_other_rooms_stay(tmp_path: Path) -> None:
    """A later run replaces its own rooms alone."""
    path, ends = tmp_path / "strength.json", {fault(): QUICK, fault(file="grader/other/a.py"): NOTHING}
    table.keep(ends, 1, {"jax": "0.10"}, path=path)
    table.keep({fault(file="grader/another/a.py"): LINT, fault(): TYPES}, 2, {"jax": "0.12"}, ["quick-lab"], path)
    kept = json.loads(path.read_text())["rooms"]
    assert [(name, room["seed"], room["versions"]["jax"], room["parts"]) for name, room in kept.items()] == [
        ("another", 2, "0.12", ["quick-lab"]),
        ("other", 1, "0.10", []),
        ("room", 2, "0.12", ["quick-lab"]),
    ]
    assert [{end: count for end, count in room["ends"].items() if count} for room in kept.values()] == [
        {LINT: 1},
        {NOTHING: 1},
        {TYPES: 1},
    ]


def test_named_faults_have_reasons() -> None:
    """Each names a function that is there, and says why it makes no difference."""
    root = Path(recording.__file__).parents[2]
    named = table.named()
    assert all(len(reason.split()) > 4 for reason in named.values())
    functions = {(file, site.function) for file in {key[0] for key in named} for site in sites((root / file).read_text())[1]}
    assert {key[:2] for key in named} <= functions
