"""Tensor and sequence parallelism: networks and attention whose activations are cut."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from programs.listing import Built, P, array, held, mapped, program

TOKENS, WIDTH, HIDDEN, HEADS, SIZE = 512, 1024, 4096, 16, 64


@program(data=2, model=4)
def megatron(mesh: Any) -> Built:
    """Two layers, the first cut by columns, the second by rows, with its gradients; left to the compiler."""

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        hidden = held(mesh, jax.nn.gelu(x @ weights[0]), "data", None, "model")
        return jnp.sum(held(mesh, hidden @ weights[1], "data").astype(jnp.float32) ** 2)

    weights = array(mesh, (WIDTH, HIDDEN), None, "model"), array(mesh, (HIDDEN, WIDTH), "model")
    f = jax.jit(jax.grad(loss), out_shardings=tuple(w.sharding for w in weights))
    return f, (weights, array(mesh, (4, TOKENS, WIDTH), "data"))


@program(data=2, model=4)
def sequence_parallel(mesh: Any) -> Built:
    """Between the pairs of layers tokens are cut: a gather before each pair, a scatter after it, and the gradients."""

    def loss(weights: Any, x: jax.Array) -> jax.Array:
        for up, down in weights:
            mean = jnp.mean(x, axis=-1, keepdims=True)
            whole = jax.lax.all_gather(x - mean, "model", axis=1, tiled=True)
            x = x + jax.lax.psum_scatter(jax.nn.gelu(whole @ up) @ down, "model", scatter_dimension=1, tiled=True)
        return jnp.sum(x.astype(jnp.float32) ** 2)

    pair = array(mesh, (WIDTH, HIDDEN), None, "model"), array(mesh, (HIDDEN, WIDTH), "model")
    specs = [(P(None, "model"), P("model"))] * 2
    return mapped(jax.grad(loss), mesh, (specs, P("data", "model")), specs), (
        [pair, pair],
        array(mesh, (4, TOKENS, WIDTH), "data", "model"),
    )


@program(data=2, model=4)
def transformer_block(mesh: Any) -> Built:
    """Attention by heads and a network, with norms, as a layer of a language model; values and gradients."""

    def norm(x: jax.Array) -> jax.Array:
        wide = x.astype(jnp.float32)
        return (wide * jax.lax.rsqrt(jnp.mean(wide**2, axis=-1, keepdims=True) + 1e-6)).astype(x.dtype)

    def loss(w: Any, x: jax.Array) -> jax.Array:
        q, k, v = (jnp.einsum("btd,dhk->bthk", norm(x), each) for each in w["qkv"])
        scores = jnp.einsum("bthk,bshk->bhts", q, k).astype(jnp.float32) / 8
        seen = jnp.tril(jnp.ones((TOKENS, TOKENS), bool))[None, None]
        chosen = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1).astype(x.dtype)
        x = x + held(mesh, jnp.einsum("bhts,bshk,hkd->btd", chosen, v, w["out"]), "data")
        hidden = jax.nn.silu(norm(x) @ w["gate"]) * (norm(x) @ w["up"])
        return jnp.mean(held(mesh, x + hidden @ w["down"], "data").astype(jnp.float32) ** 2)

    heads = array(mesh, (WIDTH, HEADS, SIZE), "data", "model")
    wide = array(mesh, (WIDTH, HIDDEN), "data", "model")
    out, down = array(mesh, (HEADS, SIZE, WIDTH), "model", None, "data"), array(mesh, (HIDDEN, WIDTH), "model", "data")
    w = {"qkv": [heads] * 3, "out": out, "gate": wide, "up": wide, "down": down}
    f = jax.jit(jax.value_and_grad(loss), out_shardings=(None, jax.tree.map(lambda s: s.sharding, w)))
    return f, (w, array(mesh, (4, TOKENS, WIDTH), "data"))


@program(seq=8)
def heads_for_tokens(mesh: Any) -> Built:
    """Attention with tokens cut outside and heads inside: an all-to-all each way."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        q, k, v = (jax.lax.all_to_all(each, "seq", 1, 0, tiled=True) for each in (q, k, v))
        chosen = jax.nn.softmax(jnp.einsum("thk,shk->hts", q, k).astype(jnp.float32), axis=-1).astype(v.dtype)
        return jax.lax.all_to_all(jnp.einsum("hts,shk->thk", chosen, v), "seq", 0, 1, tiled=True)

    each = array(mesh, (2048, HEADS, 128), "seq")
    return mapped(attend, mesh, (P("seq"),) * 3, P("seq")), (each,) * 3


@program(seq=8, rounds=(4,))
def gathered_keys(mesh: Any) -> Built:
    """Queries cut, keys and values gathered, group by group of heads: the scan of a gradient that needs no other."""

    def attend(q: jax.Array, k: jax.Array, v: jax.Array) -> jax.Array:
        def group(_: None, qkv: Any) -> tuple[None, jax.Array]:
            q, k, v = qkv
            k, v = (jax.lax.all_gather(each, "seq", tiled=True) for each in (k, v))
            return None, jax.nn.softmax(q @ k.T, axis=-1) @ v

        return jnp.sum(jax.lax.scan(jax.checkpoint(group), None, (q, k, v))[1].astype(jnp.float32))

    each = array(mesh, (4, 2048, 128), None, "seq")
    return mapped(jax.grad(attend, argnums=(0, 1, 2)), mesh, (P(None, "seq"),) * 3, P(None, "seq")), (each,) * 3


@program(data=2, model=4, rounds=(16,))
def decode(mesh: Any) -> Built:
    """Sixteen tokens one after the other, with a cache of keys and values that is donated and written to."""

    def generate(w: Any, cache: Any, x: jax.Array) -> Any:
        def step(i: Any, state: Any) -> Any:
            k, v, x = state
            q, new_k, new_v = (jnp.einsum("bd,dhk->bhk", x, each) for each in w["qkv"])
            k = jax.lax.dynamic_update_slice_in_dim(k, new_k[:, None], i, 1)
            v = jax.lax.dynamic_update_slice_in_dim(v, new_v[:, None], i, 1)
            scores = jnp.einsum("bhk,bthk->bht", q, k).astype(jnp.float32)
            seen = (jnp.arange(k.shape[1]) <= i)[None, None]
            chosen = jax.nn.softmax(jnp.where(seen, scores, -1e9), axis=-1).astype(v.dtype)
            return k, v, held(mesh, jnp.einsum("bht,bthk,hkd->bd", chosen, v, w["out"]), "data")

        return jax.lax.fori_loop(0, 16, step, (*cache, x))

    heads = array(mesh, (WIDTH, HEADS, SIZE), None, "model")
    w = {"qkv": [heads] * 3, "out": array(mesh, (HEADS, SIZE, WIDTH), "model")}
    cache = array(mesh, (8, 256, HEADS, SIZE), "data", None, "model")
    return jax.jit(generate, donate_argnums=(1,)), (w, (cache, cache), array(mesh, (8, WIDTH), "data"))
