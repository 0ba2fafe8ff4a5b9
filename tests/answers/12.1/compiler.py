# failed: left-to-the-compiler
# points: 0
import jax

P = jax.P


def ag_matmul(mesh, X, W):
    return X @ W


def ag_matmul_both(mesh, X, W):
    return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P(None, "x")))
