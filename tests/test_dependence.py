"""What a verdict depends on: its chapter, the judge and what they import; never a hint, a picture or another chapter."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable, Iterator

import pytest

import shardlab
import shardlens
from shardlab_authoring import executed
from shardlab_course import dependence

SOURCE = pathlib.Path(shardlab.__file__).parents[1]
LENS = pathlib.Path(shardlens.__file__).parent
CACHED = (dependence.imported, dependence.source, dependence._judgement, dependence._folder)
Digests = Callable[[], dict[int, str]]


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """The sources, to be changed."""
    site = tmp_path_factory.mktemp("sources") / "src"
    shutil.copytree(SOURCE, site, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(LENS, site / "shardlens", ignore=shutil.ignore_patterns("__pycache__"))
    return site


@pytest.fixture
def site(copied: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[pathlib.Path]:
    """The copied sources in place of the installed ones."""
    _forget()
    monkeypatch.setattr(dependence, "_folder", lambda package: copied / package)
    yield copied
    monkeypatch.undo()
    _forget()


def digests(*chapters: int) -> dict[int, str]:
    """The judgement of each of these chapters, read anew."""
    _forget()
    return {chapter: dependence.judgement([f"{chapter}.1"]) for chapter in chapters}


def _forget() -> None:
    for cached in CACHED:
        if hasattr(cached, "cache_clear"):
            cached.cache_clear()


def changed(path: pathlib.Path, old: str, new: str) -> Iterator[None]:
    """A file with one text replaced, for as long as the generator lives."""
    before = path.read_text()
    assert old in before
    path.write_text(before.replace(old, new, 1))
    yield
    path.write_text(before)


MORE = ("from __future__ import annotations\n", "from __future__ import annotations\n\nimport abc\n")
UNJUDGED = {
    "hint": ("shardlab_course/ch04/ex02/question.py", "Can it multiply them?", "Can it multiply them at all?"),
    "explanation": ("shardlab_course/ch04/ex02/question.py", "Case 1 multiplies blocks", "Case 1 just multiplies blocks"),
    "docstring": ("shardlab_judge/measuring.py", '"""Programs compiled and run', '"""Compiled and run programs'),
    "picture": ("shardlab/pictures/svg.py", *MORE),
    "check": ("shardlab_course/checking/feedback.py", "WIDTH = 100", "WIDTH = 99"),
    "other chapter": ("shardlab_course/ch05/shared.py", *MORE),
    "wrong answer": ("shardlab_course/ch04/ex02/answers.py", "import jax\n", "import abc\nimport jax\n"),
    "edition": ("shardlab_course/editions/stub.py", "WIDTH = 75", "WIDTH = 74"),
}
JUDGED = {
    "oracle": ("shardlab_course/ch04/ex01/oracle.py", *MORE),
    "declaration": ("shardlab_course/ch04/ex02/question.py", *MORE),
    "what exercises share": ("shardlab_course/ch04/shared.py", *MORE),
    "data": ("shardlab_course/ch04/ex07/guarded.json", '"price"', '"prize"'),
}
ALL = {
    "judge": ("shardlab_judge/measuring.py", *MORE),
    "reader": ("shardlens/reading/collectives.py", *MORE),
    "recorder": ("shardlab/answers/record.py", *MORE),
}


def after(site: pathlib.Path, change: tuple[str, str, str]) -> tuple[dict[int, str], dict[int, str]]:
    """Judgements of chapters 4 and 7 before a change and with it."""
    name, old, new = change
    before = digests(4, 7)
    for _ in changed(site / name, old, new):
        return before, digests(4, 7)
    raise AssertionError


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("change", UNJUDGED.values(), ids=UNJUDGED)
def test_what_no_verdict_holds_regrades_nothing(site: pathlib.Path, change: tuple[str, str, str]) -> None:
    """A changed hint, picture or other chapter leaves every key as it was."""
    before, now = after(site, change)
    assert now == before


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("change", JUDGED.values(), ids=JUDGED)
def test_what_judges_a_chapter_regrades_it_alone(site: pathlib.Path, change: tuple[str, str, str]) -> None:
    """A changed oracle re-grades its own chapter, and no other."""
    before, now = after(site, change)
    assert now[4] != before[4] and now[7] == before[7]


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("change", ALL.values(), ids=ALL)
def test_what_judges_all_regrades_all(site: pathlib.Path, change: tuple[str, str, str]) -> None:
    """A changed judge, or reader of programs, re-grades every chapter."""
    before, now = after(site, change)
    assert now[4] != before[4] and now[7] != before[7]


PAGES = {
    "a picture that it shows": ("shardlab/pictures/draw.py", True),
    "a picture of other pages": ("shardlens/charts/roofline.py", False),
    "its oracle": ("shardlab_course/ch04/ex01/oracle.py", True),
    "another chapter": ("shardlab_course/ch05/shared.py", False),
    "what it does not import": ("shardlab/listings/__init__.py", False),
}


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize(("name", "reads"), PAGES.values(), ids=PAGES)
def test_a_page_depends_on_what_it_imports(site: pathlib.Path, name: str, reads: bool) -> None:
    """The outputs of chapter 4 depend on modules that its names lead to, and on no other."""
    text = (SOURCE.parent / "solutions" / "04_four_matmul_cases.md").read_text()
    assert (site / name in set(executed._depended(text, 4))) is reads


@pytest.mark.thorough
def test_versions_are_in_every_key(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another JAX judges anew."""
    before = digests(4)
    monkeypatch.setattr(dependence, "versions", lambda: {"jax": "another"})
    assert digests(4) != before
    monkeypatch.undo()
    _forget()


@pytest.mark.thorough
def test_no_picture_is_reached() -> None:
    """What judges draws nothing, and imports no other chapter."""
    reached = dependence.judging(4)
    assert {"shardlens.export.stablehlo", "shardlab_judge.judging", "shardlab_course.ch04.ex01.oracle"} <= set(reached)
    assert not [
        name for name in reached if name.startswith(("shardlab.pictures", "shardlens.charts", "shardlab_course.checking"))
    ]
    assert {name.split(".")[1] for name in reached if name.startswith("shardlab_course.ch")} == {"ch04"}
