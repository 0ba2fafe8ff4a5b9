"""What `lens.why` takes beside `lens.inspect`: the gradient of a model whose layers stand one after the other.

    python bench/explaining.py [--layers 5 10 20 40] [--write build/bench.json]

No change is tried (`tries=0`). Both compile the program; processor time is this process's own, with XLA's threads.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

os.environ.update(JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="8", SHARDLENS_CACHE="off")

import jax
from entries import keep

import shardlens as lens

P = jax.P
MOST = 2.0


def model(layers: Any, x: jax.Array) -> jax.Array:
    """A loss of residual layers."""
    for layer in layers:
        x = x + jax.nn.relu(x @ layer["up"]) @ layer["down"]
    return (x**2).mean()


def arguments(layers: int) -> tuple[Any, jax.ShapeDtypeStruct]:
    """Descriptions of the weights, all cut along their columns, and of a batch."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)

    def shaped(shape: tuple[int, ...], *axes: str | None) -> jax.ShapeDtypeStruct:
        return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh, P(*axes)))

    weights = {"up": shaped((256, 1024), None, "model"), "down": shaped((1024, 256), None, "model")}
    return [dict(weights) for _ in range(layers)], shaped((512, 256), "data")


def took(call: Callable[..., Any], layers: int, **options: Any) -> tuple[float, float]:
    """Seconds of wall and of processor."""
    args = arguments(layers)
    wall, processor = time.perf_counter(), time.process_time()
    call(lambda weights, x: jax.grad(model)(weights, x), *args, **options)  # a new function, so that nothing is kept
    return time.perf_counter() - wall, time.process_time() - processor


def main() -> None:
    """Measures and prints; writes where it is asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layers", type=int, nargs="+", default=[5, 10, 20, 40])
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    took(lens.why, 1, tries=0)
    found = []
    for layers in options.layers:
        read, explained = took(lens.inspect, layers), took(lens.why, layers, tries=0)
        wall, processor = (b / a for a, b in zip(read, explained))
        compared = "lens.why without changes : lens.inspect, a gradient of unrolled layers, CPU time"
        entry = {
            "name": f"why-{layers}-layers",
            "ratio": processor,
            "interval": [processor, processor],
            "compared": compared,
        }
        found.append(entry | {"most": MOST, "rounds": 1, "interval_is": "no interval"})
        print(f"{layers:3} layers: inspect {read[0]:.2f} s, why {explained[0]:.2f} s, ratio {wall:.2f};", end=" ")
        print(f"processor {read[1]:.2f} s, {explained[1]:.2f} s, ratio {processor:.2f}", flush=True)
    if options.write:
        keep(found, options.write)


if __name__ == "__main__":
    main()
