"""A program that does not fit a device's memory compiles to the report that says what is needed, and by which lines."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.command import TOO_MUCH
from why_programs import mesh, spec

P = jax.P
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
TARGET = "v5e:2x4"
GIB = 2**30
OVER = mesh(8)


def wide(w: Any, x: Any) -> Any:
    """A product with two large arrays between."""
    h = jnp.tanh(x @ w)  # <- product
    return (jnp.sin(h) @ w.T + (h * 2) @ w.T).sum()


ARGS = (spec(OVER, (1024, 1024)), spec(OVER, (2**24, 1024), "x"))


@needs_libtpu
@pytest.mark.thorough
def test_what_does_not_fit_is_told(tmp_path: Path) -> None:
    """The compiler's words, what is needed and what there is, the largest arrays; guards fail, and a record keeps it."""
    program = lens.inspect(wide, *ARGS, target=TARGET)
    assert "available HBM (15.75G)" in program.refused and program.memory.argument == 8 * GIB + 2**22
    assert program.memory.main > 15.75 * GIB
    said = str(program)
    words = " ".join(said.split())
    assert (
        f"for tpu7x:2x2x1, where it fits. A device needs {program.memory.main:,} bytes." in words and "at the peak" in said
    )
    line = Path(__file__).read_text().splitlines().index("    h = jnp.tanh(x @ w)  # <- product") + 1
    assert f"test_too_large.py:{line}" in said
    assert program.to_json(TARGET)["refused"] == program.refused
    lens.store(program, tmp_path / "wide.json", TARGET)
    assert lens.read_stored(tmp_path / "wide.json", TARGET).too_large == program.too_large
    with pytest.raises(AssertionError, match="does not fit: Ran out of memory on HBM"):
        lens.assert_communicates(wide, *ARGS, target=TARGET)


MODULE = """
import jax, jax.numpy as jnp

def step(x):
    return jnp.tanh(x) @ x.T

def step_example():
    return (jax.ShapeDtypeStruct((49152, 49152), jnp.float32),)
"""


@needs_libtpu
def test_the_command_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """The report on stdout, one sentence on stderr, status 3; a lock file fails too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHARDLENS_CACHE", str(tmp_path / "kept"))
    Path("big.py").write_text(MODULE)
    assert lens.lens_command(["inspect", "big.py:step", "--target", "v5e:1x1"]) == TOO_MUCH
    out, err = capsys.readouterr()
    assert "at the peak" in out and "does not fit: Ran out of memory on HBM" in err
    assert lens.lens_command(["lock", "big.py:step", "big.json", "--target", "v5e:1x1", "--update"]) == 0
    assert lens.lens_command(["lock", "big.py:step", "big.json", "--target", "v5e:1x1"]) == TOO_MUCH
    assert "does not fit" in capsys.readouterr().err


SMALL = MODULE.replace("49152", "64")
OTHERS: dict[str, tuple[list[str], int]] = {
    "why": (["why", "big.py:step", "--target", "v5e:1x1"], TOO_MUCH),
    "cost": (["cost", "big.py:step", "v5e", "--target", "v5e:1x1"], TOO_MUCH),
    "compare": (["compare", "big.py:step", "--targets", "v5e:1x1"], TOO_MUCH),
    "diff": (["diff", "small.py:step", "big.py:step", "--target", "v5e:1x1", "--fail-above", "1TB"], TOO_MUCH),
    "diff of the same": (["diff", "big.py:step", "big.py:step", "--target", "v5e:1x1", "--markdown"], TOO_MUCH),
    "diff, the first": (["diff", "big.py:step", "small.py:step", "--target", "v5e:1x1"], 0),
}


@needs_libtpu
def test_the_other_commands_say_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """So do those that compare and cost; a first program that does not fit is told of, and the second may replace it."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHARDLENS_CACHE", str(tmp_path / "kept"))
    for name, text in (("big.py", MODULE), ("small.py", SMALL)):
        Path(name).write_text(text)
    for case, (words, status) in OTHERS.items():
        assert lens.lens_command(words) == status, case
        out, err = capsys.readouterr()
        assert ("does not fit: Ran out of memory on HBM" in err) == bool(status), case
        assert "diff" not in case or "big.py:step does not fit: Ran out of memory on HBM" in " ".join(out.split()), case


@needs_libtpu
def test_what_fits_no_chip() -> None:
    """Where no chip has room, an error says what is needed, what there is, and what helps."""
    with pytest.raises(lens.LensError, match=r"(?s)\[does-not-fit\] Ran out of memory on HBM.*jax.checkpoint"):
        lens.inspect(lambda x: jnp.tanh(x) @ x.T, jax.ShapeDtypeStruct((2**18, 2**18), "float32"), target="v5e:1x1")
