# failed: eight-devices
# points: 0
import jax
import jax.numpy as jnp
from jax import P


def gradients(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        def loss(slices):
            out = X
            for w in slices:
                out = jnp.tanh(out @ jax.lax.all_gather(w, "data", tiled=True))
            return jnp.mean((out - Y) ** 2)

        return tuple(g / 8 for g in jax.grad(loss)(slices))

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
