"""Chapter 7, exercise 7.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardlens import Spec, place

Entry = str | list[str] | None
Entries = list[Entry]

BODIES: Mapping[str, Callable[..., Any]] = {
    "double": lambda a: 2 * a,
    "transpose": lambda a: a.T,
    "row_sums": lambda a: a.sum(1, keepdims=True),
    "total": lambda a: a.sum(),
    "product": lambda a, b: a @ b,
    "outer": lambda a, b: np.outer(a, b),
}
"""The bodies of exercise 7.1, as its page has them."""


def emulated(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any],
             copy: str = "first", slowest: str = "first") -> Any:  # fmt: skip
    """What `shard_map` returns for a body without collectives, put together by the index maps of its specs.

    Args:
        copy: which of several copies of a slice is taken: the `"first"`, the `"last"` or the `"sum"`.
        slowest: which axis of a tuple is the leading one: the `"first"` or the `"last"`.
    """
    sizes = tuple(mesh.items())
    whole = [np.asarray(array) for array in arrays]
    maps = [place(a.shape, sizes, _spec(s, slowest)).shards for a, s in zip(whole, in_specs)]
    made = [_applied(body, whole, held) for held in zip(*maps)]
    spec = _spec(out_spec, slowest)
    shape = tuple(n * _parts(mesh, spec, k) for k, n in enumerate(made[0].shape))
    out = np.zeros(shape, made[0].dtype)
    pairs = list(zip(place(shape, sizes, spec).shards, made))
    for (_, index), block in pairs if copy != "first" else reversed(pairs):
        at = tuple(slice(*part) for part in index)
        out[at] = block + out[at] if copy == "sum" else block
    return out.tolist()


def listed(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any],
           join: Callable[[list[np.ndarray]], Any] = lambda made: made) -> Any:  # fmt: skip
    """What all devices return, one after another, in place of one array."""
    whole = [np.asarray(array) for array in arrays]
    maps = [place(a.shape, tuple(mesh.items()), _spec(s, "first")).shards for a, s in zip(whole, in_specs)]
    return [block.tolist() for block in join([_applied(body, whole, held) for held in zip(*maps)])]


def whole(body: str, mesh: Mapping[str, int], in_specs: Sequence[Entries], out_spec: Entries, arrays: list[Any]) -> Any:
    """What the body makes of the whole arrays."""
    return np.asarray(BODIES[body](*map(np.asarray, arrays))).tolist()


def _applied(body: str, whole: Sequence[np.ndarray], held: Sequence[Any]) -> np.ndarray:
    blocks = (a[tuple(slice(*part) for part in index)] for a, (_, index) in zip(whole, held))
    return np.asarray(BODIES[body](*blocks))


def _spec(entries: Entries, slowest: str) -> Spec:
    return tuple(tuple(e if slowest == "first" else e[::-1]) if isinstance(e, list) else e for e in entries)


def _parts(mesh: Mapping[str, int], spec: Spec, dimension: int) -> int:
    entry = spec[dimension] if dimension < len(spec) else None
    names = (entry,) if isinstance(entry, str) else entry or ()
    return math.prod(mesh[name] for name in names)


def draw_emulation(rng: random.Random) -> tuple[Any, ...]:
    """A body, a mesh, specs that fit, and arrays of whole numbers of up to three digits."""
    mesh = rng.choice(({"x": 2, "y": 2}, {"x": 4, "y": 2}, {"x": 2, "y": 3}, {"x": 3}, {"x": 2, "y": 1, "z": 2}))
    body = rng.choice(sorted(BODIES))
    match body:
        case "product":
            rows, inner, columns = (*_entries(rng, mesh, 2), None)
            specs = [[rows, inner], [inner, columns]]
            sizes = [_size(rng, mesh, entry) for entry in (rows, inner, columns)]
            shapes = [sizes[:2], sizes[1:]]
        case "outer":
            specs = [[entry] for entry in _entries(rng, mesh, 2)]
            shapes = [[_size(rng, mesh, entry) for entry in spec] for spec in specs]
        case _:
            specs = [_entries(rng, mesh, rng.randint(1, 2))]
            shapes = [[_size(rng, mesh, entry) for entry in (*specs[0], None)][:2]]
    out = _entries(rng, mesh, 0 if body == "total" else 2)
    return body, mesh, specs, out, [_whole_numbers(rng, shape) for shape in shapes]


def _entries(rng: random.Random, mesh: Mapping[str, int], count: int) -> Entries:
    """Entries of a spec; each mesh axis in at most one of them."""
    found: list[list[str]] = [[] for _ in range(count)]
    for name in rng.sample(sorted(mesh), len(mesh)):
        place = rng.randrange(count + 1)
        if place < count:
            found[place].append(name)
    return [None if not names else names[0] if len(names) == 1 else names for names in found]


def _size(rng: random.Random, mesh: Mapping[str, int], entry: Entry) -> int:
    names = [entry] if isinstance(entry, str) else entry or []
    return math.prod(mesh[name] for name in names) * rng.randint(1, 3)


def _whole_numbers(rng: random.Random, shape: Sequence[int]) -> Any:
    return np.array([rng.randint(-999, 999) for _ in range(math.prod(shape))]).reshape(shape).tolist()
