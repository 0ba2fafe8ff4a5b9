"""Chapter 9, exercise 9.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable
from typing import Any

from shardlab_judge.cases import Observed, axes
from shardlab_judge.items.layout import Situation
from shardlens import Axes


def swapped(o: Observed) -> bool:
    """Whether the query heads are cut by `rep` first, and the heads that they read by `kv`."""
    queries, keys = (o.case.inputs[i].spec[1:2] for i in (1, 2))
    return queries == (("rep", "kv"),) and keys == ("kv",)


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


def head_sizes(mesh: Axes, t: int, d: int, heads: int, size: int) -> Situation:
    """The arrays of `attention`, with one key and value head for each position on the axis `kv`."""
    kv = dict(mesh)["kv"]
    keys = (d, kv, size)
    return Situation((("X", (t, d)), ("Wq", (d, heads, size)), ("Wk", keys), ("Wv", keys), ("Wo", (heads, size, d))), mesh)


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
    """`heads` with a mistake: query heads read kv heads in turn, or `keys` are other ones than those that are read.

    All, an even share, an even share or one, the first, repeated, or as many as whole groups fit on a device.
    """

    def wrong(q: int, kv: int, n: int) -> list[list[list[int]]]:
        found = []
        for device in range(n):
            own = list(range(device * q // n, (device + 1) * q // n))
            each = [head % kv if reads == "turn" else head * kv // q for head in own]
            read, first, end = sorted(set(each)), device * kv // n, (device + 1) * kv // n
            shown = {
                "read": read,
                "all": list(range(kv)),
                "even": list(range(first, end)),
                "even or one": list(range(first, max(first + 1, end))),
                "first": read[:1],
                "each": each,
                "whole groups": list(range(first, first + max(1, kv // n))),
            }
            found.append([own, shown[keys]])
        return found

    return wrong


def draw_heads_call(rng: random.Random) -> tuple[int, int, int]:
    """Query heads, key and value heads, devices: each of these divides the first, and neither has to divide the other."""
    n, kv = rng.randint(1, 12), rng.randint(1, 12)
    return math.lcm(n, kv) * rng.randint(1, 2), kv, n
