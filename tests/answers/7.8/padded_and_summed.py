# failed: padded-and-summed
# points: 3.5
import jax
import jax.numpy as jnp
from jax import P, lax

import shardlab as sl

sl.predict("7.8", kinds=["all-gather"])


def best(mesh, scores):
    return jax.shard_map(lambda b: tuple(lax.top_k(b, 2)), mesh=mesh, in_specs=P("x"), out_specs=(P("x"), P("x")))(scores)


def best_of_columns(mesh, scores):
    def body(b):
        n = lax.axis_size("x")
        d = lax.axis_index("x")
        v, c = lax.top_k(b, 2)
        c = c + d * b.shape[1]
        vs = lax.psum(jnp.zeros((n, *v.shape)).at[d].set(v), "x")
        cs = lax.psum(jnp.zeros((n, *c.shape), jnp.int32).at[d].set(c), "x")
        vs, cs = (jnp.concatenate(list(a), 1) for a in (vs, cs))
        w, k = lax.top_k(vs, 2)
        return w, jnp.take_along_axis(cs, k, 1)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(scores)
