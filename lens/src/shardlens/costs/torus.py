"""Where a mesh lies on a slice's torus: the chips' coordinates, by JAX's own rule for them."""

from __future__ import annotations

import functools
import itertools
import math
import types
from collections.abc import Sequence

from shardlens.costs.chips import Chip, chip

Places = tuple[tuple[int, ...], ...]
"""Coordinates of each chip, in mesh order."""


def extents(target: str) -> tuple[int, ...]:
    """Chips along each axis of a slice of those that a target names; none where it names no slice.

    Example:
        >>> extents("v5p:2x2x4"), extents("v5e:2x4*2"), extents("v5e")
        ((2, 2, 4), (2, 4), ())
    """
    shape = target.partition(":")[2].partition("*")[0].split("x")
    return tuple(map(int, shape)) if all(size.isdigit() for size in shape) else ()


@functools.lru_cache(maxsize=16)
def places(target: str, sizes: tuple[int, ...]) -> Places:
    """Coordinates of the chips of a slice, in the order of a mesh of these sizes; none if it has none, or other sizes.

    Neither libtpu nor a TPU is needed: JAX lays meshes out by coordinates alone.

    Example:
        >>> places("v5e:2x2", (4,))
        ((0, 0), (1, 0), (1, 1), (0, 1))
    """
    from jax.experimental import mesh_utils

    whole, kind = extents(target), chip(target).aliases[0]
    if not whole or not sizes or math.prod(sizes) != math.prod(whole):
        return ()
    # The last coordinate counts slowest among devices, and there are three on every chip.
    across = (range(size) for size in reversed((*whole, 1)[:3]))
    chips = [
        types.SimpleNamespace(platform="tpu", device_kind=kind, coords=at[::-1], core_on_chip=0, id=k)
        for k, at in enumerate(itertools.product(*across))
    ]
    laid = mesh_utils.create_device_mesh(sizes, chips, allow_split_physical_axes=True)
    return tuple(each.coords[: len(whole)] for each in laid.flat)


def box(group: Sequence[int], at: Places, target: str, on: Chip) -> tuple[tuple[int, bool], ...]:
    """Extents of a group of devices along the torus, and which of them close to rings; none where it is no box.

    Example:
        >>> from shardlens.costs.chips import chip
        >>> box(range(8), places("v5e:2x4", (8,)), "v5e:2x4", chip("v5e"))
        ((2, False), (4, False))
    """
    whole = extents(target)
    if not at or max(group) >= len(at):
        return ()
    across = [len({at[device][k] for device in group}) for k in range(len(whole))]
    if math.prod(across) != len(group):
        return ()
    return tuple((n, n == size and on.is_ring(n)) for n, size in zip(across, whole) if n > 1)


def routed(pairs: Sequence[tuple[int, ...]], at: Places, target: str) -> list[tuple[int, ...]]:
    """Source and target of each message as positions on the torus, its first axis slowest."""
    whole = extents(target)

    def position(device: int) -> int:
        return functools.reduce(lambda so_far, step: so_far * step[1] + step[0], zip(at[device], whole), 0)

    return [tuple(map(position, pair)) for pair in pairs]
