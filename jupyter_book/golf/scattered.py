"""The weights of each layer are told how they are cut, and so are their gradients: no device adds all of one."""

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


def cut(layer):
    """The first dimension of a weight is that of the layers."""
    return {name: jax.lax.with_sharding_constraint(w, P(*WEIGHTS[name][1:])) for name, w in layer.items()}


step = partial(model.step, vectors=by_batch, inside=cut)
