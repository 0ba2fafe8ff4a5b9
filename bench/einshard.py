"""What sharding expressions cost beside `jax.device_put`: ratios in one run, paired and interleaved.

    python bench/einshard.py                           prints a table
    python bench/einshard.py --write build/bench.json  also keeps the figures

Each repeat times both sides, in an order that changes, until the array is on the devices. The ratio is the median of the
repeats' ratios; the interval holds that median with 95 % confidence (order statistics).
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import itertools
import math
import time
from collections.abc import Callable
from pathlib import Path

import jax
import numpy as np
from entries import keep

DEVICES = 8
CASES = {(8,): "a -> a*", (64, 64): "a b -> a4 b2", (1024, 1024): "a b -> a b*", (4096, 2048): "a b -> b2 a4"}


@dataclasses.dataclass(frozen=True)
class Ratio:
    """One comparison: the median ratio, its 95 % interval, what was compared, and the most that it may be."""

    name: str
    ratio: float
    interval: tuple[float, float]
    compared: str
    most: float
    repeats: int
    microseconds: tuple[float, float]


def compare(
    name: str, compared: str, most: float, ours: Callable[[], object], theirs: Callable[[], object], repeats: int
) -> Ratio:
    """The ratio of two calls' times; each is called anew in every repeat."""
    pairs = []
    for i in range(repeats + 20):
        first, second = (ours, theirs) if i % 2 else (theirs, ours)
        times = {first: seconds(first), second: seconds(second)}
        pairs.append((times[ours], times[theirs]))
    a, b = np.array(pairs[20:]).T
    ratios = np.sort(a / b)
    low, high = bounds(len(ratios))
    medians = (float(np.median(a)) * 1e6, float(np.median(b)) * 1e6)
    return Ratio(name, float(np.median(ratios)), (float(ratios[low]), float(ratios[high])), compared, most, repeats, medians)


def seconds(call: Callable[[], object]) -> float:
    """Seconds until what `call` returns is on the devices."""
    start = time.perf_counter()
    jax.block_until_ready(call())
    return time.perf_counter() - start


def bounds(n: int) -> tuple[int, int]:
    """Places of the order statistics that hold the median with 95 % confidence (normal approximation of the binomial)."""
    reach = 1.96 * math.sqrt(n) / 2
    return max(0, math.floor(n / 2 - reach)), min(n - 1, math.ceil(n / 2 + reach))


def placements(repeats: int) -> list[Ratio]:
    """`einshard(x, expr)` against `jax.device_put(x, ready_sharding)`, for NumPy and JAX arrays."""
    from shardlab.expressions.sharding import einshard, make_sharding

    found = []
    for shape, text in CASES.items():
        ready = make_sharding(text, shape)
        host = np.ones(shape, "float32")
        for kind, x in (("numpy", host), ("jax", jax.device_put(host, jax.devices()[0]))):
            name = f"einshard-{kind}-{host.nbytes}-bytes"
            compared = f"einshard(x, {text!r}) : jax.device_put(x, ready_sharding), {kind} float32{list(shape)}"
            put = lambda x=x, ready=ready: jax.device_put(x, ready)  # noqa: E731
            # Copies of megabytes vary by more than the two differ.
            times = repeats * 4 if host.nbytes >= 2**20 else repeats
            found.append(compare(name, compared, 1.05, lambda x=x, text=text: einshard(x, text), put, times))
    return found


def first_uses(repeats: int) -> list[Ratio]:
    """An expression never seen before against one `device_put`."""
    from shardlab.expressions.sharding import einshard, make_sharding

    ready, fresh = make_sharding("a -> a*", 1), ("".join(word) for word in itertools.product("abcdefghij", repeat=7))
    found = []
    for kind, x in (("numpy", np.ones(8, "float32")), ("jax", jax.device_put(np.ones(8, "float32"), jax.devices()[0]))):

        def new_text(x: object = x) -> object:
            name = next(fresh)
            return einshard(x, f"{name} -> {name}8")

        compared = f"first use of an expression : jax.device_put of 8 {kind} elements over 8 devices"
        put = lambda x=x: jax.device_put(x, ready)  # noqa: E731
        found.append(compare(f"einshard-first-use-{kind}", compared, 2.0, new_text, put, repeats))
    return found


def main() -> None:
    """Run every comparison on eight simulated devices and print one line each."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=1000)
    arguments.add_argument("--write", type=Path)
    options = arguments.parse_args()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    gc.disable()
    ratios = [*placements(options.repeats), *first_uses(options.repeats)]
    for r in ratios:
        low, high = r.interval
        ours, theirs = r.microseconds
        mark = "ok" if high <= r.most else f"{'interval' if r.ratio <= r.most else 'ratio'} above {r.most}"
        times = f"{ours:9.1f} : {theirs:9.1f} us"
        print(f"{r.name:32} {r.ratio:6.3f}  [{low:.3f}, {high:.3f}]  {times}  n={r.repeats:<5} {mark}")
    if options.write:
        keep([dataclasses.asdict(ratio) for ratio in ratios], options.write)


if __name__ == "__main__":
    main()
