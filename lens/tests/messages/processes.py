"""What is no exception of this process: each program here runs in one of its own, and what it writes is the message."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

from messages.setting import says

PRELUDE = """\
import os, sys
import jax, jax.numpy as jnp, numpy as np
from jax import P, lax
from jax.sharding import AxisType, NamedSharding
x = np.arange(32, dtype=np.float32).reshape(8, 4)
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
def on(a, *spec): return jax.device_put(a, NamedSharding(mesh, P(*spec)))
def mapped(f, **more): return jax.shard_map(f, mesh=mesh, in_specs=P("data"), out_specs=P("data"), **more)
"""
LIMITS = {"warn_stuck": 2, "terminate": 4}


class Written(Exception):
    """What a process wrote."""


def writes(row: str, processes: int = 1) -> Callable[[Callable[[], str]], Any]:
    """As `says`, for a function whose result is the source text of a program; of several processes the first is heard."""

    def keep(source: Callable[[], str]) -> Any:
        def program() -> None:
            if text := _written(textwrap.dedent(source()), processes):
                raise Written(text)

        program.__name__, program.__module__ = source.__name__, source.__module__
        return says(row)(program)

    return keep


def _written(source: str, processes: int) -> str:
    flags = " ".join(f"--xla_cpu_collective_call_{what}_timeout_seconds={n}" for what, n in LIMITS.items())
    given = os.environ | {"JAX_NUM_CPU_DEVICES": str(8 // processes), "JAX_PLATFORMS": "cpu", "XLA_FLAGS": flags}
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder, "program.py")
        script.write_text(source if source.startswith("\nimport") else PRELUDE + source, encoding="utf-8")
        words = [sys.executable, "-X", "faulthandler", str(script)]
        others = [subprocess.Popen([*words, str(n)], env=given, stderr=subprocess.DEVNULL) for n in range(1, processes)]
        ran = subprocess.run(
            [*words, "0"], env=given, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, timeout=60
        )
        for other in others:
            other.kill()
            other.wait()
    text = ran.stderr.replace(folder + "/", "")
    if ran.returncode >= 0:
        return text
    return f"{text}\nthe process ended by signal {-ran.returncode} ({signal.Signals(-ran.returncode).name})"


@writes("full-rematerialization")
def a_turn_without_a_way() -> str:
    return """
    over = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    def place(a, *spec): return lax.with_sharding_constraint(a, NamedSharding(over, P(*spec)))
    turn = jax.jit(lambda a: place(jnp.sin(place(a, "y", None, "x")), None, ("x", "y"), None))
    turn(np.ones((16, 16, 16), np.float32))
    """


@writes("whole-on-one-device")
def a_callback_of_a_cut_array() -> str:
    return """
    like = jax.ShapeDtypeStruct((8, 4), np.float32)
    jax.block_until_ready(jax.jit(lambda a: jax.pure_callback(np.sin, like, 2 * a))(on(x, "data", "model")))
    """


@writes("captured-constants")
def a_table_that_is_closed_over() -> str:
    return """
    jax.config.update("jax_captured_constants_warn_bytes", 1000)
    table = jnp.ones((100, 100))
    jax.jit(lambda a: a + table.sum())(x)
    """


@writes("hang")
def a_sum_in_one_branch() -> str:
    return """
    half = lambda a: lax.cond(lax.axis_index("data") < 2, lambda b: lax.psum(b, "data"), lambda b: b, a)
    jax.block_until_ready(jax.jit(mapped(half, check_vma=False))(x))
    """


@writes("hang")
def a_loop_of_different_lengths() -> str:
    return """
    def rounds(a):
        def more(c): return c[0] < lax.axis_index("data") + 1
        return lax.while_loop(more, lambda c: (c[0] + 1, lax.psum(c[1], "data")), (0, a))[1]
    jax.block_until_ready(jax.jit(mapped(rounds, check_vma=False))(x))
    """


@writes("barrier-timeout")
def a_process_that_never_starts() -> str:
    return """
import jax, os
jax.distributed.initialize(f"localhost:{20000 + os.getpid() % 20000}", num_processes=2, process_id=0,
                           initialization_timeout=3)
"""


@writes("barrier-timeout")
def a_coordinator_that_is_not_there() -> str:
    return """
import jax
jax.distributed.initialize("localhost:1", num_processes=2, process_id=1, initialization_timeout=3)
"""


TWO = """
import os, sys, time, traceback
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
me = int(sys.argv[1])
jax.distributed.initialize(f"localhost:{{20000 + os.getppid() % 20000}}", num_processes=2, process_id=me)
mesh = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Auto,))
rows = jax.make_array_from_callback((8, 4), NamedSharding(mesh, P("data")), lambda at: np.ones((8, 4), np.float32)[at])
try:
    {}
except Exception:
    traceback.print_exc()
os._exit(1)  # no barrier at the end: the other process may be gone
"""


@writes("not-addressable", processes=2)
def an_array_of_two_processes_that_is_printed() -> str:
    return TWO.format("np.asarray(rows)")


@writes("barrier-timeout", processes=2)
def a_partner_that_ends() -> str:
    return TWO.format("time.sleep(2) if me == 0 else os._exit(1); print(jax.jit(jnp.sum)(rows))")


@writes("unasked-collective")
def a_compiled_text() -> str:
    return """
    rows = on(x, "data")
    print(jax.jit(lambda a, b: jnp.tanh(a) @ b.T).lower(rows, rows).compile().as_text(), file=sys.stderr)
    """


@writes("silent-replication")
def a_sharding_that_cuts_nothing() -> str:
    return """
    with jax.set_mesh(mesh):
        print(jax.jit(lambda: jnp.ones((8, 4)))().sharding, file=sys.stderr)
    """


@writes("crashed")
def a_crash_in_compiled_code() -> str:
    return "import ctypes; ctypes.string_at(0)"


@writes("killed")
def an_end_by_the_system() -> str:
    return "import signal; os.kill(os.getpid(), signal.SIGKILL)"


@writes("foreign-function-missing")
def a_solver_that_is_not_there() -> str:
    return """
    from jax import ffi
    jax.jit(lambda a: ffi.ffi_call("no_such_target", jax.ShapeDtypeStruct((8, 4), np.float32))(a))(x)
    """
