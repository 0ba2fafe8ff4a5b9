"""Rings and pipelines: what is sent on from device to device, in loops."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from programs.listing import Built, P, array, held, mapped, program

N = 8
RIGHT = [(d, (d + 1) % N) for d in range(N)]
LEFT = [(d, (d - 1) % N) for d in range(N)]


def _ring_attention(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
    """Blockwise softmax, keys and values going around."""

    def turn(state: Any, _: None) -> tuple[Any, None]:
        k, v, top, total, out = state
        scores = (q @ k.T).astype(jnp.float32)
        higher = jnp.maximum(top, jnp.max(scores, axis=-1, keepdims=True))
        weights = jnp.exp(scores - higher)
        scale = jnp.exp(top - higher)
        total = total * scale + jnp.sum(weights, axis=-1, keepdims=True)
        out = out * scale + (weights.astype(v.dtype) @ v).astype(jnp.float32)
        k, v = (jax.lax.ppermute(each, "seq", RIGHT) for each in (k, v))
        return (k, v, higher, total, out), None

    rows = (q.shape[0], 1)
    first = (k, v, jnp.full(rows, -jnp.inf), jnp.zeros(rows), jnp.zeros(q.shape, jnp.float32))
    (_, _, _, total, out), _ = jax.lax.scan(turn, first, None, length=N)
    return (out / total).astype(q.dtype)


@program(seq=N, rounds=(N,))
def ring_attention(mesh: Any) -> Built:
    """Keys and values go around, softmax in blocks."""
    each = array(mesh, (4096, 128), "seq")
    return mapped(_ring_attention, mesh, (P("seq"),) * 3, P("seq")), (each,) * 3


@program(seq=N, rounds=(N, N))
def ring_attention_backward(mesh: Any) -> Built:
    """Its gradients: they go around the other way."""

    def loss(*qkv: jax.Array) -> jax.Array:
        return jnp.sum(_ring_attention(*qkv).astype(jnp.float32) ** 2)

    each = array(mesh, (4096, 128), "seq")
    return mapped(jax.grad(loss, argnums=(0, 1, 2)), mesh, (P("seq"),) * 3, P("seq")), (each,) * 3


@program(x=N, rounds=(N - 1,))
def gathered_product(mesh: Any) -> Built:
    """A product whose left operand comes block by block: a loop of seven rounds, the first block being here."""

    def f(a: jax.Array, b: jax.Array) -> jax.Array:
        me, rows = jax.lax.axis_index("x"), a.shape[0]

        def write(out: jax.Array, a: jax.Array, i: Any) -> jax.Array:
            return jax.lax.dynamic_update_slice_in_dim(out, a @ b, ((me - i) % N) * rows, 0)

        def turn(i: Any, state: Any) -> Any:
            a, out = state
            a = jax.lax.ppermute(a, "x", RIGHT)
            return a, write(out, a, i)

        out = jnp.zeros((rows * N, b.shape[1]), a.dtype)
        return jax.lax.fori_loop(1, N, turn, (a, write(out, a, 0)))[1]

    a, b = array(mesh, (2048, 1024), "x"), array(mesh, (1024, 4096), None, "x")
    return mapped(f, mesh, (P("x"), P(None, "x")), P(None, "x")), (a, b)


@program(x=N, rounds=(N // 2 - 1,))
def both_ways(mesh: Any) -> Built:
    """The same with a half going each way: three rounds and one exchange more, and an uneven loop start."""

    def f(a: jax.Array, b: jax.Array) -> jax.Array:
        def turn(i: Any, state: Any) -> Any:
            right, left, out = state
            right, left = jax.lax.ppermute(right, "x", RIGHT), jax.lax.ppermute(left, "x", LEFT)
            return right, left, out + right @ b + left @ b

        right, left, out = jax.lax.fori_loop(2, N // 2 + 1, turn, (a, a, a @ b))
        return out + jax.lax.ppermute(right, "x", RIGHT) @ b

    a, b = array(mesh, (2048, 1024), "x"), array(mesh, (1024, 4096), None, "x")
    return mapped(f, mesh, (P("x"), P(None, "x")), P("x", None)), (a, b)


@program(x=N)
def unrolled_scatter(mesh: Any) -> Built:
    """A product whose partial sums go around, written out: no loop."""

    def f(a: jax.Array, b: jax.Array) -> jax.Array:
        me, rows = jax.lax.axis_index("x"), a.shape[0] // N
        total = jnp.zeros((rows, b.shape[1]), a.dtype)
        for i in range(N):
            block = jax.lax.dynamic_slice_in_dim(a, ((me - i - 1) % N) * rows, rows, 0)
            total = jax.lax.ppermute(total, "x", RIGHT) + block @ b if i else block @ b
        return total

    a, b = array(mesh, (2048, 8192), None, "x"), array(mesh, (8192, 1024), "x")
    return mapped(f, mesh, (P(None, "x"), P("x")), P("x")), (a, b)


def _pipeline(weights: jax.Array, batches: jax.Array) -> jax.Array:
    """Microbatches enter at the first stage, one a round."""
    w, stage, count = weights[0], jax.lax.axis_index("stage"), batches.shape[0]

    def tick(state: Any, i: Any) -> Any:
        here, out = state
        fresh = batches[jnp.minimum(i, count - 1)]
        done = jax.nn.relu(jnp.where(stage == 0, fresh, here) @ w)
        out = jnp.where(stage == N - 1, out.at[jnp.maximum(i - N + 1, 0)].set(done), out)
        return (jax.lax.ppermute(done, "stage", RIGHT), out), None

    first = jnp.zeros_like(batches[0]), jnp.zeros_like(batches)
    (_, out), _ = jax.lax.scan(tick, first, jnp.arange(count + N - 1))
    return jax.lax.psum(jnp.where(stage == N - 1, out, jnp.zeros_like(out)), "stage")


@program(stage=N, rounds=(23,))
def pipeline(mesh: Any) -> Built:
    """Eight stages, sixteen microbatches: 23 rounds."""
    args = array(mesh, (N, 512, 512), "stage"), array(mesh, (16, 64, 512))
    return mapped(_pipeline, mesh, (P("stage"), P()), P()), args


@program(stage=N, rounds=(23, 23))
def pipeline_backward(mesh: Any) -> Built:
    """Its gradient: the microbatches run back."""

    def loss(weights: jax.Array, batches: jax.Array) -> jax.Array:
        return jnp.sum(_pipeline(weights, batches).astype(jnp.float32) ** 2)

    args = array(mesh, (N, 512, 512), "stage"), array(mesh, (16, 64, 512))
    return mapped(jax.grad(loss), mesh, (P("stage"), P()), P("stage")), args


@program(stage=N, rounds=(23,))
def pipeline_by_vmap(mesh: Any) -> Built:
    """The same left to the compiler: stages are a dimension, sending on is a roll along it."""

    def f(weights: jax.Array, batches: jax.Array) -> jax.Array:
        def tick(state: jax.Array, i: Any) -> tuple[jax.Array, jax.Array]:
            fresh = jax.lax.dynamic_index_in_dim(batches, jnp.minimum(i, batches.shape[0] - 1), keepdims=False)
            state = held(mesh, state.at[0].set(fresh), "stage")
            done = jax.vmap(lambda w, x: jax.nn.relu(x @ w))(weights, state)
            return held(mesh, jnp.roll(done, 1, axis=0), "stage"), done[-1]

        state = jnp.zeros((N, *batches.shape[1:]), batches.dtype)
        return jax.lax.scan(tick, state, jnp.arange(batches.shape[0] + N - 1))[1]

    return jax.jit(f), (array(mesh, (N, 512, 512), "stage"), array(mesh, (16, 64, 512)))


@program(x=N, rounds=(5, 5 * 3))
def nested(mesh: Any) -> Built:
    """A ring in a loop in a loop that runs downwards by two."""

    def f(a: jax.Array) -> jax.Array:
        def outer(state: Any) -> Any:
            i, a = state
            a = jax.lax.fori_loop(0, 3, lambda _, b: jnp.sin(jax.lax.ppermute(b, "x", RIGHT)), a)
            return i - 2, jnp.cos(jax.lax.psum(a, "x"))

        return jax.lax.while_loop(lambda state: state[0] >= 2, outer, (jnp.int32(10), a))[1]

    return mapped(f, mesh, P("x"), P("x")), (array(mesh, (64, 128), "x"),)


@program(x=N, rounds=(6, 1 + 2 + 3 + 4 + 5 + 6))
def triangle(mesh: Any) -> Built:
    """Causal attention in blocks: block i looks at i + 1 blocks, each of which comes from another device."""

    def f(a: jax.Array) -> jax.Array:
        def outer(i: Any, a: jax.Array) -> jax.Array:
            return jax.lax.fori_loop(0, i + 1, lambda _, b: jnp.tanh(jax.lax.ppermute(b, "x", RIGHT)), a)

        return jax.lax.fori_loop(0, 6, outer, a)

    return mapped(f, mesh, P("x"), P("x")), (array(mesh, (64, 128), "x"),)


@program(x=N, rounds=(None,))
def until_small(mesh: Any) -> Built:
    """Power iteration until it changes little: data decides."""

    def f(a: jax.Array, v: jax.Array) -> jax.Array:
        def step(state: Any) -> Any:
            v, _ = state
            product = jax.lax.all_gather(a @ v, "x", tiled=True)
            new = product / jnp.sqrt(jnp.sum(product**2))
            return new, jnp.sum((new - v) ** 2)

        return jax.lax.while_loop(lambda state: state[1] > 1e-6, step, (v, jnp.float32(1)))[0]

    args = array(mesh, (1024, 1024), "x", dtype="float32"), array(mesh, (1024,), dtype="float32")
    return mapped(f, mesh, (P("x"), P()), P()), args
