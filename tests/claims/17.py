"""Claims of chapter 17."""

from __future__ import annotations

import re

import jax
import jax.numpy as jnp
from jax import P
from jax.sharding import AxisType

import shardlab as sl
from claims.claim import CPU, GPU, V5E, claim

LINE = jax.make_mesh((8,), ("x",), (AxisType.Auto,))
RIGHT = [(d, (d + 1) % 8) for d in range(8)]
ROWS = P("x", None)
LARGE = [jax.ShapeDtypeStruct((4096, 128), jnp.bfloat16, sharding=jax.NamedSharding(LINE, ROWS))] * 3


def ring(causal):
    """The page's ring, with its mask or without one."""

    def body(q, k, v):
        d, at, state = jax.lax.axis_index("x"), jnp.arange(len(q)), None
        for i in range(8):
            seen = ((d - i) % 8 * len(q) + at)[None] <= (d * len(q) + at)[:, None] if causal else True
            s = jnp.where(seen, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)
            m = jnp.maximum(s.max(1), -1e30)
            e = jnp.exp(s - m[:, None])
            new = m, e.sum(1), e @ v
            if state is not None:
                top = jnp.maximum(state[0], m)
                a, b = jnp.exp(state[0] - top), jnp.exp(m - top)
                new = top, state[1] * a + new[1] * b, state[2] * a[:, None] + new[2] * b[:, None]
            state = new
            k, v = (jax.lax.ppermute(one, "x", RIGHT) for one in (k, v))
        return state[2] / state[1][:, None]

    return jax.shard_map(body, mesh=LINE, in_specs=(ROWS,) * 3, out_specs=ROWS)


@claim("A mask applied with `jnp.where` saves no product", targets=(CPU, V5E, GPU))
def masked_products(target):
    """A device multiplies as much with the causal mask as without it."""
    runs = [sl.inspect(ring(causal), *LARGE, target=target).overlaps[0] for causal in (False, True)]
    work = [run.before + run.beside + run.after for run in runs]
    # The compilers fuse some element-wise work of a part into its products, XLA for GPU less of it under a mask.
    assert 4 * 4096 * 4096 * 128 // 8 <= min(work) and max(work) < 1.01 * min(work)


def looped(q, k, v):
    """The page's ring as a loop, in which each round sends the block at hand on."""
    d, at = jax.lax.axis_index("x"), jnp.arange(len(q))
    mine = (d * len(q) + at)[:, None]

    def of_block(k, v, theirs):
        s = jnp.where(theirs[None] <= mine, q @ k.T / q.shape[1] ** 0.5, -jnp.inf)
        m = jnp.maximum(s.max(1), -1e30)
        e = jnp.exp(s - m[:, None])
        return m, e.sum(1), e @ v

    def one(carry, i):
        state, k, v = carry
        came = [jax.lax.ppermute(a, "x", RIGHT) for a in (k, v)]
        new = of_block(k, v, (d - i) % 8 * len(q) + at)
        m = jnp.maximum(state[0], new[0])
        a, b = jnp.exp(state[0] - m), jnp.exp(new[0] - m)
        return ((m, state[1] * a + new[1] * b, state[2] * a[:, None] + new[2] * b[:, None]), *came), None

    first = of_block(k, v, d * len(q) + at), *(jax.lax.ppermute(a, "x", RIGHT) for a in (k, v))
    (state, _, _), _ = jax.lax.scan(one, first, jnp.arange(1, 8))
    return state[2] / state[1][:, None]


def order_in_the_loop(target):
    """The kinds of starts, products and dones of a round, in the order of the text."""
    f = jax.shard_map(looped, mesh=LINE, in_specs=(ROWS,) * 3, out_specs=ROWS)
    large = [jax.ShapeDtypeStruct((8192, 128), jnp.bfloat16, sharding=jax.NamedSharding(LINE, ROWS))] * 3
    parts = [part for part in sl.inspect(f, *large, target=target).hlo.split("\n}") if "ENTRY" not in part]
    body = next(part for part in parts if "collective-permute-start(" in part)
    found = re.findall(r' collective-permute-(start|done)\(| (fusion)\(.*dot_general"', body)
    return [kind or product for kind, product in found]


@claim("XLA for v5e puts both products of a round between the starts and the dones of its hops", targets=(V5E,), alone=True)
def beside_on_v5e(target):
    """Two hops, for keys and for values."""
    assert order_in_the_loop(target) == ["start", "start", "fusion", "fusion", "done", "done"]


@claim("XLA for H100 puts both between them too, and carries keys and values in one permute", targets=(GPU,))
def beside_on_h100(target):
    """One hop, with a pair of arrays."""
    assert order_in_the_loop(target) == ["start", "fusion", "fusion", "done"]


@claim("XLA for H100 joined the eight score products of a device into one", targets=(GPU,))
def joined_on_h100(target):
    """Of the unrolled ring, a product has the scores of all keys; with the loop, no array is that large."""
    f = jax.shard_map(looped, mesh=LINE, in_specs=(ROWS,) * 3, out_specs=ROWS)
    rows = 4096 // 8
    program = sl.inspect(ring(True), *LARGE, target=target)
    assert re.search(rf"gemm_fusion\S* = bf16\[{rows},4096\]", program.hlo)
    assert program.largest >= 2 * rows * 4096 > sl.inspect(f, *LARGE, target=target).largest


@claim("Without the option, XLA for CPU of JAX 0.10 removes the barriers before it plans", targets=(CPU,), until="0.12")
def barriers_removed(target):
    """With the option the compiled text has barriers, and without it none."""

    def f(x):
        for _ in range(4):
            x = jax.checkpoint(lambda x: jnp.sin(jnp.cos(x @ x)))(x)
        return x.sum()

    lowered = jax.jit(jax.grad(f)).lower(jax.ShapeDtypeStruct((256, 256), "float32"))
    kept, removed = (lowered.compile(options) for options in ({"xla_disable_hlo_passes": "cse_barrier_expander"}, {}))
    assert "opt-barrier" in kept.as_text() and "opt-barrier" not in removed.as_text()
