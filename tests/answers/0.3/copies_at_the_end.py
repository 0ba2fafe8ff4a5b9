# failed: gathers-to-be-safe
# points: 1.75
"""The constraint moved to the end."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P()))


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
