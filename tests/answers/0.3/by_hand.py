# passed
# points: 3.25
"""In shard_map."""

import jax

P = jax.P


def product(mesh, A, B):
    rows = P("x", None)
    body = jax.shard_map(lambda a, b: a @ b, mesh=mesh, in_specs=(rows, P()), out_specs=rows)
    return body(A, B)


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
