"""A name that is not there: which earlier cell of the notebook makes it, said in a kernel before anything else has run."""

from __future__ import annotations

import json
import pathlib
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.application import ENV_CONFIG_DIRS
from IPython.core.interactiveshell import InteractiveShell

from shardlab import cells
from shardlab_course.editions import header

ROOT = pathlib.Path(__file__).parents[1]
FIRST = header.first_cell([], header.syllabus(ROOT))
MAGICS = "%pip install x\nif 1:\n    !ls\n    mesh, _ = 1, 2\ndef ring(n):\n    inside = 3"
LOOPS = "from jax import P as Spec, jit\nfor size in [1]: pass\n[each for each in [1]]"
NOTEBOOK: list[dict[str, Any]] = [
    {"cell_type": "markdown", "id": "a", "source": "# 1. Meshes"},
    {"cell_type": "code", "id": "b", "source": FIRST},
    {"cell_type": "markdown", "id": "c", "source": ["## Rings\n", "\n", "### Two of them"]},
    {"cell_type": "code", "id": "d", "source": MAGICS},
    {"cell_type": "code", "id": "e", "source": "x = (1,"},
    {"cell_type": "code", "id": "f", "source": LOOPS},
    {"cell_type": "code", "id": "g", "source": "mesh = 7"},
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("sl", "import shardlab as sl"), ("mesh", "mesh = 7"), ("ring", "def ring(n):"),
        ("size", "for size in [1]: pass"), ("Spec", "from jax import P as Spec, jit"),
        ("jit", "from jax import P as Spec, jit"),
        ("inside", ""), ("each", ""),
        ("P", ""), ("x", ""), ("nowhere", ""),
    ],
)  # fmt: skip
def test_the_line_that_makes_a_name(name: str, line: str) -> None:
    """Assignments, functions, imports and loops at a cell's top level; nothing inside a function, and no broken cell."""
    told = cells.made_by(name, NOTEBOOK)
    assert told.endswith(line) and bool(told) == bool(line)


def test_only_earlier_cells_count() -> None:
    """Of two cells the last one before the cell that asks, under the nearest heading."""
    told = cells.made_by("mesh", NOTEBOOK, "g")
    assert told.startswith("An earlier cell makes 'mesh', but that cell has not run in this kernel.")
    assert told.endswith("It is below the heading “Two of them”: mesh, _ = 1, 2")
    assert cells.made_by("mesh", NOTEBOOK, "d") == ""


@pytest.fixture
def shell(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[InteractiveShell]:
    """A shell with the extension, in a folder with the notebook that JupyterLab names."""
    (tmp_path / "01.ipynb").write_text(json.dumps({"cells": NOTEBOOK}))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JPY_SESSION_NAME", "elsewhere/01.ipynb")
    shell = InteractiveShell()
    shell.colors = "nocolor"
    cells.load_ipython_extension(shell)
    yield shell


def shown(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert not shell.run_cell(cell).success
    return "".join(capsys.readouterr())


def test_a_name_error_says_which_cell(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the traceback, for `sl` too, of which nothing was imported; the menu's own words say what to do."""
    told = " ".join(shown(shell, "sl.show(1)", capsys).split())
    assert "NameError: name 'sl' is not defined" in told and "below the heading “1. Meshes”: import shardlab as sl" in told
    assert told.endswith(cells.ABOVE)


@pytest.mark.parametrize("cell", ["tpyo", "1 / 0", "def f():\n    print(mesh)\n    mesh = 1\nf()"])
def test_other_errors_stay(shell: InteractiveShell, cell: str, capsys: pytest.CaptureFixture[str]) -> None:
    """A name that nobody makes, another exception, and a local name."""
    assert "earlier cell" not in shown(shell, cell, capsys)


@pytest.mark.parametrize("text", ["{", "[]", '{"cells": [{}]}', ""])
def test_without_a_notebook(shell: InteractiveShell, text: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Where the file cannot be read, or is not there, the error is as it always was."""
    path = pathlib.Path("01.ipynb")
    path.write_text(text) if text else path.unlink()
    assert "earlier cell" not in shown(shell, "mesh", capsys)


def test_what_an_inspected_function_misses(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Its own line, the error and the cell, and no frame of ours or of JAX."""
    shell.run_cell("import shardlens, jax\ndef f(x):\n    return mesh + x")
    told = shown(shell, "shardlens.inspect(f, jax.ShapeDtypeStruct((2,), 'float32'))", capsys)
    assert "    return mesh + x" in told and "site-packages" not in told and len(told.splitlines()) < 14
    assert "An earlier cell makes 'mesh'" in told


def test_messages_are_explained(shell: InteractiveShell, capsys: pytest.CaptureFixture[str]) -> None:
    """Below the traceback: what JAX's message means, how to mend it, and its entry on the page, until it is turned off."""
    told = shown(shell, "import jax; jax.lax.psum(1.0, 'rows')", capsys)
    assert told.index("unbound axis name: rows") < told.index(
        "unbound-axis: A collective is called where its axis has no name"
    )
    assert told.rstrip().endswith("  page:      messages.md#unbound-axis")
    shell.run_cell("from shardlens import explain_errors; explain_errors(False, shell=get_ipython())")
    assert "  mend:" not in shown(shell, "jax.lax.psum(1.0, 'rows')", capsys)


def test_every_kernel_of_the_environment_loads_it() -> None:
    """The wheel brings a configuration to where IPython looks; it names the extension, and that imports no JAX."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    ((source, place),) = wheel["shared-data"].items()
    assert str(pathlib.Path(sys.prefix, place).parent) in ENV_CONFIG_DIRS
    assert f'"{cells.__name__}"' in (ROOT / source).read_text()
