# passed
import jax
import jax.numpy as jnp
from jax import P


def train(mesh, X, Y, E, W):
    rows = P("data", None)

    def body(X, Y, E, W):
        def loss(weights):
            E, W = weights
            return jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2)

        n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")
        weights, state = [E, W], [None, None]
        for t in range(1, 6):
            own = jax.tree.map(lambda w: jax.lax.pcast(w, "data", to="varying"), weights)
            slopes = jax.grad(loss)(own)
            for i, (w, slope) in enumerate(zip(own, slopes)):
                slope = jax.lax.psum_scatter(slope, "data", tiled=True) / n
                m, v = state[i] or (0 * slope, 0 * slope)
                m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                some = jax.lax.dynamic_slice_in_dim(w, place * (w.shape[0] // n), w.shape[0] // n)
                none = 0 * w
                full = jax.lax.dynamic_update_slice_in_dim(none, some - 0.01 * change, place * (w.shape[0] // n), 0)
                weights[i] = jax.lax.psum(full, "data")
                state[i] = m, v
        return *weights, *state[0], *state[1]

    specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
    return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)
