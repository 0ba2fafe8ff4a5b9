"""The arrays of a plan: names and sizes of their dimensions, the mesh axes over which each is sharded, partial sums."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

import numpy as np

from shardlab.placement import Axes

# Of dimensions, or of mesh axes.
Names = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Layout:
    """One array as a plan sees it.

    Args:
        names: its dimensions.
        shape: global sizes.
        cuts: for each dimension the mesh axes over which it is sharded.
        axes: names and sizes of the mesh axes, slowest first.
        dtype: of its elements.
        partial: mesh axes over which the devices hold terms of a sum that has not been made: `{U:axis}`.
    """

    names: Names
    shape: tuple[int, ...]
    cuts: tuple[Names, ...]
    axes: Axes
    dtype: str
    partial: Names = ()

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """The shape that one device holds."""
        return tuple(n // p for n, p in zip(self.shape, self.parts))

    @property
    def parts(self) -> tuple[int, ...]:
        """Into how many parts each dimension is cut."""
        return tuple(parts(cut, self.axes) for cut in self.cuts)

    @property
    def used(self) -> Names:
        """Mesh axes over which some dimension is sharded, in the order of the mesh."""
        return tuple(axis for axis, _ in self.axes if self.dimension(axis))

    @property
    def by_name(self) -> dict[str, Names]:
        """The mesh axes of each dimension."""
        return dict(zip(self.names, self.cuts))

    def dimension(self, axis: str) -> str:
        """The dimension that this mesh axis cuts, or nothing."""
        return next((name for name, cut in zip(self.names, self.cuts) if axis in cut), "")

    @property
    def nbytes(self) -> int:
        """Bytes that one device holds."""
        return math.prod(self.shard_shape) * np.dtype(self.dtype).itemsize

    def placed(self, cuts: Mapping[str, Names], partial: Names = ()) -> Layout:
        """The same array sharded as `cuts` says; dimensions that it leaves out are whole."""
        return dataclasses.replace(self, cuts=tuple(cuts.get(name, ()) for name in self.names), partial=partial)

    def cut(self, name: str, axes: Names) -> Layout:
        """The same array with one dimension sharded over `axes`."""
        return self.placed(self.by_name | ({name: axes} if name in self.names else {}))

    def __str__(self) -> str:
        words = (f"{name}@{_axes(cut)}" if cut else name for name, cut in zip(self.names, self.cuts))
        return " ".join(words) + (f" {{U:{' '.join(self.partial)}}}" if self.partial else "")


def parts(cut: Names, axes: Axes) -> int:
    """How many parts these mesh axes make."""
    size = dict(axes)
    return math.prod(size[axis] for axis in cut)


def _axes(cut: Names) -> str:
    return cut[0] if len(cut) == 1 else f"({' '.join(cut)})"
