# failed: copies-as-parts
# points: 0
import jax
import jax.numpy as jnp
from jax import P, lax


def ring_all_gather(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        d = lax.axis_index("x")
        whole = jnp.zeros((n, *block.shape)).at[d].set(block)
        for i in range(1, n):
            block = lax.ppermute(block, "x", [(i, (i + 1) % n) for i in range(n)])
            whole = whole.at[(d - i) % n].set(block)
        return whole.reshape(-1, block.shape[1])

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P("x"))(x)
