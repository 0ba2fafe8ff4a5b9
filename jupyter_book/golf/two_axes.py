"""FSDP along one axis. Along the other, devices share a layer's products and, between these, its tokens (chapter 9)."""

from functools import partial

import jax
from jax import P

from shardlab_tools.golf import model

AXES = {256: {"data": 16, "model": 16}, 64: {"data": 8, "model": 8}, 8: {"data": 2, "model": 4}}
TOKENS = P("data")
WEIGHTS = {
    "E": P(None, ("data", "model")),
    "A": P(None, None, "data", "model"),
    "C": P(None, "model", None, "data"),
    "W1": P(None, "data", "model"),
    "W2": P(None, "model", "data"),
    "U": P("data", "model"),
}


def by_batch_and_length(x):
    return jax.lax.with_sharding_constraint(x, P("data", "model"))


def cut(layer):
    """The first dimension of a weight is that of the layers."""
    return {name: jax.lax.with_sharding_constraint(w, P(*WEIGHTS[name][1:])) for name, w in layer.items()}


step = partial(model.step, vectors=by_batch_and_length, inside=cut)


AFTER = "gathered"
