"""What the distribution promises: what it imports, what it pins, and the one place of its address."""

import ast
import importlib.metadata
import json
import platform
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name
from packaging.version import Version
from rattler import MatchSpec
from rattler.exceptions import InvalidMatchSpecError

from shardlab_authoring import lanes
from shardlab_tools import dependencies

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text()
PINNED = [Requirement(line) for line in CONSTRAINTS.splitlines()]
LANES = lanes.known(ROOT)
PYTHONS = ("3.11.2", "3.12.1", "3.13.0", "3.14.1")
ENVIRONMENT = yaml.safe_load((ROOT / "environment.yml").read_text())
CONDA = [entry for entry in ENVIRONMENT["dependencies"] if isinstance(entry, str)]
(PIP,) = (entry["pip"] for entry in ENVIRONMENT["dependencies"] if isinstance(entry, dict))

MEASURE = "run `make references`, and once more with PYTHON= a Python of the other lane"

HEAVY = {"click", "IPython", "ipykernel", "jupytext", "nbclient", "nbconvert", "nbformat", "nbgrader", "shardlab_grader"}
COMES_WITH_JAX = {"jaxlib"}
ROOMS = ("shardlab", "shardlab_judge", "shardlab_course", "shardlab_grader", "shardlab_authoring")
LIGHT = {"jax", "matplotlib", "numpy", "rich", "shardlab", "shardlens"} | COMES_WITH_JAX | sys.stdlib_module_names

# Where an address of a course repository can hide: a clone, an install, a Colab or Binder link, or any owner's shardlab.
ADDRESS = re.compile(
    r"(?:git\+https://github\.com|colab\.research\.google\.com/github|mybinder\.org/v2/gh)/(?P<linked>[\w.-]+/[\w-]+)"
    r"|github\.com/(?P<named>[\w.-]+/[\w-]*shardlab[\w-]*|ORG/REPO)"
    r"|(?P<unset>repository\.invalid/shardlab)",
    re.IGNORECASE,
)
OURS = PROJECT["urls"]["Repository"].removeprefix("https://github.com/").removeprefix("https://")
SOME = "owner/some-shardlab"
HIDDEN = {".ci", ".devcontainer", ".github"}
MADE = {"build", "dist", "out", "__pycache__"}
TEXT = {"", ".cff", ".cfg", ".css", ".html", ".ipynb", ".json", ".md", ".py", ".sh", ".toml", ".txt", ".yaml", ".yml"}


