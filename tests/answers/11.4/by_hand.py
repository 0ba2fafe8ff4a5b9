# passed
import jax
import jax.numpy as jnp
import shardlab as sl
from jax import P

sl.predict("11.4", gathers={"exported": 8, "compiled": 4})


def lean(mesh, X, Y, *weights):
    def body(X, Y, *slices):
        def gathered(w):
            return jax.lax.all_gather(w, "data", tiled=True)

        held = [X]
        for w in slices:
            held.append(jnp.tanh(held[-1] @ gathered(w)))
        back, found = 2 * (held[-1] - Y) / Y.size / jax.lax.axis_size("data"), []
        for i in reversed(range(len(slices))):
            back = back * (1 - held[i + 1] ** 2)
            found.append(jax.lax.psum_scatter(held[i].T @ back, "data", tiled=True))
            if i:
                w, back = jax.lax.optimization_barrier((slices[i], back))
                back = back @ gathered(w).T
        return found[::-1]

    cut = P("data", None)
    return jax.shard_map(body, mesh=mesh, in_specs=cut, out_specs=cut)(X, Y, *weights)
