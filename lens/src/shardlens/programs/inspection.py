"""`inspect` and `compare`: a function is compiled for its arguments, and what the compiler did is read; nothing runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from typing import Any, overload

from shardlens.compilers.callables import Handed
from shardlens.compilers.mistakes import donated_twice, lost_updates
from shardlens.compilers.topology import in_slices
from shardlens.compilers.unreduced import placed_of
from shardlens.compilers.warnings import heard, unused_donations
from shardlens.errors import LensError
from shardlens.exceptions import told_shortly
from shardlens.placement import Axes, Placement
from shardlens.programs.comparison import Comparison
from shardlens.programs.memory import Memory
from shardlens.programs.program import Program
from shardlens.progress import step
from shardlens.reading.arithmetic import added_by_rounds, least
from shardlens.reading.collectives import read_collectives

HERE = "here"


@overload
def inspect(
    f: Callable[..., Any],
    *args: Any,
    targets: Sequence[str],
    axes: Mapping[str, int] | None = None,
    num_slices: int = 1,
    **kwargs: Any,
) -> Comparison: ...
@overload
def inspect(
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    num_slices: int = 1,
    **kwargs: Any,
) -> Program: ...
def inspect(
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    targets: Sequence[str] | None = None,
    axes: Mapping[str, int] | None = None,
    num_slices: int = 1,
    **kwargs: Any,
) -> Program | Comparison:
    """Compiles `f` for its arguments and reads what the compiler did; nothing runs.

    Exceptions that `f` raises while JAX traces it come through, with a note that says what was inspected.

    Args:
        f: a function, or anything with a `lower` method, as `jax.jit`, `eqx.filter_jit` and `nnx.jit` return; or, without
            arguments, a `jax.stages.Traced`, `Lowered` or `Compiled`.
        args: arrays or `jax.ShapeDtypeStruct`s, with or without shardings, in any pytrees; a leading mesh stays as it is.
            What `jax.jit` holds static is given as it is called.
        target: devices to compile for instead of those here, which need not be there: a TPU slice, `"v5e:2x4"`, or GPUs,
            `"h100:8"`, on two hosts `"h100:2x8"`. If its compiler is not installed, the error says how to get it.
        targets: several of them, and `"cpu"` (or `"here"`) for this machine, side by side: see `Comparison`.
        axes: names and sizes of the mesh on the target, where they are not those of the arguments.
        num_slices: how many such TPU slices; `target="v5e:2x4"` with 2 is `"v5e:2x4*2"`.
        kwargs: keyword arguments of `f`. Where it has one of these of its own: `functools.partial`.
    Raises:
        LensError: it cannot be compiled as it was handed in; the compiler lacks an operation, or died.
    Example:
        >>> import jax
        >>> inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32")).collectives
        ()
    """
    if targets is not None:
        return compare(f, args, targets, axes, kwargs, num_slices)
    target = in_slices(target, num_slices)
    where = f" for {target}" if target else ""
    note = f"while inspect lowered and compiled {_call(f, args)}{where}"
    if not args and not kwargs:
        note += "\nmend:  give the function's arguments after it: inspect(f, x)"
    with told_shortly(note, f):
        with step(f"compiling {getattr(f, '__name__', type(f).__name__)}{where}"), heard() as said:
            program = _inspected(f, args, kwargs, target, axes)
        given = Handed(f, args, kwargs)
        more = (*donated_twice(given), *lost_updates(given))
        return dataclasses.replace(program, warnings=(*said, *program.warnings, *more))


def compare(
    f: Callable[..., Any],
    args: Sequence[Any],
    targets: Sequence[str] = (HERE, "v5e:2x4"),
    axes: Mapping[str, int] | None = None,
    kwargs: Mapping[str, Any] | None = None,
    num_slices: int = 1,
) -> Comparison:
    """What the compiler of each target makes of `f`.

    Args:
        f, args, kwargs: as for `inspect`.
        targets: "here", or its name ("cpu"), for this machine's own backend, or a target such as "v5e:2x4".
        axes: sizes of the mesh axes on the targets, where they are not those of `args`.
        num_slices: how many slices like each of the targets; not of "here".
    Raises:
        LensError: as `targets.compile_for`; the arguments or the targets are not in a list.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> compare(lambda x: x + 1, [x], targets=["here"])["here"].memory.output
        16
    """
    for name, given in (("args", args), ("targets", targets)):
        # Neither a text nor an array nor a dict, though Python would go through their letters, rows and keys.
        if not isinstance(given, list | tuple):
            what = f"{name} is of type {type(given).__name__}, which is not a list."
            mend = "put it into one: compare(f, [x], ['here', 'v5e:2x4'])."
            raise LensError("not-a-list", what, where="compare(f, args, targets)", mend=mend)
    told = ((target if _is_here(target) else str(in_slices(target, num_slices))) for target in targets)
    return Comparison(tuple((target, _program(f, args, target, axes, kwargs or {})) for target in told))


def _is_here(target: str) -> bool:
    import jax

    return isinstance(target, str) and target in (HERE, jax.default_backend())


def _inspected(
    f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], target: str | None, axes: Mapping[str, int] | None
) -> Program:

    if target is not None:
        from shardlens.compilers.targets import compile_for

        return read_program(*compile_for(f, args, target, axes, kwargs))
    if axes is not None:
        mend = "add target=; give a function's own keyword with functools.partial(f, axes=...)."
        raise LensError("axes-without-target", "axes= gives the sizes on a target.", where=f"axes={axes!r}", mend=mend)
    return read_program(Handed(f, args, kwargs).compiled(), mesh_axes_of((args, kwargs)))


def _call(f: Callable[..., Any], args: tuple[Any, ...]) -> str:
    """The call in one line, arrays by type and shape."""
    said = (f"{a.dtype}{list(a.shape)}" if hasattr(a, "shape") and hasattr(a, "dtype") else type(a).__name__ for a in args)
    return f"{getattr(f, '__name__', type(f).__name__)}({', '.join(said)})"


def read_program(compiled: Any, mesh_axes: Axes | None = None, output_shapes: Sequence[Any] | None = None) -> Program:
    """What the compiler did, from what `jax.jit(f).lower(*args).compile()` returns.

    Args:
        compiled: a `jax.stages.Compiled`.
        mesh_axes: names and sizes of the mesh; those of the compiled inputs and outputs unless given.
        output_shapes: anything with `shape` and `dtype` for each output; those of the compiled outputs unless given. With
            `()` it is not read where outputs lie.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> read_program(jax.jit(lambda x: x + 1).lower(x).compile()).memory.output
        16
    """
    import jax

    shardings = [_concrete(s) for s in jax.tree.leaves((compiled.input_shardings, compiled.output_shardings))]
    text = compiled.as_text()
    axes = mesh_axes or mesh_axes_of(shardings)
    sets = (list(s.device_set) for s in shardings)
    devices = getattr(compiled, "devices", ()) or max(sets, key=len, default=jax.devices()[:1])
    return Program(
        collectives=read_collectives(text, axes),
        memory=_memory(compiled.memory_analysis()),
        flops=_flops(compiled, text),
        hlo=text,
        output_placements=tuple(
            _placement(shape, _concrete(out.sharding), axes) for shape, out in _outputs(compiled, output_shapes)
        ),
        devices=len(devices),
        platform=devices[0].platform,
        warnings=(*getattr(compiled, "warnings", ()), *unused_donations(_donated(compiled), text)),
        refused=getattr(compiled, "refused", ""),
    )


def _outputs(compiled: Any, shapes: Sequence[Any] | None) -> list[tuple[Any, Any]]:
    import jax

    if shapes is not None and not shapes:
        return []  # and JAX is not asked: of an exported program whose output is cut and a term it cannot say
    outputs = jax.tree.leaves(compiled.out_info)
    return list(zip(outputs if shapes is None else shapes, outputs, strict=True))


def _donated(compiled: Any) -> list[bool]:
    import jax

    return [leaf.donated for leaf in jax.tree.leaves(compiled.args_info)]


def _concrete(sharding: Any) -> Any:
    """The sharding over the first devices, where JAX names one over an abstract mesh that it was compiled for."""
    import jax
    import numpy as np

    mesh = getattr(sharding, "mesh", None)
    if not isinstance(mesh, jax.sharding.AbstractMesh):
        return sharding
    # Not by `jax.make_mesh`, which may put accelerators into another order than that in which it was compiled.
    over = np.array(jax.devices()[: mesh.size]).reshape(mesh.axis_sizes)
    return jax.NamedSharding(jax.sharding.Mesh(over, mesh.axis_names, axis_types=mesh.axis_types), sharding.spec)


def mesh_axes_of(carriers: Any) -> Axes | None:
    """Names and sizes of the first mesh among meshes, shardings and arrays in a pytree, or of the mesh in the context."""
    import jax

    for carrier in jax.tree.leaves(carriers):
        sharding = getattr(carrier, "sharding", carrier)
        mesh = getattr(sharding, "mesh", sharding)
        if isinstance(mesh, (jax.sharding.Mesh, jax.sharding.AbstractMesh)) and not mesh.empty:
            return tuple((str(name), int(size)) for name, size in mesh.shape.items())
    # Inside of `jit` the concrete mesh of the context cannot be asked for: `get_mesh` raises there.
    mesh = jax.sharding.get_abstract_mesh()
    return None if mesh.empty else tuple((str(name), int(size)) for name, size in mesh.shape.items())


def _placement(output: Any, sharding: Any, axes: Axes | None) -> Placement:
    """The placement of an output; partial sums count as copies, since every device holds the whole slice."""
    placed = sharding if isinstance(sharding, Placement) else placed_of(sharding, output.shape, axes)[0]
    return dataclasses.replace(placed, dtype=str(output.dtype))


def _program(
    f: Callable[..., Any], args: Sequence[Any], target: str, axes: Mapping[str, int] | None, kwargs: Mapping[str, Any]
) -> Program:
    there = not _is_here(target)
    made: Program = inspect(f, *args, target=target if there else None, axes=axes if there else None, **kwargs)
    return made


def _flops(compiled: Any, text: str) -> float | None:
    # `cost_analysis` and `memory_analysis` return None on backends that have none (JAX: `jax.stages.Compiled`).
    analysis, more = compiled.cost_analysis(), added_by_rounds(text)
    once = analysis.get("flops", 0.0) if analysis else least(text) - (more or 0.0)
    # XLA adds up in 32 bits, so that what is subtracted for loops that never run may be more than it counted.
    return None if more is None else max(float(once) + more, 0.0)


def _memory(stats: Any) -> Memory:
    # Read by name with a default: `peak_memory_in_bytes` is younger than the other fields, and `stats` may be None.
    fields = ("argument_size", "output_size", "temp_size", "alias_size", "peak_memory")
    host = ("host_argument_size", "host_output_size", "host_temp_size")
    sizes = {field: int(getattr(stats, f"{field}_in_bytes", 0)) for field in (*fields, *host, "host_alias_size")}
    on_host = sum(sizes[field] for field in host) - sizes["host_alias_size"]
    argument, output, temp, alias, peak = (sizes[field] for field in fields)
    return Memory(argument, output, temp, alias, peak, on_host)
