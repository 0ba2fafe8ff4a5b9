# failed: results-gathered
# points: 3
import jax
import jax.numpy as jnp
from jax import P, lax


def everywhere(b):
    z = jax.scipy.special.logsumexp(b, axis=1)
    both = lax.all_gather(z, "x", to="invarying")
    return jax.scipy.special.logsumexp(both, axis=0)


def logsumexp(mesh, x):
    return jax.shard_map(everywhere, mesh=mesh, in_specs=P(None, "x"), out_specs=P())(x)


def softmax(mesh, x):
    return jax.shard_map(
        lambda b: jnp.exp(b - everywhere(b)[:, None]), mesh=mesh, in_specs=P(None, "x"), out_specs=P(None, "x")
    )(x)
