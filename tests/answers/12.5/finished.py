# failed: uses-a-finished-collective
# points: 1.5
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):

    def body(x, w1, w2):
        h = jax.nn.relu(jax.lax.all_gather(x, "x", axis=0, tiled=True) @ w1)
        return jax.lax.psum_scatter(h @ w2, "x", scatter_dimension=0, tiled=True)

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