def imported(path: Path) -> Iterator[str]:
    """The top-level names that a module imports from elsewhere, anywhere in its text."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name.split(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield str(node.module).split(".")[0]


def licences() -> dict[str, str]:
    """The licence that CONTRIBUTING.md gives to each package."""
    rows = (ROOT / "CONTRIBUTING.md").read_text().partition("| licence | packages |")[2].splitlines()[2:]
    pairs = [(name, row.split("|")[1].strip()) for row in rows for name in re.findall(r"`([\w-]+)`", row)]
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


def addresses(text: str) -> set[str]:
    """Every owner/repository by which a text calls the course."""
    return {match["linked"] or match["named"] or match["unset"] for match in ADDRESS.finditer(text)}


def texts() -> Iterator[Path]:
    """Every text file of the repository that people wrote or commit."""
    for top in ROOT.iterdir():
        if top.is_file() or top.name in HIDDEN or not (top.name.startswith(".") or top.name in MADE):
            for path in [top] if top.is_file() else top.rglob("*"):
                if path.is_file() and path.suffix in TEXT and MADE.isdisjoint(path.relative_to(ROOT).parts):
                    yield path


def wanted(requirements: list[str]) -> list[Requirement]:
    """What pyproject.toml asks for of others, parsed; the lens comes from this repository."""
    return [requirement for line in requirements if (requirement := Requirement(line)).name != "shardlens"]


@pytest.mark.thorough
def test_nothing_installed_contradicts_another() -> None:
    """All extras stand together in this environment, by what each package says that it needs."""
    ran = subprocess.run([sys.executable, "-m", "pip", "check"], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout


def test_import_is_light() -> None:
    """Importing shardlab brings in neither Jupyter nor the grader."""
    loaded = subprocess.run(
        [sys.executable, "-c", "import sys, shardlab; print(*{name.split('.')[0] for name in sys.modules})"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    assert "shardlab" in loaded
    assert HEAVY.isdisjoint(loaded)


@pytest.mark.parametrize("path", sorted((ROOT / "src" / "shardlab").rglob("*.py")), ids=lambda path: path.stem)
def test_shardlab_imports_only_its_dependencies(path: Path) -> None:
    """A module of shardlab names its own dependencies and the standard library."""
    assert set(imported(path)) <= LIGHT


@pytest.mark.parametrize("path", sorted((ROOT / "lens" / "src").rglob("*.py")), ids=lambda path: path.stem)
def test_the_lens_imports_only_its_dependencies(path: Path) -> None:
    """A module of the lens names its own dependencies; charts import matplotlib, and only pytest loads the plugin."""
    more = {"charting.py": {"matplotlib"}, "plugin.py": {"pytest"}}
    assert set(imported(path)) <= LIGHT - {"shardlab", "matplotlib"} | more.get(path.name, set())


def test_dependencies_are_what_shardlab_imports() -> None:
    """The packages that students install are the ones that shardlab may import, with no upper bound; and the lens."""
    dependencies = wanted(PROJECT["dependencies"])
    asked = {requirement.name for requirement in dependencies}
    assert asked == LIGHT - COMES_WITH_JAX - sys.stdlib_module_names - {"shardlab", "shardlens"}
    assert all(clause.operator == ">=" for requirement in dependencies for clause in requirement.specifier)
    assert f"shardlens=={PROJECT['version']}" in PROJECT["dependencies"]
    lens = tomllib.loads((ROOT / "lens" / "pyproject.toml").read_text())["project"]
    assert {requirement.name for requirement in wanted(lens["dependencies"])} == {"jax", "numpy", "rich"}


def test_all_packages_are_installed_from_here() -> None:
    """One distribution holds all five packages, and the command points into the grader."""
    packages = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
    assert packages == [*(f"src/{name}" for name in ROOMS[:3]), *(f"grader/{name}" for name in ROOMS[3:])]
    assert PROJECT["scripts"] == {"shardlab-grader": "shardlab_grader.cli:main"}


def test_citation_agrees_with_pyproject() -> None:
    """CITATION.cff, CHANGELOG.md and pyproject.toml name the same release, licence and address."""
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == PROJECT["version"]
    assert " AND ".join(citation["license"]) == PROJECT["license"]
    assert citation["repository-code"] == PROJECT["urls"]["Repository"]
    assert f"\n## {PROJECT['version']} " in (ROOT / "CHANGELOG.md").read_text()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param(f"pip install git+https://github.com/{SOME}.git@v1", {SOME}, id="install"),
        pytest.param(f"https://colab.research.google.com/github/{SOME}/blob/main/a.ipynb", {SOME}, id="colab"),
        pytest.param("https://mybinder.org/v2/gh/someone/course/main", {"someone/course"}, id="binder of another"),
        pytest.param("git clone https://github.com/fork/shardlab.git", {"fork/shardlab"}, id="clone of another"),
        pytest.param("https://github.com/ORG/REPO", {"ORG/REPO"}, id="placeholder"),
        pytest.param("git+https://repository.invalid/shardlab@v1", {"repository.invalid/shardlab"}, id="none yet"),
        pytest.param("https://github.com/jax-ml/jax/issues/33353", set(), id="another project"),
    ],
)
def test_addresses_are_recognised(text: str, found: set[str]) -> None:
    """The address test sees every form of the course's address and no other project's."""
    assert addresses(text) == found


@pytest.mark.thorough
def test_one_address() -> None:
    """Every file that names the course's address names the one in pyproject.toml."""
    named = {str(path.relative_to(ROOT)): addresses(path.read_text(errors="replace")) for path in texts()}
    del named[str(Path(__file__).relative_to(ROOT))]
    assert {path: found for path, found in named.items() if not found <= {OURS}} == {}
    assert named["pyproject.toml"] == named["CITATION.cff"] == {OURS}


def test_constraints_hold_only_names_and_versions() -> None:
    """A line of constraints.txt pins one version of one package, with at most a marker: no address, path or option."""
    assert all(pin.url is None and not pin.extras for pin in PINNED)
    assert all([clause.operator for clause in pin.specifier] == ["=="] for pin in PINNED)


@pytest.mark.parametrize("python", PYTHONS)
def test_a_python_gets_one_version_of_each_package(python: str) -> None:
    """No marker lets two lines of a package through; JAX comes with its own jaxlib."""
    about = {"python_full_version": python, "python_version": python.rpartition(".")[0]}
    names = [pin.name for pin in PINNED if pin.marker is None or pin.marker.evaluate(about)]
    assert len({*names}) == len(names)
    here = lanes.pins(CONSTRAINTS, python)
    assert here["jax"] == here["jaxlib"] == lanes.jax_of(ROOT, python)


def test_the_lane_follows_the_python() -> None:
    """3.11 keeps the last JAX that it can run; from 3.12 on all have a newer one, the same."""
    of = [lanes.jax_of(ROOT, python) for python in PYTHONS]
    assert [of[0], *dict.fromkeys(of[1:])] == LANES
    assert Version(of[0]) < Version("0.11") <= Version(of[1])
    assert importlib.metadata.version("jax") == lanes.jax_of(ROOT, platform.python_version())


