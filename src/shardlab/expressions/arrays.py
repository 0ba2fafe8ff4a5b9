"""One array of any kind under an expression: placed, constrained while JAX traces, or described."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding

from shardlab.errors import ShardingError
from shardlab.expressions.meshes import Where, mesh_axes, sharding_for, where
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import axes_text

ARRAYS = (np.ndarray, jax.Array, jax.ShapeDtypeStruct, bool, int, float, complex, np.generic)


def is_array(x: Any) -> bool:
    """Whether `x` is one array or number, and not a tree of them."""
    return isinstance(x, ARRAYS)


def shard(x: Any, text: str, mesh: Mesh | AbstractMesh | None = None) -> Any:
    """`x` as the expression says; see `shardlab.expressions.sharding.einshard`."""
    if isinstance(x, jax.core.Tracer):
        return _constrain(x, sharding_for(text, x.shape, _traced_where(x, text, mesh)))
    shape = np.shape(x)
    sharding = sharding_for(text, shape, where(mesh))
    if isinstance(x, jax.ShapeDtypeStruct):
        return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding, weak_type=x.weak_type)
    if isinstance(sharding.mesh, AbstractMesh):
        return _constrain(x, sharding)
    if sharding.is_fully_addressable:
        return jax.device_put(x, sharding)
    # Not `device_put`: of a host array it compares all processes' values first, by collectives (`assert_equal` in JAX).
    return _place_globally(x, sharding)


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
    used = {kinds[axis] for entry in sharding.spec for axis in _axes(entry)} or set(kinds.values())
    if AxisType.Manual in used:
        raise _inside_shard_map(x)
    if AxisType.Explicit in used:
        _need_explicit_first(sharding, kinds)
        _need_context(x, sharding)
        explicit = jax.P(*(_only(entry, kinds, AxisType.Explicit) for entry in sharding.spec))
        x = jax.reshard(x, NamedSharding(sharding.mesh, explicit))
    if AxisType.Auto in used:
        auto = jax.P(*(_only(entry, kinds, AxisType.Auto) for entry in sharding.spec))
        x = jax.lax.with_sharding_constraint(x, NamedSharding(sharding.mesh, auto))
    return x


def _inside_shard_map(x: Any) -> ShardingError:
    return ShardingError(
        "inside-shard-map",
        "inside jax.shard_map each device has an array of its own, and there is nothing to place.",
        where=f"argument {jax.typeof(x)}   mesh {axes_text(mesh_axes(jax.sharding.get_abstract_mesh()))}",
        mend="place arrays before they go in (in_specs says how they are cut), or use a collective.",
    )


def _need_explicit_first(sharding: NamedSharding, kinds: dict[str, AxisType]) -> None:
    """JAX cuts what Explicit axes have cut by Auto axes, and cannot do it the other way round."""
    for entry in sharding.spec:
        order = [kinds[axis] == AxisType.Explicit for axis in _axes(entry)]
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
            "the mesh has Explicit axes, and no mesh is in the context.",
            where=f"{sharding.spec}   mesh {axes_text(mesh_axes(sharding.mesh))}",
            mend="call the function inside `with jax.set_mesh(mesh):`.",
        )


def _axes(entry: Any) -> tuple[str, ...]:
    return entry if isinstance(entry, tuple) else () if entry is None else (entry,)


def _only(entry: Any, kinds: dict[str, AxisType], kind: AxisType) -> tuple[str, ...] | None:
    return tuple(axis for axis in _axes(entry) if kinds[axis] == kind) or None
