"""What takes long says so on stderr, and Ctrl-C leaves what is known by then."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import shardlens as lens
import why_programs as programs
from shardlens import progress
from shardlens.reasons import answer

SOURCE = Path(__file__).parents[1] / "src"
SLOW = """
    import sys, time
    from shardlens import progress
    progress.FIRST = progress.BETWEEN = 0.05
    with progress.shown():
        with progress.step("compiling step"):
            with progress.step("something inside"):
                time.sleep(1)
        time.sleep(0.2)
        print("warning", file=sys.stderr)
"""


def test_a_log_has_lines() -> None:
    """Without a terminal there is a line from time to time, of the outermost step, and none between steps."""
    code, kept = textwrap.dedent(SLOW), os.environ | {"PYTHONPATH": str(SOURCE)}
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=kept)
    *steps, last = ended.stderr.splitlines()
    assert ended.returncode == 0 and last == "warning" and len(steps) >= 2
    assert all(re.fullmatch(r"compiling step, \d+ s", line) for line in steps)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no terminal to open")
def test_a_terminal_has_one_line() -> None:
    """It is written over itself, and taken away at the end."""
    import pty

    ours, theirs = pty.openpty()
    code, kept = textwrap.dedent(SLOW), os.environ | {"PYTHONPATH": str(SOURCE)}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=theirs, env=kept, check=True)
    os.close(theirs)
    shown = os.read(ours, 1 << 16).decode()
    os.close(ours)
    assert "\rcompiling step, 0 s" in shown and shown.count("\n") == 1
    assert shown.rstrip().endswith("warning") and "something inside" not in shown


def test_nothing_is_said_unless_it_is_turned_on(capfd: pytest.CaptureFixture[str]) -> None:
    """A library keeps silent; the steps are known all the same."""
    with progress.step("compiling f"):
        assert progress.now().startswith("compiling f, ")
    assert progress.now() == "" and capfd.readouterr() == ("", "")


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("after", [0, 1, 3])
def test_interrupted(after: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C while changes are tried ends the search; what was found is the answer, and it says so."""
    f, args = programs.fsdp()
    real, calls = answer._Trials._program, []

    def once(self: Any, change: Any) -> Any:
        calls.append(change)
        if len(calls) > after:
            raise KeyboardInterrupt
        return real(self, change)

    monkeypatch.setattr(answer._Trials, "_program", once)
    found = lens.why(f, *args)
    assert found.interrupted and found.tried == after and f"{after} changes compiled too, then interrupted" in str(found)
    assert len(found.answers) == len(found.program.collectives) and found.answers[0].edges


def test_the_command_ends_with_130(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where nothing is known yet, it says that it was interrupted."""
    (tmp_path / "interrupted_of_test.py").write_text("def step(a):\n    raise KeyboardInterrupt\n")
    monkeypatch.chdir(tmp_path)
    asked = ["inspect", "interrupted_of_test.py:step", "--args", "float32[8]", "--mesh", "x=1"]
    assert lens.lens_command(asked) == 130 and capsys.readouterr().err == "interrupted\n"
