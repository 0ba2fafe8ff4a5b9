# failed: dimension-of-devices-kept
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def ring_reduce_scatter(mesh, terms):
    n = mesh.shape["x"]

    def body(block):
        d = lax.axis_index("x")
        chunks = jnp.split(block, n, axis=1)
        chunks = jnp.stack(chunks)
        s = chunks[(d - 1) % n]
        for i in range(2, n + 1):
            s = lax.ppermute(s, "x", [(k, (k + 1) % n) for k in range(n)]) + chunks[(d - i) % n]
        return s

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(terms)
