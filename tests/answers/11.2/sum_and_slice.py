# passed
import jax
import jax.numpy as jnp
from jax import P


def train(mesh, X, Y, E, W):
    rows = P("data", None)

    def body(X, Y, E, W):
        def loss(weights):
            E, W = weights
            return jax.lax.pmean(jnp.mean((jnp.tanh(X @ E @ W) @ E.T - Y) ** 2), "data")

        n, place = jax.lax.axis_size("data"), jax.lax.axis_index("data")

        def own_rows(a):
            return jax.lax.dynamic_slice_in_dim(a, place * (a.shape[0] // n), a.shape[0] // n)

        weights, state = [E, W], [None, None]
        for t in range(1, 6):
            for i, (w, slope) in enumerate(zip(weights, jax.grad(loss)(weights))):
                slope = own_rows(slope)
                m, v = state[i] or (0 * slope, 0 * slope)
                m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
                change = m / (1 - 0.9**t) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-4)
                some = own_rows(w)
                weights[i] = jax.lax.all_gather(some - 0.01 * change, "data", tiled=True, to="invarying")
                state[i] = m, v
        return *weights, *state[0], *state[1]

    specs = dict(in_specs=(rows, rows, P(), P()), out_specs=(P(), P(), rows, rows, rows, rows))
    return jax.shard_map(body, mesh=mesh, **specs)(X, Y, E, W)
