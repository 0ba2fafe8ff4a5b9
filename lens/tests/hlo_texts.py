"""The programs whose compiled texts are stored in `tests/hlo`: `python lens/tests/hlo_texts.py` writes them again.

Texts are cut to what a reader of communication needs: no `backend_config` but the rounds of loops, no layouts of fusions.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import jax.numpy as jnp

from shardlens.reading.hlo import _closing

FOLDER = Path(__file__).parent / "hlo"
P = jax.P
XY, ABC, X8 = {"x": 2, "y": 4}, {"a": 2, "b": 2, "c": 2}, {"x": 8}
Built = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: dict[str, tuple[dict[str, int], Callable[[Any], Built]]] = {}


def program(**axes: int) -> Callable[[Callable[[Any], Built]], Callable[[Any], Built]]:
    """Lists a function that takes a mesh of `axes` and returns a function to compile and its arguments."""

    def listed(build: Callable[[Any], Built]) -> Callable[[Any], Built]:
        PROGRAMS[build.__name__] = (axes, build)
        return build

    return listed


def array(mesh: Any, shape: tuple[int, ...], *spec: Any, dtype: str = "float32") -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=jax.NamedSharding(mesh, P(*spec)))


def mapped(f: Callable[..., Any], mesh: Any, ins: Any, outs: Any) -> Callable[..., Any]:
    """`f` on each device's blocks."""
    return jax.jit(jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=False))


@program(**XY)
def gather_slow(mesh: Any) -> Built:
    """All-gather along the slow axis: groups that are not consecutive."""
    f = mapped(lambda a: jax.lax.all_gather(a, "x", tiled=True), mesh, P("x", "y"), P(None, "y"))
    return f, (array(mesh, (16, 512), "x", "y"),)


@program(**XY)
def gather_both(mesh: Any) -> Built:
    """All-gather over both axes."""
    f = mapped(lambda a: jax.lax.all_gather(a, ("x", "y"), tiled=True), mesh, P(("x", "y")), P())
    return f, (array(mesh, (64, 256), ("x", "y"), dtype="bfloat16"),)


@program(**ABC)
def reduce_outer(mesh: Any) -> Built:
    """All-reduce over the first and last of three axes: iota groups with a transpose."""
    f = mapped(lambda a: jax.lax.psum(a, ("a", "c")), mesh, P("a", "b", "c"), P(None, "b"))
    return f, (array(mesh, (16, 32, 256), "a", "b", "c"),)


@program(**ABC)
def scatter_middle(mesh: Any) -> Built:
    """Reduce-scatter over the middle of three axes."""
    f = mapped(lambda a: jax.lax.psum_scatter(a, "b", tiled=True), mesh, P("a", None, "c"), P(("a", "b"), None, "c"))
    return f, (array(mesh, (64, 32, 256), "a", None, "c"),)


@program(**XY)
def swap_slow(mesh: Any) -> Built:
    """All-to-all along the slow axis."""
    f = mapped(lambda a: jax.lax.all_to_all(a, "x", 1, 0, tiled=True), mesh, P("x", "y"), P(None, ("x", "y")))
    return f, (array(mesh, (32, 2048), "x", "y"),)


@program(**XY)
def shift(mesh: Any) -> Built:
    """A permute without wraparound: three of four devices send."""
    f = mapped(lambda a: jax.lax.ppermute(a, "y", [(0, 1), (1, 2), (2, 3)]), mesh, P("x", "y"), P("x", "y"))
    return f, (array(mesh, (16, 512), "x", "y"),)


@program(**XY)
def diagonal(mesh: Any) -> Built:
    """A permute along both axes at once."""
    pairs = [(d, (d + 5) % 8) for d in range(8)]
    f = mapped(lambda a: jax.lax.ppermute(a, ("x", "y"), pairs), mesh, P("x", "y"), P("x", "y"))
    return f, (array(mesh, (16, 512), "x", "y"),)


