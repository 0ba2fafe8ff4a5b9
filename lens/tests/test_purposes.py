"""What collectives are for, and which leaf of the arguments they move."""

from __future__ import annotations

import importlib.util
from typing import Any

import jax
import jax.numpy as jnp
import optax
import pytest

import shardlens as lens
from shardlens.programs.grouping import grouped
from shardlens.programs.purposes import NO_LEAF
from why_programs import mesh, spec

P = jax.P
OVER = mesh(8)
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
OPTIMIZER = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(1e-3, momentum=0.9))
# The batch is large and the weights are cut over the same axis, so that each layer's are gathered.
IDS = spec(OVER, (4096, 24), "x", dtype="int32")
UNROLLED = {"layers": [{"up": spec(OVER, (24, 48), "x"), "down": spec(OVER, (48, 24), "x")} for _ in range(3)]}
STACKED = {"layers": {"up": spec(OVER, (3, 24, 48), None, "x"), "down": spec(OVER, (3, 48, 24), None, "x")}}


def layer(x: Any, weights: Any) -> Any:
    """Two products, with the residual."""
    return x + jax.nn.relu(x @ weights["up"]) @ weights["down"]


def loss(params: Any, ids: Any) -> Any:
    """Of layers in a list, or stacked and scanned."""
    x, layers = ids.astype("float32"), params["layers"]
    if isinstance(layers, dict):
        x = jax.lax.scan(lambda x, weights: (layer(x, weights), None), x, layers)[0]
    for weights in layers if isinstance(layers, list) else ():
        x = layer(x, weights)
    return (x**2).mean()


def step(params: Any, state: Any, ids: Any) -> Any:
    """A training step with something of each purpose."""
    ids = jnp.roll(ids, 1, axis=0)
    value, gradients = jax.value_and_grad(loss)(params, ids)
    updates, state = OPTIMIZER.update(gradients, state, params)
    return optax.apply_updates(params, updates), state, value


def groups(program: lens.Program, by: str) -> dict[str, set[str]]:
    """Kinds of collectives by name of their group."""
    return {group.name[0]: {c.kind for c in group.collectives} for group in grouped(program.collectives, program.hlo, by)}


@pytest.mark.thorough(after=2)
@pytest.mark.parametrize("params", [UNROLLED, STACKED], ids=["unrolled", "stacked"])
def test_purposes(params: Any) -> None:
    """The ids that are rolled are data, gradients' norms are the optimizer's, and each pass has its own."""
    found = groups(lens.inspect(step, params, jax.eval_shape(OPTIMIZER.init, params), IDS), "purpose")
    purposes = {each for name in found for each in name.split(" + ")}
    assert purposes == {"forward", "backward", "optimizer", "data"}
    # XLA sums the gradients' norms and the loss in one.
    assert found["optimizer + forward"] == {"all-reduce"} and "all-gather" in found["backward"]
    assert found["data"] <= {"all-to-all", "collective-permute"}


def test_without_a_gradient() -> None:
    """What is not differentiated is forward."""
    program = lens.inspect(loss, UNROLLED, IDS)
    assert {*groups(program, "purpose")} == {"forward"}


LEAVES = {
    "unrolled": (UNROLLED, {"params['layers'][*]['up']", "params['layers'][*]['down']"}),
    "stacked": (STACKED, {"params['layers']['up']", "params['layers']['down']"}),
}


@pytest.mark.parametrize("name", LEAVES)
def test_leaves(name: str) -> None:
    """A weight that is gathered has its path, with layers folded; a sum of what was computed has none."""
    params, paths = LEAVES[name]
    found = groups(lens.inspect(loss, params, IDS), "leaf")
    assert {path for path, kinds in found.items() if "all-gather" in kinds} == paths
    assert found[NO_LEAF] == {"all-reduce"}


@needs_libtpu
@pytest.mark.thorough(after=3)
@pytest.mark.parametrize("name", LEAVES)
def test_leaves_on_a_tpu(name: str) -> None:
    """The same where gathers are asynchronous and in fusions: no weight has another's path."""
    params, paths = LEAVES[name]
    found = groups(lens.inspect(loss, params, IDS, target="v5e:2x4"), "leaf")
    assert paths >= {*found} - {NO_LEAF} != set()
