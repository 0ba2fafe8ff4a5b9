"""The store: what makes a key, and what survives a bad file."""

from __future__ import annotations

import pathlib
import signal
import subprocess
import sys
import tempfile

import pytest

from shardlab_grader.records import ledger, store
from shardlab_grader.records.store import Record, Store
from shardlab_judge.verdict import Finding, Part, Verdict
from shardlens.placement import place

SHOWN = place((8, 4), {"x": 2}, ("x", None))
FINDING = Finding("a", "S", "It is on the wrong devices.", pictures=(SHOWN, SHOWN))
VERDICTS = {
    "4.1": Verdict("4.1", "failed", (Part("a", "V", 1.5, 2.0), Part("a", "S", 0.0, 1.0)), (FINDING,)),
    "4.2": Verdict("4.2", "ungraded", reason="The judge died."),
}
RECORD = Record(VERDICTS, "bubblewrap", {"4.1": ["cell 3: ValueError: no"]})


def test_a_record_comes_back_as_it_was(tmp_path: pathlib.Path) -> None:
    """Verdicts, pictures, exceptions and the sandbox's name survive the file."""
    Store(tmp_path).put("key", RECORD)
    assert Store(tmp_path).get("key") == RECORD
    assert (RECORD.points, RECORD.ungraded) == (1.5, ("4.2",))


def test_a_file_is_only_its_owners(tmp_path: pathlib.Path) -> None:
    """Nobody else on the machine reads verdicts."""
    Store(tmp_path).put("key", RECORD)
    (path,) = (tmp_path / "shardlab" / "verdicts").iterdir()
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"verdicts": {"4.1": 3}, "sandbox": "none", "errors": {}}'])
def test_a_bad_file_is_no_record(text: str, tmp_path: pathlib.Path) -> None:
    """A file that cannot be read is as good as none: the notebook is graded again."""
    Store(tmp_path).put("key", RECORD)
    (tmp_path / "shardlab" / "verdicts" / "key.json").write_text(text)
    assert Store(tmp_path).get("key") is None


def test_a_failed_write_leaves_the_old_file(tmp_path: pathlib.Path) -> None:
    """A file is replaced whole or not at all, and nothing is left lying about."""
    path = tmp_path / "file.json"
    store.write(path, "old")
    with pytest.raises(UnicodeEncodeError):
        store.write(path, "new\ud800")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_key_changes_with_what_it_stands_for() -> None:
    """Notebook and release each change it; nothing random does."""
    first = store.key(b"notebook", "release")
    others = [store.key(b"notebook ", "release"), store.key(b"notebook", "release 2")]
    assert store.key(b"notebook", "release") == first
    assert len({first, *others}) == 3


def killed(course: pathlib.Path, code: str) -> None:
    """What a process leaves that is killed in this code."""
    body = (
        f"import os, pathlib, signal\ncourse = pathlib.Path({str(course)!r})\n{code}\nos.kill(os.getpid(), signal.SIGKILL)"
    )
    assert subprocess.run([sys.executable, "-c", body]).returncode == -signal.SIGKILL


def test_what_a_killed_process_left_is_swept(tmp_path: pathlib.Path) -> None:
    """Unfinished files, staged folders and temporary files with seeds and answers; nothing else, whatever its name."""
    course = tmp_path / "course"
    course.mkdir()
    (course / ledger.MARK).touch()
    others = [course / ".x.4711.y", course / "shardlab" / ".a.json.4712.x1", course / ".shardlab-staged.4713.ab"]
    for path in others:
        path.parent.mkdir(exist_ok=True)
        path.write_text("mine")
    killed(
        course,
        f"""
import tempfile
tempfile.tempdir = {str(tmp_path)!r}
from shardlab_grader.nbgrader.course import staging
from shardlab_grader.records import ledger, store
os.replace = lambda *_: os.kill(os.getpid(), signal.SIGKILL)
with ledger.scratch(course), staging(course) as place:
    (place / "ann").mkdir()
    tempfile.mkdtemp()
    store.write(course / "shardlab" / "verdicts" / "a.json", "half")
""",
    )
    left = {path.name for path in tmp_path.glob("shardlab-*")} | {path.name for path in course.rglob(".*")}
    assert len(left) == len(others) + 3
    ledger.sweep(course)
    assert list(tmp_path.iterdir()) == [course]
    assert sorted(course.rglob(".*")) == sorted(others) and all(path.read_text() == "mine" for path in others)
    assert list((course / ledger.FOLDER).iterdir()) == []


def test_what_is_being_written_stays(tmp_path: pathlib.Path) -> None:
    """While its process runs; and when it ends in order it leaves no ledger."""
    (tmp_path / ledger.MARK).touch()
    with ledger.scratch(tmp_path):
        place = pathlib.Path(tempfile.mkdtemp())
        store.write(tmp_path / "shardlab" / "a.json", "whole")
        ledger.sweep(tmp_path)
        assert place.exists() and list((tmp_path / ledger.FOLDER).iterdir())
    assert not place.exists() and not list((tmp_path / ledger.FOLDER).iterdir())
