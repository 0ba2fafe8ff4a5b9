"""A `shard_map` gathers weights, so the way back scatters their gradients, where XLA for TPU adds them up on every chip."""

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


def whole(weights, within):
    """Gather each weight along the dimension that is cut; `within` dimensions of its spec are gone."""
    return {
        name: jax.lax.all_gather(w, "data", axis=WEIGHTS[name].index("data") - within, tiled=True)
        for name, w in weights.items()
    }


def loss_of(weights, tokens):
    ends = whole({name: weights[name] for name in ("E", "U")}, 0)
    found = model.logits(weights | ends, tokens[:, :-1], lambda x: x, lambda layer: whole(layer, 1))
    return model.mean_loss(found, tokens[:, 1:]) / jax.lax.axis_size("data")


def on_one(tokens, weights, speeds):
    loss, slopes = jax.value_and_grad(loss_of)(weights, tokens)
    return jax.lax.psum(loss, "data"), *model.updated(weights, speeds, slopes)


def step(tokens, weights, speeds):
    places = TOKENS, WEIGHTS, WEIGHTS
    return jax.shard_map(on_one, in_specs=places, out_specs=(P(), WEIGHTS, WEIGHTS))(tokens, weights, speeds)


AFTER = "gathered"
