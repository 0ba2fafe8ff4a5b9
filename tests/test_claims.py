"""Every claim in `tests/claims/` stands in its chapter, and is so."""

from __future__ import annotations

import ast
import contextlib
import importlib.util
import pathlib
from collections.abc import Iterator
from typing import Any

import jax
import pytest

from claims.claim import CPU, OTHERS, V5E, Claim

ROOT = pathlib.Path(__file__).parents[1]
FOLDER = ROOT / "tests" / "claims"
without_libtpu = pytest.mark.skipif(
    importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)"
)


def module(path: pathlib.Path) -> Any:
    """A chapter's claims."""
    spec = importlib.util.spec_from_file_location(f"claims_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    loaded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(loaded)
    return loaded


def each() -> Iterator[Any]:
    """Every claim, once for each compiler that it names."""
    for path in sorted(FOLDER.glob("[0-9][0-9].py")):
        for name, found in vars(module(path)).items():
            if isinstance(found, Claim):
                for target in found.targets or (...,):
                    label = f"{path.stem}-{name}" + ("" if target is ... else f"-{target or 'cpu'}")
                    compiled_for_tpu = isinstance(target, str)
                    marks = [without_libtpu] if compiled_for_tpu else []
                    yield pytest.param(path.stem, found, target, id=label, marks=marks)


def elsewhere() -> Iterator[Any]:
    """Every claim about TPUs, once for each of the other chips."""
    for path in sorted(FOLDER.glob("[0-9][0-9].py")):
        for name, found in vars(module(path)).items():
            if isinstance(found, Claim) and V5E in found.targets and not found.alone:
                yield from (pytest.param(found, target, id=f"{path.stem}-{name}-{target}") for target in OTHERS)


def text(chapter: str) -> str:
    """What a chapter and its questions say, with single spaces: wrapped lines and joined strings are one."""
    (page,) = (ROOT / "solutions").glob(f"{chapter}_*.md")
    said = [page.read_text()]
    for source in sorted((ROOT / "src" / "shardlab_course" / f"ch{chapter}").glob("*.py")):
        nodes = ast.walk(ast.parse(source.read_text()))
        said += [node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return " ".join(" ".join(said).split())


@pytest.mark.parametrize(("chapter", "claim", "target"), [*each()])
def test_claim(chapter: str, claim: Claim, target: Any) -> None:
    """The words are there, and what they say is what happens."""
    said = text(chapter)
    assert [words for words in claim.words if " ".join(words.split()) not in said] == []
    assert not claim.until or f"JAX {claim.until}" in said
    over = claim.until and target is CPU and jax.__version_info__ >= tuple(map(int, claim.until.split(".")))
    with pytest.raises(AssertionError) if over else contextlib.nullcontext():
        claim.show() if target is ... else claim.show(target)


@without_libtpu
@pytest.mark.programs
@pytest.mark.parametrize(("claim", "target"), [*elsewhere()])
def test_other_chips(claim: Claim, target: str) -> None:
    """What a page says of XLA for TPU is so for other chips, too."""
    claim.show(target)
