# passed
# points: 3.25
"""An einsum."""

import jax.numpy as jnp


def product(mesh, A, B):
    return jnp.einsum("ij,jk->ik", A, B)


report = {"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}
