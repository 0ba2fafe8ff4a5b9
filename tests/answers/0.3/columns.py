# failed: cut-the-other-way
# points: 2.25
"""C in columns."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    return jax.lax.with_sharding_constraint(A @ B, NamedSharding(mesh, P(None, "x")))


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
