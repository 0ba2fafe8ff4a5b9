"""The words of a picture: shape, mesh, spec, bytes and holders of a placement, each ready to print."""

from __future__ import annotations

import dataclasses
import math
import re

from shardlens import Placement, drawing


@dataclasses.dataclass(frozen=True)
class Facts:
    """The words above a picture, each ready to print.

    `dimensions` pairs each size with the mesh axes that shard it: the subscript notation of the Scaling Book.
    """

    array: str
    mesh: str
    spec: str
    dimensions: tuple[tuple[int, tuple[str, ...]], ...] | None
    shard: str
    bytes: str
    copies: str

    @property
    def notation(self) -> str:
        """As `A[16_x, 16]`; empty for a scalar, or when there is no spec."""
        if not self.dimensions:
            return ""
        return f"A{drawing.brackets(_sized(n, axes) for n, axes in self.dimensions)}"


def facts(placement: Placement) -> Facts:
    """Shape, mesh, spec, shard shape, bytes a device and copies of a placement, in words."""
    shapes = {tuple(b - a for a, b in index) for _, index in placement.shards}
    shard = max(shapes, key=math.prod, default=())
    upto = "up to " if len(shapes) > 1 else ""
    counts = {len(holders) for holders in placement.holders().values()} or {0}
    least, most = min(counts), max(counts)
    elements, bits = math.prod(shard), _bits(placement.dtype)
    held = f"{elements:,} element{'s' * (elements != 1)}" if bits is None else drawing.size(elements * bits // 8)
    return Facts(
        array=f"{drawing.plain(placement.dtype or 'shape ')}{drawing.brackets(placement.shape)}",
        mesh=_mesh(placement),
        spec="" if placement.spec is None else f"P({', '.join(map(drawing.plain, map(repr, placement.spec)))})",
        dimensions=_dimensions(placement),
        shard=f"shard {upto}{drawing.brackets(shard)}" if shapes else "no shards",
        bytes=f"{upto}{held} a device" if shapes else "nothing held",
        copies=(f"{least} to " if least != most else "") + f"{most} {'copy' if most == 1 else 'copies'}",
    )


def _mesh(placement: Placement) -> str:
    """The mesh in words. A target of an exercise hides the mesh of its many devices: then nothing is said."""
    if placement.axes is None:
        return "no mesh" if len(placement.devices) == 1 else ""
    return "mesh " + " ".join(f"{drawing.plain(k)}={n}" for k, n in placement.axes)


def described(placement: Placement) -> str:
    """The whole picture in words, for those who do not see it; at most 64 slices."""
    known = facts(placement)
    head = ", ".join(filter(None, (known.array, known.mesh, known.spec, known.shard, known.bytes, known.copies)))
    holders = list(placement.holders().items())
    said = [
        f"{drawing.written(index) if index else 'the scalar'} on {drawing.named(block)}" for index, block in holders[:64]
    ]
    more = [f"and {len(holders) - 64} more slices"] * (len(holders) > 64)
    return f"{head}. {'; '.join([*said, *more]) or 'No device holds anything'}."


def _dimensions(placement: Placement) -> tuple[tuple[int, tuple[str, ...]], ...] | None:
    if placement.spec is None:
        return None
    entries = [(e,) if isinstance(e, str) else tuple(e or ()) for e in placement.spec]
    entries += [()] * (len(placement.shape) - len(entries))
    return tuple(zip(placement.shape, entries))


def _sized(n: int, axes: tuple[str, ...]) -> str:
    return f"{n}_{{{drawing.subscript(axes)}}}" if len(axes) > 1 else "_".join((str(n), *map(drawing.plain, axes)))


def _bits(dtype: str | None) -> int | None:
    """Bits of an element as JAX counts `nbytes` (a whole byte for int4); `None` for a dtype without a size."""
    if dtype == "bool":
        return 8
    found = re.match(r"(?:bfloat|float|uint|int|complex)(\d{1,3})(?:_|$)", dtype or "")
    return max(8, int(found[1])) if found else None
