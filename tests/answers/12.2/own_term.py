# failed: nothing-moves
# points: 0
import jax

P = jax.P


def matmul_rs(mesh, X, W):
    n = mesh.shape["x"]

    def body(x, w):
        d, m = jax.lax.axis_index("x"), x.shape[0] // n

        def part(chunk):
            return jax.lax.dynamic_slice_in_dim(x, chunk % n * m, m) @ w

        return part(d)

    specs = (P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W)
