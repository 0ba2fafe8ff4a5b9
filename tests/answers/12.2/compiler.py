# failed: left-to-the-compiler
# points: 0
import jax

P = jax.P


def matmul_rs(mesh, X, W):
    return jax.lax.with_sharding_constraint(X @ W, jax.NamedSharding(mesh, P("x", None)))
