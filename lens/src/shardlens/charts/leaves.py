"""What a pytree of arrays occupies: a row for each kind of leaf, the largest first."""

from __future__ import annotations

import collections
import dataclasses
import math
from typing import Any

from shardlens.charts.drawing import named, size
from shardlens.errors import LensError
from shardlens.reading.names import without_numbers
from shardlens.tables import Table

ROWS = 20
"""Rows of a table, with the one for all that is left."""


@dataclasses.dataclass(frozen=True)
class _Leaf:
    """One leaf, in words; `held` are bytes on each device that has a part of it."""

    path: str
    shape: str
    dtype: str
    placed: str
    held: int
    copies: str

    @property
    def alike(self) -> tuple[str, ...]:
        """What leaves of one row have in common."""
        return without_numbers(self.path), self.shape, self.dtype, self.placed, str(self.held), self.copies


def show_tree(tree: Any, *, rows: int = ROWS, title: str = "") -> Table:
    """A table of a pytree's arrays: path, shape, dtype, placement, bytes on a device, and the copies of each element.

    Leaves whose paths differ by numbers alone, as those of a model's layers, share a row if all else is equal. A row's bytes
    are those of all its leaves, and rows with more bytes come first. Of an array that is not added up, the copies are terms.

    Args:
        tree: parameters, the state of an optimizer, a batch: arrays, or `jax.ShapeDtypeStruct`s, in any pytree.
        rows: how many rows at most; the last one sums up what is left.
        title: a line above the table.
    Raises:
        LensError: no leaf is an array.
    Example:
        >>> show_tree({"layers": [{"up": jax.numpy.ones((4, 8))}, {"up": jax.numpy.ones((4, 8))}]})
        leaf             shape   dtype    placement  on a device  copies
        2 x layers/*/up  [4, 8]  float32  device 0         256 B       1
        2 arrays                                           256 B
    """
    import jax

    flat = jax.tree_util.tree_leaves_with_path(tree, is_leaf=lambda x: x is None)
    held = [(path, leaf) for path, leaf in flat if hasattr(leaf, "shape") and hasattr(leaf, "dtype")]
    arrays = [_read(jax.tree_util.keystr(path, simple=True, separator="/"), leaf) for path, leaf in held]
    if not arrays:
        what = f"this {type(tree).__name__} has {len(flat)} leaves, but none of them is an array."
        mend = "give a pytree of JAX arrays, such as a model's parameters."
        raise LensError("no-arrays", what, where=f"x: {str(tree)[:80]}", mend=mend)
    groups: dict[tuple[str, ...], list[_Leaf]] = {}
    for leaf in arrays:
        groups.setdefault(leaf.alike, []).append(leaf)
    ordered = sorted(groups.values(), key=lambda group: -sum(leaf.held for leaf in group))
    cells = [_cells(group) for group in (ordered if len(ordered) <= rows else ordered[: rows - 1])]
    if left := [leaf for group in ordered[len(cells) :] for leaf in group]:
        cells.append((f"{len(left)} more", "", "", "", _held(left), ""))
    columns = ("leaf", "shape", "dtype", "placement", "on a device", "copies")
    sides = ("left", "left", "left", "left", "right", "right")
    others = [leaf for _, leaf in flat if not (hasattr(leaf, "shape") and hasattr(leaf, "dtype"))]
    lines = (*_meshes([leaf for _, leaf in held]), *_others(others))
    total = (f"{len(arrays)} array{'s' * (len(arrays) != 1)}", "", "", "", _held(arrays), "")
    return Table(columns, sides, tuple(cells), lines, title, total)


def _cells(group: list[_Leaf]) -> tuple[str, ...]:
    first, path = group[0], group[0].alike[0]
    named = f"{len(group)} x {path}" if len(group) > 1 else first.path or "-"
    return named, first.shape, first.dtype, first.placed, _held(group), first.copies


def _held(leaves: list[_Leaf]) -> str:
    held = sum(leaf.held for leaf in leaves)
    return size(held) if held else "-"


def _read(path: str, leaf: Any) -> _Leaf:
    sharding: Any = getattr(leaf, "sharding", None)
    shape = tuple(leaf.shape)
    named = path, f"[{', '.join(map(str, shape))}]", str(leaf.dtype)
    if not hasattr(sharding, "shard_shape"):
        return _Leaf(*named, "no device", 0, "-")
    try:
        # Without the devices' index map: an abstract mesh has none, and for thousands of devices it takes long.
        part, whole = math.prod(sharding.shard_shape(shape)), math.prod(shape)
    except ValueError:
        return _Leaf(*named, f"{_placed(sharding)} does not divide it", 0, "-")
    terms = getattr(getattr(sharding, "spec", None), "unreduced", None)
    copies = "terms" if terms else str(sharding.num_devices * part // whole if whole else sharding.num_devices)
    return _Leaf(*named, _placed(sharding), part * leaf.dtype.itemsize, copies)


def _placed(sharding: Any) -> str:
    """The spec, or the one device; a memory that is not the device's own."""
    spec = getattr(sharding, "spec", None)
    devices = [] if spec is not None else sorted(device.id for device in sharding.device_set)
    placed = named(devices) if spec is None else str(spec).replace("',)", "')").replace("None,)", "None)")
    kind = getattr(sharding, "memory_kind", None)
    return f"{placed} in {kind}" if "host" in (kind or "") else placed


def _meshes(leaves: list[Any]) -> list[str]:
    """The meshes of the leaves, a line each."""
    meshes = (getattr(getattr(leaf, "sharding", None), "mesh", None) for leaf in leaves)
    sizes = (tuple(mesh.shape.items()) for mesh in meshes if mesh is not None and not mesh.empty)
    return ["mesh " + " ".join(f"{axis}={n}" for axis, n in each) for each in dict.fromkeys(sizes)]


def _others(leaves: list[Any]) -> list[str]:
    """What else the tree holds, by type."""
    kinds = collections.Counter("None" if leaf is None else type(leaf).__name__ for leaf in leaves)
    return ["no arrays: " + ", ".join(f"{count} {kind}" for kind, count in kinds.items())] if kinds else []
