"""The store: what makes a key, and what survives a bad file."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys

import pytest

from shardlab_grader.records import store
from shardlab_grader.records.store import Record, Store
from shardlab_judge.verdict import Finding, Part, Verdict
from shardlens.placement import place

SHOWN = place((8, 4), {"x": 2}, ("x", None))
FINDING = Finding("a", "S", "Other devices hold it.", pictures=(SHOWN, SHOWN))
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


def test_unfinished_files_are_swept(tmp_path: pathlib.Path) -> None:
    """What a killed writer left goes; what is being written stays, and so does everything else."""
    folder = tmp_path / "shardlab" / "verdicts"
    folder.mkdir(parents=True)
    ended = subprocess.Popen([sys.executable, "-c", "pass"])
    ended.wait()
    dead, alive, other = f".a.json.{ended.pid}.x1_y", f".a.json.{os.getpid()}.x1_y", ".hidden.json"
    for place_ in (tmp_path, folder):
        for name in (dead, alive, other, "a.json"):
            (place_ / name).touch()
    store.sweep(tmp_path)
    assert {path.name for path in folder.iterdir()} == {alive, other, "a.json"}
    assert {path.name for path in tmp_path.iterdir() if path.is_file()} == {alive, other, "a.json"}
