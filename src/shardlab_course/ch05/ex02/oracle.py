"""Chapter 5, exercise 5.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable
from typing import Any

Words = list[tuple[str, int, bool]]


def make_spec(expr: str, n: int) -> Any:
    """Mesh and spec of a small expression, or the id of its fault: every ratio is tried, none is computed."""
    left, words = _words(expr)
    names = {name for name, _, _ in words if name}
    if set(left) - names:
        return "dimension-missing"
    if names - set(left):
        return "dimension-unknown"
    if not any(star for _, _, star in words):
        counts = [count for _, count, _ in words]
        return _placed(left, words, counts) if math.prod(counts) == n else "numbers-do-not-multiply"
    if n % math.prod(count for _, count, _ in words):
        return "numbers-do-not-divide"
    for ratio in range(1, n + 1):
        counts = [count * ratio if star else count for _, count, star in words]
        if math.prod(counts) == n:
            return _placed(left, words, counts)
    return "no-whole-root"


def _words(expr: str) -> tuple[list[str], Words]:
    before, _, after = expr.partition("->")
    words = []
    for word in after.split():
        name = "".join(itertools.takewhile(lambda c: not c.isdigit() and c != "*", word))
        digits = "".join(c for c in word if c.isdigit())
        words.append((name, int(digits or 1), word.endswith("*")))
    return before.split(), words


def _placed(left: list[str], words: Words, counts: list[int]) -> dict[str, Any]:
    return {"mesh": counts, "spec": [[i for i, word in enumerate(words) if word[0] == name] for name in left]}


def mistaken(*, truncate: bool = False, bare: bool = False, keep: slice | None = None, lenient: bool = False,
             divide: bool = False) -> Callable[..., Any]:  # fmt: skip
    """`make_spec` with one mistake: a root cut off, the star's number forgotten, words of a name lost, no check, another."""

    def wrong(expr: str, n: int) -> Any:
        right = make_spec(expr, n)
        left, words = _words(expr)
        if right in ("dimension-missing", "dimension-unknown"):
            return right
        counts, stars = [count for _, count, _ in words], sum(star for _, _, star in words)
        if lenient and not stars:
            return _placed(left, words, counts)
        if divide and n % math.prod(counts):
            return "numbers-do-not-divide"
        if stars and (truncate or bare) and right != "numbers-do-not-divide":
            share = n / math.prod(count for _, count, star in words if not (bare and star))
            ratio = int(share ** (1 / stars)) if truncate else round(share ** (1 / stars))
            if not bare and ratio**stars != share:
                return "no-whole-root"
            right = _placed(left, words, [count * ratio if star else count for _, count, star in words])
        if keep and isinstance(right, dict):
            right = {**right, "spec": [entry[keep] for entry in right["spec"]]}
        return right

    return wrong


def draw_expression(rng: random.Random) -> tuple[Any, ...]:
    """An expression and a number of devices, more than half of them satisfiable."""
    names = rng.sample(["a", "b", "batch", "d"], rng.randint(1, 3))
    n = rng.choice([1, 2, 4, 6, 8, 12, 16, 27, 32, 36, 48, 64, 125, 216, 512])
    words = [name + rng.choice(["", "", "2", "3", "4", "12", "16", "*", "2*"]) for name in names]
    words += [rng.choice(["2", "*", "2*", names[0] + "*", names[0] + "2"]) for _ in range(rng.randint(0, 2))]
    rng.shuffle(words)
    left = rng.choice([names, names, names, names, names, [*names, "e"], names[1:] or ["e"]])
    expr = f"{' '.join(left)} -> {' '.join(words)}"
    return (expr, n) if rng.random() < 0.2 or isinstance(make_spec(expr, n), dict) else draw_expression(rng)
