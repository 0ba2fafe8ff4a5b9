# failed: sixteen-bits
# points: 0
import jax
import jax.numpy as jnp

P = jax.P
both = ("x", "y")
layout = {"X": P(both, None), "Y": P(both, None), "W1": P(None, both), "W2": P(both, None)}


def step(mesh, X, Y, W1, W2):
    def loss(weights, x, y):
        x = jax.lax.all_gather(x.astype(jnp.bfloat16), both, axis=0, tiled=True).astype(jnp.float32)
        terms = jnp.tanh(x @ weights[0]) @ weights[1]
        out = jax.lax.psum_scatter(terms.astype(jnp.bfloat16), both, scatter_dimension=0, tiled=True).astype(jnp.float32)
        return jnp.sum((out - y) ** 2) / Y.size

    def body(x, y, *weights):
        slopes = jax.grad(loss)(weights, x, y)
        return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

    specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)


design = {"layout": layout, "step": step}
