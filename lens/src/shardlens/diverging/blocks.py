"""Blocks that are at hand, compared with a whole value: what they are of it, or what they are instead."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable
from typing import Any

import numpy as np

from shardlens.diverging.instead import Wrong, instead
from shardlens.diverging.numbers import comparable, scale_of
from shardlens.diverging.relations import TERM, Relation, possible
from shardlens.placement import Axes

_TELLING = ("times the plain value", "the block of the device", "transposed", "shifted by")


@dataclasses.dataclass(frozen=True)
class BlocksOf:
    """What blocks are of a value.

    Args:
        relation: in words, such as "cut along 0 over x; term of a sum over y"; empty where they are no blocks of it.
        instead: what they are then, such as "2 times the plain value", or "2 times the plain value when added up over x";
            empty where that cannot be said.
    Example:
        >>> BlocksOf("copy", "").relation
        'copy'
    """

    relation: str
    instead: str


@np.errstate(invalid="ignore", over="ignore")
def blocks_of(whole: Any, blocks: Any, axes: Axes, rtol: float = 1e-4, simple: bool = True) -> BlocksOf:
    """What the devices' blocks are of a whole value: cuts, copies, terms of a sum, or one of these with a simple change.

    Args:
        whole: `[...]`, a value that is not the same number everywhere; of another nothing is said.
        blocks: `[axes..., block...]`, the block of each device of a mesh.
        axes: of this mesh, with their sizes; none for a value that is whole itself.
        rtol: by what part of the value's largest element a right block may differ.
        simple: whether to look for simple changes too, which takes longer.
    Example:
        >>> x = np.arange(8.0)
        >>> blocks_of(x, x.reshape(4, 2), (("x", 4),)), blocks_of(x, 3 * x.reshape(4, 2), (("x", 4),))
        (BlocksOf(relation='cut along 0 over x', instead=''), BlocksOf(relation='', instead='3 times the plain value'))
    """
    allowed = _possible(np.shape(whole), np.shape(blocks)[len(axes) :], tuple(axes))
    if not allowed:
        return BlocksOf("", "")
    whole, blocks, sizes = comparable(whole)[None], comparable(blocks)[None], dict(axes)
    if not (near := rtol * float(scale_of(whole))) or not np.ptp(whole) and whole.size > 1:
        return BlocksOf("", "")
    for each in allowed:
        if each.error(whole, blocks).max(initial=0) <= near:
            return BlocksOf(str(each), "")
    if not simple or not np.isfinite(blocks).all():
        return BlocksOf("", "")
    for over, relations in _by_sum(allowed, axes).items():
        found = instead(Wrong(whole, None, blocks, sizes, relations, {}, near, {}))
        if found.known and any(words in found.words for words in _TELLING) and not found.devices:
            return BlocksOf("", found.words + f" when added up over {', '.join(over)}" * bool(over))
    return BlocksOf("", "")


def _by_sum(relations: Iterable[Relation], axes: Axes) -> dict[tuple[str, ...], list[Relation]]:
    """By the axes over which the blocks are terms: no device has their sum, so what it is has to be told as such."""
    found: dict[tuple[str, ...], list[Relation]] = {(): []}
    for relation in relations:
        over = tuple(name for (name, _), role in zip(axes, relation.roles) if role == TERM)
        found.setdefault(over, []).append(relation)
    return found


@functools.lru_cache(maxsize=4096)
def _possible(shape: tuple[int, ...], block: tuple[int, ...], axes: Axes) -> tuple[Relation, ...]:
    return tuple(possible(shape, block, dict(axes)))
