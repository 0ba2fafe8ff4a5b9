# passed
# points: 4.5
import jax
import jax.numpy as jnp

P = jax.P


def to_heads(mesh, x):
    def body(block):
        n, d, (t, h, k) = mesh.shape["x"], jax.lax.axis_index("x"), block.shape
        mine = block.reshape(t, n, h // n, k)
        whole = jnp.zeros((n, t, h // n, k), block.dtype).at[d].set(mine[:, d])
        for i in range(1, n):
            came = jax.lax.ppermute(mine[:, (d + i) % n], "x", [(j, (j + i) % n) for j in range(n)])
            whole = whole.at[(d - i) % n].set(came)
        return whole.reshape(n * t, h // n, k)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(None, "x"))(x)


def to_tokens(mesh, x):
    def body(block):
        return jax.lax.all_to_all(block, "x", split_axis=0, concat_axis=1, tiled=True)

    return jax.shard_map(body, mesh=mesh, in_specs=P(None, "x"), out_specs=P("x"))(x)