@program(**X8)
def seven_sums(mesh: Any) -> Built:
    """Seven all-reduces that the compiler combines: a tuple with /*index=5*/."""
    shapes = [(128, 8 * k) for k in range(1, 8)]
    f = mapped(lambda *a: tuple(jax.lax.psum(b, "x") for b in a), mesh, (P("x"),) * 7, (P(),) * 7)
    return f, tuple(array(mesh, (8 * n, m), "x") for n, m in shapes)


@program(**X8)
def seven_gathers(mesh: Any) -> Built:
    """Seven all-gathers that the compiler may combine."""
    f = mapped(lambda *a: tuple(jax.lax.all_gather(b, "x", tiled=True) for b in a), mesh, (P("x"),) * 7, (P(),) * 7)
    return f, tuple(array(mesh, (64, 128 * k), "x") for k in range(1, 8))


@program(**X8)
def loop(mesh: Any) -> Built:
    """An all-reduce in a loop of five rounds."""

    def body(a: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 5, lambda _, b: jnp.tanh(jax.lax.psum(b, "x")), a)

    return mapped(body, mesh, P("x"), P("x")), (array(mesh, (64, 128), "x"),)


@program(**XY)
def loops(mesh: Any) -> Built:
    """A permute in a loop in a loop, three times four rounds, and a sum in the outer one."""
    ring = [(d, (d + 1) % 4) for d in range(4)]

    def outer(_: Any, a: jax.Array) -> jax.Array:
        a = jax.lax.fori_loop(0, 4, lambda _, b: jnp.sin(jax.lax.ppermute(b, "y", ring)), a)
        return jnp.cos(jax.lax.psum(a, "x"))

    return mapped(lambda a: jax.lax.fori_loop(0, 3, outer, a), mesh, P("x", "y"), P("x", "y")), (
        array(mesh, (16, 512), "x", "y"),
    )


@program(**X8)
def until(mesh: Any) -> Built:
    """A loop until a global sum is small: nobody knows how many rounds."""

    def small(a: jax.Array) -> jax.Array:
        return jax.lax.psum(jnp.sum(a * a), "x") > 1.0

    f = mapped(lambda a: jax.lax.while_loop(small, lambda b: b * 0.5, a), mesh, P("x"), P("x"))
    return f, (array(mesh, (64, 128), "x"),)


@program(**XY)
def branches(mesh: Any) -> Built:
    """Three branches, two of which communicate."""
    cases = (lambda a: a, lambda a: jax.lax.psum(a, "y"), lambda a: jax.lax.ppermute(a, "x", [(0, 1), (1, 0)]))
    f = mapped(lambda i, a: jax.lax.switch(i, cases, a), mesh, (P(), P("x", "y")), P("x", "y"))
    return f, (array(mesh, (), dtype="int32"), array(mesh, (16, 512), "x", "y"))


@program(**X8)
def ragged(mesh: Any) -> Built:
    """A ragged all-to-all."""

    def f(a: jax.Array, out: jax.Array, o: jax.Array, s: jax.Array, t: jax.Array, r: jax.Array) -> jax.Array:
        return jax.lax.ragged_all_to_all(a, out, o, s, t, r, axis_name="x")

    sizes = [array(mesh, (64,), "x", dtype="int32")] * 4
    specs = (P("x"),) * 6
    return mapped(f, mesh, specs, P("x")), (array(mesh, (256, 128), "x"), array(mesh, (512, 128), "x"), *sizes)


@program(**XY)
def fsdp(mesh: Any) -> Built:
    """Gradients of two layers whose weights are sharded: gathers forward, scatters backward."""

    def loss(w: tuple[jax.Array, jax.Array], a: jax.Array) -> jax.Array:
        whole = [jax.lax.all_gather(each, "x", tiled=True) for each in w]
        return jnp.sum(jnp.tanh(jnp.tanh(a @ whole[0]) @ whole[1]) ** 2)

    f = mapped(lambda w, a: jax.grad(loss)(w, a), mesh, ((P("x"), P("x")), P("x")), (P("x"), P("x")))
    weights = (array(mesh, (256, 256), "x", dtype="bfloat16"), array(mesh, (256, 256), "x", dtype="bfloat16"))
    return f, (weights, array(mesh, (64, 256), "x", dtype="bfloat16"))


