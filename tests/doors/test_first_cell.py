"""The first cell of a notebook where Shardlab is missing, and what it pins."""

from __future__ import annotations

import dataclasses
import os
import pathlib
import re
import subprocess
import sys
import tomllib

import jax
import nbformat
import pytest
from packaging.specifiers import SpecifierSet

from shardlab.devices import OLDEST_JAX
from shardlab_authoring import lanes
from shardlab_course.editions import header

ROOT = pathlib.Path(__file__).parents[2]
GIVEN = header.syllabus(ROOT)
ADDRESS = "https://github.com/owner/course"
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
PLATFORMS = tomllib.loads(pathlib.Path(__file__).with_name("platforms.toml").read_text())
BOUNDS = re.compile(r'"([\w.-]+)<=([\w.]+)"')
NEEDED = {"flax": "from flax import nnx", "orbax-checkpoint": "import orbax.checkpoint as ocp"}
NEEDING = [(path, package) for path in NOTEBOOKS for package, words in NEEDED.items() if words in path.read_text()]
# A shell in which a package cannot be imported until %pip has run; %pip says what it was asked for.
MISSING = """
import importlib.util, sys
from IPython.core.interactiveshell import InteractiveShell

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name == PACKAGE:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

def pip(line):
    print("asked:", line)
    if NETWORK:
        sys.meta_path.remove(missing)

missing = Missing()
sys.meta_path.insert(0, missing)
libtpu, find_spec = LIBTPU, importlib.util.find_spec

def found(name, *rest):
    if name == PACKAGE and missing in sys.meta_path:
        return None
    return libtpu if name == "libtpu" else find_spec(name, *rest)

importlib.util.find_spec = found
shell = InteractiveShell.instance()
shell.register_magic_function(pip, "line", "pip")
assert shell.run_cell(CELL).success == NETWORK
assert not NETWORK or {"jax", PACKAGE} <= {*sys.modules}
"""


