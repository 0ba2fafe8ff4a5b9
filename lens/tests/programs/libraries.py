"""Training steps written with flax, equinox and optax."""

from __future__ import annotations

from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import optax
from flax import linen, nnx

from programs.listing import Built, array, held, program


def _loss(predicted: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean(optax.softmax_cross_entropy_with_integer_labels(predicted.astype(jnp.float32), y))


class Network(nnx.Module):
    """Two layers with a norm."""

    def __init__(self, rngs: nnx.Rngs) -> None:
        self.up = nnx.Linear(512, 2048, rngs=rngs)
        self.norm = nnx.LayerNorm(2048, rngs=rngs)
        self.down = nnx.Linear(2048, 256, rngs=rngs)

    def __call__(self, x: jax.Array) -> jax.Array:
        return self.down(jax.nn.gelu(self.norm(self.up(x))))


def _cut(mesh: Any, s: Any) -> jax.ShapeDtypeStruct:
    """Rows over "data", columns over "model"; vectors whole."""
    return array(mesh, s.shape, *(("data", "model") if s.ndim == 2 else ()), dtype=s.dtype.name)


@program(data=2, model=4)
def nnx_step(mesh: Any) -> Built:
    """A step of an NNX module, split into graph and state, with optax."""
    graph, state = nnx.split(nnx.eval_shape(lambda: Network(nnx.Rngs(0))))
    optimizer = optax.chain(optax.clip_by_global_norm(1.0), optax.sgd(0.1, momentum=0.9))

    def step(state: Any, moments: Any, x: jax.Array, y: jax.Array) -> Any:
        loss, grads = jax.value_and_grad(lambda s: _loss(nnx.merge(graph, s)(x), y))(state)
        updates, moments = optimizer.update(grads, moments, state)
        return optax.apply_updates(state, updates), moments, loss

    state = jax.tree.map(lambda s: _cut(mesh, s), state)
    moments = jax.tree.map(lambda s: _cut(mesh, s), jax.eval_shape(optimizer.init, state))
    placed = jax.tree.map(lambda s: s.sharding, (state, moments))
    f = jax.jit(step, donate_argnums=(0, 1), out_shardings=(*placed, None))
    return f, (state, moments, array(mesh, (64, 512), "data", dtype="float32"), array(mesh, (64,), "data", dtype="int32"))


class Layers(linen.Module):
    """Four equal layers in a scan, then a head."""

    mesh: Any

    @linen.compact
    def __call__(self, x: jax.Array) -> jax.Array:
        mesh = self.mesh

        class Layer(linen.Module):
            @linen.compact
            def __call__(self, x: jax.Array, _: None) -> tuple[jax.Array, None]:
                hidden = linen.gelu(linen.Dense(1024, use_bias=False)(x))
                return held(mesh, x + linen.Dense(512, use_bias=False)(hidden), "data"), None

        scanned = linen.scan(linen.remat(Layer), variable_axes={"params": 0}, split_rngs={"params": True}, length=4)
        return linen.Dense(256)(scanned()(x, None)[0])


@program(data=8, rounds=(4, 4))
def linen_scan(mesh: Any) -> Built:
    """A linen model whose layers are a scan, with AdamW; weights cut by rows."""
    model, optimizer = Layers(mesh), optax.adamw(1e-3)
    x = array(mesh, (128, 512), "data", dtype="float32")
    params = jax.eval_shape(model.init, jax.random.key(0), x)

    def step(params: Any, moments: Any, x: jax.Array, y: jax.Array) -> Any:
        grads = jax.grad(lambda p: _loss(model.apply(p, x), y))(params)
        updates, moments = optimizer.update(grads, moments, params)
        return optax.apply_updates(params, updates), moments

    def cut(s: Any) -> jax.ShapeDtypeStruct:
        spec = (*(None,) * (s.ndim - 2), "data") if s.ndim >= 2 else ()
        return array(mesh, s.shape, *spec, dtype=s.dtype.name)

    args = jax.tree.map(cut, (params, jax.eval_shape(optimizer.init, params)))
    placed = jax.tree.map(lambda s: s.sharding, args)
    return jax.jit(step, donate_argnums=(0, 1), out_shardings=placed), (*args, x, array(mesh, (128,), "data", dtype="int32"))


class Gated(eqx.Module):
    """A gated layer between two of equal width, its arrays as fields."""

    gate: jax.Array
    up: jax.Array
    down: jax.Array

    def __call__(self, x: jax.Array) -> jax.Array:
        return x + (jax.nn.silu(x @ self.gate) * (x @ self.up)) @ self.down


@program(data=2, model=4)
def equinox_step(mesh: Any) -> Built:
    """A step of an equinox module: static fields and functions filtered out, gradients where the weights lie."""
    columns = array(mesh, (512, 1024), None, "model", dtype="float32")
    params = [Gated(columns, columns, array(mesh, (1024, 512), "model", None, dtype="float32"))] * 2
    head = array(mesh, (512, 256), None, "model", dtype="float32")

    def step(model: Any, head: jax.Array, x: jax.Array, y: jax.Array) -> Any:
        def loss(trained: Any) -> jax.Array:
            layers, last = trained
            through = x
            for layer in layers:
                through = layer(held(mesh, through, "data"))
            return _loss(through @ last, y)

        value, grads = eqx.filter_value_and_grad(loss)((model, head))
        return eqx.apply_updates((model, head), jax.tree.map(lambda g: -0.1 * g, grads)), value

    placed = jax.tree.map(lambda s: s.sharding, (params, head))
    f = jax.jit(step, donate_argnums=(0, 1), out_shardings=(placed, None))
    return f, (params, head, array(mesh, (64, 512), "data", dtype="float32"), array(mesh, (64,), "data", dtype="int32"))
