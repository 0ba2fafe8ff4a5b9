"""`assert_communicates` and the pytest plugin: what a model may communicate is held by tests in other repositories."""

from __future__ import annotations

import importlib
import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import jax
import pytest

import why_programs as programs
from shardlens.errors import LensError
from shardlens.guards import lock
from shardlens.guards.assertions import assert_communicates
from shardlens.programs import figures

ROOT = Path(__file__).parents[1]
TEST = """
import jax
jax.config.update("jax_num_cpu_devices", 8)
mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
at = lambda *entries: jax.NamedSharding(mesh, jax.P(*entries))
x = jax.ShapeDtypeStruct((64, 128), "float32", sharding=at("x", None))

def step(x):
    x = jax.numpy.sin(x)
    # more
    return x.sum(0)

def test_step(shardlens_lock):
    shardlens_lock(step, x)

def test_nothing():
    pass
"""
MORE = TEST.replace("    # more", "    x = jax.lax.with_sharding_constraint(x, at(None, 'x')) + x")
LESS = TEST.replace("return x.sum(0)", "return x.sum(1)")


def run(folder: Path, *options: str, **more: str) -> tuple[int, str]:
    """A pytest of its own, as in a repository of people who installed the package."""
    home = {"PYTHONPATH": str(ROOT / "src"), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "JAX_PLATFORMS": "cpu", **more}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "shardlens.guards.plugin", *options]
    ended = subprocess.run(command, cwd=folder, env=os.environ | home, capture_output=True, text=True, timeout=300)
    return ended.returncode, ended.stdout + ended.stderr


