"""From expressions to JAX shardings, each made once: the mesh in force, meshes of all devices, cached shardings."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

from shardlab.errors import ShardingError
from shardlab.expressions.parsing import parse
from shardlab.expressions.quote import Fault, sharding_error
from shardlab.expressions.resolution import Shape, axes_of, axes_text, resolve, resolve_on, shape_text
from shardlens import Axes, Spec

Where = Mesh | AbstractMesh | Any


def where(mesh: Mesh | AbstractMesh | None = None) -> Where:
    """What an expression is resolved on: `mesh`, else the mesh of `jax.set_mesh`, else the backend, for all its devices.

    Raises:
        ShardingError: `mesh` is no mesh, or has no axes.
    """
    if mesh is not None:
        if not isinstance(mesh, (Mesh, AbstractMesh)) or mesh.empty:
            raise _not_a_mesh(mesh)
        return mesh
    context = jax.sharding.get_abstract_mesh()
    if context.empty:
        # It stands for its devices in the caches below: once `setup` has replaced it, no sharding of the old one is found.
        return _backends()()
    try:
        concrete = jax.sharding.get_mesh()
    except ValueError:  # JAX names no concrete mesh while it traces
        return context
    return context if concrete.empty else concrete


@functools.cache
def _backends() -> Callable[[], Any]:
    # At the first use, since it costs an eighth of a second; once, since `import` takes as long as the rest of `where`.
    from jax.extend import backend

    found: Callable[[], Any] = backend.get_backend
    return found


@functools.lru_cache(maxsize=8192)
def placing(text: str, shape: Shape | int | None, place: Where) -> NamedSharding:
    """As `sharding_for`, for what is to hold outside of `jax.shard_map`.

    Raises:
        ShardingError: as for `sharding_for`; or it is over a Manual axis.
    """
    sharding = sharding_for(text, shape, place)
    kinds = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
    used = {axis for entry in sharding.spec for axis in axes_of(entry)}
    # Of a mesh without devices the other axes can be named: it may be that of the context, inside of `jax.shard_map`.
    every = isinstance(sharding.mesh, Mesh) or not used
    manual = [axis for axis, kind in kinds.items() if kind == AxisType.Manual and (every or axis in used)]
    if manual:
        what = f"the mesh axis {manual[0]!r} is Manual, and nothing is placed over such an axis."
        where = f'"{text}"   {shape_text(shape)}   mesh {axes_text(mesh_axes(sharding.mesh))}'
        mend = "pass the mesh that jax.shard_map is called with, whose axes are Auto or Explicit."
        raise ShardingError("manual-axis", what, where=where, mend=mend)
    return sharding


@functools.lru_cache(maxsize=8192)
def ready(text: str, shape: Shape, place: Where) -> NamedSharding | None:
    """The sharding of an expression where `jax.device_put` needs nothing but it: all its devices are of this process."""
    sharding = placing(text, shape, place)
    return sharding if not isinstance(sharding.mesh, AbstractMesh) and sharding.is_fully_addressable else None


@functools.lru_cache(maxsize=8192)
def sharding_for(text: str, shape: Shape | int | None, place: Where) -> NamedSharding:
    """The sharding of an expression for a shape (or rank) on what `where` found.

    Raises:
        ShardingError: the expression cannot be read, or does not fit.
    """
    if isinstance(place, (Mesh, AbstractMesh)):
        return _on_mesh(text, shape, place)
    found = resolve(text, shape, len(jax.devices()))
    return _named(_grid(found.axes, tuple(jax.devices())), found.spec)


def _not_a_mesh(mesh: Any) -> ShardingError:
    held = isinstance(getattr(mesh, "mesh", None), (Mesh, AbstractMesh))
    empty = isinstance(mesh, (Mesh, AbstractMesh))
    what = "mesh= is a mesh without axes." if empty else f"mesh= takes a mesh, but this is of type {type(mesh).__name__}."
    mend = "pass its mesh: mesh=sharding.mesh." if held else "pass what jax.make_mesh returns, or leave it out."
    return ShardingError("not-a-device-mesh", what, where=f"mesh={str(mesh)[:100]}", mend=mend)


def mesh_axes(mesh: Mesh | AbstractMesh) -> Axes:
    """Names and sizes of the axes, slowest first."""
    return tuple((str(name), int(size)) for name, size in mesh.shape.items())


def _on_mesh(text: str, shape: Shape | int | None, mesh: Mesh | AbstractMesh) -> NamedSharding:
    """With numbers that no grouping of the axes gives, a new mesh of the same devices, where that is possible."""
    if found := resolve_on(text, shape, mesh_axes(mesh)):
        return _named(mesh, found.spec)
    if isinstance(mesh, AbstractMesh) or AxisType.Explicit in mesh.axis_types:
        spans = tuple(element.span for element in parse(text).right if element.counted)
        what = "the sizes of the mesh axes, taken in order, do not multiply to the numbers"
        mend = f"name mesh axes with '@', like 'a@{mesh.axis_names[0]}'."
        context = (shape_text(shape), f"mesh {axes_text(mesh_axes(mesh))}")
        raise sharding_error(text, [Fault("numbers-off-mesh", what, mend, spans)], *context)
    counted = resolve(text, shape, mesh.size)
    return _named(_grid(counted.axes, tuple(mesh.devices.flat)), counted.spec)


@functools.lru_cache(maxsize=256)
def _grid(axes: Axes, devices: Sequence[jax.Device]) -> Mesh:
    names, sizes = zip(*axes)
    return Mesh(np.array(devices).reshape(sizes), names, axis_types=(AxisType.Auto,) * len(axes))


@functools.lru_cache(maxsize=8192)
def _named(mesh: Mesh | AbstractMesh, spec: Spec) -> NamedSharding:
    return NamedSharding(mesh, jax.P(*spec))
