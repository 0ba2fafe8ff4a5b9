# passed
# points: 3.25
"""A constraint that says what is so."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    C = A @ B
    return jax.lax.with_sharding_constraint(C, NamedSharding(mesh, P("x", None)))


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
