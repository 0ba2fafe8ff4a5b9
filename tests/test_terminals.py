"""Where no widget is drawn: what IPython prints in a terminal is text, whole, and no object's address or HTML."""

import os
import pathlib
import re
import subprocess
import sys

SESSION = """\
import jax, shardlab as sl
sl.setup(8)
mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
_ = jax.set_mesh(mesh)
x = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(mesh, jax.P("x")))
sl.show(x)
sl.inspect(jax.jit(lambda a: jax.reshard(a, jax.P(None))), x)
sl.hint("4.1")
sl.check("4.1", lambda *given: "local")
sl.progress()
"""


def test_ipython_prints_text(tmp_path: pathlib.Path) -> None:
    """Picture, program, hint, feedback and progress each print their text form."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "IPYTHONDIR": str(tmp_path), "NO_COLOR": "1"}
    command = [sys.executable, "-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]
    ran = subprocess.run(
        command, input=SESSION, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120, check=True
    )
    for words in ("8 simulated CPU devices", "14:16", "all-gather", "Hint 1 of 3 for 4.1", "expected:  1", "Next: 0.1"):
        assert words in ran.stdout, f"{words!r} not in\n{ran.stdout}{ran.stderr}"
    assert not re.search(r"<IPython|<div|<svg|<shardlab| object at 0x|Traceback", ran.stdout + ran.stderr), ran.stdout
