"""Who holds which slice: a placement as plain data, read from a sharding or from JSON."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from numbers import Integral
from typing import Any

from shardlens.errors import LensError, shown

Slice = tuple[int, int]
Index = tuple[Slice, ...]
Spec = tuple[str | tuple[str, ...] | None, ...]
Axes = tuple[tuple[str, int], ...]


class DoesNotFit(LensError, ValueError):
    """A shape, the sizes of a mesh and a spec that make no placement."""


@dataclasses.dataclass(frozen=True)
class Placement:
    """The device-to-index map of one array, and the mesh and spec it came from.

    `shards` pairs a device id with the slice that it holds (start and stop a dimension), sorted by device id.
    `axes` and `spec` are `None` when the sharding names neither (a single device, a GSPMD sharding).
    Two placements are the same when `shape` and `shards` are: see `same_as`.

    Example:
        >>> lens.place((16, 4), {"x": 8}, ("x",)).shards[1]
        (1, ((2, 4), (0, 4)))
    """

    shape: tuple[int, ...]
    shards: tuple[tuple[int, Index], ...]
    axes: Axes | None = None
    spec: Spec | None = None
    dtype: str | None = None

    def same_as(self, other: Placement) -> bool:
        """Whether every device holds the same slice in both."""
        return self.shape == other.shape and self.shards == other.shards

    @property
    def devices(self) -> tuple[int, ...]:
        """Ids of the devices that hold something, ascending."""
        return tuple(device for device, _ in self.shards)

    @property
    def copies(self) -> int:
        """How many devices hold each element (the largest count, where it differs)."""
        holders = list(self.holders().values())
        return max(map(len, holders)) if holders else 0

    @property
    def shard_shape(self) -> tuple[int, ...]:
        """Shape of the first device's shard."""
        return tuple(stop - start for start, stop in self.shards[0][1])

    def holders(self) -> dict[Index, tuple[int, ...]]:
        """The devices that hold each distinct slice, slices in row-major order."""
        found: dict[Index, list[int]] = {}
        for device, index in self.shards:
            found.setdefault(index, []).append(device)
        return {index: tuple(found[index]) for index in sorted(found)}

    def to_json(self) -> dict[str, Any]:
        """Plain lists and strings, read back by `from_json`."""
        return {
            "shape": list(self.shape),
            "shards": [[device, [list(s) for s in index]] for device, index in self.shards],
            "axes": None if self.axes is None else [list(axis) for axis in self.axes],
            "spec": None if self.spec is None else [list(e) if isinstance(e, tuple) else e for e in self.spec],
            "dtype": self.dtype,
        }

    @classmethod
    def from_json(cls, raw: Any, *, devices: int = 4096) -> Placement:
        """A placement from untrusted JSON.

        Raises:
            ValueError: a field is missing, of another type, out of range, or there are more than `devices` shards.
        """
        if not isinstance(raw, dict) or set(raw) != {"shape", "shards", "axes", "spec", "dtype"}:
            raise ValueError("a placement has the fields shape, shards, axes, spec and dtype")
        shape = tuple(_whole(n) for n in _items(raw["shape"], 16))
        shards = []
        for pair in _items(raw["shards"], devices):
            device, index = _items(pair, 2)
            slices = tuple((_whole(start), _whole(stop)) for start, stop in (_items(s, 2) for s in _items(index, 16)))
            if len(slices) != len(shape) or any(not a <= b <= n for (a, b), n in zip(slices, shape)):
                raise ValueError(f"slice {slices} does not lie in shape {shape}")
            shards.append((_whole(device), slices))
        axes = None if raw["axes"] is None else tuple((_word(k), _whole(n)) for k, n in _items(raw["axes"], 16))
        spec = None if raw["spec"] is None else tuple(_entry(e) for e in _items(raw["spec"], 16))
        dtype = None if raw["dtype"] is None else _word(raw["dtype"])
        if len({device for device, _ in shards}) != len(shards):
            raise ValueError("a device holds two shards")
        return cls(shape, tuple(sorted(shards)), axes, spec, dtype)


