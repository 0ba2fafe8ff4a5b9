# failed: times-the-devices
# points: 0
import jax
import jax.numpy as jnp

P = jax.P
both = ("x", "y")
layout = {"X": P(both, None), "Y": P(both, None), "W1": P(None, both), "W2": P(both, None)}


def step(mesh, X, Y, W1, W2):
    def loss(weights, x, y):
        x = jax.lax.all_gather(x, both, axis=0, tiled=True)
        terms = jnp.tanh(x @ weights[0]) @ weights[1]
        out = jax.lax.psum_scatter(terms, both, scatter_dimension=0, tiled=True)
        return jnp.sum((out - y) ** 2) / Y.size

    def body(x, y, *weights):
        slopes = jax.grad(loss)(weights, x, y)
        return tuple(w - 0.8 * g for w, g in zip(weights, slopes))

    specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)


design = {"layout": layout, "step": step}
