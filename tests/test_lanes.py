"""Which JAX a Python gets, and which Pythons are found."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import pytest

from shardlab_authoring import lanes

ROOT = pathlib.Path(__file__).parents[1]

TEXT = """\
attrs==26.1.0
jax==0.10.2 ; python_full_version < '3.12'
jax==0.12.0.1 ; python_full_version >= '3.12' and python_full_version < '3.15'
jax==0.9.1 ; python_full_version >= '3.15'
wheel==1.0 ; sys_platform == 'none'
"""


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository of nothing but constraints."""
    (tmp_path / lanes.CONSTRAINTS).write_text(TEXT)
    return tmp_path


def python(folder: pathlib.Path, minor: int, version: str) -> str:
    """A stand-in that says a version, or fails where it has none."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"python3.{minor}"
    path.write_text(f"#!/bin/sh\n{f'echo {version}' if version else 'exit 127'}\n")
    path.chmod(0o755)
    return str(path)


@pytest.mark.parametrize(
    ("version", "jax"),
    [
        pytest.param("3.11.7", "0.10.2", id="oldest"),
        pytest.param("3.12.0", "0.12.0.1", id="boundary"),
        pytest.param("3.14.2", "0.12.0.1", id="between two"),
        pytest.param("3.15.0", "0.9.1", id="newest"),
    ],
)
def test_a_python_has_the_pins_whose_markers_hold(root: pathlib.Path, version: str, jax: str) -> None:
    """Those without a marker too, and none of another system."""
    assert lanes.pins(TEXT, version) == {"attrs": "26.1.0", "jax": jax} and lanes.jax_of(root, version) == jax


def test_lanes_are_sorted_by_version(root: pathlib.Path) -> None:
    """The oldest JAX first, as numbers and not as text."""
    assert lanes.known(root) == ["0.9.1", "0.10.2", "0.12.0.1"]


def test_pythons_are_looked_for_on_the_path_and_with_version_managers(tmp_path: pathlib.Path) -> None:
    """The newest first, the path before the managers; what fails, or is too old, is none."""
    environment = {
        "PATH": f"{tmp_path / 'one'}:{tmp_path / 'none'}:{tmp_path / 'two'}",
        "PYENV_ROOT": str(tmp_path / "pyenv"),
        "UV_PYTHON_INSTALL_DIR": str(tmp_path / "uv"),
    }
    python(tmp_path / "one", 12, "")
    python(tmp_path / "one", 10, "3.10.4")
    old = python(tmp_path / "two", 11, "3.11.2")
    python(tmp_path / "pyenv" / "versions" / "3.11.2" / "bin", 11, "3.11.2")
    middle = python(tmp_path / "pyenv" / "versions" / "3.12.1" / "bin", 12, "3.12.1")
    new = python(tmp_path / "uv" / "cpython-3.13.9-linux" / "bin", 13, "3.13.9")
    assert list(lanes.pythons(environment).items()) == [("3.13.9", new), ("3.12.1", middle), ("3.11.2", old)]


@pytest.mark.parametrize(
    ("here", "found", "other"),
    [
        pytest.param("3.11.7", {"3.13.0": "c", "3.12.1": "b", "3.11.2": "a"}, "c", id="newest of another lane"),
        pytest.param("3.13.0", {"3.13.1": "c", "3.12.1": "b", "3.11.2": "a"}, "a", id="not one of its own"),
        pytest.param("3.12.1", {"3.13.0": "c"}, "", id="none"),
    ],
)
def test_the_other_lane_is_one_of_another_jax(root: pathlib.Path, here: str, found: dict[str, str], other: str) -> None:
    """Of the Pythons that were found, the first whose JAX differs."""
    assert lanes.other(root, here, found) == other


def test_each_lane_is_printed(
    root: pathlib.Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the Pythons of this machine that belong to it; `--other` prints a path alone."""
    monkeypatch.chdir(root)
    monkeypatch.setattr(lanes, "pythons", lambda: {"3.15.1": "/new/python3.15"})
    lanes.main([])
    lanes.main(["--other"])
    assert capsys.readouterr().out.splitlines() == [
        "JAX 0.9.1: Python 3.15.1 (/new/python3.15)",
        "JAX 0.10.2: Python none is here",
        "JAX 0.12.0.1: Python none is here",
        "/new/python3.15" if sys.version_info < (3, 15) else "",
    ]


def test_a_python_that_does_not_run_is_told() -> None:
    """And nothing runs on another one in its place."""
    asked = ["make", "--dry-run", "lint"]
    ran = subprocess.run([*asked, "PYTHON=python3.999"], cwd=ROOT, capture_output=True, text=True)
    assert ran.returncode and "There is no python3.999 that runs here." in ran.stderr and not ran.stdout
    assert subprocess.run([*asked, f"PYTHON={sys.executable}"], cwd=ROOT, capture_output=True).returncode == 0
