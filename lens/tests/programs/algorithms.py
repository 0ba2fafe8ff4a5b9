"""Algorithms written by hand for a mesh: matrix products, sums, solvers and statistics, inside of `shard_map`."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from programs.listing import Built, P, array, mapped, program


def shifted(x: jax.Array, axis: str, size: int, by: int) -> jax.Array:
    """Each device's `x` to the one `by` further along a ring."""
    return jax.lax.ppermute(x, axis, [(d, (d + by) % size) for d in range(size)])


@program(x=2, y=4, rounds=(4,))
def cannon(mesh: Any) -> Built:
    """A product on a torus: rows of blocks go round along y, columns along x, in a loop that carries both."""

    def f(a: jax.Array, b: jax.Array) -> jax.Array:
        def step(_: Any, state: Any) -> Any:
            a, b, c = state
            return shifted(a, "y", 4, -1), shifted(b, "y", 4, 1), c + (a @ b).astype(jnp.float32)

        return jax.lax.fori_loop(0, 4, step, (a, b, jnp.zeros((a.shape[0], b.shape[1]), jnp.float32)))[2]

    args = array(mesh, (512, 1024), "x", "y"), array(mesh, (1024, 256), "y")
    return mapped(f, mesh, (P("x", "y"), P("y")), P("x")), args


@program(x=8)
def recursive_doubling(mesh: Any) -> Built:
    """A sum by exchanges with the device 1, 2 and 4 away, written out by a Python loop."""

    def f(a: jax.Array) -> jax.Array:
        for apart in (1, 2, 4):
            a = a + jax.lax.ppermute(a, "x", [(d, d ^ apart) for d in range(8)])
        return a

    return mapped(f, mesh, P("x"), P("x")), (array(mesh, (512, 256), "x", dtype="float32"),)


@program(hosts=2, local=4)
def hierarchical_sum(mesh: Any) -> Built:
    """A sum in three steps: scattered within a host, summed between hosts, gathered within a host."""

    def f(grads: Any) -> Any:
        def one(g: jax.Array) -> jax.Array:
            part = jax.lax.psum(jax.lax.psum_scatter(g, "local", tiled=True), "hosts")
            return jax.lax.all_gather(part, "local", tiled=True)

        return jax.tree.map(one, grads)

    grads = {"w": array(mesh, (1024, 512), dtype="float32"), "b": array(mesh, (512,), dtype="float32")}
    return mapped(f, mesh, P(), P()), (grads,)


@program(data=8)
def compressed_gradients(mesh: Any) -> Built:
    """Gradients as whole numbers of eight bits with a scale for each device: exchanged, summed, and exchanged again."""

    def f(g: jax.Array) -> jax.Array:
        def packed(x: jax.Array) -> tuple[jax.Array, jax.Array]:
            scale = jnp.max(jnp.abs(x), axis=-1, keepdims=True) / 127
            return jnp.round(x / scale).astype(jnp.int8), scale

        whole, scale = (jax.lax.all_to_all(each, "data", 0, 0, tiled=True) for each in packed(g.reshape(8, -1, 256)))
        part, scale = packed(jnp.sum(whole.astype(jnp.float32) * scale, axis=0))
        every, scale = (jax.lax.all_gather(each, "data", tiled=True) for each in (part, scale))
        return (every.astype(jnp.float32) * scale).reshape(g.shape)

    return mapped(f, mesh, P(), P()), (array(mesh, (1024, 256), dtype="float32"),)


@program(x=2, y=4, rounds=(50,))
def life(mesh: Any) -> Built:
    """Cells on a torus that is cut both ways: edges first along one axis, then, corners with them, along the other."""

    def f(cells: jax.Array) -> jax.Array:
        def step(_: Any, cells: jax.Array) -> jax.Array:
            tall = jnp.concatenate([shifted(cells[-1:], "x", 2, 1), cells, shifted(cells[:1], "x", 2, -1)])
            wide = jnp.concatenate([shifted(tall[:, -1:], "y", 4, 1), tall, shifted(tall[:, :1], "y", 4, -1)], axis=1)
            near = sum(
                wide[i : i + cells.shape[0], j : j + cells.shape[1]] for i in range(3) for j in range(3) if (i, j) != (1, 1)
            )
            return ((near == 3) | ((near == 2) & (cells == 1))).astype(jnp.int32)

        return jax.lax.fori_loop(0, 50, step, cells)

    return mapped(f, mesh, P("x", "y"), P("x", "y")), (array(mesh, (128, 256), "x", "y", dtype="int32"),)


