"""From expressions to JAX shardings, each made once: the mesh in force, meshes of all devices, cached shardings."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.backend import get_backend
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

from shardlab.expressions.parsing import parse
from shardlab.expressions.quote import Fault, sharding_error
from shardlab.expressions.resolution import Shape, axes_text, resolve, resolve_on, shape_text
from shardlab.placement import Axes, Spec

Where = Mesh | AbstractMesh | Any


def where(mesh: Mesh | AbstractMesh | None = None) -> Where:
    """What an expression is resolved on: `mesh`, else the mesh of `jax.set_mesh`, else the backend, for all its devices."""
    if mesh is not None:
        return mesh
    context = jax.sharding.get_abstract_mesh()
    if context.empty:
        # It stands for its devices in the caches below: once `setup` has replaced it, no sharding of the old one is found.
        return get_backend()
    try:
        return jax.sharding.get_mesh()
    except ValueError:  # JAX names no concrete mesh while it traces
        return context


@functools.lru_cache(maxsize=8192)
def ready(text: str, shape: Shape, place: Where) -> NamedSharding | None:
    """The sharding of an expression where `jax.device_put` needs nothing but it: all its devices are of this process."""
    sharding = sharding_for(text, shape, place)
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


def mesh_axes(mesh: Mesh | AbstractMesh) -> Axes:
    """Names and sizes of the axes, slowest first."""
    return tuple((str(name), int(size)) for name, size in mesh.shape.items())


def _on_mesh(text: str, shape: Shape | int | None, mesh: Mesh | AbstractMesh) -> NamedSharding:
    """With numbers that no grouping of the axes gives, a new mesh of the same devices, where that is possible."""
    if found := resolve_on(text, shape, mesh_axes(mesh)):
        return _named(mesh, found.spec)
    if isinstance(mesh, AbstractMesh) or AxisType.Explicit in mesh.axis_types:
        spans = tuple(element.span for element in parse(text).right if element.counted)
        what = "the axes of the mesh, in their order, do not multiply to the numbers"
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
