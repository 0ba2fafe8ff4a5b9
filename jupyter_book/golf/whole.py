"""Every device has all weights and a part of the batch."""

from jax import P

AXES = {256: {"data": 256}, 64: {"data": 64}, 8: {"data": 8}}
TOKENS = P("data")
WEIGHTS = {"E": P(), "A": P(), "C": P(), "W1": P(), "W2": P(), "U": P()}
