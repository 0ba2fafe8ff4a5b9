"""What a spreadsheet makes of the tables: no text of a student's becomes a formula in Gnumeric, which reads them here."""

from __future__ import annotations

import csv
import gzip
import pathlib
import shutil
import subprocess
from collections.abc import Callable
from xml.etree import ElementTree

import pytest

from shardlab_grader.by_hand import marks
from shardlab_grader.by_hand.rubric import Rubric
from shardlab_grader.plain import inert
from shardlab_grader.reports import report
from shardlab_grader.reports.report import Row

from .test_mark import NUMBERS, RULES, answer, filled

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(not shutil.which("ssconvert"), reason="the Debian package gnumeric would read the tables"),
]
FORMULAS = ("=1+2", "x\n=1+2", "x;=1+2", 'x; "=1+2"', "x\t=1+2", "a\r\n=1+2", ";=1+2", "= 1+2;=3+4\n=5+6", '";\n=1+2')


def formulas(path: pathlib.Path) -> list[tuple[str, str]]:
    """Row and column of each cell that has a formula; what splits a `.txt` Gnumeric guesses, and takes `,` in a `.csv`."""
    made = path.with_suffix(".gnumeric")
    command = ["ssconvert", "--export-type=Gnumeric_XmlIO:sax:0", str(path), str(made)]
    subprocess.run(command, check=True, capture_output=True)
    content = made.read_bytes()
    root = ElementTree.fromstring(gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content)
    cells = [cell for cell in root.iter() if cell.tag.endswith("}Cell")]
    assert len(cells) > 2, "nothing was read"
    # A cell without a formula has the type of its value.
    return [(cell.get("Row", ""), cell.get("Col", "")) for cell in cells if cell.get("ValueType") is None]


def table(path: pathlib.Path, between: str, text: Callable[[str], str]) -> pathlib.Path:
    """Rows with each text in the middle, quoted in a `.csv` and in no other."""
    rows = [["key", text(one), "1"] for one in FORMULAS]
    with path.open("w", newline="") as file:
        if path.suffix == ".csv":
            csv.writer(file, delimiter=between).writerows(rows)
        else:
            file.writelines(between.join(row).replace('"', "") + "\n" for row in rows)
    return path


@pytest.mark.parametrize(("name", "between"), [("a.csv", ","), ("a.txt", ";"), ("a.txt", "\t")])
def test_a_formula_is_one_only_as_it_was_written(name: str, between: str, tmp_path: pathlib.Path) -> None:
    """Gnumeric finds formulas in what was written, in second lines and behind each sign too, and none in what we write."""
    assert formulas(table(tmp_path / name, between, str))
    assert formulas(table(tmp_path / name, between, inert)) == []


def test_a_sheet_of_marks_comes_back(tmp_path: pathlib.Path) -> None:
    """Gnumeric saves it again, and all of its rows are still those of their answers."""
    answers = [answer(f"k{n}", text) for n, text in enumerate(NUMBERS)]
    marks.write(tmp_path / "before.csv", answers, RULES)
    for text in NUMBERS:
        filled(tmp_path / "before.csv", text, **{"Points (of 3)": "2.5"})
    subprocess.run(["ssconvert", "before.csv", "after.csv"], cwd=tmp_path, check=True, capture_output=True)
    read = marks.read(tmp_path / "after.csv", answers, RULES)
    assert [(mark.answer, mark.points) for mark in read] == [(one, {"Points": 2.5}) for one in answers]


def test_our_tables(tmp_path: pathlib.Path) -> None:
    """Scores with their reasons, and the sheet of answers that a person marks, whichever sign splits them."""
    for suffix in (".csv", ".txt"):
        scores, sheet = tmp_path / f"scores{suffix}", tmp_path / f"sheet{suffix}"
        report.write_scores([Row(f"={n}+1", "ungraded", reason=text) for n, text in enumerate(FORMULAS)], {"1": 2.0}, scores)
        answers = [marks.Waiting(f"k{n}", f"s{n}", "q1", text) for n, text in enumerate(FORMULAS)]
        marks.write(sheet, answers, Rubric({"q1": {"Points": 4.0}}))
        assert formulas(scores) == formulas(sheet) == []
