# failed: mean-of-the-terms
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def loss(scale, x, y):
    normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
    return jnp.sum((normed * scale - y) ** 2)


def mended_4(mesh, x, y, scale):
    def body(x, y, scale):
        return jax.lax.pmean(jax.grad(loss)(scale, x, y), ("data", "model"))

    tokens = P("data", "model", None)
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P(), check_vma=False)(x, y, scale)
