# failed: arrival-order
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by=1):
    return [(d, (d + by) % n) for d in range(n)]


def ring_all_gather(mesh, x):
    n = mesh.shape["x"]

    def body(block):
        came = [block]
        for _ in range(n - 1):
            came.append(jax.lax.ppermute(came[-1], "x", ring(n)))
        return jnp.concatenate(came)

    return jax.shard_map(body, mesh=mesh, in_specs=P("x"), out_specs=P(), check_vma=False)(x)
