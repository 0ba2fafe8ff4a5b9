"""Chapter 17, exercise 17.4: its oracles, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Callable

import numpy as np

from shardlab_course.ch17.shared import LINE, WIDE, attention, keys, queries
from shardlab_course.shared.rings import devices
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

TOKENS: Spec = ("x", None, None)
Moved = Callable[[str, int, int, int, int, int], int | None]


def moved(way: str, S: int, H: int, G: int, D: int, n: int) -> int | None:
    """Bytes of bfloat16, each collective by what it brings or sends, added up one array at a time."""
    rows = S // n
    match way:
        case "gather":
            return sum(2 * S * G * D for _ in ("keys", "values"))
        case "ring":
            return sum(2 * rows * G * D for _ in ("keys", "values") for _ in range(1, n))
    if G % n:
        return None
    return sum(2 * rows * heads * D for heads in (H, G, G, H))


def moved_with(how: str) -> Moved:
    """The same with something wrong: "round", "one", "heads", "two", "three", "whole", "unlimited", "floats", "either"."""

    def wrong(way: str, S: int, H: int, G: int, D: int, n: int) -> int | None:
        right = moved(way, S, H, G, D, n)
        if how == "floats":
            return None if right is None else 2 * right
        if way != "ulysses":
            changed = {
                "round": right * n // (n - 1) if right and way == "ring" else right,
                "one": right // 2 if right else right,
                "heads": right // G * H if right else right,
            }
            return changed.get(how, right)
        rows = 2 * (S // n) * D
        if how == "unlimited":
            return rows * 2 * (H + G)
        if right is None:
            return rows * 2 * (H + G) if how == "either" and H % n == 0 else None
        return {"two": rows * 2 * G, "three": rows * (H + 2 * G), "whole": right * n}.get(how, right)

    return wrong


def draw_sizes(rng: random.Random) -> tuple[str, int, int, int, int, int]:
    """A way, and a model's sizes."""
    n, G = rng.choice((2, 4, 8)), rng.choice((2, 4, 8))
    return rng.choice(("gather", "ring", "ulysses")), 64 * n * rng.randint(1, 9), G * rng.choice((1, 2, 4)), G, 64, n


def by_heads(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Causal attention, head by head; H / G query heads, one after another, share the keys and values of one head."""
    return _of(Q, K, V, [h * K.shape[1] // Q.shape[1] for h in range(Q.shape[1])])


def _of(Q: np.ndarray, K: np.ndarray, V: np.ndarray, heads: list[int], causal: bool = True) -> np.ndarray:
    outs = [attention(Q[:, h], K[:, g], V[:, g], causal) for h, g in enumerate(heads)]
    return np.stack(outs, axis=1)


def unmasked(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Every query sees all keys."""
    return _of(Q, K, V, [h * K.shape[1] // Q.shape[1] for h in range(Q.shape[1])], causal=False)


def without_root(Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Scores are not divided by the root of the number of features."""
    return by_heads(Q * np.sqrt(Q.shape[2]), K, V)


def taken_in_turn(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """On each device the query heads take its key heads in turn."""
    q, g = Q.shape[1] // n, K.shape[1] // n
    return _of(Q, K, V, [d * g + h % g for d in range(n) for h in range(q)])


def own_tokens(n: int, Q: np.ndarray, K: np.ndarray, V: np.ndarray) -> np.ndarray:
    """Each device attends to its own tokens alone."""
    return np.concatenate([by_heads(*blocks) for blocks in zip(*(np.split(a, n) for a in (Q, K, V)))])


def of_many_heads(draw: Callable[..., np.ndarray]) -> Callable[..., np.ndarray]:
    """The values of `draw` for every head."""

    def drawn(rng: np.random.Generator, shape: tuple[int, ...], before: object) -> np.ndarray:
        return np.stack([draw(rng, (shape[0], shape[2]), before) for _ in range(shape[1])], axis=1)

    return drawn


QUERIES, KEYS = of_many_heads(queries), of_many_heads(keys)


def heads_case(mesh: Axes, s: int, heads: int, kv: int, d: int) -> Case:
    """Tokens cut over x, all heads of each token on its device."""
    inputs = Input((s, heads, d), TOKENS, values=QUERIES), Input((s, kv, d), TOKENS, values=KEYS), Input((s, kv, d), TOKENS)
    return Case(mesh, inputs, (TOKENS,))


def draw_heads(rng: random.Random) -> Case:
    """Another mesh and other sizes."""
    mesh = rng.choice((LINE, WIDE))
    n = dict(mesh)["x"]
    kv = n * (16 // n)
    return heads_case(mesh, n * rng.randint(3, 6), kv * 2, kv, rng.randint(3, 6))


def copies_travel(o: Observed) -> bool:
    """Whether all that moves are all-to-alls, of as many bytes as if there were as many key heads as query heads."""
    return o.kinds == {"all-to-all"} and o.price >= 4 * o.inputs[0].nbytes // devices(o) > _least(o)


def _least(o: Observed) -> int:
    return 2 * sum(array.nbytes for array in o.inputs[:2]) // devices(o)
