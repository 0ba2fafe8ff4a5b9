# failed: gathered-twice
# points: 2
import jax
import jax.numpy as jnp
from jax import P


def gradients(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        def gathered(w):
            return jax.lax.all_gather(w, "data", tiled=True)

        held = [X]
        for w in slices:
            held.append(jnp.tanh(held[-1] @ gathered(w)))
        back, found = 2 * (held[-1] - Y) / Y.size / jax.lax.axis_size("data"), []
        for w, x, out in reversed(list(zip(slices, held, held[1:]))):
            back = back * (1 - out**2)
            found.append(jax.lax.psum_scatter(x.T @ back, "data", tiled=True))
            w, back = jax.lax.optimization_barrier((w, back))
            back = back @ gathered(w[:, ::-1])[:, ::-1].T
        return found[::-1]

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