@program(**XY)
def softmax(mesh: Any) -> Built:
    """Softmax along a sharded dimension, left to the compiler: a maximum and a sum."""
    return jax.jit(lambda a: jax.nn.softmax(a, axis=-1)), (array(mesh, (64, 4096), "x", "y"),)


@program(**XY)
def embedding(mesh: Any) -> Built:
    """Rows looked up in a table that is sharded by rows."""
    f = jax.jit(lambda table, i: table[i], out_shardings=jax.NamedSharding(mesh, P("x")))
    return f, (array(mesh, (1024, 256), "y", dtype="bfloat16"), array(mesh, (64,), "x", dtype="int32"))


@program(**X8)
def halo(mesh: Any) -> Built:
    """A convolution along a sharded dimension: rows of neighbours."""

    def f(a: jax.Array, k: jax.Array) -> jax.Array:
        return jax.lax.conv_general_dilated(a, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))

    image = array(mesh, (2, 64, 64, 128), None, "x")
    return jax.jit(f, out_shardings=image.sharding), (image, array(mesh, (3, 3, 128, 128)))


@program(**XY)
def reshard(mesh: Any) -> Built:
    """From rows over x to columns over x, rows over y staying where they are."""
    f = jax.jit(lambda a: a + 1, out_shardings=jax.NamedSharding(mesh, P("y", "x")))
    return f, (array(mesh, (256, 512), ("y", "x")),)


@program(**X8)
def small_types(mesh: Any) -> Built:
    """A sum of int8, gathers of f8 and of booleans."""

    def f(a: jax.Array, b: jax.Array, c: jax.Array) -> tuple[jax.Array, ...]:
        return jax.lax.psum(a, "x"), jax.lax.all_gather(b, "x", tiled=True), jax.lax.all_gather(c, "x", tiled=True)

    f8, flags = array(mesh, (256, 256), "x", dtype="float8_e4m3fn"), array(mesh, (256, 256), "x", dtype="bool")
    return mapped(f, mesh, (P("x"),) * 3, (P(),) * 3), (array(mesh, (256, 256), "x", dtype="int8"), f8, flags)


@program(x=16, y=16)
def wide(mesh: Any) -> Built:
    """256 chips: a sum over the slow axis, a gather over the fast one."""

    def f(a: jax.Array) -> jax.Array:
        return jax.lax.all_gather(jax.lax.psum(a, "x"), "y", tiled=True)

    return mapped(f, mesh, P("x", "y"), P(None, None)), (array(mesh, (256, 2048), "x", "y"),)


@program(a=4, b=4, c=4)
def cube(mesh: Any) -> Built:
    """64 chips in a cube: a sum over the outer axes, a swap over the middle one, a scatter over all."""

    def f(a: jax.Array) -> jax.Array:
        swapped = jax.lax.all_to_all(jax.lax.psum(a, ("a", "c")), "b", 1, 0, tiled=True)
        return jax.lax.psum_scatter(swapped, ("a", "b", "c"), tiled=True)

    return mapped(f, mesh, P(("a", "b"), "c"), P(("a", "b", "c"))), (array(mesh, (4096, 2048), ("a", "b"), "c"),)


@program(**X8)
def overlapped(mesh: Any) -> Built:
    """Two gathers of weights with products between, large enough to run beside each other."""

    def f(a: jax.Array, v: jax.Array, w: jax.Array) -> jax.Array:
        return (a @ jax.lax.all_gather(v, "x", tiled=True)) @ jax.lax.all_gather(w, "x", tiled=True)

    w = array(mesh, (2048, 2048), "x", dtype="bfloat16")
    return mapped(f, mesh, (P("x"),) * 3, P("x")), (array(mesh, (8192, 2048), "x", dtype="bfloat16"), w, w)


