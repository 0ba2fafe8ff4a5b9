# failed: left-to-the-compiler
# points: 0
import jax.numpy as jnp


def batch_norm(mesh, X, scale, shift):
    return (X - X.mean(0)) / jnp.sqrt(X.var(0) + 1e-5) * scale + shift
