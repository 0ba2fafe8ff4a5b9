"""Data parallelism, sharded weights (FSDP, ZeRO), accumulation of gradients, optimizers."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import optax

from programs.listing import Built, P, array, held, mapped, program

WIDTH, BATCH = 1024, 256


def _mlp(weights: Any, x: jax.Array) -> jax.Array:
    for w in weights[:-1]:
        x = jax.nn.gelu(x @ w)
    return x @ weights[-1]


def _loss(weights: Any, x: jax.Array, y: jax.Array) -> jax.Array:
    return jnp.mean(jnp.square(_mlp(weights, x).astype(jnp.float32) - y.astype(jnp.float32)))


def _weights(mesh: Any, layers: int, *spec: Any) -> list[jax.ShapeDtypeStruct]:
    return [array(mesh, (WIDTH, WIDTH), *spec) for _ in range(layers)]


@program(batch=8)
def data_parallel(mesh: Any) -> Built:
    """Whole weights, a batch cut, gradients summed."""

    def step(weights: Any, x: jax.Array, y: jax.Array) -> Any:
        grads = jax.lax.pmean(jax.grad(_loss)(weights, x, y), "batch")
        return jax.tree.map(lambda w, g: w - jnp.bfloat16(0.1) * g, weights, grads)

    data = array(mesh, (BATCH, WIDTH), "batch")
    return mapped(step, mesh, (P(), P("batch"), P("batch")), P()), (_weights(mesh, 4), data, data)


@program(batch=8)
def fsdp(mesh: Any) -> Built:
    """Each layer gathered when it is needed, forward and again backward; gradients scattered."""

    def layer(w: jax.Array, b: jax.Array, x: jax.Array) -> jax.Array:
        whole = jax.lax.all_gather(w, "batch", tiled=True), jax.lax.all_gather(b, "batch", tiled=True)
        return jax.nn.relu(x @ whole[0] + whole[1][None, :])

    def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        again = jax.checkpoint(layer, policy=jax.checkpoint_policies.nothing_saveable)
        for w, b in params:
            x = again(w, b, x)
        return jax.lax.pmean(jnp.mean(jnp.sum((x - y) ** 2, axis=-1)), "batch")

    params = [(array(mesh, (WIDTH, WIDTH), "batch"), array(mesh, (WIDTH,), "batch")) for _ in range(4)]
    data = array(mesh, (BATCH, WIDTH), "batch")
    return mapped(jax.grad(loss), mesh, (P("batch"),) * 3, P("batch")), (params, data, data)


@program(batch=8)
def fsdp_many_small(mesh: Any) -> Built:
    """The same with float32 layers of different sizes, as a tutorial has them: many gathers at once."""
    sizes = [784, 128, 128, 128, 128, 128, 8]

    def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        for w, b in params:
            w, b = (jax.lax.all_gather(each, "batch", tiled=True) for each in (w, b))
            out = x @ w + b[None, :]
            x = jax.nn.relu(out)
        return jax.lax.pmean(jnp.mean(jnp.sum((out - y) ** 2, axis=-1)), "batch")

    pairs = list(zip(sizes, sizes[1:]))
    params = [(array(mesh, (m, n), "batch", dtype="float32"), array(mesh, (n,), "batch", dtype="float32")) for m, n in pairs]
    x, y = (array(mesh, (32, n), "batch", dtype="float32") for n in (sizes[0], sizes[-1]))
    return mapped(jax.grad(loss), mesh, (P("batch"),) * 3, P("batch")), (params, x, y)


@program(batch=4, feats=2)
def fsdp_and_tensor(mesh: Any) -> Built:
    """Weights cut over both axes: gathered over one, contracted over the other."""

    def loss(params: Any, x: jax.Array, y: jax.Array) -> jax.Array:
        for w in params:
            w = jax.lax.all_gather(w, "batch", axis=1, tiled=True)
            x = jax.nn.relu(jax.lax.psum_scatter(x @ w, "feats", scatter_dimension=1, tiled=True))
        mine = jnp.sum((x - y).astype(jnp.float32) ** 2)
        return jax.lax.psum(jax.lax.pmean(mine, "batch"), "feats")

    weights, data = _weights(mesh, 3, "feats", "batch"), array(mesh, (BATCH, WIDTH), "batch", "feats")
    specs = P("feats", "batch"), P("batch", "feats"), P("batch", "feats")
    return mapped(jax.grad(loss), mesh, specs, specs[0]), (weights, data, data)


@program(batch=8, rounds=(6, 6))
def scanned_fsdp(mesh: Any) -> Built:
    """Six layers in a scan, weights cut, left to the compiler; each layer computed again backward."""

    def loss(stacked: jax.Array, x: jax.Array, y: jax.Array) -> jax.Array:
        @jax.checkpoint
        def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            return held(mesh, jax.nn.gelu(x @ held(mesh, w)), "batch"), None

        return jnp.mean((jax.lax.scan(layer, x, stacked)[0] - y).astype(jnp.float32) ** 2)

    stacked, data = array(mesh, (6, WIDTH, WIDTH), None, "batch"), array(mesh, (BATCH, WIDTH), "batch")
    return jax.jit(jax.grad(loss), out_shardings=stacked.sharding), (stacked, data, data)


@program(batch=8, rounds=(6, 6))
def scanned_gathers(mesh: Any) -> Built:
    """The same by hand: a gather in each round of a scan, and a scatter in each round backward."""

    def loss(stacked: jax.Array, x: jax.Array) -> jax.Array:
        def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
            return jnp.tanh(x @ jax.lax.all_gather(w, "batch", tiled=True)), None

        return jnp.sum(jax.lax.scan(jax.checkpoint(layer), x, stacked)[0].astype(jnp.float32))

    stacked, data = array(mesh, (6, WIDTH, WIDTH), None, "batch"), array(mesh, (BATCH, WIDTH), "batch")
    specs = P(None, "batch"), P("batch")
    return mapped(jax.grad(loss), mesh, specs, specs[0]), (stacked, data)


@program(batch=8, rounds=(4,))
def accumulated(mesh: Any) -> Built:
    """Gradients of four microbatches added up in a scan, summed over devices once."""

    def step(weights: Any, x: jax.Array, y: jax.Array) -> Any:
        def one(total: Any, data: Any) -> tuple[Any, None]:
            return jax.tree.map(jnp.add, total, jax.grad(_loss)(weights, *data)), None

        cut = jax.tree.map(lambda a: a.reshape(4, -1, a.shape[1]), (x, y))
        total, _ = jax.lax.scan(one, jax.tree.map(jnp.zeros_like, weights), cut)
        return jax.lax.psum(total, "batch")

    data = array(mesh, (BATCH * 4, WIDTH), "batch")
    return mapped(step, mesh, (P(), P("batch"), P("batch")), P()), (_weights(mesh, 2), data, data)


@program(data=8)
def adam_donated(mesh: Any) -> Built:
    """An optax step on whole weights whose moments are cut (ZeRO 1); weights and moments are donated."""
    optimizer = optax.adamw(1e-3)

    def step(weights: Any, moments: Any, x: jax.Array, y: jax.Array) -> Any:
        loss, grads = jax.value_and_grad(_loss)(weights, x, y)
        updates, moments = optimizer.update(grads, moments, weights)
        return optax.apply_updates(weights, updates), moments, loss

    weights = [array(mesh, (WIDTH, WIDTH), dtype="float32") for _ in range(3)]
    state = jax.eval_shape(optimizer.init, weights)
    moments = jax.tree.map(lambda s: array(mesh, s.shape, *("data",) * min(s.ndim, 1), dtype=s.dtype.name), state)
    data = array(mesh, (BATCH, WIDTH), "data", dtype="float32")
    placed = jax.tree.map(lambda s: s.sharding, (weights, moments))
    whole = jax.NamedSharding(mesh, P())
    return jax.jit(step, donate_argnums=(0, 1), out_shardings=(*placed, whole)), (weights, moments, data, data)