@program(**X8)
def ring_attention(mesh: Any) -> Built:
    """Keys and values go round a ring, eight times, beside the products."""
    ring = [(d, (d + 1) % 8) for d in range(8)]

    def f(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def turn(_: Any, state: tuple[jax.Array, ...]) -> tuple[jax.Array, ...]:
            k, v, out = state
            out = out + jnp.exp(q @ k.T) @ v
            return jax.lax.ppermute(k, "x", ring), jax.lax.ppermute(v, "x", ring), out

        return jax.lax.fori_loop(0, 8, turn, (k, v, jnp.zeros_like(q)))[2]

    each = array(mesh, (4096, 128), "x")
    return mapped(f, mesh, (P("x"),) * 3, P("x")), (each,) * 3


TARGETS = {"cpu": "", "v4": "v4:2x2x2", "v5e": "v5e:2x4", "v5p": "v5p:2x2x2", "v6e": "v6e:2x4", "h100": "h100:8"}
LARGE = {"wide": "v5e:16x16", "cube": "v5p:4x4x4"}


def compiled(name: str, where: str) -> str:
    """The text of a program compiled for "cpu" or for one of the chips."""
    from shardlens.compilers.topology import target_mesh

    axes, build = PROGRAMS[name]
    if where == "cpu":
        mesh = jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=(jax.sharding.AxisType.Auto,) * len(axes))
        f, args = build(mesh)
        return f.lower(*args).compile().as_text()
    mesh = target_mesh(LARGE.get(name, TARGETS[where]), axes)
    f, args = build(mesh)
    return f.lower(*args).compile().as_text()


KEPT = re.compile(r'"known_trip_count":\{"n":"\d+"\}|"estimated_cycles":"\d+"')


def cut(text: str) -> str:
    """The text without what says nothing of communication."""
    return "\n".join(re.sub(r'/[^" ]*/([\w.]+\.py)', r"\1", _without_config(line)) for line in text.splitlines()) + "\n"


def _without_config(line: str) -> str:
    head, found, tail = line.partition(", backend_config=")
    if not found:
        return line
    end = _closing(tail, 0)
    kept = KEPT.search(tail[:end])
    return f"{head}{f', backend_config={{{kept[0]}}}' if kept else ''}{tail[end:]}"


NOWHERE = {("cpu", "ragged"), ("cpu", "wide"), ("cpu", "cube"), ("v5e", "cube")}
EVERYWHERE = ("cpu", "v5e")
ELSEWHERE = {
    "v4": ("swap_slow", "gather_both", "reduce_outer", "softmax", "ring_attention", "overlapped"),
    "v5p": ("seven_sums", "scatter_middle", "branches", "diagonal", "fsdp", "cube"),
    "v6e": ("fsdp", "overlapped", "ragged", "small_types", "halo", "loops"),
    "h100": (
        "gather_slow gather_both reduce_outer swap_slow shift diagonal seven_sums seven_gathers loop loops until branches"
        " ragged fsdp softmax embedding halo reshard small_types overlapped ring_attention"
    ).split(),
}


def stored() -> list[tuple[str, str]]:
    """Where each program was compiled for: every one for CPU, which has no ragged all-to-all, and v5e; some for others."""
    both = [(where, name) for name in PROGRAMS for where in EVERYWHERE if (where, name) not in NOWHERE]
    return both + [(where, name) for where, names in ELSEWHERE.items() for name in names]


def main() -> None:
    """Write the texts that are named, as `v5e_halo`, or all."""
    jax.config.update("jax_num_cpu_devices", 8)
    for where, name in stored():
        if not sys.argv[1:] or f"{where}_{name}" in sys.argv[1:]:
            (FOLDER / f"{where}_{name}.txt").write_text(cut(compiled(name, where)))


if __name__ == "__main__":
    main()
