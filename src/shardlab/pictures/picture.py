"""A placement as grids of blocks with their holders, before it is drawn."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence

from shardlens import Index, Placement, Slice, brackets

MOST_PANELS = 16
MOST_BLOCKS = 256

Block = tuple[int, ...]
"""Ids of the devices that hold one block, ascending."""


@dataclasses.dataclass(frozen=True)
class Panel:
    """The last two dimensions at one place of the others.

    `rows` is empty for a 1-D array, and `columns` too for a scalar. `differs` holds the (row, column) positions to mark.
    """

    leading: tuple[Slice, ...]
    rows: tuple[Slice, ...]
    columns: tuple[Slice, ...]
    blocks: tuple[tuple[Block, ...], ...]
    differs: frozenset[tuple[int, int]] = frozenset()


def panels(placement: Placement, against: Placement | None = None) -> tuple[Panel, ...]:
    """The grids that show a placement, in row-major order; none when there would be too many blocks, or nothing to draw.

    Args:
        against: another placement; blocks whose holders differ there are marked.
    """
    cuts = [_cuts({index[d] for _, index in placement.shards}, n) for d, n in enumerate(placement.shape)]
    leading, last = cuts[:-2], cuts[-2:]
    parts = math.prod(map(len, leading))
    if parts > MOST_PANELS or not 0 < parts * math.prod(map(len, last)) <= MOST_BLOCKS or not placement.shards:
        return ()
    rows, columns = [(), (), *last][-2:]
    holders = _lookup(placement, set(itertools.product(*cuts)))
    other = {} if against is None else against.holders()
    made = []
    for place in itertools.product(*leading):
        grid = [[(*place, *row, *column) for column in _axis(columns)] for row in _axis(rows)]
        blocks = tuple(tuple(map(holders, line)) for line in grid)
        differs = frozenset(
            (i, j)
            for (i, line), j in itertools.product(enumerate(grid), range(len(grid[0])))
            if against is not None and other.get(line[j]) != blocks[i][j]
        )
        made.append(Panel(place, rows, columns, blocks, differs))
    return tuple(made)


def differing(expected: Placement, got: Placement) -> tuple[int, ...]:
    """Devices that do not hold the same slice in both, ascending."""
    if expected.shape != got.shape:
        return tuple(sorted({*expected.devices, *got.devices}))
    one, other = dict(expected.shards), dict(got.shards)
    return tuple(sorted(device for device in {*one, *other} if one.get(device) != other.get(device)))


def idle(placement: Placement, devices: Sequence[int] | None = None) -> Block:
    """Devices that hold nothing.

    Args:
        devices: the ids there are; unless given, the 8 of the course, or as many (a power of two) as cover those that hold.
    """
    if devices is None:
        top = max(placement.devices, default=0)
        devices = range(max(8, 1 << top.bit_length())) if top < 1024 else ()
    return tuple(sorted(set(devices) - set(placement.devices)))


def caption(panel: Panel) -> str:
    """Where a panel lies in the array: `[0:2, :, :]`."""
    return brackets([*(f"{a}:{b}" for a, b in panel.leading), ":", ":"])


def _axis(slices: tuple[Slice, ...]) -> list[Index]:
    return [(s,) for s in slices] or [()]


def _cuts(slices: set[Slice], n: int) -> tuple[Slice, ...]:
    points = sorted({0, n, *itertools.chain.from_iterable(slices)})
    return tuple(itertools.pairwise(points))


def _lookup(placement: Placement, blocks: set[Index]) -> Callable[[Index], Block]:
    """The holders of a block; also of a part of a slice, where slices overlap or leave gaps."""
    exact = placement.holders()
    if set(exact) == blocks:
        return exact.__getitem__

    def covering(block: Index) -> Block:
        return tuple(d for d, index in placement.shards if all(a <= c and e <= b for (a, b), (c, e) in zip(index, block)))

    return covering
