"""The public interface is one page, `README.md`: every name is there and documented, and its example works word for word."""

import doctest
import importlib
import inspect
import json
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

import shardlens as lens

README = (Path(__file__).parents[1] / "README.md").read_text()
AGENTS = (Path(__file__).parents[1] / "AGENTS.md").read_text()
NAMES = sorted({*dir(lens)} - {"__version__"} | {"handed_on", "home", "public_names"})
USED = [name for name in NAMES if inspect.isclass(value := getattr(lens, name)) or inspect.isfunction(inspect.unwrap(value))]
MODULES = sorted(
    found.name for found in pkgutil.walk_packages(lens.__path__, "shardlens.") if not found.name.endswith("__main__")
)


def test_the_page_has_every_public_name() -> None:
    """Each once, in the first column of a table, with a line of its own or its neighbours'."""
    rows = re.findall(r"^\| (`.+?) \| \S.* \|$", README, re.MULTILINE)
    assert sorted(name for row in rows for name in re.findall(r"`(\w+)`", row)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_a_name_is_documented(name: str) -> None:
    """Functions, classes and modules say in a sentence what they are."""
    value = getattr(lens, name)
    if inspect.isfunction(value) or inspect.isclass(value) or inspect.ismodule(value):
        assert re.match(r"\S.*[.;:]", inspect.getdoc(value) or "", re.DOTALL)


def run_examples(found: list[doctest.DocTest]) -> doctest.TestResults:
    """Runs the examples of docstrings; `jax`, `np` and `lens` are imported."""
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    for one in found:
        one.globs |= {"jax": jax, "np": np, "lens": lens}
        runner.run(one)
    return runner.summarize()


@pytest.mark.parametrize("name", USED)
def test_a_name_has_an_example(name: str) -> None:
    """Each function and each class shows its use, and Python prints what its docstring says."""
    value = getattr(lens, name)
    found = doctest.DocTestFinder(recurse=False).find(value, name, globs=vars(inspect.getmodule(value)).copy())
    ran = run_examples(found)
    assert ran.attempted > 0 and ran.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """What the docstring of any other function or method shows is what Python prints."""
    public = {f"{name}.{each}" for each in NAMES}
    found = doctest.DocTestFinder().find(importlib.import_module(name))
    assert run_examples([one for one in found if one.name not in public]).failed == 0


def test_the_page_word_for_word(tmp_path: Path) -> None:
    """The two files that it shows are written; its commands and its test then do what it says."""
    train, guard = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    (tmp_path / "train.py").write_text(train)
    (tmp_path / "test_train.py").write_text(guard)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    given = {**kept, "JAX_PLATFORMS": "cpu", "JAX_NUM_CPU_DEVICES": "8", "PYTHONPATH": "."}
    commands = re.findall(r"^shardlens (\w+ train.py:step)$", README, re.MULTILINE)
    asked = [["shardlens", *words.split()] for words in commands] + [["pytest", "-q", "-p", "no:cacheprovider"]]
    ran = [
        subprocess.run([sys.executable, "-m", *words], cwd=tmp_path, env=given, capture_output=True, text=True)
        for words in asked
    ]
    assert [one.returncode for one in ran] == [0, 0, 0], [one.stdout + one.stderr for one in ran]
    assert (
        len(commands) == 2
        and "all-reduce" in ran[0].stdout
        and "all-reduce" in ran[1].stdout
        and "1 passed" in ran[2].stdout
    )


def test_the_page_for_assistants_does_what_it_says(tmp_path: Path) -> None:
    """Its commands in their order, on README's function, which then has a sum more: only the lock is broken."""
    train, _ = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("JAX_", "XLA_"))}
    given = {**kept, "JAX_PLATFORMS": "cpu"}
    commands = [line for block in re.findall(r"```sh\n(.*?)```", AGENTS, re.DOTALL) for line in block.splitlines()]
    ran = []
    for n, words in enumerate(commands):
        (tmp_path / "train.py").write_text(train if n == 0 else train.replace("x @ w", "x @ w @ w.T"))
        asked = [sys.executable, "-m", *words.split()]
        ran.append(subprocess.run(asked, cwd=tmp_path, env=given, capture_output=True, text=True))
    assert [one.returncode for one in ran] == [0, 3, 0, 0], [one.stdout + one.stderr for one in ran]
    assert "2 all-reduce over x; 1 locked" in ran[1].stdout + ran[1].stderr and "[] P()" in ran[2].stdout
    assert json.loads(ran[3].stdout)["price"] == 2 * (64 * 512 + 1) * 4


def test_import_is_light() -> None:
    """Importing it imports neither JAX nor matplotlib nor rich."""
    code = "import sys, shardlens; print(sorted({'jax', 'matplotlib', 'numpy', 'rich'} & {*sys.modules}))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "[]\n"
