"""One command at a time in a course directory."""

from __future__ import annotations

import pathlib
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import pytest
from click.testing import CliRunner

from shardlab.errors import ShardlabError
from shardlab_grader import cli, statuses
from shardlab_grader.records import lock

HOLD = """
import pathlib, sys
from shardlab_grader.records import lock
with lock.held(pathlib.Path(sys.argv[1]), "grade 04"):
    print("has it", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: pathlib.Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the course."""
    line = [sys.executable, "-c", HOLD, str(tmp_path)]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None and process.stdout.readline() == "has it\n"
        yield process
        process.kill()


def test_a_second_command_says_who_holds_the_course(tmp_path: pathlib.Path, holder: subprocess.Popen[str]) -> None:
    """It stops if it shall not wait, names command and process, and has changed nothing."""
    with pytest.raises(ShardlabError, match="course-busy") as said, lock.held(tmp_path, "grade 00", wait=False):
        pass
    assert said.value.what.startswith(f"grade 04, process {holder.pid} on ")


def test_a_second_command_waits(tmp_path: pathlib.Path, holder: subprocess.Popen[str]) -> None:
    """It hears for whom it waits, and goes on when that one has ended."""
    heard: list[str] = []
    done = threading.Event()

    def second() -> None:
        with lock.held(tmp_path, "grade 00", told=lambda who: (heard.append(who), holder.stdin.close())):
            done.set()

    threading.Thread(target=second).start()
    assert done.wait(60) and heard[0].startswith("grade 04")


def test_a_killed_holder_is_no_obstacle(tmp_path: pathlib.Path, holder: subprocess.Popen[str]) -> None:
    """The kernel frees what a killed process has held; what it had written says nothing any more."""
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with lock.held(tmp_path, "grade 00", wait=False), pytest.raises(ShardlabError, match="grade 00"):
        with lock.held(tmp_path, "forget", wait=False):
            pass
    assert (tmp_path / "shardlab" / lock.NAME).read_text() == ""


def test_the_command_stops_with_its_own_status(
    tiny_course: pathlib.Path, tmp_path: pathlib.Path, request: pytest.FixtureRequest
) -> None:
    """`--no-wait` ends with the status for "try again later", and a sentence."""
    shutil.copytree(tiny_course, tmp_path, dirs_exist_ok=True)
    request.getfixturevalue("holder")
    ended = CliRunner().invoke(cli.main, ["grade", "90", "--course", str(tmp_path), "--sandbox", "none", "--no-wait"])
    assert ended.exit_code == statuses.BUSY == 75
    assert "grade 04, process" in ended.stderr and "--no-wait" in ended.stderr
