"""Chapter 5, exercise 5.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

Entry = str | list[str] | None
Rules = Sequence[tuple[str, list[Entry]]]
Shapes = Mapping[str, list[int]]

LAYER = (
    ("norm1", "w"),
    ("q", "whk"),
    ("k", "whk"),
    ("v", "whk"),
    ("o", "hkw"),
    ("norm2", "w"),
    ("up", "wf"),
    ("down", "fw"),
)
POOL: Rules = (
    ("embedding", ["model", None]), ("[qkv]$", [None, "model"]), ("o$", ["model"]), ("up", [None, "model"]),
    ("down", ["model", None]), ("norm", []), ("layers/1/", []), ("embedding", [["data", "model"], None]),
    ("[qkv]$", ["data", "model", None]), ("o$", ["model", None, "data"]), ("up", [None, ["model", "data"]]),
    ("bias", ["model"]), ("down$", ["model", "data"]), ("layers/0/(up|down)", ["data"]), ("", []),
)  # fmt: skip


def measured(rules: Rules, leaves: Shapes, sizes: Mapping[str, int]) -> dict[str, Any]:
    """The shards, their bytes and the rules that decide nothing, counted without JAX."""
    return measuring()(rules, leaves, sizes)


def measuring(
    *, found: Callable[..., Any] = re.search, last: bool = False, whole: bool = False, one_axis: bool = False,
    all_devices: bool = False, matched: bool = False, loose: bool = False, itemsize: int = 4,
) -> Callable[..., dict[str, Any]]:  # fmt: skip
    """`measured`, or the same with a mistake.

    Args:
        found: how a pattern is looked for in a path.
        last: the last rule decides.
        whole: a leaf without a rule is held whole.
        one_axis: only the first axis of an entry with several cuts.
        all_devices: bytes of all devices together, copies included.
        matched: a rule is used if its pattern is found in some path.
        loose: a leaf without a rule counts in the bytes.
    """

    def wrong(rules: Rules, leaves: Shapes, sizes: Mapping[str, int]) -> dict[str, Any]:
        shards: dict[str, list[int] | None] = {}
        used, held = set(), 0
        for path, shape in leaves.items():
            fits = [n for n, (pattern, _) in enumerate(rules) if found(pattern, path)]
            used |= set(fits if matched else fits[-1:] if last else fits[:1])
            if not fits:
                shards[path] = list(shape) if whole else None
                held += math.prod(shape) if loose or whole else 0
                continue
            shards[path] = _cut(shape, rules[fits[-1 if last else 0]][1], sizes, one_axis)
            held += math.prod(shards[path] or ())
        every = math.prod(sizes.values()) if all_devices else 1
        unused = [pattern for n, (pattern, _) in enumerate(rules) if n not in used]
        return {"shards": shards, "bytes": itemsize * held * every, "unused": unused}

    return wrong


def _cut(shape: Sequence[int], spec: Sequence[Entry], sizes: Mapping[str, int], one_axis: bool) -> list[int]:
    entries = [*spec, *[None] * (len(shape) - len(spec))]
    axes = [[] if entry is None else [entry] if isinstance(entry, str) else entry for entry in entries]
    return [n // math.prod(sizes[axis] for axis in over[: 1 if one_axis else None]) for n, over in zip(shape, axes)]


def tree(layers: int, w: int, h: int, k: int, f: int, vocabulary: int) -> dict[str, list[int]]:
    """By path the shapes of a transformer's parameters."""
    sizes = {"w": w, "h": h, "k": k, "f": f}
    block = {f"layers/{n}/{name}": [sizes[letter] for letter in dims] for n in range(layers) for name, dims in LAYER}
    return {"embedding": [vocabulary, w], **block, "norm": [w]}


def draw_table(rng: random.Random) -> tuple[Any, ...]:
    """A tree, a mesh of up to 512 devices, and rules in some order; every size divides."""
    data, model = 2 ** rng.randint(0, 4), 2 ** rng.randint(0, 5)
    unit = data * model
    leaves = tree(rng.randint(1, 3), *(unit * rng.randint(1, 4) for _ in range(5)))
    rules = [[pattern, spec] for pattern, spec in rng.sample(POOL[:-1], rng.randint(4, 9))]
    rules += [["", []]] * rng.randint(0, 1)
    return rules, leaves, {"data": data, "model": model}
