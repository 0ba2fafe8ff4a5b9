"""The same twenty programs through three compilers: bytes by kind and axis, FLOPs, memory, seconds to compile.

    python bench/compilers.py                                     prints a line for each program and compiler
    python bench/compilers.py --write jupyter_book/compilers.json  also keeps the figures, for the status page

What the lens reads is held against the second reader of its tests, which knows nothing of it.
"""

from __future__ import annotations

import argparse
import collections
import datetime
import json
import os
import pathlib
import platform
import sys
import time
from typing import Any

os.environ.update(JAX_PLATFORMS="cpu", JAX_NUM_CPU_DEVICES="8")
sys.path.insert(0, str(pathlib.Path(__file__).parents[1] / "lens" / "tests"))

import jax

from programs import activations, algorithms, rings, weights  # noqa: F401
from programs.listing import LISTED, compiled
from programs.reading import agree
from shardlens.compilers.cards import folder
from shardlens.programs.inspection import read_program

TARGETS = ("cpu", "v5e:2x4", "h100:8")
PROGRAMS = (
    "megatron sequence_parallel transformer_block heads_for_tokens gathered_keys decode cannon recursive_doubling"
    " hierarchical_sum compressed_gradients chosen_by_the_round ring_attention ring_attention_backward gathered_product"
    " pipeline nested data_parallel fsdp fsdp_and_tensor scanned_fsdp"
).split()


def measured(name: str, target: str) -> dict[str, Any]:
    """One program for one compiler.

    Raises:
        AssertionError: the two readers do not agree.
    """
    began = time.perf_counter()
    made = compiled(name, target)
    text = made.as_text()
    took = time.perf_counter() - began
    agree(text)
    program = read_program(made, tuple(LISTED[name].axes.items()))
    moved: dict[str, int | None] = collections.defaultdict(int)
    for c in program.collectives:
        key = f"{c.kind} over {', '.join(c.axes) or 'no whole axis'}"
        moved[key] = None if None in (moved[key], c.executions) else moved[key] + c.payload_bytes * c.executions
    memory = {field: getattr(program.memory, field) for field in ("argument", "output", "temp", "peak")}
    return {"bytes": dict(sorted(moved.items())), "flops": program.flops, **memory, "seconds": round(took, 1)}


def main() -> None:
    """Measures all, and prints; writes where it is asked to."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", type=pathlib.Path)
    options = parser.parse_args()
    jax.config.update("jax_num_cpu_devices", 8)
    programs: dict[str, dict[str, Any]] = {}
    for name in PROGRAMS:
        programs[name] = {target: measured(name, target) for target in TARGETS}
        for target, found in programs[name].items():
            print(f"{name:22} {target:8} {found}", flush=True)
    if options.write:
        plugin = sum(file.stat().st_size for file in folder().rglob("*.so"))
        versions = {"python": platform.python_version(), "jax": jax.__version__}
        facts = {"date": f"{datetime.date.today()}", "versions": versions, "plugin_bytes": plugin}
        facts |= {"load": round(os.getloadavg()[2]), "cores": os.cpu_count(), "programs": programs}
        options.write.write_text(json.dumps(facts, indent=1) + "\n")


if __name__ == "__main__":
    main()