@pytest.mark.parametrize(
    "path", sorted((ROOT / "src" / "shardlab_course").glob("*/references.json")), ids=lambda p: p.parent.name
)
def test_references_are_measured_for_both_lanes(path: Path) -> None:
    """What each reference costs is on file for the JAX of either lane, and for no other."""
    kept = json.loads(path.read_text())
    assert {version: {*facts} for version, facts in kept["facts"].items()} == dict.fromkeys(LANES, {*kept["programs"]}), (
        MEASURE
    )


def test_fronts_are_measured_for_both_lanes() -> None:
    """The Pareto fronts too."""
    (path,) = (ROOT / "src" / "shardlab_course").glob("ch*/ex*/fronts.json")
    kept = json.loads(path.read_text())
    assert {*kept} == {*LANES} and len({frozenset(cases) for cases in kept.values()}) == 1, MEASURE


def test_each_dependency_has_its_reason_and_licence() -> None:
    """CONTRIBUTING.md says of every package that pyproject.toml asks for what it is for, and its licence."""
    asked = {requirement.name for lines in [PROJECT["dependencies"], *EXTRAS.values()] for requirement in wanted(lines)}
    reasons = (ROOT / "CONTRIBUTING.md").read_text().partition("what each is for")[2].partition("Their licences")[0]
    assert {name for name in asked if f"`{name}`" not in reasons} == set()
    assert set(licences()) == asked | {"libtpu"}


@pytest.mark.parametrize(("name", "licence"), licences().items())
def test_licence_is_the_packages_own(name: str, licence: str) -> None:
    """The installed package's metadata, or the first line of its licence, say the same."""
    try:
        found = importlib.metadata.distribution(name)
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"{name} is not installed: it belongs to an extra")
    keys = ("License-Expression", "License", "Classifier")
    said = [line for key in keys for line in found.metadata.get_all(key, []) if key != "Classifier" or "License ::" in line]
    said += [
        path.read_text()[:200] for path in found.files or [] if path.name.startswith("LICENSE") and path.suffix != ".py"
    ]
    word = {"Mozilla": "MPL", "Google Cloud Platform's terms": "Google Cloud Platform"}.get(licence, licence)
    assert any(word in text for text in said), said


@pytest.mark.thorough(after=6)
@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_pins_fit_the_ranges(extra: str) -> None:
    """Everything that pyproject.toml asks for is pinned, at a version inside the range that it gives."""
    for requirement in wanted(EXTRAS[extra] if extra else PROJECT["dependencies"]):
        for python in PYTHONS:
            assert lanes.pins(CONSTRAINTS, python)[canonicalize_name(requirement.name)] in requirement.specifier, requirement


def test_conda_brings_only_python_and_pip() -> None:
    """conda's own parser takes each line, and leaves everything but Python and pip to pip."""
    specs = [MatchSpec(line, strict=True) for line in CONDA]
    assert [spec.name.normalized for spec in specs] == ["python", "pip"]
    assert CONDA[0].removeprefix("python=") in SpecifierSet(PROJECT["requires-python"])


@pytest.mark.parametrize("line", ["python = = 3.11", "python=3.11=x=y", "pip >>2", "pip[unclosed"])
def test_conda_parser_refuses_broken_lines(line: str) -> None:
    """The parser that reads environment.yml does notice a broken line."""
    with pytest.raises(InvalidMatchSpecError):
        MatchSpec(line, strict=True)


def test_pip_section_follows_the_pins() -> None:
    """The pip section installs lens and course with extras that exist, and what tests notebooks, under the pins."""
    constraint, lens, editable, *more = PIP
    assert constraint == "-c constraints.txt" and lens == "-e ./lens"
    extras = re.fullmatch(r"-e \.\[([\w,]+)\]", editable)
    assert extras is not None
    assert set(extras[1].split(",")) <= set(EXTRAS)
    assert more == ["nbval", "pytest"] and all(f"\n{name}==" in CONSTRAINTS for name in more)


def test_the_age_of_dependencies_is_read_from_their_files() -> None:
    """Of a package the last file counts, of any version; pyproject.toml has the packages, constraints.txt their pins."""
    files = {
        "1.3": [{"upload_time": "2024-04-08T10:00:00"}],
        "1.4.dev2": [{"upload_time": "2026-09-01T01:00:00"}],
        "0.1": [],
    }
    assert dependencies.last_file({"releases": files}) == "2026-09-01" and dependencies.last_file({"releases": {}}) == "-"
    assert {*dependencies.direct(ROOT)} == {canonicalize_name(name) for name in licences()} - {"libtpu"}
    assert {*dependencies.direct(ROOT)} <= {pin.name for pin in PINNED}