@pytest.mark.thorough
def test_at_most_and_kinds(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program comes back where it may communicate so; else the message has the figures, the lines, and why if asked."""
    f, args = programs.fsdp()
    assert assert_communicates(f, *args, at_most=32_768, kinds=("all-gather",)).price == 32_768
    assert assert_communicates(f, *args).price == 32_768
    with pytest.raises(AssertionError) as error:
        assert_communicates(f, *args, at_most=32_767, kinds=("all-reduce",))
    said = str(error.value)
    assert "one device moves 32,768 bytes, 1 more than 32,767" in said and "it has all-gather; allowed: all-reduce" in said
    assert f"why_programs.py:{programs.line('fsdp')}   return jnp.tanh(x @ w)" in said and not re.search(
        "^cheaper", said, re.M
    )
    monkeypatch.setenv("SHARDLENS_WHY", "1")
    with pytest.raises(AssertionError, match="\ncheaper +"):
        assert_communicates(f, *args, at_most=32_767)
    with pytest.raises(AssertionError, match="allowed: none"):
        assert_communicates(f, *args, kinds=())


def test_a_lock_file(tmp_path: Path) -> None:
    """No file fails, `--shardlens-update` writes it, the same program passes, one that moves more fails with its line."""
    path = tmp_path / "test_model.py"
    path.write_text(TEST)
    code, said = run(tmp_path)
    assert code == 1 and "there is no test_model.test_step.json yet: pytest --shardlens-update writes it." in said
    assert run(tmp_path, "--shardlens-update")[0] == 0
    kept = tmp_path / "__shardlens__" / "test_model.test_step.json"
    first = kept.read_bytes()
    code, said = run(tmp_path)
    assert code == 0 and "shardlens" not in said and kept.read_bytes() == first
    path.write_text(MORE)
    code, said = run(tmp_path)
    assert code == 1 and "1 all-to-all over x; 0 locked" in said and "1,024 are locked" in said
    assert re.search(r"line +test_model.py:10   x = jax.lax.with_sharding_constraint", said) and "--shardlens-update" in said
    assert "0 changes compiled" in said and "0 changes compiled" not in run(tmp_path, "--shardlens-why")[1]
    assert "was made with" not in said and kept.read_bytes() == first
    path.write_text(LESS)
    code, said = run(tmp_path)
    assert code == 0 and "communicating no more: test_model.test_step.json (--shardlens-update)" in said
    assert run(tmp_path, "--shardlens-update")[0] == 0 and json.loads(kept.read_text())["collectives"] == []


CLASSES = """
class TestSmall:
    def test_step(self, shardlens_lock):
        shardlens_lock(lambda x: x + 1, x)
class TestLarge:
    class TestInner:
        def test_step(self, shardlens_lock):
            shardlens_lock(step, x)
import pytest
@pytest.mark.parametrize("case", ["x/y", "x_y"])
def test_case(case, shardlens_lock):
    shardlens_lock(step, x)
"""


def test_each_test_has_its_own_lock_file(tmp_path: Path) -> None:
    """The file's name has the test's class; two tests whose names are spelt alike are told to take a name."""
    (tmp_path / "test_model.py").write_text(TEST + CLASSES)
    code, said = run(tmp_path, "--shardlens-update")
    assert code == 1 and "1 failed, 5 passed" in said
    assert "[shared-lock-file] two tests use the lock file test_model.test_case[x_y].json." in said
    assert "where: test_model.py::test_case[x/y]\n" in said and "         test_model.py::test_case[x_y]\n" in said
    tests = ("TestLarge.TestInner.test_step", "TestSmall.test_step", "test_case[x_y]", "test_step")
    assert sorted(f.name for f in (tmp_path / "__shardlens__").iterdir()) == [f"test_model.{test}.json" for test in tests]


@pytest.mark.thorough
def test_made_with_another_compiler(tmp_path: Path) -> None:
    """A difference fails then too, and both compilers are named; without a difference it passes."""
    f, args = programs.fsdp()
    path = tmp_path / "a.json"
    assert not lock.locked(path, f, *args, update=True)
    kept = json.loads(path.read_text())
    kept["made_with"]["jax"] = "0.4.1"
    path.write_text(json.dumps(kept))
    assert lock.locked(path, f, *args)  # it could be renewed
    path.write_text(json.dumps(kept | {"price": 1}))
    with pytest.raises(AssertionError, match=r"a.json was made with 0.4.1, XLA for CPU.*; this is \d.* may be the reason"):
        lock.locked(path, f, *args)
    path.write_text(json.dumps(kept | {"schema": 0}))
    with pytest.raises(LensError, match="facts of a program in schema 1"):
        lock.locked(path, f, *args)


def test_more_memory_fails(tmp_path: Path) -> None:
    """Arguments that take more memory are more than was locked, though nothing moves."""
    f, (x, w) = programs.fsdp()
    whole = [jax.ShapeDtypeStruct(a.shape, a.dtype, sharding=jax.NamedSharding(a.sharding.mesh, jax.P())) for a in (x, w)]
    path = tmp_path / "a.json"
    lock.locked(path, f, x, whole[1], update=True)
    with pytest.raises(AssertionError, match="memory, argument: 294,912 bytes a device; 65,536 are locked"):
        lock.locked(path, f, *whole)


def test_the_schema_is_what_is_written() -> None:
    """Keys and order are as documented, and no file or line is in it."""
    f, args = programs.joined()
    from shardlens.programs.inspection import inspect

    made = figures.facts(inspect(f, *args), None)
    assert [*made] == re.findall(r"^\| `(\w+)` \|", (figures.facts.__doc__ or "").replace("    |", "|"), re.MULTILINE)
    assert made == json.loads(json.dumps(made)) and "why_programs" not in json.dumps(made)
    assert [one["count"] for one in made["collectives"]] == [1, 2] and made["price"] == 4096
    for key in {*made["collectives"][0], *made["made_with"], *made["memory"]}:
        assert f"`{key}`" in figures.facts.__doc__


def test_the_plugin_is_light_and_silent(tmp_path: Path) -> None:
    """A pytest that does not use it imports no JAX, prints nothing more, and is asked for by its entry point."""
    (tmp_path / "test_other.py").write_text("import sys\ndef test_light(): assert not {'jax', 'numpy'} & {*sys.modules}\n")
    code, said = run(tmp_path, "-W", "error")
    assert code == 0 and "shardlens" not in said, said
    points = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["entry-points"]["pytest11"]
    assert points == {"shardlens": "shardlens.guards.plugin"} and importlib.import_module(points["shardlens"]).shardlens_lock
