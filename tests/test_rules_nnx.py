"""A Flax NNX model's parameters under a table of rules."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlab.expressions.rules import dry_run
from shardlab.expressions.sharding import einshard
from shardlens.programs.inspection import inspect

nnx = pytest.importorskip("flax.nnx")

RULES = [("up/kernel", "x y -> x y*"), ("up/bias", "y -> y*"), ("down/kernel", "y z -> y* z"), (".*", "... -> * ...")]


class Network(nnx.Module):
    """A norm and two layers."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.norm = nnx.LayerNorm(16, rngs=rngs)
        self.up = nnx.Linear(16, 64, rngs=rngs)
        self.down = nnx.Linear(64, 16, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        """The network of one batch."""
        return self.down(nnx.relu(self.up(self.norm(x))))


@pytest.mark.thorough
def test_state() -> None:
    """The parameters of a model are a tree: the same rules, one all-reduce, the same values."""
    graph, state = nnx.split(Network(nnx.Rngs(0)))
    forward = jax.jit(lambda parameters, x: nnx.merge(graph, parameters)(x))
    sharded, x = einshard(state, RULES), einshard(jnp.ones((8, 16)), "... -> * ...")
    assert [row.bytes_per_device for row in dry_run(state, RULES).rows] == [64, 512, 64, 64, 32, 512]
    assert [(c.kind, c.shape) for c in inspect(forward, sharded, x).collectives] == [("all-reduce", (8, 16))]
    np.testing.assert_allclose(forward(sharded, x), forward(state, jnp.ones((8, 16))), rtol=1e-5, atol=1e-5)
