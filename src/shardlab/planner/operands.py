"""From operand expressions to placements on one mesh that they share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
from jax.sharding import AbstractMesh, Mesh

from shardlab.errors import ShardingError
from shardlab.expressions.meshes import mesh_axes, where
from shardlab.expressions.quote import Fault, sharding_error, shown
from shardlab.expressions.resolution import Resolution, axes_text, resolve, resolve_on
from shardlab.placement import Axes
from shardlab.planner.contraction import Contraction, Names
from shardlab.planner.layouts import Layout

MeshLike = Mesh | AbstractMesh | Mapping[str, int] | None


@dataclasses.dataclass(frozen=True)
class Place:
    """What plans are made for.

    Args:
        axes: names and sizes of the mesh axes; `None` for all devices, whose axes follow from the expressions.
        devices: how many.
        mesh: the mesh, where there is one of real devices.
    """

    axes: Axes | None
    devices: int
    mesh: Mesh | None = None


def place_of(mesh: MeshLike) -> Place:
    """The mesh given, or that of `jax.set_mesh`, or all devices."""
    if isinstance(mesh, Mapping):
        axes = tuple((str(name), int(size)) for name, size in mesh.items())
        return Place(axes, math.prod(size for _, size in axes))
    found = where(mesh)
    if isinstance(found, (Mesh, AbstractMesh)):
        return Place(mesh_axes(found), found.size, found if isinstance(found, Mesh) else None)
    return Place(None, len(jax.devices()))


def layouts(
    said: Contraction, names: Sequence[Names], expressions: Sequence[str], shapes: Sequence[Sequence[int]], place: Place
) -> tuple[Layout, ...]:
    """The placement of each array, over mesh axes that all of them share.

    Raises:
        ShardingError: an expression cannot be read or does not fit, or together they fit no mesh.
    """
    texts = [full(said, own, text) for own, text in zip(names, expressions)]
    found = [_resolution(text, tuple(shape), place) for text, shape in zip(texts, shapes)]
    if place.axes is None:
        found = _shared(texts, found, place.devices)
    return tuple(_layout(own, tuple(shape), resolution) for own, shape, resolution in zip(names, shapes, found))


def full(said: Contraction, names: Names, text: Any) -> str:
    """The whole expression of an operand of which only the right side may be written; `...` stands for what is left out.

    Raises:
        ShardingError: the expression has dimensions of its own.
    """
    left = " ".join(names)
    if not isinstance(text, str):
        fault = Fault("not-text", f"an expression is text, not {type(text).__name__}", f'write it like "{left}".')
        raise sharding_error(f"<{type(text).__name__}>", [fault])
    if "->" in text:
        own, _, right = text.partition("->")
        words = own.split()
        if words not in (list(names), ["..."]):
            what = f"the contraction gives this array the dimensions {shown(left)}"
            mend = "name the dimensions as the contraction does, or write the right side alone."
            fault = Fault("dimensions-differ", what, mend, ((0, len(own.rstrip())),))
            raise sharding_error(text, [fault], f'in "{said.text}"')
        text = right.strip()
    if "..." not in text.split():
        return f"{left} -> {text}"
    written = {word.rstrip("*0123456789").split("@")[0] for word in text.split()}
    rest = " ".join(name for name in names if name not in written)
    return f"{left} -> " + " ".join(rest if word == "..." else word for word in text.split())


def _resolution(text: str, shape: tuple[int, ...], place: Place) -> Resolution:
    if place.axes is None:
        return resolve(text, shape, place.devices)
    found = resolve_on(text, shape, place.axes)
    if found is None:
        what = "the axes of the mesh, in their order, do not multiply to the numbers"
        fault = Fault("numbers-off-mesh", what, f"name mesh axes with '@', like 'a@{place.axes[0][0]}'.")
        raise sharding_error(text, [fault], f"shape {shape}", f"mesh {axes_text(place.axes)}")
    return found


def _shared(texts: Sequence[str], found: Sequence[Resolution], devices: int) -> list[Resolution]:
    """The same placements over one mesh whose axes are fine enough for all."""
    marks = sorted({mark for resolution in found for mark in _marks(resolution)} | {1, devices})
    if any(b % a for a, b in zip(marks, marks[1:])):
        raise ShardingError(
            "no-common-mesh", "the expressions cut the devices in ways that no mesh has together.",
            where="   ".join(f'"{text}"' for text in texts) + f"   {devices} devices",
            mend="write the same numbers in the same order, or name the axes of a mesh with '@'.",
        )  # fmt: skip
    fine = tuple((f"axis{i}", b // a) for i, (a, b) in enumerate(zip(marks, marks[1:]))) or (("axis0", 1),)
    return [_finer(resolution, fine) for resolution in found]


def _marks(resolution: Resolution) -> list[int]:
    marks = [1]
    for _, size in resolution.axes:
        marks.append(marks[-1] * size)
    return marks


def _finer(resolution: Resolution, fine: Axes) -> Resolution:
    groups: dict[str, tuple[str, ...]] = {}
    rest = list(fine)
    for name, size in resolution.axes:
        group: list[tuple[str, int]] = []
        while rest and math.prod(n for _, n in group) < size:
            group.append(rest.pop(0))
        groups[name] = tuple(axis for axis, _ in group)
    return Resolution(fine, tuple(tuple(a for axis in entry for a in groups[axis]) for entry in resolution.entries))


def _layout(names: Names, shape: tuple[int, ...], resolution: Resolution) -> Layout:
    """Mesh axes of size 1 cut nothing and are left out."""
    size = dict(resolution.axes)
    entries = tuple(tuple(axis for axis in entry if size[axis] > 1) for entry in resolution.entries)
    axes = tuple((axis, n) for axis, n in resolution.axes if n > 1) or resolution.axes[:1]
    return Layout(names, shape, entries, axes)
