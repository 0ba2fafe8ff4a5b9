"""Every claim in `tests/claims/` stands in its chapter, and is so."""

from __future__ import annotations

import ast
import contextlib
import functools
import importlib.util
import pathlib
from collections.abc import Iterator
from typing import Any

import jax
import pytest

import asked
from claims.claim import CPU, GPU, OTHERS, V5E, Claim
from shardlab_course import own
from shardlens.compilers import cards

ROOT = pathlib.Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "claims"
without_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)"
)
without_gpu_compiler = pytest.mark.skipif(not cards.at_hand(), reason=f"XLA for GPU is not here: {cards.command()}")


def module(path: pathlib.Path) -> Any:
    """A chapter's claims."""
    spec = importlib.util.spec_from_file_location(f"claims_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def claims() -> list[tuple[str, str, Claim]]:
    """The claims of the chapters that are asked for, each with its chapter and its name."""
    paths = (path for path in sorted(FOLDER.glob("[0-9][0-9].py")) if asked.chapter(int(path.stem)))
    found = [(path.stem, name, value) for path in paths for name, value in vars(module(path)).items()]
    return [(chapter, name, value) for chapter, name, value in found if isinstance(value, Claim)]


CLAIMS = claims()


def each() -> Iterator[Any]:
    """Every claim, once for each compiler that it names."""
    for chapter, name, found in CLAIMS:
        for target in found.targets or (...,):
            label = f"{chapter}-{name}" + ("" if target is ... else f"-{target or 'cpu'}")
            marks = [without_libtpu, pytest.mark.tpu] if target in (V5E, *OTHERS) else []
            marks += [without_gpu_compiler] if target == GPU else []
            yield pytest.param(chapter, found, target, id=label, marks=marks)


def elsewhere() -> Iterator[Any]:
    """Every claim about TPUs, once for each of the other chips."""
    for chapter, name, found in CLAIMS:
        if V5E in found.targets and not found.alone:
            yield from (pytest.param(found, target, id=f"{chapter}-{name}-{target}") for target in OTHERS)


@functools.cache
def text(chapter: str) -> str:
    """What a chapter and its questions say, with single spaces: wrapped lines and joined strings are one."""
    (page,) = (ROOT / "solutions").glob(f"{chapter}_*.md")
    said = [page.read_text()]
    for source in sorted((ROOT / "src" / "shardlab_course" / f"ch{chapter}").rglob("*.py")):
        if source.name == own.ANSWERS:
            continue
        nodes = ast.walk(ast.parse(source.read_text()))
        said += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return " ".join(" ".join(said).split())


@pytest.mark.parametrize(("chapter", "name", "claim"), CLAIMS, ids=[f"{chapter}-{name}" for chapter, name, _ in CLAIMS])
def test_words_stand_in_the_chapter(chapter: str, name: str, claim: Claim) -> None:
    """A sentence that was written anew is shown anew; one about a version of JAX names it."""
    assert [words for words in claim.words if " ".join(words.split()) not in text(chapter)] == []
    assert not claim.until or f"JAX {claim.until}" in text(chapter)


@pytest.mark.thorough
@pytest.mark.parametrize(("chapter", "claim", "target"), [*each()])
def test_claim(chapter: str, claim: Claim, target: Any) -> None:
    """What the words say is what happens."""
    over = claim.until and target in (CPU, GPU) and jax.__version_info__ >= tuple(map(int, claim.until.split(".")))
    with pytest.raises(AssertionError) if over else contextlib.nullcontext():
        claim.show() if target is ... else claim.show(target)


@without_libtpu
@pytest.mark.programs
@pytest.mark.parametrize(("claim", "target"), [*elsewhere()])
def test_other_chips(claim: Claim, target: str) -> None:
    """What a page says of XLA for TPU is so for other chips, too."""
    claim.show(target)
