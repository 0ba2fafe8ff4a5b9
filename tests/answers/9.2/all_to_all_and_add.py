# passed
# points: 4
import jax

P = jax.P


def mlp_by_hand(mesh, X, W1, W2):
    def body(x, w1, w2):
        return jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model")

    return jax.shard_map(
        body, mesh=mesh, in_specs=(P(), P(None, "model"), P("model", None)), out_specs=P()
    )(X, W1, W2)


def three_layers(mesh, X, W1, W2, W3):
    def body(x, w1, w2, w3):
        g = jax.nn.relu(x @ w1) @ w2
        n = mesh.shape["model"]
        g = jax.lax.all_to_all(g, "model", 1, 0, tiled=True)
        g = jax.nn.relu(g.reshape(n, len(x), -1).sum(0))
        return jax.lax.psum(g @ w3, "model")

    specs = (P(), P(None, "model"), P("model"), P("model"))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)
