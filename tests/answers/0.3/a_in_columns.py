# failed: a-turned-into-columns
# points: 1.75
"""A is cut into columns."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P(None, "x")))
    return A @ B


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
