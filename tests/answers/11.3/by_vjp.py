# passed
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

        out, back = jax.vjp(loss, slices)
        return back(0 * out + 1 / jax.lax.axis_size("data"))[0]

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
