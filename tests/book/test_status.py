"""What the status page is made from: doors, lanes, attacks on the grader, and speed."""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from strength import table

ROOT = Path(__file__).parents[2]
HERE = ROOT / "jupyter_book"
sys.path.insert(0, str(HERE))

import status  # noqa: E402

DOORS = json.loads((HERE / "doors.json").read_text())
EXPECTED = {
    "a laptop with Linux", "a laptop with macOS", "a laptop with Windows", "JupyterLab", "VS Code", "Colab, CPU",
    "Colab, one TPU chip", "Kaggle", "JupyterHub", "the book on a phone", "a terminal",
}  # fmt: skip
CONSTRAINTS = """\
flax==0.12.8 ; python_full_version < '3.13'
flax==0.12.12 ; python_full_version >= '3.13'
jax==0.10.2 ; python_full_version < '3.12'
jax==0.12.0.1 ; python_full_version >= '3.12'
libtpu==0.0.42.1
numpy==2.4.6 ; python_full_version < '3.13'
numpy==2.5.5 ; python_full_version >= '3.13'
"""
ENTRY = {
    "name": "import-both", "ratio": 1.0412, "interval": [0.98, 1.1], "compared": "a : b | c", "repeats": 40,
    "date": "2027-01-02", "versions": {"python": "3.11.7", "jax": "0.10.2"},
}  # fmt: skip


def cells(row: str) -> list[str]:
    """The cells of a row; a bar in a cell is written with a backslash."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", row)[1:-1]]


def test_every_door_is_there() -> None:
    """The doors that people come in by, each with what works behind it."""
    assert {door["door"] for door in DOORS} >= EXPECTED
    assert [door["door"] for door in DOORS if not door["works"]] == []


def test_seen_means_when_with_what_and_how() -> None:
    """A door is seen on a date, with versions, in a way that names a file; or it is not yet seen."""
    for door in DOORS:
        assert set(door) <= {"door", "works", "seen", "how"}
        if seen := door["seen"]:
            assert set(seen) == {"date", "versions", "how"} and seen["versions"] and "how" not in door
            assert re.fullmatch(r"20\d\d-\d\d-\d\d", seen["date"])
            assert re.search(r"`(?:lens/)?tests/", seen["how"])


def test_what_doors_name_is_there() -> None:
    """The files by which doors were seen exist."""
    named = re.findall(r"`([\w/]+[/.][\w/.]*)`", json.dumps(DOORS))
    assert named and [name for name in named if not (ROOT / name).exists()] == []


def test_doors_are_rows() -> None:
    """Seen or not yet seen, three cells a row."""
    seen = {"date": "2027-01-02", "versions": {"JAX": "0.12"}, "how": "by `tests/a.py`"}
    table = status.doors([
        {"door": "a", "works": "all", "seen": seen},
        {"door": "b", "works": "some", "seen": None},
        {"door": "c", "works": "x|y", "seen": None, "how": "a copy only"},
    ])  # fmt: skip
    assert [cells(row) for row in table.splitlines()[2:]] == [
        ["a", "all", "*seen* on 2027-01-02: JAX 0.12; by `tests/a.py`"],
        ["b", "some", "*not yet seen*"],
        ["c", r"x\|y", "*not yet seen*; a copy only"],
    ]


def test_lanes_are_rows() -> None:
    """Pythons that get the same versions stand in one row; the last is open."""
    assert [cells(row) for row in status.of_lanes(CONSTRAINTS).splitlines()] == [
        ["Python", "JAX", "NumPy", "Flax", "libtpu"],
        [":--"] * 5,
        ["3.11", "0.10.2", "2.4.6", "0.12.8", "0.0.42.1"],
        ["3.12", "0.12.0.1", "2.4.6", "0.12.8", "0.0.42.1"],
        ["3.13 and newer", "0.12.0.1", "2.5.5", "0.12.12", "0.0.42.1"],
    ]
    of_three = CONSTRAINTS.replace(
        "jax==0.10.2 ; python_full_version < '3.12'\njax==0.12.0.1 ; python_full_version >= '3.12'", "jax==1"
    )
    assert [cells(row)[0] for row in status.of_lanes(of_three).splitlines()[2:]] == ["3.11 to 3.12", "3.13 and newer"]


def test_attacks_are_counted() -> None:
    """When, with what, how many of which kind, how many kills, and what failed."""
    found = {"date": "2027-01-02", "versions": {"jax": "0.12"}, "tests": {"passed": 40, "failed": 1}, "minutes": 33}
    found |= {"families": {"reach": 9, "network": 5}, "kills": 50, "failed": ["tests/hostile/test_a.py::test_b"]}
    assert status.hostile(found).splitlines() == [
        "JAX 0.12, on 2027-01-02, in 33 minutes: 40 passed, 1 failed. 14 hostile or broken submissions went through the "
        "real command (reach 9, network 5), and a class run was killed 50 times and started again.",
        "",
        "- failed: `tests/hostile/test_a.py::test_b`",
    ]


def test_attacks_take_what_a_full_run_writes() -> None:
    """The fields are those of the suite's own summary."""
    source = (ROOT / "tests" / "hostile" / "conftest.py").read_text()
    fields = set(re.findall(r"found\[.(\w+).\]", inspect.getsource(status.hostile)))
    assert {"families", "kills", "minutes"} <= fields
    assert [name for name in fields if f'"{name}"' not in source] == []


