# failed: gathers-and-cuts
# points: 2.75
"""All of A is asked for, then C in rows."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P()))
    return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P("x", None)))


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
