"""The arrays of a plan: names and sizes of their dimensions, the mesh axes over which each is sharded, partial sums."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from shardlab.placement import Axes

Entry = tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class Layout:
    """One array as a plan sees it.

    Args:
        names: its dimensions.
        shape: global sizes.
        entries: for each dimension the mesh axes over which it is sharded.
        axes: names and sizes of the mesh axes, slowest first.
        partial: mesh axes over which the devices hold terms of a sum that has not been made: `{U:axis}`.
    """

    names: tuple[str, ...]
    shape: tuple[int, ...]
    entries: tuple[Entry, ...]
    axes: Axes
    partial: Entry = ()

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """The shape that one device holds."""
        return tuple(n // parts(entry, self.axes) for n, entry in zip(self.shape, self.entries))

    @property
    def used(self) -> frozenset[str]:
        """Mesh axes over which some dimension is sharded."""
        return frozenset(axis for entry in self.entries for axis in entry)

    @property
    def by_name(self) -> dict[str, Entry]:
        """The mesh axes of each dimension."""
        return dict(zip(self.names, self.entries))

    @property
    def spec(self) -> tuple[str | Entry | None, ...]:
        """The arguments of `jax.P`."""
        return tuple(entry if len(entry) > 1 else entry[0] if entry else None for entry in self.entries)

    def size(self, itemsize: int) -> int:
        """Bytes that one device holds."""
        return math.prod(self.shard_shape) * itemsize

    def placed(self, entries: Mapping[str, Entry], partial: Entry = ()) -> Layout:
        """The same array sharded as `entries` says; dimensions that it leaves out are whole."""
        return dataclasses.replace(self, entries=tuple(entries.get(name, ()) for name in self.names), partial=partial)

    def __str__(self) -> str:
        words = (f"{name}@{_axes(entry)}" if entry else name for name, entry in zip(self.names, self.entries))
        return " ".join(words) + (f" {{U:{' '.join(self.partial)}}}" if self.partial else "")


def parts(entry: Entry, axes: Axes) -> int:
    """How many parts the mesh axes of `entry` make."""
    size = dict(axes)
    return math.prod(size[axis] for axis in entry)


def _axes(entry: Entry) -> str:
    return entry[0] if len(entry) == 1 else f"({' '.join(entry)})"
