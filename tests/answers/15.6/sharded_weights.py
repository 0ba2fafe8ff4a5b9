# failed: data-parallel-in-disguise
import jax
import jax.numpy as jnp

P = jax.P
both = ("x", "y")
layout = {"X": P(both, None), "Y": P(both, None), "W1": P(both, None), "W2": P(both, None)}


def step(mesh, X, Y, W1, W2):
    def loss(weights, x, y):
        W1, W2 = (jax.lax.all_gather(w, both, axis=0, tiled=True) for w in weights)
        return jnp.sum((jnp.tanh(x @ W1) @ W2 - y) ** 2) / Y.size

    def body(x, y, *weights):
        slopes = jax.grad(loss)(weights, x, y)
        return tuple(w - 0.1 * g for w, g in zip(weights, slopes))

    specs = tuple(layout[name] for name in ("X", "Y", "W1", "W2"))
    return jax.shard_map(body, mesh=mesh, in_specs=specs, out_specs=specs[2:])(X, Y, W1, W2)


design = {"layout": layout, "step": step}
