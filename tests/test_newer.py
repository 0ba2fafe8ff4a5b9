"""A newer JAX is taken up: what has moved is named, and nothing that differs is passed over."""

from __future__ import annotations

import json
import pathlib
import shutil
import subprocess

import pytest

from shardlab_authoring import fronts, lanes, packaged
from shardlab_tools import newer

BEFORE = "jax==0.10.2 ; python_full_version < '3.12'\njax==0.12.0 ; python_full_version >= '3.12'\nrich==14.1\n"
AFTER = BEFORE.replace("0.12.0", "0.13.1").replace("14.1", "15.0")


@pytest.fixture
def root(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A repository of constraints, a chapter's references and its fronts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / lanes.CONSTRAINTS).write_text(BEFORE)
    (folder := tmp_path / packaged.FOLDER / "ch04").mkdir(parents=True)
    costs = {"0.12.0": {"4.1/a": {"price": 64}, "4.1/b": {"price": 8}}}
    (folder / "references.json").write_text(json.dumps({"programs": {}, "facts": costs}))
    (folder / "fronts.json").write_text(json.dumps({"0.12.0": {"case": {"flops": 3.0}}}))
    return tmp_path


def test_pins_that_moved_are_named() -> None:
    """By their old and their new version; a package that came or went too."""
    assert newer.moved({"a": "1", "b": "2", "c": "3"}, {"a": "1", "b": "4", "d": "5"}) == [
        "b: 2 -> 4",
        "c: 3 -> none",
        "d: none -> 5",
    ]


def test_references_that_cost_something_else_are_named(root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Against what they cost on the JAX that the lane had, though another lane has written the files since."""
    folder, before = root / packaged.FOLDER / "ch04", root / "before"
    shutil.copytree(root / packaged.FOLDER, before / packaged.FOLDER)
    (before / lanes.CONSTRAINTS).write_text("jax==0.12.0\n")

    def measured(asked: list[str]) -> None:
        costs = {"0.13.1": {"4.1/a": {"price": 128}, "4.1/b": {"price": 8}, "4.9/new": {"price": 1}}}
        (folder / "references.json").write_text(json.dumps({"programs": {}, "facts": costs}))

    def drawn() -> None:
        (folder / "fronts.json").write_text(json.dumps({"0.13.1": {"case": {"flops": 4.0}}}))

    monkeypatch.setattr(packaged, "main", measured)
    monkeypatch.setattr(fronts, "main", drawn)
    monkeypatch.setattr("importlib.metadata.version", {"jax": "0.13.1"}.__getitem__)
    assert list(newer.references(root, before)) == [
        "ch04/case: {'flops': 3.0} -> {'flops': 4.0}",
        "ch04/4.1/a: {'price': 64} -> {'price': 128}",
    ]


@pytest.mark.parametrize(
    ("code", "said", "failed"),
    [
        pytest.param(0, "9 passed", [], id="passed"),
        pytest.param(
            1, "FAILED tests/a.py::b - no\nERROR tests/c.py", ["FAILED tests/a.py::b - no", "ERROR tests/c.py"], id="failed"
        ),
        pytest.param(4, "usage", ["pytest ended with 4:\nusage"], id="broken"),
    ],
)
def test_failed_tests_are_named(code: int, said: str, failed: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one; a run that says nothing of tests and ends badly is named too."""
    ran = subprocess.CompletedProcess([], code, stdout=said)
    monkeypatch.setattr(subprocess, "run", lambda *given, **options: ran)
    assert list(newer.tests()) == failed


def test_what_is_tested_is_there() -> None:
    """The tests that a new JAX concerns first."""
    root = pathlib.Path(__file__).parents[1]
    assert [name for name in newer.TESTED if not (root / name).exists()] == []


def test_what_was_found_is_said_and_kept(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Part by part, in a file too; only where nothing differs it is the same."""
    path = tmp_path / "said.txt"
    assert newer.say(iter([("numbers", [])]), path) and not newer.say(iter([("numbers", []), ("tests", ["a", "b"])]), path)
    said = "numbers: nothing differs\ntests: 2 differ\n  a\n  b\n"
    assert path.read_text() == said and capsys.readouterr().out.endswith(said)


def test_every_lane_is_looked_at(
    root: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """One Python of each, with the pins that were before; a lane without a Python is named, and the end is not good."""
    ran: list[list[str]] = []

    def run(command: list[str], **options: bool) -> subprocess.CompletedProcess[str]:
        ran.append(command)
        if "constraints" in command:
            (root / lanes.CONSTRAINTS).write_text(AFTER)
        return subprocess.CompletedProcess(command, 0)

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setattr(lanes, "pythons", lambda: {"3.13.0": "/c", "3.12.1": "/b"})
    assert newer.main([]) == 1
    kept = [lanes.CONSTRAINTS, *newer.measured(root)]
    assert len(kept) == 3 and all((newer.BEFORE / path).exists() for path in kept)
    assert (newer.BEFORE / lanes.CONSTRAINTS).read_text() == BEFORE
    assert [command for command in ran if "newer-here" in command] == [
        ["make", "--no-print-directory", "PYTHON=/c", "newer-here", f"BEFORE={newer.BEFORE}"]
    ]
    assert capsys.readouterr().out.splitlines() == [
        "JAX 0.10.2: no Python of this lane is here.",
        "  mend:  install one, and run `make newer` again.",
        "Python 3.13.0: 2 pins changed",
        "  jax: 0.12.0 -> 0.13.1",
        "  rich: 14.1 -> 15.0",
    ]
