"""The machines that `make test-portable` imitates are as unlike this one as they say."""

from __future__ import annotations

import datetime
import os
import pathlib
import shutil
import subprocess

import pytest

from shardlab_tools import portable

HEAD = """
import datetime, os, pathlib, time
import pytest

@pytest.mark.stored
def test_this_machine():
"""
BARE = """
    assert "HOME" not in os.environ and os.environ["LANG"] == "C" and time.localtime().tm_gmtoff == 20_700
    assert os.umask(0) == 0o077 and len(os.sched_getaffinity(0)) == 1
"""
GUEST = """
    here = pathlib.Path.cwd()
    assert " " in here.name and not here.name.isascii() and os.access(here, os.W_OK)
    assert os.geteuid() and "kept" in (here / "Äpfel.txt").read_text()
    assert datetime.date.today() > datetime.date.fromisoformat("{today}") + datetime.timedelta(360)
"""
OLDER = """
    from numpy.lib import introspect
    used = {one["current"] for found in introspect.opt_func_info().values() for one in found.values()}
    assert used and not any(name in each for each in used for name in ("AVX2", "AVX512", "X86_V3", "X86_V4"))
"""


@pytest.fixture
def repository(tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository with a file that is ignored, one that is not, and no test yet."""
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    for name, text in {".gitignore": "left.txt", "left.txt": "", "Äpfel.txt": "kept", "tests/test_none.py": "1 / 0"}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers =\n  stored: compares\n")
    (tmp_path / "tests" / "processor.c").write_text((pathlib.Path(__file__).with_name("processor.c")).read_text())
    return tmp_path


def status(one: portable.Round, text: str) -> int:
    """How the only test ends there."""
    (one.folder / "tests" / "test_it.py").write_text(HEAD + text)
    return portable.run(one, ["-p", "no:shardlab"])


@pytest.mark.thorough
def test_an_environment_that_says_little(repository: pathlib.Path) -> None:
    """No home, another zone, one core; only files with the marker are read, and a failure is told."""
    with portable.bare(repository) as one:
        assert status(one, BARE) == 0
        assert status(one, BARE + "    assert False") == 1


def test_what_is_brought_into_a_closed_folder_is_not_hidden_again(tmp_path: pathlib.Path) -> None:
    """Two paths below one folder that is closed to others: it is made anew once."""
    closed = tmp_path / "closed"
    paths = [closed / "one" / "bin", closed / "two"]
    for path in paths:
        path.mkdir(parents=True)
    closed.chmod(0o700)
    words = portable.entered(*paths)
    assert words.count("--tmpfs") == 1 and [words[words.index(str(path)) - 1] for path in paths] == ["--ro-bind"] * 2


@pytest.mark.thorough
@pytest.mark.sandbox
@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("faketime"), reason="it takes root, and faketime")
def test_a_guest(repository: pathlib.Path) -> None:
    """Another user, in another folder, next year, with all files that are not ignored."""
    with portable.guest(repository) as one:
        assert not any("user" in sentence or "year" in sentence for sentence in one.without)
        assert not (one.folder / "left.txt").exists()
        assert status(one, GUEST.format(today=datetime.date.today())) == 0


@pytest.mark.thorough
def test_an_older_processor(repository: pathlib.Path) -> None:
    """NumPy finds no AVX2, where a C compiler is here and the processor can hide it."""
    with portable.bare(repository) as one:
        if one.without:
            pytest.skip(one.without[0])
        assert status(one, OLDER) == 0


@pytest.mark.thorough
def test_what_this_machine_cannot_be_is_said(
    repository: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    """A sentence each, and the tests run all the same."""
    monkeypatch.setattr(shutil, "which", lambda name: None)
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    (repository / "tests" / "processor.c").write_text("no C")
    with portable.guest(repository) as one:
        assert status(one, "    pass") == 0
    said = [line.split(":")[1].strip() for line in capfd.readouterr().out.splitlines() if "not here:" in line]
    assert said == ["another processor for all libraries", "another user", "a year ahead"]
