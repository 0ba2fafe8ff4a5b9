"""What is done in JAX before a server forks: all of it on the pinned version, and nothing broken where a name is missing."""

from __future__ import annotations

import subprocess
import sys

import pytest

# In a process of its own: what is warmed stays so.
WARMED = """
import jax, jax.interpreters.mlir
from jax._src import xla_bridge
from jax._src.interpreters import mlir
from jax._src.lax import linalg
from shardlens.compilers.warming import warm_jax

found = []
discover, xla_bridge.discover_pjrt_plugins = xla_bridge.discover_pjrt_plugins, lambda: found.append("plugins")
load = linalg.initialize_lapack
linalg.initialize_lapack = lambda: (found.append("lapack"), load())
{before}
warm_jax(public={public})
assert not xla_bridge._backends
assert found == {found}, found
assert mlir.make_ir_context() is mlir.make_ir_context()
assert (jax.interpreters.mlir.make_ir_context is mlir.make_ir_context) == {public}
assert jax.jit(jax.numpy.linalg.inv)(2 * jax.numpy.eye(2))[0, 0] == 0.5
"""
ALL = "['lapack', 'plugins']"


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(
    ("before", "public", "found"),
    [("", True, ALL), ("", False, ALL), ("del linalg.initialize_lapack", True, "['plugins']")],
    ids=["runner", "judge", "no-lapack"],
)
def test_warm(before: str, public: bool, found: str) -> None:
    """Each step is taken, or left out alone; a program that is lowered afterwards is the right one."""
    text = WARMED.format(before=before, public=public, found=found)
    ran = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
