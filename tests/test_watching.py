"""An exercise is looked at again after each change of its files, in a process that has everything imported."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from shardlab_authoring import exercise
from shardlab_course.chapters import folder

ROOT = pathlib.Path(__file__).parents[1]


class Enough(Exception):
    """The loop has gone round often enough."""


def looks(tmp_path: pathlib.Path, *changes: str) -> list[int]:
    """After which rounds something is done, while the files change as told: a round for each change, and one before."""
    path, done, rounds = tmp_path / "4.2.py", [], 0

    def found() -> list[pathlib.Path]:
        nonlocal rounds
        if rounds > len(changes):
            raise Enough
        if rounds:
            match changes[rounds - 1]:
                case "saved":
                    path.write_text("saved")
                    os.utime(path, ns=(rounds, rounds))
                case "gone":
                    path.unlink()
                case "another":
                    (tmp_path / f"{rounds}.py").touch()
        rounds += 1
        return [path, *tmp_path.glob("[0-9].py")]

    with pytest.raises(Enough):
        exercise.after_changes(found, lambda: done.append(rounds), seconds=0)
    return done


@pytest.mark.parametrize(
    ("changes", "rounds"),
    [
        ([], []),
        (["saved"], [2]),
        (["saved", "nothing", "saved"], [2, 4]),
        (["saved", "gone", "nothing"], [2, 3]),
        (["nothing", "another", "nothing"], [3]),
    ],
    ids=["nothing there", "a save", "two saves", "a loss", "a new file"],
)
def test_each_change_is_looked_at_once(changes: list[str], rounds: list[int], tmp_path: pathlib.Path) -> None:
    """A file that is saved, lost or new; a file that is gone between two looks stops nothing."""
    assert looks(tmp_path, *changes) == rounds


@pytest.mark.parametrize("id", ["4.2", "14.1", "0.1"])
def test_the_files_of_an_exercise(id: str) -> None:
    """Its chapter's text, data and modules, its own folder among them, and nothing of another chapter."""
    found = exercise.files(ROOT, id)
    number, place = map(int, id.split("."))
    own = folder(number) / f"ex{place:02}"
    assert {own / "question.py", own / "answers.py", folder(number) / "references.json"} <= {*found}
    assert all(path.is_relative_to(folder(number)) or path.parent == ROOT / "solutions" for path in found)
    assert [path.name[:2] for path in found if path.parent == ROOT / "solutions"] == [f"{number:02}"]


FORKED = """
from shardlab_authoring import exercise

def fails():
    raise ValueError("no")

print("before", end=" ")
print("inside returned", exercise.forked(lambda: print("inside") or 3), "and", exercise.forked(fails))
"""


def test_what_is_forked_has_a_status_of_its_own() -> None:
    """What it prints is printed once, and its exception does not come back."""
    ran = subprocess.run([sys.executable, "-c", FORKED], capture_output=True, text=True)
    assert ran.stdout == "before inside\ninside returned 3 and 1\n" and ran.returncode == 0, ran.stderr
