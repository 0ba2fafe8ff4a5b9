# passed
import jax
import jax.numpy as jnp

P = jax.P
SPECS = P(None, "model"), P("model"), P("model", None), P()


def train(mesh, X, Y, *weights):
    def body(X, Y, *weights):
        def loss(weights):
            W1, b1, W2, b2 = weights
            out = jax.lax.psum(jax.nn.relu(X @ W1 + b1) @ W2, "model") + b2
            return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

        for _ in range(5):
            weights = jax.tree.map(lambda w, g: w - 0.1 * g, weights, jax.grad(loss)(weights))
        return weights

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), *SPECS), out_specs=SPECS)(X, Y, *weights)
