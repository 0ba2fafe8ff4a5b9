"""One array of any kind under an expression: placed, constrained while JAX traces, or described."""

from __future__ import annotations

import functools
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

from shardlab.errors import ShardingError
from shardlab.expressions.meshes import Where, mesh_axes, placing, sharding_for, where
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import axes_of, axes_text

ARRAYS = (jax.Array, jax.ShapeDtypeStruct, bool, int, float, complex)


def is_array(x: Any) -> bool:
    """Whether `x` is one array or number that JAX takes, and not a tree of them; NumPy's masked arrays are none."""
    if isinstance(x, (np.ndarray, np.generic)):
        return _numeric(x.dtype) and not isinstance(x, np.ma.MaskedArray)
    return isinstance(x, ARRAYS)


@functools.cache
def _numeric(dtype: np.dtype) -> bool:
    # By JAX, which knows bfloat16 and its kin for numbers; to NumPy they are of no kind. NumPy's long ones it does not have.
    return dtype.char not in "gG" and bool(jax.numpy.issubdtype(dtype, np.number) or dtype.kind == "b")


def shard(x: Any, text: str, mesh: Mesh | AbstractMesh | None = None) -> Any:
    """`x` as the expression says; see `shardlab.expressions.sharding.einshard`."""
    if isinstance(x, jax.core.Tracer):
        return _constrain(x, sharding_for(text, x.shape, _traced_where(x, text, mesh)))
    shape = np.shape(x)
    sharding = placing(text, shape, where(mesh))
    if isinstance(x, jax.ShapeDtypeStruct):
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding, weak_type=x.weak_type)
    if isinstance(sharding.mesh, AbstractMesh):
        return _over_abstract(x, sharding)
    if sharding.is_fully_addressable:
        return jax.device_put(x, sharding)
    # Not `device_put`: of a host array it compares all processes' values first, by collectives (`assert_equal` in JAX).
    return _place_globally(x, sharding)


def _over_abstract(x: Any, sharding: NamedSharding) -> jax.Array:
    """An array that is on a mesh of the same axes, on that mesh; a constant that JAX meets as it traces, on the context's.

    For any other, a mesh without devices does not tell where to go.
    """
    own = getattr(getattr(x, "sharding", None), "mesh", None)
    if own is not None and mesh_axes(own) == mesh_axes(sharding.mesh):
        moved: jax.Array = jax.device_put(x, NamedSharding(own, sharding.spec))
        return moved
    if jax.sharding.get_abstract_mesh().empty or not _tracing():
        raise _no_devices(x, sharding.mesh)
    return _constrain(x, sharding)


def _tracing() -> bool:
    try:
        return jax.sharding.get_mesh() is None
    except ValueError:  # JAX names no concrete mesh while it traces
        return True


def _no_devices(x: Any, mesh: Mesh | AbstractMesh) -> ShardingError:
    what = "the mesh is abstract: it has no devices, and nothing says which are meant."
    mend = "pass a mesh of devices, as jax.make_mesh returns, or work inside `with jax.set_mesh(mesh):`."
    where_ = f"argument {jax.typeof(x)}   mesh {axes_text(mesh_axes(mesh))}"
    return ShardingError("abstract-mesh", what, where=where_, mend=mend)


def _place_globally(x: Any, sharding: NamedSharding) -> jax.Array:
    """On devices of several processes: a global array is moved, a host array that every process holds is cut up."""
    if isinstance(x, jax.Array) and not x.is_fully_addressable:
        # An identity under `jit`, since it is the compiler that moves what lies on other processes' devices.
        moved: jax.Array = jax.jit(lambda a: a, out_shardings=sharding)(x)
        return moved
    # Random keys have no NumPy form; their data have.
    if isinstance(x, jax.Array) and jax.numpy.issubdtype(x.dtype, jax.dtypes.prng_key):
        data = _place_globally(jax.random.key_data(x), sharding)
        keys: jax.Array = jax.random.wrap_key_data(data, impl=jax.random.key_impl(x))
        return keys
    host = np.asarray(x)
    host = host.astype(jax.dtypes.canonicalize_dtype(host.dtype))
    return jax.make_array_from_callback(host.shape, sharding, lambda index: host[index])


