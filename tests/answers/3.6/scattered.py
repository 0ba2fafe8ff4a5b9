# failed: meets-in-every-step
# points: 1
import jax

P = jax.P


def steps(mesh, x, rows, columns):
    def body(x, columns):
        for _ in range(6):
            x = jax.lax.psum_scatter(columns @ x, "x", tiled=True) * columns.shape[0] ** -0.5
        return x

    specs = P("x", None), P(None, "x")
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(x, columns)
