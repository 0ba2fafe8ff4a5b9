"""Arrays that are not added up yet: where their blocks lie, and over which mesh axes each block is only a term."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from shardlens.placement import Axes, Index, Placement, place, placed
from shardlens.reading.groups import axes_of

if TYPE_CHECKING:
    import numpy as np


def placed_of(sharding: Any, shape: Sequence[int], axes: Axes | None) -> tuple[Placement, tuple[str, ...]]:
    """The placement of any array's blocks, and the mesh axes over which they have to be summed, mostly none.

    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> placement, summed = placed_of(jax.NamedSharding(mesh, jax.P("x")), (16, 4), None)
        >>> placement.shard_shape, summed
        ((2, 4), ())
    """
    sharding = _named_right(sharding, len(shape))
    try:
        return placed(sharding, tuple(shape)), ()
    except NotImplementedError:  # JAX gives no index map for partial sums
        return terms_of(sharding, shape, axes)


def _named_right(sharding: Any, rank: int) -> Any:
    """The sharding as JAX should name it.

    Where XLA says of a compiled program's output that it is cut and has to be summed, JAX 0.10 and 0.12 write the axes to be
    summed over as the entry of one dimension more.
    """
    import jax

    if not isinstance(sharding, jax.NamedSharding) or len(sharding.spec) != rank + 1:
        return sharding
    *spec, over = sharding.spec
    return jax.NamedSharding(sharding.mesh, jax.P(*spec, unreduced={over} if isinstance(over, str) else set(over)))


def terms_of(sharding: Any, shape: Sequence[int], axes: Axes | None) -> tuple[Placement, tuple[str, ...]]:
    """The placement of an array's blocks, terms counted as copies, and the mesh axes over which they have to be summed.

    `placement_of` refuses such arrays, because no device holds a slice of the sum. XLA's own description of a sharding
    names the devices of each block, and says of the rest whether they hold copies or terms.

    Args:
        sharding: of a compiled program's output; it need not name a mesh.
        shape: the global shape.
        axes: the mesh whose devices, in mesh order, hold the array; without it neither spec nor axes are named.
    """
    import numpy as np

    # Private, for want of anything public: `devices_indices_map` raises NotImplementedError for unreduced axes (JAX 0.10),
    # and a compiled program's output may have a sharding without a mesh.
    described = sharding._to_xla_hlo_sharding(len(shape))
    if not described.is_tiled():
        return _whole(described, sharding, tuple(shape), axes)
    tiles = np.array(described.tile_assignment_devices()).reshape(described.tile_assignment_dimensions())
    ids = [device.id for device in sharding._device_assignment]
    shards = sorted((ids[position], _block(at, tiles.shape, shape)) for at, position in np.ndenumerate(tiles))
    # By name: the enum of subgroup types is jaxlib's own, and has no public home.
    over = [len(shape) + i for i, kind in enumerate(described.subgroup_types()) if "UNREDUCED" in str(kind).upper()]
    found = Placement(tuple(shape), tuple(shards), axes)
    named = [_along(tiles, [d], axes) for d in range(len(shape))]
    spec = tuple(names[0] if len(names) == 1 else names or None for names in named)
    right = axes is not None and place(shape, axes, spec, ids).same_as(found)
    return dataclasses.replace(found, spec=spec if right else None), _along(tiles, over, axes)


def _whole(described: Any, sharding: Any, shape: tuple[int, ...], axes: Axes | None) -> tuple[Placement, tuple[str, ...]]:
    """An array of which every device holds a block of full size: equal ones, or terms over all axes."""
    index = tuple((0, n) for n in shape)
    shards = tuple(sorted((device.id, index) for device in sharding._device_assignment))
    over = tuple(name for name, size in axes or () if size > 1) if described.is_unreduced() else ()
    return Placement(shape, shards, axes, ()), over


def _block(at: tuple[int, ...], tiles: tuple[int, ...], shape: Sequence[int]) -> Index:
    sizes = [math.ceil(n / parts) for n, parts in zip(shape, tiles)]
    return tuple((min(i * size, n), min((i + 1) * size, n)) for i, size, n in zip(at, sizes, shape))


def _along(tiles: np.ndarray, dimensions: list[int], axes: Axes | None) -> tuple[str, ...]:
    """The mesh axes along which the devices in these dimensions of the tiling differ."""
    width = math.prod(tiles.shape[d] for d in dimensions)
    if width == 1 or axes is None:
        return ()
    others = [d for d in range(tiles.ndim) if d not in dimensions]
    rows = tiles.transpose(*others, *dimensions).reshape(-1, width)
    return axes_of(tuple(tuple(map(int, row)) for row in rows), axes, pairs=False)
