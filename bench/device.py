"""What the lens predicts without a card, held against the card that is here; in less than six minutes.

    python bench/device.py                                    prints the facts
    python bench/device.py --write jupyter_book/device.json   also keeps them, for the status page

Programs are compiled with the card and without it. Six kernels are timed beside the model's least seconds. Memory is read
from the card, and a trace from JAX's profiler. What was not reached in time is not in the facts. It needs JAX 0.10 or newer,
with CUDA.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import gzip
import json
import pathlib
import re
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp

import shardlens as lens
from shardlens.compilers.cards import at_hand, command
from shardlens.costs.chips import chip_called

SECONDS = 330.0
FUSION = re.compile(r"\bfusion\(.*?kind=(\w+)")
P = jax.P


def product(a: jax.Array, b: jax.Array) -> jax.Array:
    """A matrix product."""
    return a @ b


def scaled(a: jax.Array, b: jax.Array) -> jax.Array:
    """A line of arithmetic, bound by memory."""
    return 2 * a + b


def normed(a: jax.Array, b: jax.Array) -> jax.Array:
    """A softmax of rows."""
    return jax.nn.softmax(a + b, axis=-1)


KERNELS: dict[str, tuple[Callable[..., Any], tuple[int, ...], str]] = {
    "product, bf16": (product, (8192, 8192), "bfloat16"),
    "product, bf16, small": (product, (2048, 2048), "bfloat16"),
    "product, f32": (product, (4096, 4096), "float32"),
    "sum of two arrays, bf16": (scaled, (16384, 16384), "bfloat16"),
    "sum of two arrays, f32": (scaled, (8192, 16384), "float32"),
    "softmax, f32": (normed, (8192, 8192), "float32"),
}


def rows_asked_for(mesh: Any) -> tuple[Any, tuple[Any, ...]]:
    """A product whose rows are asked for."""

    def like(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "bfloat16", sharding=jax.NamedSharding(mesh, P(*spec)))

    f = jax.jit(product, out_shardings=jax.NamedSharding(mesh, P("x", None)))
    return f, (like((4096, 8192), None, "x"), like((8192, 4096), "x", None))


def network(mesh: Any) -> tuple[Any, tuple[Any, ...]]:
    """Gradients of six layers, the batch cut."""

    def loss(weights: list[jax.Array], x: jax.Array) -> jax.Array:
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x**2).mean()

    def like(shape: tuple[int, ...], *spec: Any) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh, P(*spec)))

    return jax.jit(jax.grad(loss)), ([like((1024, 1024))] * 6, like((512, 1024), "x"))


def facts_of(program: lens.Program) -> dict[str, Any]:
    """What is compared of a program: collectives, memory, and how many fusions of each kind."""
    moved = sorted([c.kind, c.payload_bytes, c.group_size, c.executions] for c in program.collectives)
    memory = {name: getattr(program.memory, name) for name in ("argument", "output", "temp", "peak")}
    return {"collectives": moved, "memory": memory, "fusions": dict(collections.Counter(FUSION.findall(program.hlo)))}


def different(here: dict[str, Any], described: dict[str, Any]) -> list[str]:
    """The names of the facts in which two programs differ."""
    return [name for name in here if here[name] != described[name]]


def compiled(card: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Programs for one card and for eight, with the card here and with its description."""
    from jax.experimental import topologies

    with_card = topologies.get_topology_desc("here", platform="cuda", topology="1x1x8").devices
    for count, devices in ((1, jax.devices()[:1]), (8, with_card)):
        mesh = jax.sharding.Mesh(devices, ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        for build in (rows_asked_for, network):
            f, args = build(mesh)
            here = facts_of(lens.read_program(f.lower(*args).compile(), (("x", count),)))
            f, args = build(jax.sharding.AbstractMesh((count,), ("x",), axis_types=(jax.sharding.AxisType.Auto,)))
            described = facts_of(lens.inspect(f, *args, target=f"{card}:{count}"))
            differ = different(here, described)
            yield f"{build.__name__}, {count}", {"with": here, "without": described, "differ": differ}


def timed() -> Iterator[tuple[str, dict[str, Any]]]:
    """Seconds of each kernel beside the model's least seconds, and the card's peak of memory beside the predicted one."""
    device = jax.devices()[0]
    for name, (f, shape, dtype) in KERNELS.items():
        args = [jax.random.normal(jax.random.key(i), shape, dtype) for i in range(2)]
        found = lens.on_chip(f, *args)
        program = lens.inspect(f, *args)
        peak = (device.memory_stats() or {}).get("peak_bytes_in_use")
        yield name, {"seconds": found.median, "model": found.model, "peak": peak, "predicted": program.memory.peak}


def traced(f: Callable[..., Any], *args: Any) -> dict[str, Any]:
    """The operations that a trace of JAX's profiler has on devices: how many, and their seconds."""
    run = jax.jit(f)
    jax.block_until_ready(run(*args))
    with tempfile.TemporaryDirectory() as folder:
        with jax.profiler.trace(folder):
            jax.block_until_ready(run(*args))
        return read_trace(pathlib.Path(folder))


def read_trace(folder: pathlib.Path) -> dict[str, Any]:
    """The same of a trace that was written."""
    files = [*folder.rglob("*.trace.json.gz")]
    events = json.loads(gzip.decompress(files[0].read_bytes()))["traceEvents"] if files else []
    names = {event["pid"]: event["args"]["name"] for event in events if event.get("name") == "process_name"}
    on = [e for e in events if e.get("ph") == "X" and "/device:" in names.get(e["pid"], "")]
    return {"events": len(events), "on_devices": len(on), "seconds": sum(e["dur"] for e in on) / 1e6}


def main() -> int:
    """Measures; 1 where there is no card, or none that is described."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    kind, began = jax.devices()[0].device_kind, time.monotonic()
    known = chip_called(kind)
    if known is None or not known.host:
        print(f"{kind}: no card that is described here; nothing was measured.", file=sys.stderr)
        return 1
    if not at_hand():
        print(f"XLA for GPU is not here: {command()}", file=sys.stderr)
        return 1
    found: dict[str, Any] = {"card": kind, "date": f"{datetime.date.today()}", "jax": jax.__version__}
    found |= {"kernels": {}, "programs": {}}
    for part, entries in (("kernels", timed()), ("programs", compiled(known.target))):
        for name, entry in entries:
            found[part][name] = entry
            print(name, entry, flush=True)
            if time.monotonic() - began > SECONDS:
                break
    found["trace"] = traced(product, *(jnp.ones((4096, 4096), "bfloat16"),) * 2)
    if options.write:
        options.write.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
