"""Bytes of a device's main memory, apart from the host's and from what lies beside it on the chip."""

from __future__ import annotations

import importlib.util

import jax
import jax.numpy as jnp
import pytest

import shardlens as lens
from shardlens.programs.program import Memory

P = jax.P
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")


@pytest.mark.parametrize(
    "told, peak",
    [
        (Memory(argument=100, output=60, temp=0, alias=0, peak=400), 160),
        (Memory(argument=100, output=60, temp=40, alias=60, peak=400), 140),
        (Memory(argument=100, output=60, temp=40, alias=60, peak=120), 120),
        (Memory(argument=100, output=0, temp=0, alias=0, peak=100, host=900), 100),
        (Memory(argument=100, output=60, temp=180, alias=60, peak=101), 280),
    ],
    ids=["vector memory", "donated", "below the sum", "host", "a peak without temporaries"],
)
def test_the_main_memory(told: Memory, peak: int) -> None:
    """It is never more than arguments, outputs and temporaries take together."""
    assert told.main == peak


@needs_libtpu
@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("kind", ["pinned_host", "device"])
def test_arrays_on_the_host(kind: str) -> None:
    """An array in pinned host memory is of the host's bytes and of nothing else; the same one on the device is not."""
    mesh = lens.target_mesh("v5e:2x4", {"x": 8})

    def at(kind: str) -> jax.NamedSharding:
        return jax.NamedSharding(mesh, P("x"), memory_kind=kind)

    def sums(x: jax.Array, h: jax.Array) -> jax.Array:
        return jnp.sin(x) * jax.device_put(h, at("device"))

    shape = (1024, 768)
    x, h = (jax.ShapeDtypeStruct(shape, "float32", sharding=at(each)) for each in ("device", kind))
    memory = lens.read_program(jax.jit(sums).lower(x, h).compile()).memory
    one = 1024 * 768 * 4 // 8
    on_host = one * (kind == "pinned_host")
    assert (memory.argument, memory.host) == (2 * one - on_host, on_host)
    assert memory.main <= memory.argument + memory.output + memory.temp - memory.alias
