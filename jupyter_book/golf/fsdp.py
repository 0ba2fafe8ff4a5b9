"""Each weight is cut over all devices (chapter 11). XLA moves the vectors of the whole batch in place of weights."""

from jax import P

AXES = {256: {"data": 256}, 64: {"data": 64}, 8: {"data": 8}}
TOKENS = P("data")
WEIGHTS = {
    "E": P(None, "data"),
    "A": P(None, None, "data"),
    "C": P(None, None, None, "data"),
    "W1": P(None, "data"),
    "W2": P(None, None, "data"),
    "U": P("data"),
}

AFTER = "whole"
