"""What a release puts on the package index: the five packages and the lens, and nothing of tests or chapters."""

from __future__ import annotations

import base64
import csv
import hashlib
import pathlib
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest

import shardlens
from shardlab_course import own
from shardlab_course.chapters import QUESTIONS
from shardlab_grader.releases import wheels

ROOT = pathlib.Path(__file__).parents[1]
LENS = ROOT / "lens"
PACKAGES = {
    "shardlab": "src",
    "shardlab_judge": "src",
    "shardlab_course": "src",
    "shardlab_grader": "grader",
    "shardlab_authoring": "grader",
}
SUFFIXES = {".css", ".j2", ".json", ".py", ".pyi", ".typed", ".txt"}
"""Of the files of packages: code, its types, and data that it reads. A notebook or a page is neither."""
ANSWERS = set((ROOT / "src" / "shardlab_course").glob(f"ch*/ex*/{own.ANSWERS}"))
"""What exercises must tell apart: it lies among the packages, and is for those who write the course."""
BESIDE = {"CHANGELOG.md", "LICENSE", "LICENSE-TEXT", "PKG-INFO", "README.md", "pyproject.toml", ".gitignore"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[pathlib.Path, pathlib.Path]:
    """The wheel and the sdist, built as `make dist` does."""
    folder = tmp_path_factory.mktemp("dist")
    return build(ROOT, folder, "--target", "wheel"), build(ROOT, folder, "--target", "sdist")


def build(root: pathlib.Path, folder: pathlib.Path, *options: str) -> pathlib.Path:
    """The one file that hatchling makes of a tree."""
    before = set(folder.iterdir())
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(folder), *options]
    subprocess.run(command, cwd=root, check=True, capture_output=True)
    (made,) = set(folder.iterdir()) - before
    return made


def contents(wheel: pathlib.Path) -> dict[str, bytes]:
    """The files of a wheel's packages, by name."""
    with zipfile.ZipFile(wheel) as archive:
        return {name: archive.read(name) for name in archive.namelist() if ".dist-info/" not in name}


