# passed
# points: 3
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

        h = w.shape[1] // 2

        def half(chunk, w):
            return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

        r, l = half(d - 1, w[:, :h]), half(d + 1, w[:, h:])
        for i in range(1, n):
            r = jax.lax.ppermute(r, "x", ring(n, 1)) + half(d - 1 - i, w[:, :h])
            l = jax.lax.ppermute(l, "x", ring(n, -1)) + half(d + 1 + i, w[:, h:])
        return jnp.concatenate([r, l], 1)

    specs = (P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