def test_mutants_are_counted_by_chapter() -> None:
    """How they ended in each chapter and in all; how many of the refused were told why, or where."""
    one = {
        "judged": 9, "refused with a cause": 4, "refused without": 3, "equivalent": 1, "survived": 1, "false causes": 0,
        "values or costs": 5, "of them with a cause": 3, "raised": 2, "of them with the line": 1, "date": "2027-01-02",
    }  # fmt: skip
    found = {"versions": {"jax": "0.12"}, "chapters": {"4": one, "7": one | {"date": "2027-01-03"}}}
    about, _, *rows = status.mutants(found).splitlines()
    assert about == (
        "JAX 0.12. Refused for values or costs: 10, 6 of them with a cause. Refused for an exception: 4, 2 of them with the "
        "line that raised it."
    )
    assert [cells(row) for row in rows[2:]] == [
        ["chapter 4", "9", "4", "3", "1", "1", "0", "2027-01-02"],
        ["chapter 7", "9", "4", "3", "1", "1", "0", "2027-01-03"],
        ["all", "18", "8", "6", "2", "2", "0", ""],
    ]


def test_causes_are_counted_by_draw() -> None:
    """How many of each were told what is not so."""
    one = {"date": "2027-01-02", "drawn": 9, "refused": 8, "told": 7, "false": 2, "misleading": 1}
    head, _, *rows = status.causes({"draws": [one, one | {"told": 6, "false": 0}]}).splitlines()
    assert cells(head)[:4] == ["date", "drawn", "refused", "of them with a cause"]
    assert [cells(row) for row in rows] == [["2027-01-02", "9", "8", "7", "2", "1"], ["2027-01-02", "9", "8", "6", "0", "1"]]
    assert "Not read" in status.causes(None)


def test_faults_are_counted_by_room() -> None:
    """How they ended in each room and in all, and how many of those found `make test` finds."""
    one = {"lint": 1, "types": 2, "make test": 5, "make test-all": 1, "equivalent": 2, "nothing": 0}
    about = {"date": "2027-01-02", "versions": {"jax": "0.12"}, "seed": 1}
    rooms = {
        "a": about | {"parts": ["quick-lens", "quick-lab"], "ends": one},
        "b": about | {"parts": [], "ends": one | {"types": 4}},
    }
    told, _, *rows = status.strength({"rooms": rooms}).splitlines()
    assert told.startswith("24 faults. ") and told.endswith(" Of the 20 that were found, `make test` finds 18.")
    assert [cells(row) for row in (rows[0], *rows[2:])] == [
        ["room", *one, "parts", "versions", "tried"],
        ["a", "1", "2", "5", "1", "2", "0", "quick-lens, quick-lab", "JAX 0.12", "2027-01-02"],
        ["b", "1", "4", "5", "1", "2", "0", "all", "JAX 0.12", "2027-01-02"],
        ["all", "2", "6", "10", "2", "4", "0", "", "", ""],
    ]


def test_faults_take_what_is_written() -> None:
    """What `make test` finds a fault by has the names that the table is written with."""
    assert {*status.FOUND} < {*table.ENDS}


