"""Mixtures of experts, transforms and stencils: what is exchanged between all devices, or with neighbours."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from programs.listing import TARGETS, Built, P, array, held, mapped, program

EXPERTS, TOKENS, WIDTH, HIDDEN = 8, 1024, 512, 1024


@program(expert=8)
def experts_dense(mesh: Any) -> Built:
    """Each token to one expert, as many places at each: an all-to-all there and one back, and the gradients."""
    places = 32

    def loss(w: Any, x: jax.Array, router: jax.Array) -> jax.Array:
        gates = jax.nn.softmax((x @ router).astype(jnp.float32), axis=-1)
        chosen = jax.nn.one_hot(jnp.argmax(gates, axis=-1), EXPERTS, dtype=jnp.int32)
        place = (jnp.cumsum(chosen, axis=0) * chosen - 1).astype(jnp.int32)
        sent = jax.nn.one_hot(place, places, dtype=x.dtype) * chosen.astype(x.dtype)[..., None]
        there = jax.lax.all_to_all(jnp.einsum("tec,td->ecd", sent, x), "expert", 0, 1, tiled=True)
        done = jax.nn.relu(there[0] @ w[0][0]) @ w[1][0]
        back = jax.lax.all_to_all(done.reshape(EXPERTS, places, -1), "expert", 0, 0, tiled=True)
        out = jnp.einsum("tec,ecd->td", sent * gates.astype(x.dtype)[..., None], back)
        return jnp.sum(out.astype(jnp.float32) ** 2)

    w = array(mesh, (EXPERTS, WIDTH, HIDDEN), "expert"), array(mesh, (EXPERTS, HIDDEN, WIDTH), "expert")
    args = (w, array(mesh, (TOKENS, WIDTH), "expert"), array(mesh, (WIDTH, EXPERTS)))
    return mapped(jax.grad(loss), mesh, (P("expert"), P("expert"), P()), P("expert")), args


@program(expert=8, targets=TARGETS[1:])
def experts_ragged(mesh: Any) -> Built:
    """As many tokens to each expert as want it: ragged exchanges there and back. XLA for CPU has none."""

    def f(x: jax.Array, sizes: jax.Array, w: jax.Array) -> jax.Array:
        starts = (jnp.cumsum(sizes) - sizes).astype(jnp.int32)
        arriving = jax.lax.all_to_all(sizes, "expert", 0, 0, tiled=True)
        places = (jnp.cumsum(arriving) - arriving).astype(jnp.int32)
        theirs = jax.lax.all_to_all(places, "expert", 0, 0, tiled=True)
        room = jnp.zeros((2 * x.shape[0], x.shape[1]), x.dtype)
        there = jax.lax.ragged_all_to_all(x, room, starts, sizes, theirs, arriving, axis_name="expert")
        done = jax.nn.relu(there @ w[0]) @ w[0].T
        origin = jax.lax.all_to_all(starts, "expert", 0, 0, tiled=True)
        return jax.lax.ragged_all_to_all(done, jnp.zeros_like(x), places, arriving, origin, sizes, axis_name="expert")

    args = array(mesh, (TOKENS, WIDTH), "expert"), array(mesh, (64,), "expert", dtype="int32")
    specs = (P("expert"),) * 3
    return mapped(f, mesh, specs, P("expert")), (*args, array(mesh, (EXPERTS, WIDTH, HIDDEN), "expert"))


@program(data=2, expert=4)
def experts_by_einsum(mesh: Any) -> Built:
    """Experts as a dimension of einsums, left to the compiler."""

    def f(x: jax.Array, sent: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
        there = held(mesh, jnp.einsum("gtec,gtd->egcd", sent, x), "expert", "data")
        hidden = jax.nn.relu(jnp.einsum("egcd,edh->egch", there, up))
        back = held(mesh, jnp.einsum("egch,ehd->egcd", hidden, down), "expert", "data")
        return held(mesh, jnp.einsum("gtec,egcd->gtd", sent, back), ("data", "expert"))

    tokens = array(mesh, (8, 256, WIDTH), ("data", "expert"))
    sent = array(mesh, (8, 256, EXPERTS, 64), ("data", "expert"))
    up, down = array(mesh, (EXPERTS, WIDTH, HIDDEN), "expert"), array(mesh, (EXPERTS, HIDDEN, WIDTH), "expert")
    return jax.jit(f), (tokens, sent, up, down)


@program(x=2, y=4, targets=TARGETS)
def pencils(mesh: Any) -> Built:
    """A transform of three dimensions whose blocks are pencils: two exchanges."""

    def f(a: jax.Array) -> jax.Array:
        a = jnp.fft.fft(a, axis=2)
        a = jax.lax.all_to_all(a, "y", 2, 1, tiled=True)
        a = jnp.fft.fft(a, axis=1)
        a = jax.lax.all_to_all(a, "x", 1, 0, tiled=True)
        return jnp.abs(jnp.fft.fft(a, axis=0))

    return mapped(f, mesh, P("x", "y"), P(None, "x", "y")), (array(mesh, (32, 32, 32), "x", "y", dtype="complex64"),)


@program(rows=8, rounds=(100,))
def heat(mesh: Any) -> Built:
    """A hundred steps of a stencil: the edges of neighbours in each round."""

    def f(a: jax.Array) -> jax.Array:
        def step(_: Any, a: jax.Array) -> jax.Array:
            above = jax.lax.ppermute(a[-1:], "rows", [(d, d + 1) for d in range(7)])
            below = jax.lax.ppermute(a[:1], "rows", [(d + 1, d) for d in range(7)])
            tall = jnp.concatenate([above, a, below])
            return a + 0.1 * (tall[2:] + tall[:-2] + jnp.roll(a, 1, 1) + jnp.roll(a, -1, 1) - 4 * a)

        return jax.lax.fori_loop(0, 100, step, a)

    return mapped(f, mesh, P("rows"), P("rows")), (array(mesh, (512, 256), "rows", dtype="float32"),)


@program(data=8)
def images(mesh: Any) -> Built:
    """A residual network of convolutions with a norm over the whole batch, and its gradients."""

    def loss(kernels: Any, x: jax.Array) -> jax.Array:
        for k in kernels:
            y = jax.lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
            mean = jnp.mean(y, axis=(0, 1, 2), keepdims=True)
            y = (y - mean) * jax.lax.rsqrt(jnp.mean((y - mean) ** 2, axis=(0, 1, 2), keepdims=True) + 1e-5)
            x = x + jax.nn.relu(y)
        return jnp.mean(x**2)

    kernels = [array(mesh, (3, 3, 64, 64), dtype="float32")] * 3
    whole = jax.NamedSharding(mesh, P())
    return jax.jit(jax.grad(loss), out_shardings=whole), (kernels, array(mesh, (32, 28, 28, 64), "data", dtype="float32"))
