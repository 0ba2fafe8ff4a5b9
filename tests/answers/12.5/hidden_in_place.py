# passed
# points: 3.5
import jax
import jax.numpy as jnp

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):
    n = mesh.shape["x"]

    def body(x, w1, w2):
        d, m = jax.lax.axis_index("x"), x.shape[0]
        h = jnp.zeros((n * m, w1.shape[1]))
        for i in range(n):
            h = jax.lax.dynamic_update_slice_in_dim(h, jax.nn.relu(x @ w1), (d + i) % n * m, 0)
            if i < n - 1:
                x = jax.lax.ppermute(x, "x", ring(n, -1))

        def part(chunk):
            return jax.lax.dynamic_slice_in_dim(h, chunk % n * m, m) @ w2

        total = part(d - 1)
        for i in range(1, n):
            total = jax.lax.ppermute(total, "x", ring(n, 1)) + part(d - 1 - i)
        return total

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
