# failed: gathers-to-be-safe
# points: 1.75
"""As it was given."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    A = jax.lax.with_sharding_constraint(A, NamedSharding(mesh, P()))
    return A @ B


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
