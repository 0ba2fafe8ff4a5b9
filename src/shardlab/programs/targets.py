"""The real TPU compiler on a machine without a TPU: a program compiled for a slice that is only described."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab.errors import ShardlabError
from shardlab.placement import Axes
from shardlab.programs.topology import axes_text, devices, parse_target, size_differs, target_mesh


def compile_for(
    f: Callable[..., Any], args: Sequence[Any], target: str, axes: Mapping[str, int] | None = None
) -> tuple[Any, Axes | None]:
    """`f` compiled for a TPU slice, and the mesh axes that its collectives are to be read with.

    Meshes in the arguments, leading or in shardings, are laid over the slice under their own axis names. A function that
    holds a mesh of its own is exported first and called over the slice. Exceptions of `f` and of JAX come through unchanged.

    Args:
        f: a function, or anything with a `lower` method, as `jax.jit` returns.
        args: as for `inspect`.
        target: such as "v5e:2x4".
        axes: other sizes for the mesh axes, where the arguments' mesh is not as large as the slice.
    Returns:
        a `jax.stages.Compiled`, and names and sizes of the mesh, `None` if there is no mesh.
    Raises:
        ShardlabError: as for `target_mesh`, or a mesh that `f` holds is not as large as the slice.
    """
    import jax

    given, found, inside = tuple(args), devices(target), _context_mesh()
    leading = given[0] if given and _is_mesh(given[0]) and not hasattr(f, "lower") else None
    rest = given if leading is None else given[1:]
    mesh = _first_mesh([*jax.tree.leaves(given), inside])
    move = None if mesh is None else _Move(mesh, target, axes)
    moved = jax.tree.map(move.leaf if move else _described, rest)
    direct = functools.partial(f, move.mesh(leading)) if move and leading is not None else f
    under = move.mesh(inside) if move and inside is not None else None
    try:
        # What names no device is lowered for the default one, which is a CPU here.
        with jax.default_device(found[0]), _under(under):
            compiled = _lowerable(direct).lower(*moved).compile()
    except ValueError as error:
        # JAX tells by a message only that `f` holds a mesh of its own; the type is ValueError for many other mistakes too.
        if "incompatible devices" not in str(error):
            raise
    else:
        outputs = jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))
        if all(sharding.device_set <= set(found) for sharding in outputs):
            return compiled, move.axes if move else None
        mesh = _first_mesh(outputs) or jax.sharding.AbstractMesh((len(outputs[0].device_set),), ("device",))
    move = move or _Move(mesh, target, axes)
    whole = f if leading is None else functools.partial(f, leading)
    return _compile_exported(_lowerable(whole), rest, move), move.axes


def _compile_exported(f: Any, args: tuple[Any, ...], move: _Move) -> Any:
    """`f`, lowered over its own mesh, compiled over the slice."""
    import jax
    from jax import export

    # For TPU, since an export for the platform here would hold its lowerings, such as LAPACK calls, unknown to libtpu.
    exported = export.export(f, platforms=["tpu"])(*args)
    if exported.nr_devices != move.over.size:
        raise ShardlabError(
            "mesh-inside",
            f"the function holds a mesh of {exported.nr_devices} devices; {move.target} has {move.over.size}.",
            where=f"target={move.target!r}   {axes_text(move.axes)}",
            mend="take the mesh as the function's first argument, or leave it to jax.set_mesh.",
        )
    moved = jax.tree.map(move.leaf, args)
    carried = any(_sharding(leaf) is not None for leaf in jax.tree.leaves(moved))
    donated = _donated(f, args)
    with _under(None if carried else move.over):
        return jax.jit(exported.call, donate_argnums=donated).lower(*moved).compile()


def _donated(f: Any, args: tuple[Any, ...]) -> tuple[int, ...]:
    """Positions of the arguments that `f` donates, wholly: calling an exported program forgets them."""
    import jax

    given = [jax.tree.leaves(arg) for arg in f.lower(*args).args_info[0]]
    return tuple(i for i, leaves in enumerate(given) if leaves and all(leaf.donated for leaf in leaves))


class _Move:
    """From where meshes and arrays are to a slice: the first mesh's devices become the slice's, in order."""

    def __init__(self, mesh: Any, target: str, axes: Mapping[str, int] | None) -> None:
        sizes = {str(name): int(size) for name, size in mesh.shape.items()}
        if axes and set(axes) != set(sizes):
            raise size_differs(parse_target(target), axes, f"the arguments' mesh: {axes_text(sizes.items())}")
        self.target, self.axes = target, tuple({**sizes, **(axes or {})}.items())
        self.over = target_mesh(target, self.axes, mesh.axis_types)
        self._resized = dict(self.axes) != sizes
        self._where = dict(zip(_mesh_devices(mesh), self.over.devices.flat))

    def mesh(self, mesh: Any) -> Any:
        """The mesh of the same axes over the slice; the first mesh's, where sizes change."""
        import jax

        if self._resized or (tuple(mesh.shape.items()) == self.axes and not _mesh_devices(mesh)):
            return self.over
        if not _mesh_devices(mesh) or not set(_mesh_devices(mesh)) <= set(self._where):
            return target_mesh(self.target, mesh.shape, mesh.axis_types)
        moved = np.array([self._where[device] for device in mesh.devices.flat], dtype=object)
        return jax.sharding.Mesh(moved.reshape(mesh.devices.shape), mesh.axis_names, axis_types=mesh.axis_types)

    def leaf(self, x: Any) -> Any:
        """An argument's shape, and its sharding over the slice if it has one over a mesh."""
        import jax

        if _is_mesh(x):
            return self.mesh(x)
        sharding = _sharding(x)
        if not isinstance(sharding, jax.sharding.NamedSharding):
            return _described(x)
        return _described(x, jax.sharding.NamedSharding(self.mesh(sharding.mesh), sharding.spec))


def _under(mesh: Any) -> contextlib.AbstractContextManager[Any]:
    import jax

    return contextlib.nullcontext() if mesh is None else jax.set_mesh(mesh)


def _context_mesh() -> Any:
    import jax

    mesh = jax.sharding.get_mesh()
    return None if mesh.empty else mesh


def _first_mesh(carriers: Sequence[Any]) -> Any:
    """The first mesh among meshes, shardings and what has one; `None` if there is none."""
    shardings = (getattr(carrier, "sharding", carrier) for carrier in carriers)
    meshes = (getattr(sharding, "mesh", sharding) for sharding in shardings)
    return next((mesh for mesh in meshes if _is_mesh(mesh) and not mesh.empty), None)


def _is_mesh(x: Any) -> bool:
    import jax

    return isinstance(x, (jax.sharding.Mesh, jax.sharding.AbstractMesh))


def _mesh_devices(mesh: Any) -> tuple[Any, ...]:
    """Its devices in order; none for an abstract mesh."""
    import jax

    return tuple(mesh.devices.flat) if isinstance(mesh, jax.sharding.Mesh) else ()


def _sharding(x: Any) -> Any:
    return getattr(x, "sharding", None)


def _described(x: Any, sharding: Any = None) -> Any:
    """The shape of an array, with another sharding or none; anything else as it is."""
    import jax

    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    # A weak type decides what the result of `x * 2` is, so a description without it would compile to another program.
    return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding, weak_type=bool(getattr(x, "weak_type", False)))


def _lowerable(f: Any) -> Any:
    import jax

    return f if hasattr(f, "lower") else jax.jit(f)
