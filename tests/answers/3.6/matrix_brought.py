# failed: matrix-brought
# points: 1
import jax

P = jax.P


def steps(mesh, x, rows, columns):
    here = jax.NamedSharding(mesh, P())
    W = jax.lax.with_sharding_constraint(rows, here)
    x = jax.lax.with_sharding_constraint(x, here)
    for _ in range(6):
        x = W @ x / rows.shape[1] ** 0.5
    return jax.lax.with_sharding_constraint(x, jax.NamedSharding(mesh, P("x", None)))
