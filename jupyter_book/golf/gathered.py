"""The same cut of the weights. The vectors between the layers stay cut along the batch, so XLA gathers weights instead."""

from functools import partial

import jax
from jax import P

from shardlab_tools.golf import model

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


def by_batch(x):
    return jax.lax.with_sharding_constraint(x, P("data"))


step = partial(model.step, vectors=by_batch)


AFTER = "fsdp"
