"""The benchmarks start, and what stock nbgrader is given to run in them grades as ours does."""

from __future__ import annotations

import ast
import importlib
import pathlib
import subprocess
import sys

import pytest

from variants import of

ROOT = pathlib.Path(__file__).parent.parent


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("name", ["checking", "diverging", "einshard", "grading", "growth", "laboratory", "landing"])
def test_a_benchmark_starts(name: str) -> None:
    """Its imports are there, and it says what it measures."""
    command = [sys.executable, str(ROOT / "bench" / f"{name}.py"), "--help"]
    said = subprocess.run(command, capture_output=True, text=True, env={"PYTHONPATH": str(ROOT)}, check=True).stdout
    assert "usage" in said


def test_all_that_benchmarks_import_is_there() -> None:
    """Also what they import only when they run."""
    trees = [ast.parse(path.read_text()) for path in (ROOT / "bench").glob("*.py")]
    nodes = [node for tree in trees for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    wanted = [(str(node.module), alias.name) for node in nodes for alias in node.names]
    ours = [(module, name) for module, name in wanted if module.startswith("shardlab")]
    assert len(ours) > 30
    for module, name in ours:
        assert hasattr(importlib.import_module(module), name) or importlib.import_module(f"{module}.{name}")


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("answer, right", [("reference", True), ("reduce_and_gather_a", True), ("case_3_mean", False)])
def test_stock_assertions(answer: str, right: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """A right answer passes the assertions, in whichever way it is written; a wrong one does not."""
    monkeypatch.syspath_prepend(str(ROOT))
    from bench.assertions import check

    namespace = of("4.2")[answer].variables()
    references = ROOT / "src" / "shardlab_course" / "ch04" / "references.json"
    if right:
        check("4.2", namespace, None, str(references))
    else:
        with pytest.raises(AssertionError):
            check("4.2", namespace, None, str(references))
