"""Models of Flax against their sharded selves: names are the modules' paths, which nobody writes."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from shardlens import diverge
from shardlens.diverging.divergence import Divergence

P = jax.P
nnx = pytest.importorskip("flax.nnx")
linen = pytest.importorskip("flax.linen")


class Block(nnx.Module):
    """Attention and an MLP, each with a residual; `scale` is 1 where it is right."""

    def __init__(self, rngs: Any, scale: float = 1.0) -> None:
        self.scale = scale
        self.norm = nnx.LayerNorm(16, rngs=rngs)
        self.attention = nnx.MultiHeadAttention(4, 16, decode=False, rngs=rngs)
        self.up = nnx.Linear(16, 32, rngs=rngs)
        self.down = nnx.Linear(32, 16, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        x = x + self.attention(self.norm(x))
        return x + self.down(self.scale * jax.nn.gelu(self.up(x)))


class Model(nnx.Module):
    """Two blocks and a head."""

    def __init__(self, scale: float = 1.0) -> None:
        rngs = nnx.Rngs(0)
        self.blocks = nnx.List([Block(rngs), Block(rngs, scale)])
        self.head = nnx.Linear(16, 8, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        for block in self.blocks:
            x = block(x)
        return self.head(x)


PARTS = ("norm", "attention/query", "attention/key", "attention/value", "attention/out")
PATHS = {*(f"blocks/{n}/{part}" for n in range(2) for part in (*PARTS, "attention", "up", "down")), "blocks/0", "blocks/1"}
NAMES = PATHS | {"head", "model"}


def sharded(state: Any, mesh: Any) -> Any:
    """Weights cut over both axes where they are divisible, as a table of rules would."""

    def cut(leaf: Any) -> Any:
        spec = P("data", "model") if leaf.ndim == 2 else P(None, "model") if leaf.ndim == 3 else P()
        return jax.device_put(leaf, jax.NamedSharding(mesh, spec))

    return jax.tree.map(cut, state)


def step(graph: Any) -> Any:
    """Loss and gradients of an NNX model."""

    def loss(state: Any, x: jax.Array) -> jax.Array:
        return (nnx.merge(graph, state)(x) ** 2).mean()

    return jax.value_and_grad(loss)


def nnx_divergence(scale: float) -> Divergence:
    """The plain model against a sharded one whose second block may scale its activations."""
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    graph, state = nnx.split(Model())
    other, _ = nnx.split(Model(scale))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(8, 6, 16)), jnp.float32)
    x = jax.device_put(x, jax.NamedSharding(mesh, P("data")))
    return diverge(step(graph), jax.jit(step(other)), sharded(state, mesh), x)


def test_paths_are_names() -> None:
    """A block alone: each module's output has its path, and the block's own is the model's."""
    graph, state = nnx.split(Block(nnx.Rngs(0)))
    x = jnp.asarray(np.random.default_rng(0).normal(size=(2, 3, 16)), jnp.float32)
    found = diverge(nnx.merge(graph, state), jax.jit(nnx.merge(graph, state)), x)
    assert found.first is None, str(found)
    assert {row[1] for row in found.rows} == {*PARTS, "attention", "up", "down", "model", "output"}


@pytest.mark.thorough
def test_an_nnx_model_against_its_sharded_self() -> None:
    """Each module's output and its cotangent has the module's path; nothing parts."""
    found = nnx_divergence(1.0)
    names = {row[1] for row in found.rows}
    assert found.first is None, str(found)
    assert names >= NAMES | {f"cotangent of {name}" for name in NAMES}


@pytest.mark.thorough
def test_an_nnx_model_that_is_wrong() -> None:
    """The module whose input is wrong is named by its path, and what is before it is not."""
    found = nnx_divergence(2.0)
    assert found.first and found.first.name == "blocks/1/down", str(found)


def test_classes_are_as_before() -> None:
    """Where nothing is traced, calls of modules are Flax's own, also after a failure."""
    before = Block.__call__, nnx.Linear.__call__
    with pytest.raises(ZeroDivisionError):
        diverge(lambda x: x / (1 // 0), lambda x: x, np.ones(3, np.float32))
    assert (Block.__call__, nnx.Linear.__call__) == before


class Layers(linen.Module):
    """A scan over three layers, each computed again in the backward pass, and a head; in a `shard_map` sums go over x."""

    wrong: bool = False

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        wrong = self.wrong

        class Layer(linen.Module):
            @linen.compact
            def __call__(self, x: jax.Array, _: None) -> tuple[jax.Array, None]:
                hidden = linen.Dense(32, name="up")(x)
                hidden = jax.nn.relu(hidden) if wrong else jax.nn.gelu(hidden)
                return x + linen.Dense(16, name="down")(hidden), None

        scanned = linen.scan(linen.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=3)
        return linen.Dense(4, name="head")(scanned(name="layers")(x, None)[0])


@pytest.mark.thorough
@pytest.mark.parametrize("wrong", [False, True])
def test_a_linen_model_in_a_shard_map(wrong: bool) -> None:
    """Modules inside scan, remat and shard_map: their rounds and their blocks are compared under their paths."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    x = jnp.asarray(np.random.default_rng(1).normal(size=(16, 16)), jnp.float32)
    params = Layers().init(jax.random.key(0), x)
    plain = jax.value_and_grad(lambda params, x: (Layers().apply(params, x) ** 2).mean())

    def loss(params: Any, x: jax.Array) -> jax.Array:
        return jax.lax.pmean((Layers(wrong).apply(params, x) ** 2).mean(), "x")

    mapped = jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("x")), out_specs=P())
    found = diverge(plain, jax.jit(jax.value_and_grad(mapped)), params, x)
    names = {row[1]: row for row in found.rows}
    assert {"layers/up", "layers/down", "layers[0]", "head", "model", "cotangent of layers/up"} <= {*names}
    assert names["layers/up"][2:4] == ("3 x float32[16,32]", "cut along 0 over x")
    if wrong:
        assert found.first and (found.first.name, found.first.round, found.first.rounds) == ("layers/down", 0, 3)
    else:
        assert found.first is None, str(found)
