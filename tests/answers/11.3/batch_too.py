# failed: batch-gathered
# points: 2
import jax
import jax.numpy as jnp
from jax import P


def gradients(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        X, Y = (jax.lax.all_gather(a, "data", tiled=True) for a in (X, Y))

        def loss(slices):
            out = X
            for w in slices:
                out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
            return jax.lax.pmean(jnp.mean((out - Y) ** 2), "data")

        return jax.grad(loss)(slices)

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
