# failed: most-before-the-first-hop
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def matmul_rs(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, m = jax.lax.axis_index("x"), x.shape[0] // n

        def part(chunk):
            return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

        xs = jnp.roll(x, -(d + 1) * m, axis=0)
        early = (xs[:-m] @ w).reshape(n - 1, m, -1)
        total = early[0]
        for i in range(1, n):
            total = jax.lax.ppermute(total, "x", ring(n, -1))
            total += early[i] if i < n - 1 else xs[-m:] @ w
        return total

    specs = (P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
