"""Causes that any program may have: how its wrong values relate to the right ones, where that is plain on every device."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.inputs import wide
from shardlab_judge.misconceptions import find_misconception
from shardlab_judge.question import Item, Misconception

Blocks = list[tuple[int, tuple[slice, ...], np.ndarray]]
Relation = Callable[[Observed, Blocks, np.ndarray], Misconception | None]


def recognised(item: Item, observed: Observed, letter: str) -> Misconception | None:
    """The wrong answer that an item knows; of wrong values otherwise what they have to do with the right ones."""
    known = find_misconception(item, observed, letter)
    oracle = getattr(item, "oracle", None)
    if known is not None or letter != "V" or oracle is None:
        return known
    rights = oracle(*map(wide, observed.inputs))
    with np.errstate(all="ignore"):
        return likely(observed, tuple(map(np.asarray, rights if isinstance(rights, tuple) else (rights,))))


def likely(observed: Observed, rights: tuple[np.ndarray, ...]) -> Misconception | None:
    """What explains every wrong output; nothing if there is none, or if each needs another explanation."""
    outputs = [(list(shards), right) for shards, right in zip(observed.values, rights)]
    wrong = [(shards, right) for shards, right in outputs if not _is(shards, right)]
    if len(observed.shards) != len(rights) or not wrong:
        return None
    for relation in RELATIONS:
        found = [relation(observed, blocks, right) for blocks, right in wrong]
        if found[0] is not None and all(one == found[0] for one in found):
            return found[0]
    return None


def _transposed(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    if right.ndim != 2 or not _is(blocks, right.T):
        return None
    return Misconception("output-transposed", "The output is transposed: rows are where columns should be.")


def _side_by_side(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Copies of the right output, or terms of it, one after another along a dimension."""
    whole = _whole(blocks)
    for dimension, (long, short) in enumerate(zip(whole.shape, right.shape) if whole.ndim == right.ndim else ()):
        over = _axes_of(observed, long / short) if short and long > short else ""
        if not over or _but(whole.shape, dimension) != _but(right.shape, dimension):
            continue
        pieces = np.split(whole, long // short, axis=dimension)
        if all(_close(piece, right) for piece in pieces):
            return Misconception(
                "copies-side-by-side",
                f"The output is {long // short} times the right one, set side by side along dimension {dimension}, as it is "
                f"when out_specs names an axis along which all devices hold the same ({over}).",
            )
        if _close(np.sum(pieces, axis=0), right):
            return Misconception(
                "terms-side-by-side",
                f"Terms lie side by side along dimension {dimension}, {long // short} of them, and nobody added them up "
                f"({over}).",
            )
    return None


def _in_proportion(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Every value as many times too large, or too small, as there are devices along an axis."""
    if not _fits(blocks, right) or not np.abs(right).max(initial=0) > 1e-3:
        return None
    block, wanted = blocks[0][2], right[blocks[0][1]]
    largest = np.unravel_index(np.argmax(np.abs(wanted)), wanted.shape) if wanted.size else ()
    ratio = float(np.real(block[largest] / wanted[largest])) if wanted.size and wanted[largest] else 0.0
    for factor, words in ((ratio, ("large", "added up")), (1 / ratio if ratio else 0.0, ("small", "averaged"))):
        if (over := _axes_of(observed, factor)) and _is(blocks, ratio * right):
            return Misconception(
                f"times-too-{words[0]}",
                f"Every value is {factor:.3g} times too {words[0]}, and as many devices lie along {over}: so it is when "
                f"something is {words[1]} over them once too often.",
            )
    return None


def _elsewhere(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Each device has what another one should have."""
    if not _fits(blocks, right) or len({str(index) for _, index, _ in blocks}) < 2:
        return None
    owners = [[other for other, index, _ in blocks if _close(block, right[index])] for _, _, block in blocks]
    if not all(owners):
        return None
    device, (owner, *_) = next((d, o) for (d, _, _), o in zip(blocks, owners) if d not in o)
    return Misconception(
        "blocks-on-other-devices",
        f"Every block is right, and some lie on other devices than they should: device {device} has what device {owner} "
        "should have. Look at which device counts as which: axis_index, the direction of a permutation, the order of axes.",
    )


def _first_only(observed: Observed, blocks: Blocks, right: np.ndarray) -> Misconception | None:
    """Right on the devices with coordinate 0 along an axis, and there alone."""
    if not _fits(blocks, right):
        return None
    good = {device for device, index, block in blocks if _close(block, right[index])}
    names, sizes = zip(*observed.case.axes)
    for place, name in enumerate(names):
        first = {d for d, _, _ in blocks if int(np.unravel_index(d, sizes)[place]) == 0}
        if good == first and sizes[place] > 1:
            return Misconception(
                "right-on-the-first-only",
                f"Only devices that are the first along {name} are right. What the others do differently has to come from "
                f"axis_index('{name}'), or from the data that they hold.",
            )
    return None


RELATIONS: tuple[Relation, ...] = (_side_by_side, _transposed, _elsewhere, _first_only, _in_proportion)


def _axes_of(observed: Observed, factor: float) -> str:
    """The mesh axes, in words, with so many devices along them together; empty if there are none."""
    axes = [axis for axis in observed.case.axes if axis[1] > 1]
    for some in _runs(axes):
        if abs(math.prod(size for _, size in some) - factor) < 1e-3 * factor:
            return " and ".join(name for name, _ in some)
    return ""


def _runs(axes: list[tuple[str, int]]) -> Iterator[list[tuple[str, int]]]:
    """One axis, then several."""
    yield from ([axis] for axis in axes)
    yield from (axes[i:j] for i in range(len(axes)) for j in range(i + 2, len(axes) + 1))


def _whole(blocks: Blocks) -> np.ndarray:
    """The global output that the blocks make."""
    shape = tuple(max(index[d].stop for _, index, _ in blocks) for d in range(blocks[0][2].ndim))
    whole = np.zeros(shape, blocks[0][2].dtype)
    for _, index, block in blocks:
        whole[index] = block
    return whole


def _fits(blocks: Blocks, right: np.ndarray) -> bool:
    return blocks[0][2].ndim == right.ndim and _whole(blocks).shape == right.shape


def _is(blocks: Blocks, right: np.ndarray) -> bool:
    """Whether every device holds its part of this array."""
    return _fits(blocks, right) and all(_close(block, right[index]) for _, index, block in blocks)


def _close(block: np.ndarray, right: np.ndarray) -> bool:
    return bool(np.allclose(block, right, rtol=1e-4, atol=1e-5))


def _but(shape: tuple[int, ...], dimension: int) -> tuple[int, ...]:
    return shape[:dimension] + shape[dimension + 1 :]
