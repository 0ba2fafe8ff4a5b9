# failed: still-gathered
# points: 0.5
import jax

P = jax.P


def mended_5(mesh, table, ids):
    found = jax.nn.one_hot(ids, len(table)) @ table
    return jax.lax.with_sharding_constraint(found, jax.NamedSharding(mesh, P("data", None)))
