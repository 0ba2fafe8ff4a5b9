# failed: edges-for-everybody
# points: 2
import jax
import jax.numpy as jnp
from jax import P, lax


def stencil(mesh, x):
    n = mesh.shape["x"]

    def body(b):
        d = lax.axis_index("x")
        edges = lax.all_gather(jnp.stack([b[0], b[-1]]), "x")
        up = jnp.where(d > 0, edges[d - 1, 1], 0)[None]
        dn = jnp.where(d < n - 1, edges[(d + 1) % n, 0], 0)[None]
        rows = jnp.concatenate([up, b, dn])
        return rows[:-2] - 3 * rows[1:-1] + 2 * rows[2:]

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
