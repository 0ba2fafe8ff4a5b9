# passed
import jax
import jax.numpy as jnp

P = jax.P


def gradients(mesh, X, Y, W1, W2):
    def error(weights):
        def body(X, Y, W1, W2):
            return jax.lax.pmean(jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2), "data")

        return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P())(X, Y, *weights)

    return jax.grad(error)((W1, W2))
