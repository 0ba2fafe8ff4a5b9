# passed
# points: 4.5
import jax
import jax.numpy as jnp

import shardlab as sl

P = jax.P


predictions = sl.predict("12.8", first="SyntaxError", second="AttributeError", decides="d")


def overlapped(mesh, X, W):
    def body(x, w):
        queries = x @ w
        return jnp.einsum("td,sd->ts", queries, jax.lax.all_gather(x, "x", axis=0, tiled=True))

    specs = (P("x", None), P())
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
