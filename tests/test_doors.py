"""What a student runs needs no tool of the instructor's, and nothing that Windows or macOS lack."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

BARRED = """
import os, sys

class Barred:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ABSENT:
            raise ModuleNotFoundError(f"barred: {name}", name=name)

def watch(event, arguments):
    if event in EVENTS:
        raise PermissionError(f"barred: {event} {arguments[:1]}")

# Of the instructor's side; the TPU's compiler; and what Windows does not have.
ABSENT = {"shardlab_grader", "nbgrader", "nbclient", "jupytext", "distributed", "dask", "flax", "libtpu", "nh3",
          "grp", "pwd", "resource", "termios", "pty"}
EVENTS = {"os.fork", "os.forkpty", "os.exec", "os.posix_spawn", "os.spawn", "os.system", "subprocess.Popen",
          "socket.bind", "socket.connect"}
for name in ("fork", "forkpty", "register_at_fork"):
    delattr(os, name)
sys.meta_path.insert(0, Barred())
sys.addaudithook(watch)

import jax  # before jaxlib, which logs what it does unless JAX has told it not to
from jaxlib import _jax
for name in ("make_gloo_tcp_collectives", "make_mpi_collectives", "get_distributed_runtime_service"):
    if hasattr(_jax, name):
        delattr(_jax, name)
"""
STUDENT = """
import shardlab as sl
print(sl.setup(8))
import jax, numpy as np
from jax.sharding import AxisType, NamedSharding
mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
put = lambda shape, *spec: jax.device_put(np.ones(shape, "f4"), NamedSharding(mesh, jax.P(*spec)))
a, b = put((8, 16), "x", "y"), put((16, 4), "y")
print(sl.show(a))
program = sl.inspect(lambda a, b: a @ b, a, b)
print(program)
print(sl.compare, sl.predict("4.1"), sl.hint("4.1"))
"""
LIMBS = {
    "import libtpu": "ModuleNotFoundError: barred: libtpu",
    "import resource": "ModuleNotFoundError: barred: resource",
    "import subprocess; subprocess.run(['make'])": "PermissionError: barred: subprocess.Popen",
    "os.fork()": "AttributeError",
    "import socket; socket.socket().bind(('', 0))": "PermissionError: barred: socket.bind",
}


def run(code: str, tmp_path: Path) -> subprocess.CompletedProcess[str]:
    """Run code where the tools are barred: an empty PATH, no other environment than the CPU."""
    environment = {"PATH": str(tmp_path), "JAX_PLATFORMS": "cpu", "HOME": str(tmp_path)}
    command = [sys.executable, "-c", BARRED + code]
    return subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize(("code", "error"), LIMBS.items(), ids=LIMBS)
def test_what_is_barred(tmp_path: Path, code: str, error: str) -> None:
    """The bars hold: without this the next test would pass whatever it does."""
    assert error in run(code, tmp_path).stderr


@pytest.mark.thorough
@pytest.mark.skipif(not hasattr(os, "fork"), reason="what this bars is not there to begin with")
def test_a_student_needs_none_of_it(tmp_path: Path) -> None:
    """Import, devices, pictures and inspection work, quietly."""
    done = run(STUDENT, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "8 simulated CPU devices" in done.stdout and "all-reduce" in done.stdout