def test_prose_is_counted_by_chapter() -> None:
    """One row for each text of a chapter and for each set of others; without counts the page says so."""
    texts = {
        "page": ("20 of 80", 90, 1, "2 of 91", "3 of 92", "4 of 93", "5 of 94, then 1"),
        "questions": ("9 of 70", 80, 0, "1 of 81", "2 of 82"),
    }
    kept = "before", "sentences", "after", "third", "fourth", "fifth", "ninth"
    counted = {text: dict(zip(kept, counts)) for text, counts in texts.items()}
    found = {"date": "2027-01-02", "chapters": {"4": counted}, "sets": {"errors": ["9 of 99, then 1 of 98", "2 of 97"]}}
    about, _, *rows = status.prose(found).splitlines()
    assert about == "Counted on 2027-01-02."
    assert [cells(row) for row in rows[2:4]] == [
        ["4", "page", "20 of 80", "1 of 90", "2 of 91", "3 of 92", "4 of 93", "5 of 94, then 1"],
        ["4", "questions", "9 of 70", "0 of 80", "1 of 81", "2 of 82", "", ""],
    ]
    assert rows[4] == "" and cells(rows[-1]) == ["errors", "9 of 99, then 1 of 98", "2 of 97"]
    assert "Not counted" in status.prose(None)


@pytest.mark.parametrize(
    ("more", "interval", "measured"),
    [
        ({}, "0.98 to 1.1 (95 %, 40 times)", "2027-01-02, Python 3.11.7, JAX 0.10.2"),
        ({"interval_is": "range"}, "0.98 to 1.1 (range, 40 times)", "2027-01-02, Python 3.11.7, JAX 0.10.2"),
        ({"date": None, "versions": {}}, "0.98 to 1.1 (95 %, 40 times)", ""),
    ],
    ids=["plain", "range", "undated"],
)
def test_bench_is_rows(more: dict[str, Any], interval: str, measured: str) -> None:
    """What was compared, the ratio with its interval, when and on what."""
    (row,) = status.bench([ENTRY | more]).splitlines()[2:]
    assert cells(row) == [r"import-both: `a : b \| c`", "1.04", interval, measured]


def test_missing_files_are_told(tmp_path: Path) -> None:
    """Without the files the page says which command makes them."""
    (tmp_path / "constraints.txt").write_text(CONSTRAINTS)
    made = status.parts(tmp_path / "jupyter_book")
    commands = {
        "hostile": "make test-full",
        "mutants": "make mutants",
        "strength": "make test-strength",
        "bench": "make bench",
    }
    assert [name for name, command in commands.items() if f"`{command}`" not in made[name]] == []


def test_page_has_every_place() -> None:
    """Each made part has its mark on the page."""
    text = (HERE / "status.md").read_text()
    assert [name for name in status.parts(HERE) if text.count(f"<!-- {name} -->\n") != 1] == []


def test_compilers_and_a_card() -> None:
    """A row for each program and compiler; a card's ratios, and facts that differ; else what was not done."""
    made = {
        "bytes": {"all-gather over x": 4096, "all-reduce over x": None},
        "flops": None,
        "temp": 8,
        "peak": 16,
        "seconds": 1.5,
    }
    facts = {"versions": {"jax": "0.12"}, "date": "2027-01-02", "plugin_bytes": 48e7, "load": 3, "cores": 2}
    text = status.compilers({**facts, "programs": {"fsdp": {"cpu": made}}})
    assert cells(text.splitlines()[-1]) == [
        "`fsdp`",
        "cpu",
        "4,096 all-gather over x; ? all-reduce over x",
        "?",
        "8",
        "16",
        "1.5",
    ]
    kernels = {"product": {"seconds": 3.0, "model": 2.0, "peak": None, "predicted": 7}}
    programs = {"a": {"differ": ["fusions"]}, "b": {"differ": []}}
    text = status.device({"card": "H9", "jax": "0.12", "date": "2027-01-02", "kernels": kernels, "programs": programs})
    assert "without: 2. Different: `a`: fusions." in text and cells(text.splitlines()[-1]) == ["product", "1.50", "?", "7"]
    assert status.device(None).startswith("Not yet measured on a card") and "Not compiled" in status.compilers(None)
