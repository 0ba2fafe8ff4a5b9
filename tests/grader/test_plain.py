"""Odd names: nothing that a terminal, a spreadsheet or a browser would obey comes out of any command."""

from __future__ import annotations

import pathlib
import shutil
import subprocess

import pytest
from click.testing import CliRunner
from rich.text import Text

from shardlab_grader import cli
from shardlab_grader.plain import plain, quoted
from shardlab_grader.records import changes
from shardlab_grader.records.changes import Change
from shardlab_grader.records.roster import Roster
from shardlab_grader.terminal import PlainConsole

from .conftest import NAME

ODD = "eve\x1b[31m\u202ered\x9b'\\[b]\u2066"
"""A folder's name that colours, turns around and quotes."""
OBEYED = ("\x1b", "\x9b", "\u202e", "\u2066")


@pytest.fixture
def course(tiny: pathlib.Path, tiny_course: pathlib.Path, tmp_path: pathlib.Path) -> pathlib.Path:
    """A course with one submission under the odd name, which is no notebook."""
    shutil.copytree(tiny_course, tmp_path / "course")
    place = tmp_path / "course" / "submitted" / ODD / NAME
    place.mkdir(parents=True)
    (place / f"{NAME}.ipynb").write_text("{}")
    key = Roster(tmp_path / "course").enter(NAME, {ODD: ""})[ODD]
    changes.keep(tmp_path / "course", NAME, [Change(key, ODD, "90.1", 0.0, 1.0, "another answer")], {})
    return tmp_path / "course"


@pytest.mark.sandbox
def test_no_command_lets_it_through(course: pathlib.Path, tmp_path: pathlib.Path) -> None:
    """Not `grade`, not `report` and its files, not `extend`, not a mistake's message, and at last not `forget`."""
    files = [tmp_path / name for name in ("report.html", "report.csv", "scores.csv")]
    html, table, scores = map(str, files)
    commands = [
        ["grade", "90", "--names", "--verbose"],
        ["grade", "90", "--names", "--student", ODD],
        ["grade", "90", "--student", f"{ODD}!"],
        ["report", "90", "--names", "--html", html, "--csv", table, "--scores", scores],
        ["extend", "90", ODD, "--days", "1"],
        ["extend", "90", f"{ODD}!", "--days", "1"],
        ["forget", ODD],
    ]
    for command in commands:
        said = CliRunner().invoke(cli.main, [*command, "--course", str(course)]).output
        assert said and not [mark for mark in OBEYED if mark in said], (command, said)
    for path in files:
        assert not [mark for mark in OBEYED if mark in path.read_text()], path
    assert "\ufffd" in files[0].read_text() and "\ufffd" in files[2].read_text()


@pytest.mark.sandbox
def test_its_commands_work(course: pathlib.Path) -> None:
    """What `forget` prints can be pasted into bash, and removes the folder."""
    CliRunner().invoke(cli.main, ["grade", "90", "--course", str(course)])
    said = CliRunner().invoke(cli.main, ["forget", ODD, "--course", str(course)]).output
    (remove,) = [line.strip() for line in said.splitlines() if line.strip().startswith("rm -r ")]
    assert (course / "submitted" / ODD).exists()
    subprocess.run(["bash", "-ec", remove], check=True)
    assert not (course / "submitted" / ODD).exists()


def test_colours_stay() -> None:
    """Those of ours, on a terminal, and lines."""
    shown = PlainConsole(force_terminal=True, color_system="standard", highlight=False)
    with shown.capture() as captured:
        shown.print(Text("one", "red"), "two[red]\x1b[0m", sep="\n")
    assert captured.get() == "\x1b[31mone\x1b[0m\ntwo[red]\ufffd[0m\n"


@pytest.mark.parametrize("text", [ODD, "a b", "-r", "", "o'hara", "$'x'\n\t", "\udce4"], ids=ascii)
def test_a_quoted_word_is_itself(text: str) -> None:
    """To bash, and printable."""
    assert quoted(text).isprintable() and plain(quoted(text)) == quoted(text)
    said = subprocess.run(["bash", "-c", f"printf %s {quoted(text)}"], stdout=subprocess.PIPE, check=True).stdout
    assert said == text.encode("utf-8", "surrogateescape")