def place(shape: Sequence[int], axes: Mapping[str, int] | Axes, spec: Spec, order: Sequence[int] | None = None) -> Placement:
    """The placement that `NamedSharding(mesh, P(*spec))` has, computed from its definition without JAX.

    Args:
        shape: global shape.
        axes: mesh axis names and sizes, slowest first.
        spec: for each dimension a mesh axis, a tuple of them, or `None`; may be shorter than the shape.
        order: device ids in mesh order; 0, 1, 2, ... unless given.
    Raises:
        LensError: an axis is unknown or used twice, a size does not divide, the spec is longer than the shape; or one of
            them is something else. It is a ValueError too.
    Example:
        >>> place((16, 4), {"x": 2, "y": 4}, ("x", "y")).shard_shape
        (8, 1)
    """
    where = f"shape {shown(shape)}   mesh {shown(axes)}   spec {shown(spec)}"
    _need_parts(shape, axes, spec, where)
    axes = tuple(axes.items()) if isinstance(axes, Mapping) else tuple(axes)
    sizes = dict(axes)
    spec = tuple(tuple(e) if isinstance(e, list) else e for e in spec)
    entries = [e if isinstance(e, tuple) else (() if e is None else (e,)) for e in spec]
    entries += [()] * (len(shape) - len(entries))
    if faults := [*_misfits(shape, sizes, entries)]:
        mend = f"give each dimension one of the axes {', '.join(sizes)}, several in a tuple, or None; each axis once."
        raise DoesNotFit("spec-does-not-fit", " ".join(faults), where=where, mend=mend)
    parts = [math.prod(sizes[axis] for axis in entry) for entry in entries]
    ids = list(range(math.prod(sizes.values()))) if order is None else _ids(order, math.prod(sizes.values()))
    shards = []
    for device, place_ in zip(ids, itertools.product(*(range(n) for _, n in axes)), strict=True):
        coordinates = dict(zip(sizes, place_))
        index = []
        for n, p, entry in zip(shape, parts, entries):
            block = 0
            for axis in entry:
                block = block * sizes[axis] + coordinates[axis]
            index.append((block * (n // p), (block + 1) * (n // p)))
        shards.append((device, tuple(index)))
    return Placement(tuple(shape), tuple(sorted(shards)), axes, tuple(spec))


def _need_parts(shape: Any, axes: Any, spec: Any, where: str) -> None:
    """Raises unless they are a shape, axes with sizes, and entries."""
    if not isinstance(shape, list | tuple) or not all(isinstance(n, Integral) and int(n) >= 0 for n in shape):
        raise DoesNotFit(
            "spec-does-not-fit", "the shape is not a tuple of sizes.", where=where, mend="write (16, 4), or x.shape."
        )
    pairs = [*axes.items()] if isinstance(axes, Mapping) else axes
    named = isinstance(pairs, list | tuple) and all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in pairs)
    if (
        not named
        or not all(isinstance(name, str) for name, _ in pairs)
        or len({name for name, _ in pairs}) != len(pairs)
        or not all(isinstance(size, Integral) and int(size) >= 1 for _, size in pairs)
    ):
        mend = "give each axis a name and a size of at least 1: {'x': 2, 'y': 4}; of a mesh, dict(mesh.shape)."
        raise DoesNotFit("spec-does-not-fit", "the axes are not names with sizes.", where=where, mend=mend)
    if isinstance(spec, str | Mapping) or not hasattr(spec, "__iter__"):
        mend = "give an entry for each dimension: ('x', None), or jax.P('x', None)."
        raise DoesNotFit("spec-does-not-fit", f"a {type(spec).__name__} is not a spec.", where=where, mend=mend)


def _misfits(shape: Sequence[int], sizes: Mapping[str, int], entries: Sequence[tuple[Any, ...]]) -> Iterator[str]:
    """What does not fit, a sentence each."""
    used = [axis for entry in entries for axis in entry]
    for axis in dict.fromkeys(map(str, used)):
        if axis not in sizes:
            yield f"The mesh has no axis {axis!r}."
        elif used.count(axis) > 1:
            yield f"The axis {axis!r} appears in the spec {used.count(axis)} times."
    if len(entries) > len(shape):
        yield f"The spec has {len(entries)} entries, but the array has {len(shape)} dimension{'s' * (len(shape) != 1)}."
    for number, (n, entry) in enumerate(zip(shape, entries)):
        if n % (parts := math.prod(sizes.get(str(axis), 1) for axis in entry)):
            yield f"{parts} blocks do not divide dimension {number} of size {n}."


def _ids(order: Any, devices: int) -> list[int]:
    ids = list(order) if isinstance(order, Sequence) and all(isinstance(id, Integral) for id in order) else []
    if len(ids) != devices or len({*ids}) != devices:
        what = f"the order does not name {devices} devices, each once."
        mend = "give the ids in the order of the mesh: [device.id for device in mesh.devices.flat]."
        raise DoesNotFit("spec-does-not-fit", what, where=f"order {shown(order)}", mend=mend)
    return ids


def placement_of(x: Any, shape: int | Sequence[int] | None = None) -> Placement:
    """The placement of a JAX array, of anything with `shape` and `sharding`, or of a sharding for `shape`.

    Raises:
        LensError: `x` has no sharding, or is a sharding and `shape` is missing; its mesh has no devices; its spec has more
            entries than the shape has dimensions; it is a sum whose terms are not added up.
    Example:
        >>> placement_of(jax.numpy.ones((2, 3))).shards
        ((0, ((0, 2), (0, 3))),)
    """
    import jax

    alone = isinstance(x, jax.sharding.Sharding)
    sharding = x if alone else getattr(x, "sharding", None)
    if not isinstance(sharding, jax.sharding.Sharding):
        raise _no_sharding(x)
    if isinstance(getattr(sharding, "mesh", None), jax.sharding.AbstractMesh):
        what = "this sharding is over an abstract mesh, which has axes but no devices."
        mend = "give the array itself, or a NamedSharding over a mesh from jax.make_mesh, and the array's shape."
        where = f"x is a {type(x).__name__}, like the one that jax.typeof returns"
        raise LensError("mesh-without-devices", what, where=where, mend=mend)
    if alone and shape is None:
        what = f"{type(x).__name__} alone does not say which slices its devices hold."
        mend = "give the global shape too, after the sharding: (16, 16)."
        raise LensError("sharding-without-shape", what, where="x is a sharding", mend=mend)
    try:
        if alone:
            return placed(sharding, (shape,) if isinstance(shape, int) else tuple(shape or ()))
        return placed(sharding, tuple(x.shape), str(x.dtype))
    except NotImplementedError as error:
        what = "this array is not added up yet: each device holds one term of each element, so no device holds a slice."
        mend = "first add the terms up with jax.reshard(x, P(...)); the terms are in x.addressable_shards."
        raise LensError("partial-sums", what, where=f"x is cut by {sharding}", mend=mend) from error


def placed(sharding: Any, shape: tuple[int, ...], dtype: str | None = None) -> Placement:
    """The placement of an array that a sharding over devices cuts.

    Raises:
        NotImplementedError: of partial sums JAX gives no index map.
        LensError: the spec has more entries than the shape has dimensions.
    """
    import jax

    if isinstance(sharding, jax.sharding.NamedSharding) and len(sharding.spec) > len(shape):
        # JAX itself looks up the missing dimension in a list, and says no more than that.
        has = f"{len(shape)} dimension{'s' * (len(shape) != 1)}"
        what = f"the spec has {len(sharding.spec)} entries, but the array has {has}."
        where, mend = f"{sharding.spec}   shape {list(shape)}", "give it at most one entry for each dimension."
        raise LensError("spec-does-not-fit", what, where=where, mend=mend)
    # JAX writes slice(None) for a whole dimension and numbers for parts of it; `indices` makes numbers of both.
    mapping = sharding.devices_indices_map(shape)
    shards = sorted(
        (device.id, tuple(s.indices(n)[:2] for s, n in zip(index, shape, strict=True))) for device, index in mapping.items()
    )
    if not isinstance(sharding, jax.sharding.NamedSharding):
        return Placement(shape, tuple(shards), dtype=dtype)
    axes = tuple((str(name), int(size)) for name, size in sharding.mesh.shape.items())
    return Placement(shape, tuple(shards), axes, tuple(sharding.spec.partitions), dtype)


def _no_sharding(x: Any) -> LensError:
    import jax

    mend = "give a JAX array (jax.device_put(x, sharding) makes one); inside jit, print jax.typeof(x) instead."
    if isinstance(x, jax.P):
        mend = f"a spec has neither a mesh nor a shape: give jax.NamedSharding(mesh, {x}) and a shape."
    elif x is not None and not jax.tree_util.all_leaves([x]):
        mend = "give one of its arrays; show_tree(x) or sl.show(x) shows all of them in a table."
    kind = type(x)
    where = f"x is a {kind.__module__}.{kind.__qualname__}".replace("builtins.", "")
    return LensError("no-sharding", f"{kind.__name__} has no sharding.", where=where, mend=mend)


def _items(value: Any, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise ValueError(f"expected a list of at most {most} entries")
    return value


def _whole(value: Any) -> int:
    # Not `isinstance`: True is an int, and JSON has it.
    if type(value) is not int or not 0 <= value < 2**53:
        raise ValueError(f"expected a whole number, got {type(value).__name__}")
    return value


def _word(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 64:
        raise ValueError("expected a short name")
    return value


def _entry(value: Any) -> str | tuple[str, ...] | None:
    if isinstance(value, list):
        return tuple(_word(v) for v in _items(value, 16))
    return None if value is None else _word(value)
