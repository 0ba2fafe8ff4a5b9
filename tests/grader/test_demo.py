"""The demonstration of the README, as an instructor starts it."""

from __future__ import annotations

import csv
import pathlib
import re

import pytest
from click.testing import CliRunner
from rich.status import Status

from shardlab_grader.cli import main
from shardlab_grader.demo import sampling


@pytest.mark.sandbox
def test_the_smaller_half(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second of the two assignments alone: each sample gets its score and its reason."""
    monkeypatch.setattr(sampling, "assignments", lambda: ["09_tensor_parallel"])
    ran = CliRunner().invoke(main, ["demo", str(tmp_path / "demo")])
    assert ran.exit_code == 0, ran.output
    assert "6 submissions: 6 graded, 0 ungraded" in ran.output and "every score is as expected." in ran.output


@pytest.mark.thorough
@pytest.mark.sandbox
def test_demo(tmp_path: pathlib.Path) -> None:
    """Every sample gets the score and the reason written beside it; gradebook, feedback and scores lie where it says."""
    course = tmp_path / "demo"
    ran = CliRunner().invoke(main, ["demo", str(course)])
    assert ran.exit_code == 0, ran.output
    assert "9 submissions: 8 graded, 1 ungraded" in ran.output
    assert "6 submissions: 6 graded, 0 ungraded" in ran.output
    assert "every score is as expected." in ran.output
    assert (course / "gradebook.db").exists()
    assert len(list(course.glob("feedback/*/*/*.html"))) == 8 + 6
    four, nine = (scores(path) for path in sorted(course.glob("*.csv")))
    assert (four["amara"], four["bo"], four["hana"]) == (60, 29.25, 0)
    assert nine["amara"] == 90 and nine["hana"] == 0
    asked_about_own_work(course)
    asked_about_the_solution(course)


def asked_about_the_solution(course: pathlib.Path) -> None:
    """A bank asks about each function more than one question; the page without keys has the same ones."""
    made = CliRunner().invoke(main, ["viva", "09", "--course", str(course), "--bank", "--to", str(course / "bank")])
    assert made.exit_code == 0, made.output
    asked, keys = ((course / "bank" / name).read_text() for name in ("bank.html", "bank-keys.html"))
    texts = [re.findall(r"</h2><p>(.*?)</p>", page) for page in (asked, keys)]
    assert texts[0] == texts[1] and f"{len({*texts[0]})} questions" in made.output and 'class="key"' not in asked
    for function in ("mlp_by_hand", "three_layers", "mlp_bias", "block", "drop_hidden", "drop_output"):
        assert len([text for text in texts[0] if f"{function} takes" in text]) > 1, function


def asked_about_own_work(course: pathlib.Path) -> None:
    """A viva has a sheet for everybody who passed something, with keys that students do not see; one alone gets the same."""
    one, alone = sheets(course, "class"), sheets(course, "alone", "--student", "bo")
    rows = list(csv.DictReader(one["marks.csv"].splitlines()))
    assert {"amara", "bo"} <= {row["student"] for row in rows} and "hana" not in {row["student"] for row in rows}
    assert len(rows) == one["keys.html"].count('class="key"') and 'class="key"' not in one["students.html"]
    for page in ("students.html", "keys.html"):
        (section,) = re.findall("<section>.*?</section>", alone[page], re.DOTALL)
        assert "<h1>bo</h1>" in section and section in one[page]


def sheets(course: pathlib.Path, name: str, *options: str) -> dict[str, str]:
    """What a viva writes into a folder, by name."""
    words, told = ["viva", "09", "--course", str(course), "--names", "--to", str(course / name), *options], []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Status, "update", lambda status, text: told.append(text))
        ran = CliRunner().invoke(main, words)
    assert ran.exit_code == 0, ran.output
    assert re.fullmatch(r"running programs in other situations: (\d+) of \1", told[-1])
    found = {path.name: path.read_text() for path in (course / name).iterdir()}
    assert {*found} == {"students.html", "keys.html", "marks.csv"}
    return found


def scores(path: pathlib.Path) -> dict[str, float]:
    """The points of each student in a table that nbgrader wrote."""
    with path.open() as file:
        return {row["student_id"]: float(row["score"]) for row in csv.DictReader(file)}
