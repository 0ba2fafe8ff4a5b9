"""The program that pod golf is played with: a training step of chapter 15's transformer, with its layers in a scan."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

Arrays = dict[str, jax.Array]
"""A weight, or its speed, for each name of `shapes`."""
Vectors = Callable[[jax.Array], jax.Array]
Inside = Callable[[Arrays], Arrays]
Again = Callable[[Callable[..., Any]], Callable[..., Any]]


class Sizes(NamedTuple):
    """How large model and batch are."""

    layers: int
    batch: int
    length: int
    depth: int
    heads: int
    head: int
    hidden: int
    words: int


POD = Sizes(layers=8, batch=256, length=1024, depth=8192, heads=64, head=128, hidden=28672, words=32768)
SMALL = Sizes(layers=2, batch=16, length=8, depth=16, heads=8, head=4, hidden=32, words=64)
"""Those on which values are compared."""


def shapes(sizes: Sizes) -> dict[str, tuple[int, ...]]:
    """The shape of each weight; a dimension of `layers` comes first in those that every layer has."""
    n, _, _, d, h, k, f, v = sizes
    return {"E": (v, d), "A": (n, 3, d, h, k), "C": (n, h, k, d), "W1": (n, d, f), "W2": (n, f, d), "U": (d, v)}


def norm(x: jax.Array) -> jax.Array:
    """Divide each vector by the root of its mean square."""
    return x / jnp.sqrt(jnp.mean(x**2, -1, keepdims=True) + 1e-5)


def attention(x: jax.Array, A: jax.Array, C: jax.Array) -> jax.Array:
    """Causal attention of every head; `x` has shape [batch, length, depth], as the result has."""
    d, h, k = A.shape[1:]
    queries, keys, values = jnp.einsum("bsd,xdhk->xbshk", x, A) / d**0.5
    scores = jnp.einsum("bqhk,bshk->bhqs", queries, keys) / k**0.5
    share = jax.nn.softmax(jnp.where(jnp.tri(x.shape[1]) > 0, scores, -jnp.inf))
    heads = jnp.einsum("bhqs,bshk->bqhk", share, values)
    return jnp.einsum("bqhk,hkd->bqd", heads, C) / (h * k) ** 0.5


def hidden(x: jax.Array, W1: jax.Array, W2: jax.Array) -> jax.Array:
    """Two products with a relu between them."""
    d, f = W1.shape
    return jax.nn.relu(x @ W1 / d**0.5) @ W2 / f**0.5


def layer(x: jax.Array, weights: Arrays, vectors: Vectors) -> jax.Array:
    """Attention and hidden units, each added to what comes in."""
    x = vectors(x + attention(norm(x), weights["A"], weights["C"]))
    return vectors(x + hidden(norm(x), weights["W1"], weights["W2"]))


def logits(weights: Arrays, tokens: jax.Array, vectors: Vectors, inside: Inside, again: Again) -> jax.Array:
    """For each token a logit for every word; `again` says what of a layer is computed again in the backward pass."""
    layers = {name: weights[name] for name in ("A", "C", "W1", "W2")}
    x, _ = jax.lax.scan(
        again(lambda x, each: (layer(x, inside(each), vectors), None)), vectors(weights["E"][tokens]), layers
    )
    return norm(x) @ weights["U"] / x.shape[-1] ** 0.5


def mean_loss(found: jax.Array, tokens: jax.Array) -> jax.Array:
    """How badly the logits `found` predict the next tokens."""
    right = jnp.take_along_axis(found, tokens[..., None], -1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(found.astype("float32"), -1) - right)


def updated(weights: Arrays, speeds: Arrays, slopes: Arrays) -> tuple[Arrays, Arrays]:
    """Weights and speeds after a step of gradient descent with momentum."""
    speeds = jax.tree.map(lambda v, g: 0.9 * v + g, speeds, slopes)
    return jax.tree.map(lambda w, v: w - 0.5 * v, weights, speeds), speeds


def step(
    tokens: jax.Array,
    weights: Arrays,
    speeds: Arrays,
    vectors: Vectors = lambda x: x,
    inside: Inside = lambda layer: layer,
    again: Again = jax.checkpoint,
) -> tuple[jax.Array, Arrays, Arrays]:
    """Loss, weights and speeds after one step; `tokens` has one column more than the model reads.

    Args:
        vectors: what an entry does to the vectors [batch, length, depth] between the parts of the model.
        inside: what it does to the weights of each layer before they are used.
        again: what it does to a layer for the backward pass: `jax.checkpoint` computes all of it again.
    """

    def loss_of(weights: Arrays) -> jax.Array:
        return mean_loss(logits(weights, tokens[:, :-1], vectors, inside, again), tokens[:, 1:])

    loss, slopes = jax.value_and_grad(loss_of)(weights)
    return loss, *updated(weights, speeds, slopes)
