# failed: weights-gathered
# points: 2.5
import jax

P = jax.P


def mlp_by_hand(mesh, X, W1, W2):
    def body(x, w1, w2):
        return jax.nn.relu(x @ w1) @ w2

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(), P(), P()), out_specs=P()
    )(X, W1, W2)


def three_layers(mesh, X, W1, W2, W3):
    def body(x, w1, w2, w3):
        h = jax.nn.relu(x @ w1)
        g = jax.lax.psum_scatter(h @ w2, "model", scatter_dimension=1, tiled=True)
        return jax.lax.psum(jax.nn.relu(g) @ w3, "model")

    specs = (P(), P(None, "model"), P("model", None), P("model", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)