def first_cell(path: pathlib.Path) -> str:
    """A notebook's first code cell."""
    return next(cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code")


def typed(cell: str, package: str, libtpu: bool = False, folder: pathlib.Path = ROOT, *, network: bool = True) -> list[str]:
    """The lines that the cell shows in a new process without the package; without a network it must fail."""
    values = {"LIBTPU": True if libtpu else None, "CELL": cell, "PACKAGE": package, "NETWORK": network}
    code = re.sub("|".join(values), lambda match: repr(values[match[0]]), MISSING)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    done = subprocess.run(
        [sys.executable, "-c", code], env={**kept, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True, timeout=600,
        cwd=folder,
    )  # fmt: skip
    assert not done.returncode, done.stdout + done.stderr
    return done.stdout.splitlines()


@pytest.mark.parametrize("libtpu", [False, True], ids=["no-tpu", "tpu"])
def test_where_the_course_is_missing_it_is_installed(libtpu: bool) -> None:
    """pip gets the address and the newest JAX, with the TPU's compiler where one is; then the cell goes on, in one line."""
    given = dataclasses.replace(GIVEN, address=ADDRESS)
    asked, found = typed(header.first_cell((), given), "shardlab", libtpu)
    assert asked == (
        f'asked: install -qU "shardlens @ git+{ADDRESS}@v{GIVEN.version}#subdirectory=lens"'
        f' "shardlab{"[tpu]" * libtpu} @ git+{ADDRESS}@v{GIVEN.version}" "jax<={GIVEN.pins["jax"]}"'
    )
    assert found.startswith("Out[0]: Python 3.") and found.endswith(f"JAX {jax.__version__}: 8 simulated CPU devices")


@pytest.mark.parametrize("libtpu", [False, True], ids=["no-tpu", "tpu"])
def test_without_an_address_it_is_installed_from_the_wheel(tmp_path: pathlib.Path, libtpu: bool) -> None:
    """The newest that lies beside the notebook; nothing is asked of an address that somebody else may own."""
    given = dataclasses.replace(GIVEN, address=header.UNSET)
    for version in ("0.0.9", GIVEN.version):
        for name in ("shardlab", "shardlens"):
            (tmp_path / f"{name}-{version}-py3-none-any.whl").touch()
    cell = header.first_cell((), given)
    asked, found = typed(cell, "shardlab", libtpu, tmp_path)
    wheel = f"shardlab-{GIVEN.version}-py3-none-any.whl{'[tpu]' * libtpu}"
    lens = f"shardlens-{GIVEN.version}-py3-none-any.whl"
    assert asked == f'asked: install -qU "{lens}" "{wheel}" "jax<={GIVEN.pins["jax"]}"'
    assert found.endswith("8 simulated CPU devices") and "git+" not in cell and "invalid" not in cell


@pytest.mark.parametrize("address", [header.UNSET, ADDRESS], ids=["wheel", "address"])
def test_what_is_missing_is_said(tmp_path: pathlib.Path, address: str) -> None:
    """No wheel; and with one, no network: a sentence that says what to do, as the last line."""
    cell = header.first_cell((), dataclasses.replace(GIVEN, address=address))
    if address == header.UNSET:
        assert (
            "Put shardlab-....whl and shardlens-....whl beside this notebook"
            in typed(cell, "shardlab", False, tmp_path, network=False)[-1]
        )
    for name in ("shardlab", "shardlens"):
        (tmp_path / f"{name}-1.0-py3-none-any.whl").touch()
    assert "switch Internet on" in typed(cell, "shardlab", False, tmp_path, network=False)[-1]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_every_notebook_begins_with_it(path: pathlib.Path) -> None:
    """The generated cell, with the other packages that the chapter imports."""
    others = tuple(package for at, package in NEEDING if at == path)
    assert first_cell(path) == header.first_cell(others, GIVEN)


@pytest.mark.thorough
@pytest.mark.parametrize(("path", "package"), NEEDING, ids=lambda x: getattr(x, "stem", x))
def test_a_package_of_few_chapters_comes_with_the_cell_that_needs_it(path: pathlib.Path, package: str) -> None:
    """`make lab` brings none of them: the first cell that imports one installs it, up to its pin, and goes on."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    before, words, _ = next(cell for cell in cells if NEEDED[package] in cell).rpartition(NEEDED[package])
    assert typed(before + words, package.partition("-")[0]) == [f'asked: install -q "{package}<={GIVEN.pins[package]}"']


def test_students_install_no_package_of_few_chapters() -> None:
    """The extra `lab` has what all chapters need."""
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    assert len(NEEDING) > 2 and not [line for line in extras["lab"] for package in NEEDED if line.startswith(package)]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_what_cells_install_is_bounded_by_the_pins(path: pathlib.Path) -> None:
    """No version in a notebook but the newest of constraints.txt, as a bound."""
    cells = [cell.source for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    lines = [line for cell in cells for line in cell.splitlines() if "%pip" in line]
    assert lines and not [line for line in lines if "==" in line]
    assert {bound for line in lines for bound in BOUNDS.findall(line)} <= {*GIVEN.pins.items()}


@pytest.mark.parametrize("version", lanes.known(ROOT))
def test_the_bound_lets_each_lane_have_its_jax(version: str) -> None:
    """A Python gets the newest JAX that it can run up to the bound: the newest of all, or one that is older."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"jax>={OLDEST_JAX}" in needed
    assert version in SpecifierSet(f">={OLDEST_JAX},<={GIVEN.pins['jax']}")


def test_a_chapter_names_the_packages_that_it_needs_besides() -> None:
    """The mark's further words become packages up to their pins; one without a pin is left open."""
    cell = header.first_cell(("flax", "unknown"), GIVEN)
    assert f'"jax<={GIVEN.pins["jax"]}" "flax<={GIVEN.pins["flax"]}" unknown\n' in cell


@pytest.mark.parametrize("name", PLATFORMS)
def test_platforms_are_cited(name: str) -> None:
    """Each copy of a platform says where its list comes from, and when it was read."""
    platform = PLATFORMS[name]
    assert platform["sources"] and platform["read"] and platform["state"]
    assert all(source.startswith("https://github.com/") for source in platform["sources"])
