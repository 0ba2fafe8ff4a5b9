"""The lane of the newest JAX: every test in one part, no failure unseen, and no table of parts that do not fit together."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest

from shardlab_authoring import newest

ROOT = pathlib.Path(__file__).parents[1]
TESTS = """
import os, pytest

def test_passes(): pass

def test_fails(): assert 0

@pytest.mark.skip(reason="no chip here")
def test_skips(): pass

def test_ends():
    if "ENDS" in os.environ:
        os._exit(int(os.environ["ENDS"]))
"""


@pytest.fixture
def project(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """A repository of one test file, in which the lane may write."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "test_one.py").write_text(TESTS)
    (tmp_path / "pytest.ini").write_text("[pytest]\naddopts = -ra\n")
    (tmp_path / newest.FOLDER).mkdir(parents=True)
    (tmp_path / newest.KEPT.parent).mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_each_test_file_is_in_one_part() -> None:
    """All of tests/ but the grader's, the book's and what compares committed files; nothing twice."""
    given = [name for names in newest.parts(ROOT).values() for name in names]
    files = [
        file.relative_to(ROOT).as_posix()
        for name in given
        for file in (sorted((ROOT / name).rglob("test_*.py")) if (ROOT / name).is_dir() else [ROOT / name])
    ]
    wanted = {path.relative_to(ROOT).as_posix() for path in (ROOT / "tests").rglob("test_*.py")}
    left_out = {name for name in wanted if name.split("/")[1] in newest.NOT_THE_HELPER}
    assert len({*files}) == len(files) and {*files} == wanted - left_out
    assert all((ROOT / "tests" / name).exists() for name in newest.NOT_THE_HELPER)


def test_what_pytest_says_is_counted(project: pathlib.Path) -> None:
    """Passed, failed and skipped tests, which failed, why others were skipped; and what it said is kept."""
    found = newest.test("helper-0", ["tests/test_one.py"])
    assert found["tests"] == {"passed": 2, "failed": 1, "skipped": 1}
    assert found["failed"] == ["tests/test_one.py::test_fails"] and found["skipped"] == {"no chip here": 1}
    assert "assert 0" in (newest.FOLDER / "helper-0.log").read_text()


@pytest.mark.parametrize("code", [3, 139])
def test_a_run_that_dies_has_failed(project: pathlib.Path, monkeypatch: pytest.MonkeyPatch, code: int) -> None:
    """A run that ends without a summary is not one in which nothing failed."""
    monkeypatch.setenv("ENDS", str(code))
    assert newest.test("helper-0", ["tests/test_one.py"])["failed"] == [f"helper-0: pytest ended with {code}"]


def test_no_test_is_no_success(project: pathlib.Path) -> None:
    """A part whose files are gone has failed."""
    assert newest.test("helper-0", ["tests/test_two.py"])["failed"] == ["helper-0: pytest ended with 4"]


def part(name: str, project: pathlib.Path, **more: Any) -> dict[str, Any]:
    """What a part leaves behind."""
    about = {"date": "2027-01-02", "versions": newest.versions(), "sources": newest.sources(project)}
    return about | {"tests": {"passed": 2}, "failed": [], "skipped": {"why": 1}, "chapters": [{"name": name}]} | more


def test_parts_are_added(project: pathlib.Path) -> None:
    """Counts, failures, reasons and chapters of all; the day is that of the first."""
    given = [part("a", project), part("b", project, tests={"passed": 1, "failed": 1}, failed=["t"], date="2027-01-01")]
    assert newest.composed(given) == {
        "date": "2027-01-01",
        "versions": newest.versions(),
        "tests": {"passed": 3, "failed": 1},
        "failed": ["t"],
        "skipped": {"why": 2},
        "chapters": [{"name": "a"}, {"name": "b"}],
    }


def test_parts_of_other_files_or_versions_do_not_count(project: pathlib.Path) -> None:
    """A part that did not run, ran before a file changed, or ran on another JAX is missing."""
    names = [*newest.parts(project)]
    found = {name: part(name, project) for name in names}
    assert newest.missing(found, project) == []
    found[names[0]]["versions"] = {"jax": "0.1"}
    del found[names[1]]
    assert newest.missing(found, project) == names[:2]
    (project / "tests" / "test_one.py").write_text("")
    assert newest.missing(found, project) == names


def test_only_a_whole_run_is_kept(project: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """After one part the book's table is as it was; after the last it holds all, and a failure ends with 1."""
    chapter = {"name": "00_a", "error": "", "numbers": [], "unpassed": []}

    def run(name: str, root: pathlib.Path) -> None:
        failed = ["t"] if name == "judge" else []
        (newest.FOLDER / f"{name}.json").write_text(json.dumps(part(name, root, chapters=[chapter], failed=failed)))

    monkeypatch.setattr(newest, "run", run)
    *first, last = newest.parts(project)
    codes = {name: newest.main([name]) for name in first}
    assert codes == {name: int(name == "judge") for name in first} and not newest.KEPT.exists()
    assert newest.main([last]) == 0
    kept = json.loads(newest.KEPT.read_text())
    assert kept["tests"] == {"passed": 2 * len(codes) + 2} and kept["failed"] == ["t"]
    assert len(kept["chapters"]) == len(codes) + 1


def test_an_unknown_part_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    """It says which there are, and runs nothing."""
    assert newest.main(["helpers"]) == 2
    assert capsys.readouterr().out.splitlines()[1] == f"  mend:  choose of {', '.join(newest.parts(pathlib.Path.cwd()))}."
