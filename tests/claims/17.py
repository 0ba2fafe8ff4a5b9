"""Claims of chapter 17."""

from __future__ import annotations

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
