"""The process that compiles for targets: it dies without taking anything along, and does not outlive its user."""

import importlib.metadata
import importlib.util
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import IO

import jax
import jax.numpy as jnp
import pytest
from jax import export

from shardlens.compilers import process
from shardlens.compilers.process import last_words
from shardlens.errors import LensError
from shardlens.programs.inspection import inspect

needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
P, AUTO = jax.P, jax.sharding.AxisType.Auto
SMALL = jax.ShapeDtypeStruct((64, 128), "float32")

WORDS = """W1122 20:40:20.000000    7 spmd_partitioner.cc:652] [SPMD] Involuntary full rematerialization.
F1122 20:40:24.167790   11205 import_shardy_attrs.cc:184] Check failed: result.getNumOperands() == 1 (2 vs. 1)
*** Check failure stack trace: ***
    @     0x7fc6b689bc54  absl::log_internal::LogMessage::SendToLog()
*** SIGABRT received by PID 11163 (TID 11205) on cpu 0, si_code=-6, from PID 11163; ***
E1122 20:40:24.417609   11205 coredump_hook.cc:310] RAW: Remote crash data gathering hook invoked.
"""


@pytest.mark.parametrize(
    "words, last",
    [
        (WORDS, "import_shardy_attrs.cc:184] Check failed: result.getNumOperands() == 1 (2 vs. 1)"),
        ("terminate called\n  what():  bad_alloc\n    @  0x1\n", "terminate called\nwhat():  bad_alloc"),
        ("", "it said nothing."),
    ],
)
def test_last_words(words: str, last: str) -> None:
    """Of a page of stack frames the one line that names the cause; else the last lines that are no stack."""
    assert last_words(words) == last


def aborting() -> tuple:
    """A program at which libtpu 0.0.42.1 aborts: a complex output of an exported function, its sharding asked for."""
    mesh = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AUTO,) * 2)
    x = jax.ShapeDtypeStruct((512, 1024), "complex64", sharding=jax.NamedSharding(mesh, P("x")))
    doubled = jax.jit(lambda a: a * 2, out_shardings=jax.NamedSharding(mesh, P("y")))
    return export.export(doubled, platforms=["tpu"])(x).call, x


@pytest.mark.thorough
@needs_libtpu
def test_an_abort_is_an_error() -> None:
    """It says how the compiler ended, at what, its last words and what to try; the next program compiles.

    The newest lane's libtpu 0.0.50.1 compiles what 0.0.42.1 aborts at.
    """
    f, x = aborting()
    if importlib.metadata.version("libtpu") != "0.0.42.1":
        assert inspect(f, x, target="v5e:2x4").platform == "tpu"
        return
    with pytest.raises(LensError) as error:
        inspect(f, x, target="v5e:2x4")
    lines = str(error.value).splitlines()
    what = "the compiler ended by signal SIGABRT while it compiled; nothing in this session is lost."
    assert lines[0] == f"[compiler-died] {what}"
    assert lines[1].startswith("  where: jit_call for target='v5e:2x4', ") and "Check failed: funcResultSharding" in lines[2]
    assert lines[3] == "  mend:  it aborts on complex outputs of an exported function: return x.real and x.imag instead."
    assert inspect(lambda a: a + 1, SMALL, target="v5e:2x4").platform == "tpu"


@pytest.mark.thorough
@needs_libtpu
def test_a_compiler_that_was_killed_is_started_again() -> None:
    """By the kernel for want of memory, or by a user who looks for what takes it."""
    process.compiler.start()
    first = process.compiler._child
    assert first is not None
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    assert inspect(lambda a: a + 2, SMALL, target="v5e:2x4").devices == 1
    second = process.compiler._child
    assert second is not None and second.pid != first.pid
    inspect(lambda a: a + 3, SMALL, target="v5e:2x4")
    assert process.compiler._child is second


@needs_libtpu
def test_refusals_come_through_and_cost_no_process() -> None:
    """What the compiler refuses in words is told in these words."""
    inspect(lambda a: a + 1, SMALL, target="v5e:2x4")
    child = process.compiler._child
    big = jax.ShapeDtypeStruct((1 << 17, 1 << 17), "float32")
    with pytest.raises(LensError, match="Ran out of memory on HBM"):
        inspect(lambda a: a @ a, big, target="v5e:1x1")
    assert process.compiler._child is child


