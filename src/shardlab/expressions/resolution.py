"""What an expression means for a shape and for devices: mesh axes and a spec, in exact integers, without JAX."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from shardlab.errors import ShardingError
from shardlab.expressions import counts, misfits
from shardlab.expressions.parsing import parse
from shardlab.expressions.pattern import Element, Pattern
from shardlab.expressions.quote import sharding_error
from shardlens import Axes, Spec

Shape = tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Resolution:
    """Mesh axes with their sizes, slowest first, and for each dimension the axes that it is sharded over."""

    axes: Axes
    spec: Spec

    @property
    def entries(self) -> tuple[tuple[str, ...], ...]:
        """For each dimension the axes that it is sharded over, none for a whole one."""
        return tuple(map(axes_of, self.spec))


def resolve(text: str, shape: Shape | int | None, devices: int) -> Resolution:
    """The mesh and spec of an expression with numbers, over so many devices.

    Axes of size 1 are left out, and the others are called `axis0`, `axis1`, ...: expressions that cut the devices in the
    same way share one mesh.

    Args:
        shape: global shape, or only how many dimensions there are; `None` to take the names for all of them.
    Raises:
        ShardingError: the expression, the shape and the devices do not fit; all faults of one kind at once.
    Example:
        >>> resolve("a b -> 2 b4 a", (6, 8), devices=8)
        Resolution(axes=(('axis0', 2), ('axis1', 4)), spec=(None, 'axis1'))
    """
    context = (shape_text(shape), f"{devices} device{'s' * (devices != 1)}")
    pattern = _parse(text, context)
    if pattern.named:
        raise sharding_error(text, [misfits.mesh_missing(pattern)], *context)
    dimensions = _dimensions(pattern, shape, context)
    extents = _extents(dimensions, shape)
    sizes = counts.sizes(pattern.right, devices)
    if sizes is None:
        raise sharding_error(text, [counts.fault(pattern, devices, extents)], *context)
    if faults := misfits.part_faults(pattern, extents, sizes, devices):
        raise sharding_error(text, faults, *context)
    kept = [i for i, size in enumerate(sizes) if size > 1]
    over = {i: (f"axis{k}",) for k, i in enumerate(kept)}
    axes = tuple((over[i][0], sizes[i]) for i in kept) or (("axis0", 1),)
    return Resolution(axes, _spec(dimensions, pattern.right, over))


def resolve_on(text: str, shape: Shape | int | None, axes: Axes) -> Resolution | None:
    """The spec of an expression on a mesh that exists.

    With `@`, dimensions are sharded over the axes that they name, and the other axes hold copies. With numbers, the axes are
    those whose sizes, in mesh order, multiply to the numbers.

    Returns:
        `None` when the numbers fit the devices of the mesh and not its axes.
    Raises:
        ShardingError: as for `resolve`; or an axis is unknown, or used twice.
    """
    context = (shape_text(shape), f"mesh {axes_text(axes)}")
    pattern = _parse(text, context)
    if pattern.counted:
        return _on_axes(resolve(text, shape, math.prod(n for _, n in axes)), axes)
    dimensions = _dimensions(pattern, shape, context)
    faults = list(misfits.axis_faults(pattern, [name for name, _ in axes]))
    if faults := faults or list(misfits.axis_size_faults(pattern, _extents(dimensions, shape), axes)):
        raise sharding_error(text, faults, *context)
    return Resolution(axes, _spec(dimensions, pattern.right, {i: e.axes for i, e in enumerate(pattern.right)}))


def axis_spec(text: str, ndim: int | None = None) -> Spec:
    """The spec of an expression with `@`, for any mesh that has the axes."""
    context = (shape_text(ndim),)
    pattern = _parse(text, context)
    if faults := list(misfits.axis_faults(pattern)):
        raise sharding_error(text, faults, *context)
    dimensions = _dimensions(pattern, ndim, context)
    return _spec(dimensions, pattern.right, {i: e.axes for i, e in enumerate(pattern.right)})


def axes_of(entry: Any) -> tuple[str, ...]:
    """The mesh axes of a spec's entry."""
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


def axes_text(axes: Axes) -> str:
    """`data=4, model=2`."""
    return ", ".join(f"{name}={size}" for name, size in axes)


def shape_text(shape: Shape | int | None) -> str:
    """How an error names the shape, if there is one."""
    if shape is None:
        return ""
    return f"rank {shape}" if isinstance(shape, int) else f"shape {shape}"


def _parse(text: str, context: Sequence[str]) -> Pattern:
    try:
        return parse(text)
    except ShardingError as error:
        raise error.within(*context) from None


def _dimensions(pattern: Pattern, shape: Shape | int | None, context: Sequence[str]) -> tuple[str | None, ...]:
    """The name of each dimension; `None` for those that `...` stands for."""
    names, elided = pattern.names, pattern.elided
    rank = shape if isinstance(shape, int) else None if shape is None else len(shape)
    if elided is None and rank in (None, len(names)):
        return names
    if elided is not None and rank is not None and rank >= len(names):
        return names[:elided] + (None,) * (rank - len(names)) + names[elided:]
    after = set(names[elided:])
    if rank is None and not any(e.counted or e.axes for e in pattern.right if e.name in after):
        return names[:elided]
    raise sharding_error(pattern.text, [misfits.rank_fault(pattern, rank)], *context)


def _extents(dimensions: Sequence[str | None], shape: Shape | int | None) -> dict[str, int]:
    """Sizes of the named dimensions, where the shape is known."""
    known = shape if isinstance(shape, tuple) else ()
    return {name: n for name, n in zip(dimensions, known) if name is not None}


def _spec(dimensions: Sequence[str | None], right: Sequence[Element], axes: Mapping[int, tuple[str, ...]]) -> Spec:
    over: dict[str | None, tuple[str, ...]] = {}
    for i, element in enumerate(right):
        if element.name is not None:
            over[element.name] = over.get(element.name, ()) + axes.get(i, ())
    return tuple(_entry(over.get(name, ())) for name in dimensions)


def _entry(axes: Iterable[str]) -> str | tuple[str, ...] | None:
    axes = tuple(axes)
    return axes if len(axes) > 1 else axes[0] if axes else None


def _on_axes(counted: Resolution, axes: Axes) -> Resolution | None:
    """The same placement over the axes of a mesh, if these can be grouped into the axes of `counted`."""
    groups: dict[str, tuple[str, ...]] = {}
    rest = [(name, size) for name, size in axes if size > 1]
    for name, wanted in counted.axes:
        group: tuple[str, ...] = ()
        size = 1
        while rest and size < wanted:
            axis, n = rest.pop(0)
            group, size = (*group, axis), size * n
        if size != wanted:
            return None
        groups[name] = group
    return Resolution(axes, tuple(_entry(axis for name in entry for axis in groups[name]) for entry in counted.entries))
