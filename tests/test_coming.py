"""What a coming JAX may take away: the names about which JAX promises nothing, each with what it is used for."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import pathlib
import tomllib

import pytest

from shardlab_course import own
from shardlab_tools import newer

ROOT = pathlib.Path(__file__).parents[1]
# JAX's own page on compatibility lists them as not covered; jaxlib is built for one JAX and has no page.
OPEN = ("jax._src", "jax.core", "jax.experimental", "jax.extend", "jax.interpreters", "jaxlib")
USED = {
    "jax._src.interpreters.mlir": "one MLIR context for a process; TPU programs with operands of this machine",
    "jax._src.interpreters.pxla": "the options with which JAX itself would compile",
    "jax._src.lax.linalg": "LAPACK's functions, before the sandbox closes",
    "jax._src.sharding_impls": "a program's shardings in the compiler's child",
    "jax._src.xla_bridge": "plugins, looked for once",
    "jax.core.Tracer": "whether an array is traced",
    "jax.experimental.mesh_utils": "how a slice's devices lie",
    "jax.experimental.multihost_utils": "imported before the sandbox closes",
    "jax.experimental.topologies": "slices that are not here",
    "jax.extend.backend": "devices of a mesh; a backend that is to start again",
    "jax.extend.core": "jaxprs, for trials of what changes a program, and run again with their values brought out",
    "jax.extend.mlir": "reading StableHLO",
    "jax.interpreters.ad": "the derivative of a named value gets a name",
    "jax.interpreters.batching": "the same under vmap",
    "jax.interpreters.mlir": "a context in which StableHLO is read; a named derivative is lowered",
    "jaxlib._jax": "processes that talk over this machine's own address",
    "jaxlib.mlir": "passes and locations",
    "jaxlib.mosaic.python.tpu": "Pallas kernels' own programs",
    "jaxlib.xla_client": "compile options in the compiler's child",
}


def imported(path: pathlib.Path) -> set[str]:
    """The open names that a module imports, by the longest name in the table."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        found |= {name for name in names if any(f"{name}.".startswith(f"{start}.") for start in OPEN)}
    return {next((used for used in USED if f"{name}.".startswith(f"{used}.")), name) for name in found}


@pytest.mark.thorough
def test_every_open_name_has_its_use() -> None:
    """The packages import no other, and none of these in vain."""
    files = [path for home in ("lens/src", "src", "grader") for path in (ROOT / home).rglob("*.py")]
    files = [path for path in files if path.name != own.ANSWERS]  # as students write
    assert set().union(*map(imported, files)) == {*USED}


@pytest.mark.parametrize("name", USED)
def test_it_is_there(name: str) -> None:
    """It is in the JAX that runs, and says nothing of going away: warnings are errors."""
    module, _, last = name.rpartition(".")
    assert importlib.util.find_spec(module) and (
        hasattr(importlib.import_module(module), last) or importlib.util.find_spec(name)
    )


def test_warnings_are_errors_on_both_lanes() -> None:
    """What JAX will take away warns first, and a warning fails a test of either lane."""
    options = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
    assert options["filterwarnings"] == ["error"]
    assert "tests/test_coming.py" in newer.TESTED
