"""Time on an accelerator beside the model's: CPU devices stand in for it, in this process and in one of its own."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlens as lens
from shardlens.programs import timing
from shardlens.programs.timing import on_chip

LINE = jax.make_mesh((8,), ("x",), (jax.sharding.AxisType.Auto,))
RNG = np.random.default_rng(18)
LEFT, RIGHT = RNG.standard_normal((64, 48), np.float32), RNG.standard_normal((48, 32), np.float32)


def product(a, b):
    """A program."""
    return a @ b


@pytest.fixture
def known(monkeypatch):
    """CPU devices have the numbers of a v5e."""
    monkeypatch.setattr(timing, "chip_called", lambda kind: {"cpu": lens.chip("v5e")}.get(kind))


@pytest.fixture
def idle(monkeypatch):
    """One accelerator is counted, and the other process starts a CPU in its place."""
    monkeypatch.setattr(timing, "accelerators", lambda: 1)
    monkeypatch.setattr(timing, "PLATFORMS", "cpu")


def test_nothing_here() -> None:
    """Without an accelerator nothing runs, and the sentence says what would."""

    def never(x):
        raise AssertionError("it was traced")

    found = on_chip(never, LEFT)
    assert (found.kind, found.count, found.median, found.model) == ("", 0, 0.0, None)
    said = "There is no accelerator here, so nothing was timed. On one, never would run 20 times, and the median would stand"
    assert " ".join(str(found).split()) == f"{said} here beside the model's time for that chip."


def test_eight_devices(known) -> None:
    """Arguments that lie on the devices stay there; the model is that of the same program."""
    rows, whole = (jax.NamedSharding(LINE, jax.P(*spec)) for spec in (("x",), ()))
    args = jax.device_put(LEFT, rows), jax.device_put(RIGHT, whole)
    found = on_chip(product, *args, runs=5, devices=jax.devices())
    assert (found.name, found.runs, found.kind, found.count) == ("product", 5, "cpu", 8)
    assert found.model == lens.inspect(product, *args).cost("v5e").lower and 0 < found.model < found.median
    head, row, *lines = str(found).splitlines()
    assert head.split() == ["program", "ran", "on", "measured", "model", "measured", "/", "model"]
    assert row.split()[:4] == ["product", "8", "x", "cpu"] and row.split()[-1] == f"{found.median / found.model:.1f}"
    said = "Measured here: the median of 5 runs, each timed until its result was ready."
    assert " ".join(lines) == f"{said} The model assumes peak rates and full overlap."


def test_one_device_among_them() -> None:
    """Host arrays go to the first device; of a device without numbers the time alone is told."""
    found = on_chip(product, LEFT, RIGHT, runs=3, devices=jax.devices()[2:])
    assert (found.count, found.model) == (1, None) and found.median > 0
    assert "no numbers" in str(found) and "There are no numbers for a cpu." in str(found)


@pytest.mark.thorough
def test_an_idle_chip_beside_simulated_devices(idle) -> None:
    """The program runs in another process, on one device, with arguments that are whole, trees and captured arrays too."""
    cut = jax.device_put(LEFT, jax.NamedSharding(LINE, jax.P("x")))
    found = on_chip(lambda p: jnp.tanh(p["a"] @ RIGHT), {"a": cut}, runs=4)
    assert (found.name, found.runs, found.kind, found.count) == ("<lambda>", 4, "cpu", 1) and found.median > 0


def test_a_program_for_eight_devices_on_an_idle_chip(idle) -> None:
    """It is refused before anything starts."""
    f = jax.shard_map(lambda x: jax.lax.psum(x, "x"), mesh=LINE, in_specs=jax.P("x"), out_specs=jax.P())
    with pytest.raises(lens.LensError, match="program for 8 devices, but one chip is idle here") as raised:
        on_chip(f, LEFT)
    assert raised.value.reference == "not-on-this-chip"


@pytest.mark.thorough
def test_the_other_process_ends(idle, monkeypatch) -> None:
    """Its last line is told."""
    monkeypatch.setattr(timing, "PLATFORMS", "nowhere")
    with pytest.raises(lens.LensError, match=r"\[not-on-this-chip\] product did not run on the accelerator: .*nowhere"):
        on_chip(product, LEFT, RIGHT)
