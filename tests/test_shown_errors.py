"""An error of ours in a notebook: the student's line, and three lines that say what, where and how to mend it."""

from __future__ import annotations

import pickle

import pytest
from IPython.core.interactiveshell import InteractiveShell

import shardlab as sl
from shardlab_course.chapters import CHAPTERS


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch) -> InteractiveShell:
    """An IPython of its own, without colours."""
    shell = InteractiveShell()
    shell.colors = "nocolor"
    shell.run_cell("import shardlab as sl", silent=True)
    return shell


def shown(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> list[str]:
    capsys.readouterr()
    shell.run_cell(cell)
    return "".join(capsys.readouterr()).splitlines()


def test_the_students_line_and_no_other(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """No frame of the laboratory, none of IPython; who called the student's function is told."""
    lines = shown(shell, "def nudge(id):\n    return sl.hint(id)\nnudge('4.99')", capsys)
    assert lines[:3] == [lines[0], "    return sl.hint(id)", "           ^^^^^^^^^^^"] and "line 2 of" in lines[0]
    assert lines[3] == "with id = '4.99'" and lines[4].startswith("called in line 3 of ")
    assert lines[5:7] == ["LensError:", "[unknown-question] there is no question '4.99'."]
    assert [line.split()[0] for line in lines[7:]] == ["where:", "mend:"] and len(lines) == 9


def test_carets_under_an_expression_stay(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """A sharding expression is quoted with its carets, below the student's line."""
    lines = shown(shell, "import numpy as np\nsl.einshard(np.ones((8, 8), 'float32'), 'a b -> a b(')", capsys)
    assert any("^" in line for line in lines) and "ShardingError:" in lines and "site-packages" not in "\n".join(lines)


def test_near_matches_instead_of_all() -> None:
    """Of the chapter that was meant; of an unknown chapter, the chapters that there are."""
    with pytest.raises(sl.ShardlabError) as raised:
        sl.hint("4.22")
    assert "chapter 4 has 4.1 to 4.7" in raised.value.where and "the nearest is '4.2'" in raised.value.mend
    with pytest.raises(sl.ShardlabError, match=f"chapters are 0 to {max(CHAPTERS)}"):
        sl.hint("99.1")


def test_a_sent_error_shows_itself_too() -> None:
    """One that came from another process has no line of the student's."""
    with pytest.raises(sl.ShardlabError) as raised:
        sl.hint("4.22")
    lines = pickle.loads(pickle.dumps(raised.value))._render_traceback_()
    assert lines[:2] == ["LensError:", "[unknown-question] there is no question '4.22'."]
