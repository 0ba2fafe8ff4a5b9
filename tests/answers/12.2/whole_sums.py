# failed: whole-sums-travel
# points: 1.5
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

        own = x @ w
        total = came = own
        for _ in range(1, n):
            came = jax.lax.ppermute(came, "x", ring(n, 1))
            total += came
        return jax.lax.dynamic_slice_in_dim(total, d * m, m)

    specs = (P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
