"""Values too large to fetch: weighted sums of neighbouring elements, made on the devices.

A cut of such sums is the sums of a cut, and so are copies and terms: what blocks are of a value, their sums are of its sums.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np

from shardlens.diverging.numbers import FloatArray

Groups = tuple[int, ...]
"""How many elements of each dimension become one."""


class Held(NamedTuple):
    """A value of a program as it would be fetched.

    Args:
        shape: of one block.
        blocks: of all devices and rounds.
        whole: whether it may not be summed: its axes are explicit, and reshaping would move it.
    """

    name: str
    shape: tuple[int, ...]
    dtype: Any
    blocks: int
    whole: bool


def too_large(sides: Sequence[Iterable[Held]], most: int) -> dict[str, Groups]:
    """By name, the groups of each value of which a program would fetch more bytes; blocks are whole numbers of groups.

    Args:
        sides: the values of both programs.
        most: bytes.
    Example:
        >>> plain, parallel = Held("y", (64, 6), "float32", 1, False), Held("y", (16, 6), "float32", 4, False)
        >>> too_large(([plain], [parallel]), 256)
        {'y': (4, 2)}
    """
    by_name: dict[str, list[Held]] = {}
    names: list[set[str]] = []
    for side in map(list, sides):
        names.append({held.name for held in side})
        for each in side:
            by_name.setdefault(each.name, []).append(each)
    found = {name: _groups(by_name[name], most) for name in by_name if all(name in some for some in names)}
    return {name: groups for name, groups in found.items() if math.prod(groups) > 1}


def _groups(values: Sequence[Held], most: int) -> Groups:
    floating = all(jnp.issubdtype(held.dtype, jnp.floating) and not held.whole for held in values)
    if not floating or len({len(held.shape) for held in values}) > 1:
        return ()
    width = max(jnp.dtype(held.dtype).itemsize for held in values)
    size = width * max(held.blocks * math.prod(held.shape) for held in values)
    left = [math.gcd(*sizes) for sizes in zip(*(held.shape for held in values))]
    groups = [1] * len(left)
    while size > most and max(left, default=1) > 1:
        dimension = left.index(max(left))
        factor = next(n for n in range(2, left[dimension] + 1) if left[dimension] % n == 0)
        groups[dimension] *= factor
        left[dimension] //= factor
        size //= factor
    return tuple(groups)


def summed(value: Any, groups: Groups) -> Any:
    """The sums of a value's groups, in float32 at least; what stands in front of its own dimensions stays."""
    if not groups:
        return value
    front = value.ndim - len(groups)
    split = [n for size, group in zip(value.shape[front:], groups) for n in (size // group, group)]
    made = value.astype(jnp.promote_types(value.dtype, jnp.float32)).reshape(*value.shape[:front], *split)
    for n, group in enumerate(groups):
        shape = [group if place == front + 2 * n + 1 else 1 for place in range(made.ndim)]
        made = made * jnp.asarray(_weights(group), made.dtype).reshape(shape)
    return made.sum(axis=tuple(front + 2 * n + 1 for n in range(len(groups))))


@functools.lru_cache
def _weights(count: int) -> FloatArray:
    """No two alike, of both signs, so that neither exchanged elements nor opposite errors cancel; their squares add to 1."""
    rng = np.random.default_rng(count)
    drawn = rng.uniform(0.5, 1.5, count) * rng.choice((-1, 1), count)
    return drawn / np.sqrt((drawn**2).sum()) if count > 1 else np.ones(1)


def told(values: Mapping[str, Groups], infinite: Sequence[str]) -> str:
    """In words, which values were compared by sums, and in which of them a sum is not finite."""
    each = (f"{name} ({math.prod(groups)} elements each)" for name, groups in values.items())
    hidden = f"; one that is not finite hides the other elements of its sum, in {', '.join(infinite)}" if infinite else ""
    return f"too large to fetch, compared by sums that the devices made: {', '.join(each)}{hidden}"
