"""Chapter 9's layers: the blocks of 9.1 and the grouped heads of 9.6, for the judge to lay out and to count."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from shardlab_course.ch09.oracles import FOUR, LINE
from shardlab_judge.cases import axes
from shardlab_judge.items.layout import Situation
from shardlens import Axes


def plain_mlp(X: Any, W1: Any, W2: Any) -> Any:
    """The block of the page, for the judge to compile."""
    import jax

    return jax.nn.relu(X @ W1) @ W2


def gated_mlp(X: Any, Wg: Any, Wu: Any, Wd: Any) -> Any:
    """The gated block, for the judge to compile."""
    import jax

    return (jax.nn.silu(X @ Wg) * (X @ Wu)) @ Wd


def attention(X: Any, Wq: Any, Wk: Any, Wv: Any, Wo: Any) -> Any:
    """Causal attention with grouped heads, for the judge to compile."""
    import jax
    import jax.numpy as jnp

    t, (_, kv, size) = len(X), Wk.shape
    q = jnp.einsum("td,dhc->thc", X, Wq).reshape(t, kv, -1, size)
    k, v = jnp.einsum("td,dgc->tgc", X, Wk), jnp.einsum("td,dgc->tgc", X, Wv)
    scores = jnp.einsum("tgrc,sgc->grts", q, k) / size**0.5
    weights = jax.nn.softmax(jnp.where(jnp.tri(t, dtype=bool), scores, -jnp.inf), axis=-1)
    heads = jnp.einsum("grts,sgc->tgrc", weights, v).reshape(t, -1, size)
    return jnp.einsum("thc,hcd->td", heads, Wo)


def plain_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `plain_mlp`."""
    return Situation((("X", (t, d)), ("W1", (d, f)), ("W2", (f, d))), mesh, devices=dict(mesh)["model"])


def gated_sizes(mesh: Axes, t: int, d: int, f: int) -> Situation:
    """The arrays of `gated_mlp`."""
    shapes = (("X", (t, d)), ("Wg", (d, f)), ("Wu", (d, f)), ("Wd", (f, d)))
    return Situation(shapes, mesh, devices=dict(mesh)["model"])


def head_sizes(mesh: Axes, t: int, d: int, heads: int, size: int) -> Situation:
    """The arrays of `attention`, with one key and value head for each position on the axis `kv`."""
    kv = dict(mesh)["kv"]
    keys = (d, kv, size)
    return Situation((("X", (t, d)), ("Wq", (d, heads, size)), ("Wk", keys), ("Wv", keys), ("Wo", (heads, size, d))), mesh)


def draw_plain(rng: random.Random) -> Situation:
    """Other sizes."""
    return plain_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))


def draw_gated(rng: random.Random) -> Situation:
    """Other sizes."""
    return gated_sizes(rng.choice((LINE, FOUR)), 8 * rng.randint(1, 3), 32, 32 * rng.randint(4, 6))


def draw_heads(rng: random.Random) -> Situation:
    """Other sizes."""
    kv = rng.choice((2, 4))
    return head_sizes(axes(kv=kv, rep=8 // kv), 8 * rng.randint(1, 2), 32, 8 * rng.randint(1, 2), 4)


def heads(q: int, kv: int, n: int) -> list[list[list[int]]]:
    """For each of n devices, its query heads, and the key and value heads that these read, found head by head."""
    owner = {head: head * n // q for head in range(q)}
    reads = {head: head * kv // q for head in range(q)}
    mine = [[head for head in range(q) if owner[head] == device] for device in range(n)]
    return [[own, sorted({reads[head] for head in own})] for own in mine]


def heads_with(*, reads: str = "group", keys: str = "read") -> Callable[[int, int, int], list[list[list[int]]]]:
    """`heads` with a mistake: query heads read kv heads in turn, or `keys` are all, an even share, the first, repeated."""

    def wrong(q: int, kv: int, n: int) -> list[list[list[int]]]:
        found = []
        for device in range(n):
            own = list(range(device * q // n, (device + 1) * q // n))
            each = [head % kv if reads == "turn" else head * kv // q for head in own]
            read = sorted(set(each))
            even = list(range(device * kv // n, (device + 1) * kv // n))
            found.append([own, {"read": read, "all": list(range(kv)), "even": even, "first": read[:1], "each": each}[keys]])
        return found

    return wrong


def draw_heads_call(rng: random.Random) -> tuple[int, int, int]:
    """Query heads, key and value heads, devices: each divides the first, and of the others one divides the other."""
    n, kv = 2 ** rng.randint(0, 4), 2 ** rng.randint(0, 4)
    return max(n, kv) * rng.randint(1, 4), kv, n
