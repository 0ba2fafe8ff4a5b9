"""From a sharding back to the text of an expression."""

from __future__ import annotations

import itertools
import math
import string
from collections.abc import Sequence
from typing import Any

import jax
from jax.sharding import AbstractMesh, NamedSharding, Sharding

from shardlab.errors import ShardingError
from shardlab.expressions.meshes import mesh_axes
from shardlab.expressions.parsing import parse
from shardlab.expressions.pattern import Element, Pattern, is_axis
from shardlab.expressions.resolution import Resolution, axes_text


def expression(x: Any, names: str | None = None) -> str:
    """The expression of an existing sharding: the inverse of `einshard`.

    It has numbers when the mesh holds all devices in the order of `jax.devices()`, and numbers can say it; else it names the
    mesh axes, and is read together with that mesh.

    Args:
        x: an array, a `jax.ShapeDtypeStruct` with a sharding, or a `NamedSharding` (the rank is then that of its spec).
        names: the dimensions, as on the left of an expression; `a b c ...` unless given.
    Raises:
        ShardingError: no expression describes it: partial sums, one device of several, axis names that `@` cannot take.
    Example:
        >>> from shardlab.expressions.sharding import spec
        >>> mesh = jax.sharding.AbstractMesh((4, 2), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
        >>> expression(NamedSharding(mesh, spec("a b -> a@model b")), names="batch d")
        'batch d -> batch@model d'
    """
    holder = jax.typeof(x) if isinstance(x, jax.core.Tracer) else x
    sharding = x if isinstance(x, Sharding) else getattr(holder, "sharding", None)
    if not isinstance(sharding, Sharding) or not (sharding is x or hasattr(x, "shape")):
        what = f"a value of type {type(x).__name__} has no sharding here."
        mend = "pass a jax.Array, a jax.ShapeDtypeStruct that was given a sharding, or the NamedSharding itself."
        raise ShardingError("nothing-to-express", what, where=f"sl.expression({str(x)[:80]})", mend=mend)
    rank = len(x.spec) if isinstance(x, NamedSharding) else len(x.shape) if sharding is not x else 0
    words = parse(f"{names} -> {names}").names if names else letter_names(rank)
    if len(words) != rank:
        raise ShardingError(
            "rank-does-not-fit",
            f"{len(words)} names for {rank} dimensions.",
            where=f'names="{names}"   {_text(sharding)}',
            mend="give one name to each dimension.",
        )
    resolution = _resolution(sharding, rank)
    text = resolution and ((_everywhere(sharding) and write_counts(resolution, words)) or write_axes(resolution, words))
    if not text:
        raise ShardingError(
            "no-expression",
            "no expression describes this sharding.",
            where=_text(sharding),
            mend="an expression cuts every device of a mesh equally, over axes whose names are letters, digits and `_`.",
        )
    return text


def _resolution(sharding: Any, rank: int) -> Resolution | None:
    """Mesh axes and spec of a sharding; `None` if it has none, or partial sums."""
    if isinstance(sharding, NamedSharding):
        spec, axes = sharding.spec, mesh_axes(sharding.mesh)
        known = all(entry is None or isinstance(entry, (str, tuple)) for entry in spec.partitions)
        partial = getattr(spec, "unreduced", None) or getattr(spec, "reduced", None)
        return Resolution(axes, spec.partitions + (None,) * (rank - len(spec))) if known and axes and not partial else None
    if sharding.is_fully_replicated and sharding.device_set == set(jax.devices()):
        return Resolution((("axis0", len(jax.devices())),), (None,) * rank)
    return None


def _everywhere(sharding: Any) -> bool:
    """Whether it is over all devices, in their order (which copies do not have)."""
    if not isinstance(sharding, NamedSharding):
        return True
    return not isinstance(sharding.mesh, AbstractMesh) and list(sharding.mesh.devices.flat) == jax.devices()


def _text(sharding: Any) -> str:
    if not isinstance(sharding, NamedSharding):
        return str(sharding)
    spec = str(sharding.spec).replace(", unreduced_kind=sum", "")  # written out since JAX 0.12, as the only kind there is
    return f"{spec}   mesh {axes_text(mesh_axes(sharding.mesh)) or '(none)'}"


def letter_names(rank: int) -> tuple[str, ...]:
    """`a`, `b`, ..., `z`, `aa`, ...: a name for each dimension."""
    words = itertools.chain.from_iterable(itertools.product(string.ascii_lowercase, repeat=n) for n in itertools.count(1))
    return tuple("".join(word) for word in itertools.islice(words, rank))


def write_counts(resolution: Resolution, names: Sequence[str]) -> str | None:
    """The expression with numbers for a mesh of all devices in their order, as short as it can be.

    Returns:
        `None` when a dimension is sharded over mesh axes in another order than that of the mesh.
    """
    order = [axis for axis, _ in resolution.axes]
    owner: dict[str, str] = {}
    for name, entry in zip(names, resolution.entries, strict=True):
        if [order.index(axis) for axis in entry] != sorted(order.index(axis) for axis in entry):
            return None
        owner |= dict.fromkeys(entry, name)
    cut = [(owner.get(axis), size) for axis, size in resolution.axes if size > 1]
    groups = ((name, math.prod(size for _, size in group)) for name, group in itertools.groupby(cut, lambda pair: pair[0]))
    return _write(names, [Element(name, count) for name, count in groups])


def write_axes(resolution: Resolution, names: Sequence[str]) -> str | None:
    """The expression with mesh axes; `None` when the name of one cannot be written after `@`."""
    pairs = list(zip(names, resolution.entries, strict=True))
    if not all(is_axis(axis) for _, entry in pairs for axis in entry):
        return None
    return _write(names, [Element(name, axes=entry) for name, entry in pairs])


def _write(names: Sequence[str], right: list[Element]) -> str:
    """The expression with this right side and, where they belong, the dimensions that it leaves out."""
    if not names:
        dots = Element(ellipsis=True)
        return str(Pattern("", (dots,), (*right, dots)))
    for before, name in zip((None, *names), names):
        placed = [element.name for element in right]
        if name in placed:
            continue
        first = next((i for i, other in enumerate(placed) if other is not None), len(placed))
        place = first if before is None else len(placed) - placed[::-1].index(before)
        right.insert(place, Element(name))
    return str(Pattern("", tuple(map(Element, names)), tuple(right)))
