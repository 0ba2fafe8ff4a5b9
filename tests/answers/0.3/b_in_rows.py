# failed: b-cut-and-gathered
# points: 2.75
"""B is cut into rows."""

import jax
from jax.sharding import NamedSharding

P = jax.P


def product(mesh, A, B):
    B = jax.lax.with_sharding_constraint(B, NamedSharding(mesh, P("x", None)))
    return A @ B


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