def _traced_where(x: jax.core.Tracer[Any], text: str, mesh: Mesh | AbstractMesh | None) -> Where:
    """What the expression of a traced array is resolved on: the axis types are those that hold where JAX traces."""
    context = jax.sharding.get_abstract_mesh()
    if mesh is not None:
        mesh = where(mesh)
        if isinstance(mesh, AbstractMesh) and context.empty and jax.typeof(x).sharding.mesh.empty:
            raise _no_devices(x, mesh)
        same = not context.empty and mesh_axes(context) == mesh_axes(mesh) and context.axis_types != mesh.axis_types
        place: Where = context if same else mesh
    else:
        own = jax.typeof(x).sharding.mesh
        usable = not own.empty and (AxisType.Explicit in own.axis_types or parse(text).named)
        place = own if context.empty and usable else where(None)
    if isinstance(place, (Mesh, AbstractMesh)) and set(place.axis_types) == {AxisType.Manual}:
        raise _inside_shard_map(x)
    return place


def _constrain(x: jax.Array, sharding: NamedSharding) -> jax.Array:
    kinds = dict(zip(sharding.mesh.axis_names, sharding.mesh.axis_types))
    used = {kinds[axis] for entry in sharding.spec for axis in axes_of(entry)} or set(kinds.values())
    if AxisType.Manual in used:
        raise _inside_shard_map(x)
    if AxisType.Explicit in used:
        _need_explicit_first(sharding, kinds)
        _need_context(x, sharding)
        x = jax.reshard(x, _over(sharding, kinds, AxisType.Explicit))
    if AxisType.Auto in used:
        x = jax.lax.with_sharding_constraint(x, _over(sharding, kinds, AxisType.Auto))
    return x


def _inside_shard_map(x: Any) -> ShardingError:
    return ShardingError(
        "inside-shard-map",
        "inside jax.shard_map each device has an array of its own, so there is nothing to place.",
        where=f"argument {jax.typeof(x)}   mesh {axes_text(mesh_axes(jax.sharding.get_abstract_mesh()))}",
        mend="place arrays before they go in (in_specs says how they are cut), or use a collective.",
    )


def _need_explicit_first(sharding: NamedSharding, kinds: dict[str, AxisType]) -> None:
    """JAX cuts what Explicit axes have cut by Auto axes, and cannot do it the other way round."""
    for entry in sharding.spec:
        order = [kinds[axis] == AxisType.Explicit for axis in axes_of(entry)]
        if order != sorted(order, reverse=True):
            raise ShardingError(
                "explicit-after-auto",
                "one dimension is sharded over an Auto axis first and an Explicit axis after it.",
                where=f"{sharding.spec}   mesh {axes_text(mesh_axes(sharding.mesh))}",
                mend="name the Explicit axes first, or place the array outside of jit.",
            )


def _need_context(x: Any, sharding: NamedSharding) -> None:
    """Explicit axes need a mesh in the context, or an argument that is on one; JAX says so only when it compiles."""
    if jax.sharding.get_abstract_mesh().empty and jax.typeof(x).sharding.mesh.empty:
        raise ShardingError(
            "mesh-not-in-context",
            "the mesh has Explicit axes, but no mesh is in the context.",
            where=f"{sharding.spec}   mesh {axes_text(mesh_axes(sharding.mesh))}",
            mend="call the function inside `with jax.set_mesh(mesh):`.",
        )


def _over(sharding: NamedSharding, kinds: dict[str, AxisType], kind: AxisType) -> NamedSharding:
    """The part of a sharding that is over axes of this type."""
    parts = (tuple(axis for axis in axes_of(entry) if kinds[axis] == kind) for entry in sharding.spec)
    return NamedSharding(sharding.mesh, jax.P(*(part or None for part in parts)))