@pytest.mark.thorough
@needs_libtpu
def test_interrupted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C ends the waiting, and the answer that nobody waited for is not taken for the next one."""
    wait = process.receive

    def interrupted(stream: IO[bytes]) -> object:
        """Waits, and is interrupted as it does: while a program is traced, Ctrl-C may meet a callback that swallows it."""
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        return wait(stream)

    def deep(x: jax.Array) -> jax.Array:
        for _ in range(60):
            x = jnp.tanh(x @ x.T @ x)
        return x

    inspect(lambda a: a + 1, SMALL, target="v5e:2x4")
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(process, "receive", interrupted)
        inspect(deep, SMALL, target="v5e:2x4")
    assert inspect(lambda a: a + 1, jax.ShapeDtypeStruct((32, 256), "bfloat16"), target="v5e:2x4").memory.argument == 16384


@needs_libtpu
def test_threads() -> None:
    """Several threads ask, and each gets its own answer."""

    def outputs(n: int) -> int:
        x = jax.ShapeDtypeStruct((64 * n, 128), "float32")
        return inspect(lambda a: a * 2, x, target="v5e:2x4").memory.output

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outputs, range(1, 7))) == [64 * n * 128 * 4 for n in range(1, 7)]


START = """
import os, signal, sys, time
import jax
import shardlens as lens
from shardlens.compilers import process
x = jax.ShapeDtypeStruct((64, 128), "float32")
def ask(n):
    return lens.inspect(lambda a: a + n, x, target="v5e:2x4").memory.output
assert ask(1) == 32768
print(process.compiler._child.pid, flush=True)
"""


def ran(script: str, **options: object) -> subprocess.CompletedProcess:
    """A Python of its own, which begins with one compilation and says the compiler's process id."""
    code = START + textwrap.dedent(script)
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120, **options)


def gone(pid: int) -> bool:
    """Whether the process ends within five seconds."""
    for _ in range(50):
        stat = pathlib.Path(f"/proc/{pid}/stat")
        if not stat.exists() or stat.read_text().rpartition(")")[2].split()[0] == "Z":
            return True
        time.sleep(0.1)
    return False


ENDS = {
    "at its end": ("", 0),
    "sys.exit": ("sys.exit(3)", 3),
    "os._exit": ("os._exit(4)", 4),
    "killed": ("os.kill(os.getpid(), signal.SIGKILL)", -9),
    "killed beside a fork": ("pid = os.fork()\nif not pid: time.sleep(20)\nos.kill(os.getpid(), signal.SIGKILL)", -9),
}


@pytest.mark.thorough(after=1)
@needs_libtpu
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
@pytest.mark.parametrize("script, status", ENDS.values(), ids=ENDS)
def test_it_ends_with_the_process_that_uses_it(script: str, status: int) -> None:
    """However that ends, and silently."""
    with open(os.devnull, "w") as quiet:  # a fork that lives on would keep a pipe open
        done = subprocess.Popen([sys.executable, "-c", START + script], stdout=subprocess.PIPE, stderr=quiet, text=True)
        assert done.stdout
        pid = int(done.stdout.readline())
        assert done.wait(timeout=60) == status
        done.stdout.close()
    assert gone(pid)


@pytest.mark.thorough
@needs_libtpu
def test_forks_have_their_own() -> None:
    """A fork asks a compiler of its own, whatever its end does, and the parent's goes on; nothing is written to stderr."""
    done = ran("""
        asked, compile = [], process.compiler.compile
        process.compiler.compile = lambda request: (asked.append(request), compile(request))[1]
        ask(2)
        mine = process.compiler._child.pid
        pid = os.fork()
        if pid == 0:  # JAX lowers nothing in a fork, for want of its threads
            assert process.compiler._child is None
            assert process.compiler.compile(asked[0])[0].memory["output_size_in_bytes"] == 32768
            assert process.compiler._child.pid != mine
            os._exit(0)  # and JAX does not end in one either
        assert os.waitpid(pid, 0)[1] == 0
        assert ask(3) == 32768 and process.compiler._child.pid == mine
        """)
    # JAX warns of a fork, and from 3.12 on Python does.
    others = [line for line in done.stderr.splitlines() if "fork() " not in line and "pid = os.fork()" not in line]
    assert (done.returncode, others) == (0, [])


@pytest.mark.thorough
@needs_libtpu
def test_two_processes_at_once() -> None:
    """No lock of libtpu keeps one waiting for the other or lets it fail."""
    with ThreadPoolExecutor(2) as pool:
        both = list(pool.map(lambda _: ran("for n in range(3): ask(10 + n)"), range(2)))
    assert [(each.returncode, each.stderr) for each in both] == [(0, ""), (0, "")]


@pytest.mark.thorough
@needs_libtpu
def test_libtpu_is_not_loaded_here() -> None:
    """Lowering needs no device of the slice, so what could abort is in the other process alone."""
    done = ran("maps = open('/proc/self/maps').read()\nassert 'libtpu' not in maps, 'libtpu'")
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.thorough(after=1)
@needs_libtpu
@pytest.mark.parametrize("hidden", ["JAX_PLATFORMS", "PYTHONPATH"])
def test_from_another_folder(tmp_path: pathlib.Path, hidden: str) -> None:
    """Modules that lie around, named as the standard library's, are not imported by the other process."""
    for name in ("pickle", "threading", "jaxlib"):
        (tmp_path / f"{name}.py").write_text("raise RuntimeError('not this one')\n")
    environment = {name: value for name, value in os.environ.items() if name != hidden}
    places = [place for place in sys.path if place]
    code = f"import sys; sys.path[:] = {places!r}\n" + START
    command = [sys.executable, "-P", "-c", code]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stderr
