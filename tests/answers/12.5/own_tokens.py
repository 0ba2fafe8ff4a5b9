# failed: own-tokens-only
# points: 0
import jax

P = jax.P


def ring(n, by):
    return [(d, (d + by) % n) for d in range(n)]


def overlapped_mlp(mesh, X, W1, W2):

    def body(x, w1, w2):
        return jax.nn.relu(x @ w1) @ w2

    specs = (P("x", None), P(None, "x"), P("x", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P("x", None))(X, W1, W2)
