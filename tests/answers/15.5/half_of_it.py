# failed: mean-of-the-terms
# points: 0
import jax
import jax.numpy as jnp

P = jax.P


def mended_4(mesh, x, y, scale):
    def body(x, y, scale):
        normed = x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6)
        return jax.lax.pmean(jax.lax.psum(jnp.sum(2 * (normed * scale - y) * normed, axis=(0, 1)), "model"), "data")

    tokens = P("data", "model")
    return jax.shard_map(body, mesh=mesh, in_specs=(tokens, tokens, P()), out_specs=P())(x, y, scale)
