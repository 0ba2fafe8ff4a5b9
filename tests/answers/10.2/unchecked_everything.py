# failed: a-number-beside
# points: 1.5
import jax
import jax.numpy as jnp

P = jax.P


def loss(weights, X, Y):
    W1, W2 = weights
    return jnp.mean((jax.nn.relu(X @ W1) @ W2 - Y) ** 2)


def over(tree, what):
    return jax.tree.map(lambda a: what(a, "data"), tree)


def gradients(mesh, X, Y, W1, W2):
    def body(X, Y, W1, W2):
        weights = W1, W2
        return over(jax.grad(lambda w: jax.lax.pmean(loss(w, X, Y), "data"))(weights), jax.lax.pmean)

    return jax.shard_map(body, mesh=mesh, in_specs=(P("data"), P("data"), P(), P()), out_specs=P(), check_vma=False)(X, Y, W1, W2)