@program(rows=8, rounds=(None,))
def conjugate_gradients(mesh: Any) -> Built:
    """Solves until the residual is small: how often, data decides."""

    def f(a: jax.Array, b: jax.Array) -> jax.Array:
        def dot(u: jax.Array, v: jax.Array) -> jax.Array:
            return jax.lax.psum(jnp.vdot(u, v), "rows")

        def step(state: Any) -> Any:
            x, r, p, size = state
            ap = a @ jax.lax.all_gather(p, "rows", tiled=True)
            rate = size / dot(p, ap)
            r = r - rate * ap
            return x + rate * p, r, r + dot(r, r) / size * p, dot(r, r)

        return jax.lax.while_loop(lambda s: s[3] > 1e-6, step, (jnp.zeros_like(b), b, b, dot(b, b)))[0]

    args = array(mesh, (512, 512), "rows", dtype="float32"), array(mesh, (512,), "rows", dtype="float32")
    return mapped(f, mesh, (P("rows"), P("rows")), P("rows")), args


@program(points=8, rounds=(10,))
def means(mesh: Any) -> Built:
    """Ten rounds of k-means: points cut, centres whole, sums and counts of each cluster added up."""

    def f(points: jax.Array, centres: jax.Array) -> jax.Array:
        def step(centres: jax.Array, _: None) -> tuple[jax.Array, jax.Array]:
            apart = jnp.sum((points[:, None] - centres[None]) ** 2, axis=-1)
            own = jax.nn.one_hot(jnp.argmin(apart, axis=1), centres.shape[0], dtype=points.dtype)
            sums, counts = jax.lax.psum((own.T @ points, own.sum(0)), "points")
            return sums / jnp.maximum(counts, 1)[:, None], jax.lax.pmean(jnp.min(apart, axis=1).mean(), "points")

        return jax.lax.scan(step, centres, None, length=10)

    args = array(mesh, (1024, 16), "points", dtype="float32"), array(mesh, (8, 16), dtype="float32")
    return mapped(f, mesh, (P("points"), P()), P()), args


@program(x=8, rounds=(6, 6))
def doubling_steps(mesh: Any) -> Built:
    """Two loops whose counters do not count by one: doubled up to a bound, and halved down to one."""

    def f(a: jax.Array) -> jax.Array:
        def up(state: Any) -> Any:
            return state[0] * 2, state[1] + jax.lax.psum(state[1] * 0.5, "x")

        def down(state: Any) -> Any:
            return state[0] // 2, shifted(state[1], "x", 8, 1)

        a = jax.lax.while_loop(lambda s: s[0] < 64, up, (jnp.int32(1), a))[1]
        return jax.lax.while_loop(lambda s: s[0] > 1, down, (jnp.int32(100), a))[1]

    return mapped(f, mesh, P("x"), P("x")), (array(mesh, (64, 32), "x", dtype="float32"),)


@program(x=8, rounds=(12,))
def chosen_by_the_round(mesh: Any) -> Built:
    """In each of twelve rounds one of three branches, two of which communicate."""

    def f(a: jax.Array) -> jax.Array:
        def step(a: jax.Array, i: jax.Array) -> tuple[jax.Array, None]:
            ways = (
                lambda a: jax.lax.psum(a, "x") / 8,
                lambda a: a * 2,
                lambda a: jax.lax.all_gather(a, "x", tiled=True)[: a.shape[0]],
            )
            return jax.lax.switch(i % 3, ways, a), None

        return jax.lax.scan(step, a, jnp.arange(12))[0]

    return mapped(f, mesh, P("x"), P("x")), (array(mesh, (64, 32), "x", dtype="float32"),)


@program(seq=8)
def parallel_scan(mesh: Any) -> Built:
    """A linear recurrence: within a device by an associative scan, between devices by what all have gathered."""

    def f(decay: jax.Array, x: jax.Array) -> jax.Array:
        def join(left: Any, right: Any) -> Any:
            return left[0] * right[0], left[1] * right[0] + right[1]

        own = jax.lax.associative_scan(join, (decay, x))
        last = jax.lax.all_gather((own[0][-1], own[1][-1]), "seq")
        before = jax.lax.associative_scan(join, last)[1]
        me = jax.lax.axis_index("seq")
        return own[1] + own[0] * jnp.where(me > 0, before[me - 1], 0)

    each = array(mesh, (1024, 64), "seq", dtype="float32")
    return mapped(f, mesh, (P("seq"), P("seq")), P("seq")), (each, each)


@program(x=8)
def small_types(mesh: Any) -> Built:
    """Gathers, shifts and exchanges of types of eight bits and four."""

    def f(*arrays: jax.Array) -> Any:
        return [
            (jax.lax.all_gather(a, "x", tiled=True), shifted(a, "x", 8, 1), jax.lax.all_to_all(a, "x", 1, 0, tiled=True))
            for a in arrays
        ]

    kinds = ("float8_e4m3fn", "float8_e5m2", "int4", "uint8", "bool", "int16")
    outs = [(P(), P("x"), P("x"))] * len(kinds)
    return mapped(f, mesh, (P("x"),) * len(kinds), outs), tuple(array(mesh, (256, 1024), "x", dtype=d) for d in kinds)
