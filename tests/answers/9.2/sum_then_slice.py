# failed: reduces-all-columns
# points: 3
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
        g = jax.nn.relu(jax.lax.psum(jax.nn.relu(x @ w1) @ w2, "model"))
        start = jax.lax.axis_index("model") * len(w3)
        g = jax.lax.dynamic_slice_in_dim(g, start, len(w3), axis=1)
        return jax.lax.psum(g @ w3, "model")

    specs = (P(), P(None, "model"), P("model", None), P("model", None))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=P())(X, W1, W2, W3)
