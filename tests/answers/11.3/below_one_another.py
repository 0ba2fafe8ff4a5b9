# failed: whole-for-slices
# points: 0
import jax
import jax.numpy as jnp
from jax import P


def gradients(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        whole = [jax.lax.all_gather(w, "data", tiled=True) for w in slices]

        def loss(whole):
            out = X
            for w in whole:
                out = jnp.tanh(out @ w)
            return jnp.mean((out - Y) ** 2)

        return [jax.lax.pmean(g, "data") for g in jax.grad(loss)(whole)]

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
