"""What the compiler laboratory costs beside JAX itself: ratios in one run, paired and interleaved.

    python bench/laboratory.py                           prints a table
    python bench/laboratory.py --write build/bench.json  also keeps the figures

`inspect` against `jit(f).lower(*args).compile()` of a function that is new each time; reading a large HLO text against
compiling it; `import shardlab` against `import jax`, each in a fresh interpreter. The ratio is the median of the pairs'
ratios; the interval holds that median with 95 % confidence (order statistics).
"""

from __future__ import annotations

import argparse
import dataclasses
import gc
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
from entries import keep

DEVICES = 8


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


def ratio(name: str, compared: str, most: float, pairs: Sequence[tuple[float, float]]) -> Ratio:
    """The ratio of pairs of seconds."""
    ratios = sorted(ours / theirs for ours, theirs in pairs)
    reach = 1.96 * math.sqrt(len(ratios)) / 2
    low = max(0, math.floor(len(ratios) / 2 - reach))
    high = min(len(ratios) - 1, math.ceil(len(ratios) / 2 + reach))
    medians = (1e6 * statistics.median(a for a, _ in pairs), 1e6 * statistics.median(b for _, b in pairs))
    return Ratio(name, statistics.median(ratios), (ratios[low], ratios[high]), compared, most, len(ratios), medians)


def interleaved(ours: Callable[[], object], theirs: Callable[[], object], repeats: int) -> list[tuple[float, float]]:
    """Seconds of both sides, pair by pair, in an order that changes."""
    pairs, warm = [], 2
    for i in range(repeats + warm):
        first, second = (ours, theirs) if i % 2 else (theirs, ours)
        times = {first: seconds(first), second: seconds(second)}
        pairs.append((times[ours], times[theirs]))
    return pairs[warm:]


def seconds(call: Callable[[], object]) -> float:
    """Seconds of one call."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def mesh() -> Any:
    """Two times four devices."""
    return jax.make_mesh((2, 4), ("x", "y"), axis_types=(jax.sharding.AxisType.Auto,) * 2)


def array(shape: tuple[int, ...], *spec: str | None) -> jax.ShapeDtypeStruct:
    """A sharded argument."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh(), jax.P(*spec)))


def layers(n: int) -> tuple[Callable[[], Callable[..., Any]], tuple[Any, ...]]:
    """Makes the gradient of `n` transformer layers, a new function each time, and its arguments."""

    def block(w: Any, a: Any) -> Any:
        q, k, v = (jnp.tanh(a @ w[i]) for i in range(3))
        a = a + jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2)) @ v
        centred = a - jnp.mean(a, -1, keepdims=True)
        normal = centred * jax.lax.rsqrt(jnp.mean(centred**2, -1, keepdims=True) + 1e-6)
        return a + jax.nn.gelu(normal @ w[3]) @ w[4]

    def new() -> Callable[..., Any]:
        def loss(weights: Any, a: Any) -> Any:
            for w in weights:
                a = block(w, a)
            return jnp.sum(a * a)

        return jax.grad(loss)

    shapes = [(64, 64)] * 3 + [(64, 256), (256, 64)]
    return new, ([[array(shape, "x", "y") for shape in shapes] for _ in range(n)], array((4, 32, 64), "x"))


def step() -> tuple[Callable[[], Callable[..., Any]], tuple[Any, ...]]:
    """Makes a training step of two dense layers, a new function each time, and its arguments: weights, batch and targets."""

    def new() -> Callable[..., Any]:
        def loss(weights: Any, a: Any, wanted: Any) -> Any:
            return jnp.mean((jax.nn.gelu(a @ weights[0]) @ weights[1] - wanted) ** 2)

        def update(weights: Any, a: Any, wanted: Any) -> Any:
            return jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights, a, wanted))

        return update

    return new, ([array((64, 256), None, "y"), array((256, 64), "y")], array((32, 64), "x"), array((32, 64), "x"))


def inspections(repeats: int) -> list[Ratio]:
    """`inspect` against lowering and compiling the same function."""
    from shardlens.programs.inspection import inspect

    found = []
    product = (lambda: lambda a, b: a @ b), (array((64, 128), "x", "y"), array((128, 256), "y"))
    # Of one product alone, a program smaller than a step, more is taken by the reading.
    cases = {"matmul": (product, 1.1, 6), "step": (step(), 1.05, 6), "gradient-4-layers": (layers(4), 1.05, 3)}
    for name, ((new, args), most, times) in cases.items():
        ours = lambda new=new, args=args: inspect(new(), *args)  # noqa: E731
        theirs = lambda new=new, args=args: jax.jit(new()).lower(*args).compile()  # noqa: E731
        compared = f"inspect(f, *args) : jit(f).lower(*args).compile(), {name} on {DEVICES} CPU devices"
        found.append(ratio(f"inspect-{name}", compared, most, interleaved(ours, theirs, times * repeats)))
    return found


def reading(repeats: int) -> list[Ratio]:
    """Reading an HLO text of about a megabyte against compiling it."""
    from shardlens.reading.collectives import read_collectives

    new, args = layers(11)
    texts: list[str] = []
    pairs = []
    for _ in range(max(7, repeats // 5)):
        lowered = jax.jit(new()).lower(*args)
        compiling = seconds(lambda lowered=lowered: texts.append(lowered.compile().as_text()))
        pairs.append((seconds(lambda: read_collectives(texts[-1], (("x", 2), ("y", 4)))), compiling))
    compared = f"read_collectives(text) : lowered.compile().as_text(), {len(texts[-1]) / 1e6:.2f} MB of HLO"
    return [ratio("read-large-hlo", compared, 0.05, pairs)]


def imports(repeats: int) -> list[Ratio]:
    """`import shardlab` against `import jax`, each in a fresh interpreter."""

    def fresh(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    compared = "python -c 'import shardlab' : python -c 'import jax'"
    pairs = interleaved(fresh("import shardlab"), fresh("import jax"), repeats)
    with_jax = interleaved(fresh("import jax, shardlab"), fresh("import jax"), repeats)
    return [
        ratio("import-shardlab", compared, 1.1, pairs),
        ratio("import-both", compared.replace("import shardlab", "import jax, shardlab"), 1.1, with_jax),
    ]


def main() -> None:
    """Run every comparison on eight simulated devices and print one line each."""
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--repeats", type=int, default=40)
    arguments.add_argument("--write", type=Path)
    options = arguments.parse_args()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", DEVICES)
    gc.disable()
    ratios = [*inspections(options.repeats), *reading(options.repeats), *imports(max(9, options.repeats // 2))]
    for r in ratios:
        low, high = r.interval
        ours, theirs = r.microseconds
        mark = "ok" if r.ratio <= r.most else f"above {r.most}"
        times = f"{ours / 1e3:9.2f} : {theirs / 1e3:9.2f} ms"
        print(f"{r.name:26} {r.ratio:6.3f}  [{low:.3f}, {high:.3f}]  {times}  n={r.repeats:<5} {mark}")
    if options.write:
        keep([dataclasses.asdict(each) for each in ratios], options.write)


if __name__ == "__main__":
    main()
