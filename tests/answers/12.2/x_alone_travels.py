# failed: permutes-inputs
# points: 0
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def matmul_rs(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, m = jax.lax.axis_index("x"), x.shape[0] // n

        def part(chunk):
            return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

        total = part(d)
        for i in range(1, n):
            xx = jax.lax.ppermute(x, "x", ring(n, -1))
            total += jax.lax.dynamic_slice_in_dim(xx, d * m, m) @ w
        return total

    specs = (P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