def test_the_lens_has_a_wheel_of_its_own(tmp_path: pathlib.Path) -> None:
    """It holds the lens's package alone, unchanged; course and lens are of one version, and the course asks for it."""
    wheel = build(LENS, tmp_path, "--target", "wheel")
    files = [path for path in (LENS / "src").rglob("*") if path.is_file() and "__pycache__" not in path.parts]
    assert contents(wheel) == {path.relative_to(LENS / "src").as_posix(): path.read_bytes() for path in files}
    versions = [tomllib.loads((root / "pyproject.toml").read_text())["project"] for root in (ROOT, LENS)]
    assert versions[0]["version"] == versions[1]["version"] == shardlens.__version__
    assert f"shardlens=={shardlens.__version__}" in versions[0]["dependencies"]
    assert (LENS / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def ours() -> dict[str, bytes]:
    """The files of our packages, by their names in a wheel."""
    return {
        path.relative_to(ROOT / home).as_posix(): path.read_bytes()
        for package, home in PACKAGES.items()
        for path in (ROOT / home / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and path not in ANSWERS
    }


@pytest.mark.thorough
def test_the_wheel_is_the_packages(built: tuple[pathlib.Path, pathlib.Path]) -> None:
    """Every file of the five packages is in it, unchanged, and one that kernels read; no other."""
    config = pathlib.Path("etc", "ipython", "ipython_kernel_config.py")
    place = f"shardlab-{shardlens.__version__}.data/data/{config.as_posix()}"
    assert contents(built[0]) == {**ours(), place: (ROOT / config).read_bytes()}


def test_students_get_the_same_without_the_grader(built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path) -> None:
    """A release's two wheels have the files of those of `make dist`, less what grades, and the lens's command."""
    wheels.write(tmp_path, "04.ipynb")
    ours = {path.name.partition("-")[0]: path for path in tmp_path.glob("*.whl")}
    assert {path.name for path in tmp_path.iterdir()} == {*(path.name for path in ours.values()), wheels.BEGIN}
    (tmp_path / "lens").mkdir()
    theirs = {"shardlab": built[0], "shardlens": build(LENS, tmp_path / "lens", "--target", "wheel")}
    for name, wheel in theirs.items():
        graded = ("shardlab_grader/", "shardlab_authoring/")
        assert contents(ours[name]) == {path: b for path, b in contents(wheel).items() if not path.startswith(graded)}
        assert wheel.name == ours[name].name
    with zipfile.ZipFile(ours["shardlens"]) as lens, zipfile.ZipFile(ours["shardlab"]) as course:
        (points,) = (name for name in lens.namelist() if name.endswith("entry_points.txt"))
        assert "shardlens = shardlens.command:main" in lens.read(points).decode()
        assert not any(name.endswith("entry_points.txt") for name in course.namelist())
        assert any("/licenses/LICENSE" in name for name in course.namelist())


@pytest.mark.thorough
def test_pip_takes_what_students_get(tmp_path: pathlib.Path) -> None:
    """Each file has the hash that is written beside it, and a check answers without the grader."""
    wheels.write(tmp_path, "04.ipynb")
    for path in tmp_path.glob("*.whl"):
        with zipfile.ZipFile(path) as archive:
            (record,) = (name for name in archive.namelist() if name.endswith("RECORD"))
            rows = list(csv.reader(archive.read(record).decode().splitlines()))
            assert [name for name, *_ in rows] == archive.namelist()
            for name, digest, size in rows[:-1]:
                content = archive.read(name)
                said = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                assert (digest, int(size)) == (f"sha256={said}", len(content)), name
            archive.extractall(tmp_path / "installed")
    program = f"import sys; sys.path.insert(0, {str(tmp_path / 'installed')!r}); sys.modules['shardlab_grader'] = None\n"
    program += "import shardlab as sl; sl.setup(8); print(sl.__file__); print(sl.check('0.1'))"
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True)
    assert str(tmp_path / "installed") in done.stdout and "0.1" in done.stdout, done.stdout + done.stderr


def test_packages_hold_code_and_its_data_only() -> None:
    """No notebook, chapter's text, gradebook, keys or submissions lie among the packages: rubrics and examples alone."""
    others = {path for path in ours() if pathlib.PurePath(path).suffix not in SUFFIXES}
    assert {str(pathlib.PurePath(path).parent) for path in others} == {"shardlab_course/examples", "shardlab_grader/rubrics"}
    texts = {path for path in ours() if path.endswith(".txt")}
    told = "text that is no listing of a compiled program, and no beginning of an exercise"
    assert {path.split("/")[1] for path in texts} == {"listings", "own"}, told


def test_no_solution_and_no_answer_is_in_the_wheel(built: tuple[pathlib.Path, pathlib.Path]) -> None:
    """Whole files of tests, answers, samples, chapters and notebooks are not in it under another name either."""
    shipped = set(contents(built[0]).values())
    assert len(ANSWERS) == len(QUESTIONS) and not shipped & {path.read_bytes() for path in ANSWERS}
    for folder in ("tests", "solutions", "notebooks", "grader/samples", "jupyter_book"):
        files = [path for path in (ROOT / folder).rglob("*") if path.is_file() and path.stat().st_size > 100]
        assert files, folder
        assert [path for path in files if "__pycache__" not in path.parts and path.read_bytes() in shipped] == []


def test_the_sdist_makes_the_same_wheel(built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path) -> None:
    """The sdist holds what the wheel is made of and a few texts, and the wheel built from it is the same."""
    wheel, sdist = built
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path, filter="data")
    (tree,) = tmp_path.iterdir()
    assert {path.name for path in tree.iterdir() if path.is_file()} <= BESIDE
    assert {path.relative_to(tree).as_posix() for home in set(PACKAGES.values()) for path in (tree / home).iterdir()} == {
        f"{home}/{package}" for package, home in PACKAGES.items()
    }
    assert contents(build(tree, tmp_path, "--target", "wheel")) == contents(wheel)


@pytest.mark.thorough
def test_the_wheel_works_alone(built: tuple[pathlib.Path, pathlib.Path], tmp_path: pathlib.Path) -> None:
    """Installed elsewhere, all chapters' questions load from it, and the command answers."""
    place = tmp_path / "installed"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(place), str(built[0])], check=True)
    program = f"""
import pathlib, sys
sys.path.insert(0, {str(place)!r})
import shardlab_course.chapters, shardlab, shardlab_grader, shardlab_authoring, shardlab_judge
for name in {sorted(PACKAGES)!r}:
    assert pathlib.Path(sys.modules[name].__file__).is_relative_to({str(place)!r}), name
print(*sorted(shardlab_course.chapters.QUESTIONS))
from shardlab_grader.cli import main

from shardlab_course.chapters import QUESTIONS
main(["--help"])
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
    asked, said = done.stdout.split("\n", 1)
    assert set(asked.split()) == set(QUESTIONS)
    assert "release" in said and "grade" in said
