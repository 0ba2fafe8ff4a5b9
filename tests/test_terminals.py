"""Where no widget is drawn: what Python prints in a terminal is text, whole, and no object's address or HTML."""

import os
import pathlib
import re
import subprocess
import sys

import pytest

BEGIN = """\
import jax, shardlab as sl
sl.setup(8)
mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
_ = jax.set_mesh(mesh)
x = jax.device_put(jax.numpy.arange(16.0), jax.NamedSharding(mesh, jax.P("x")))
y = jax.device_put(x, jax.devices()[0])
"""
SHOWN = (
    "sl.show(x)",
    'sl.show({"cut": x, "alone": y})',
    "sl.inspect(jax.jit(lambda a: jax.reshard(a, jax.P(None))), x)",
    'sl.predict("4.4", deep="all-reduce")',
    'sl.hint("4.1")',
    'sl.check("4.1", lambda *given: "local")',
    'sl.check("1.1", {"A": x.sharding})',
    'sl.example("1.1")',
    'sl.example("4.1")',
    'sl.explain("4.1")',
    "sl.progress()",
)
WORDS = (
    "14:16", "alone", "devices 1, 2, 3, 4, 5, 6, 7 hold nothing", "all-gather", "Noted for 4.4: deep = 'all-reduce'",
    "Hint 1 of 3 for 4.1", "expected:  1", "It prints:", "More: chapter 1", "is not passed yet",
    "no cause with an example was named yet", "Next: 1.1",
)  # fmt: skip
NO_TEXT = r"<IPython|<div|<svg|<p>|<shardlab| object at 0x|Traceback|text/html"
IPYTHON = ["-m", "IPython", "--simple-prompt", "--no-banner", "--colors=NoColor"]


def ran(folder: pathlib.Path, command: list[str], typed: str) -> str:
    """All that a session or a script prints."""
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "IPYTHONDIR": str(folder), "NO_COLOR": "1", "COLUMNS": "120"}
    done = subprocess.run(
        [sys.executable, *command], input=typed, cwd=folder, env=environment, capture_output=True, text=True, timeout=240
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def whole(said: str) -> None:
    """Every text form is there, and nothing that is none."""
    for words in WORDS:
        assert words in said, f"{words!r} not in\n{said}"
    assert not re.search(NO_TEXT, said), said


@pytest.mark.thorough
def test_ipython_prints_text(tmp_path: pathlib.Path) -> None:
    """Pictures, program, predictions, hints, feedback, examples and progress each print their text form."""
    whole(ran(tmp_path, IPYTHON, BEGIN + "\n".join(SHOWN) + "\n"))


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("printed", ["print({})", "from IPython.display import display; display({})"])
def test_a_script_with_cells_prints_text(tmp_path: pathlib.Path, printed: str) -> None:
    """A file with `# %%` between its cells, run as it is: printed, or displayed where there is no notebook."""
    script = tmp_path / "cells.py"
    script.write_text("\n# %%\n".join([BEGIN, *map(printed.format, SHOWN)]) + "\n")
    whole(ran(tmp_path, [str(script)], ""))


@pytest.mark.thorough
def test_a_kernel_alone_gives_text(tmp_path: pathlib.Path) -> None:
    """What `jupyter console` and VS Code are sent by a kernel: the text form of each answer, whole, beside its HTML."""
    client = """\
import sys
from jupyter_client.manager import start_new_kernel
manager, client = start_new_kernel(kernel_name="python3")
def shown(message):
    content = message["content"]
    print(content.get("text", ""), content.get("data", {}).get("text/plain", ""), *content.get("traceback", ()))
for cell in sys.stdin.read().split("\\n# %%\\n"):
    client.execute_interactive(cell, output_hook=shown, timeout=120)
client.stop_channels()
manager.shutdown_kernel(now=True)
"""
    script = tmp_path / "console.py"
    script.write_text(client)
    whole(ran(tmp_path, [str(script)], "\n# %%\n".join([BEGIN, *SHOWN])))
