"""XLA for TPU and for GPU on a machine without either: a program compiled for devices that are only described."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import io
import math
import os
import re
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from shardlens.compilers.callables import Handed, device_count, is_mesh, meshes_inside, replaced, unimplemented
from shardlens.compilers.child import Reply, Request
from shardlens.compilers.kept import FOLDER, kept
from shardlens.compilers.topology import axes_text, devices, need_compiler, parse_target, roomier, size_differs, target_mesh
from shardlens.compilers.warnings import sorted_out
from shardlens.errors import LensError
from shardlens.placement import Axes, Placement

OTHER_BACKEND, NO_DEVICES = "different from the lowering platform", "require devices to be present"
"""What JAX says where a callback is lowered for devices that are not those here, or for none."""
MIXED = ("incompatible devices", "The context mesh")
"""What JAX says of one program over devices of two kinds."""


@dataclasses.dataclass(frozen=True)
class CrossCompiled:
    """A program for devices that are not here: as much of `jax.stages.Compiled` as `read_program` reads."""

    reply: Reply
    out_info: tuple[types.SimpleNamespace, ...]
    devices: tuple[types.SimpleNamespace, ...]
    args_info: Any
    warnings: tuple[str, ...] = ()
    refused: str = ""
    input_shardings: tuple[()] = ()
    output_shardings: tuple[()] = ()

    def as_text(self) -> str:
        """The compiled HLO."""
        return self.reply.text

    def memory_analysis(self) -> types.SimpleNamespace:
        """Bytes on one device, by JAX's names."""
        return types.SimpleNamespace(**self.reply.memory)

    def cost_analysis(self) -> dict[str, float]:
        """What the compiler counts, by its names."""
        return self.reply.cost


def compile_for(
    f: Callable[..., Any],
    args: Sequence[Any],
    target: str,
    axes: Mapping[str, int] | None = None,
    kwargs: Mapping[str, Any] | None = None,
) -> tuple[CrossCompiled, Axes | None]:
    """`f` compiled for a target, and the mesh axes that its collectives are to be read with.

    It is lowered for the target's platform where it stands, over the meshes that it and its arguments name, and compiled in
    another process over the target's devices, which take their places in order. Exceptions of `f` and of JAX come through.

    Args:
        f: a function, anything with a `lower` method, as `jax.jit` returns, or a `jax.stages.Traced`.
        args, kwargs: as for `inspect`.
        target: such as "v5e:2x4" or "h100:8".
        axes: other sizes for the mesh axes, where the arguments' mesh is not as large as the slice.
    Returns:
        the compiled program, and names and sizes of the mesh, `None` if there is no mesh.
    Raises:
        LensError: as for `target_mesh`; a mesh that `f` holds is not as large as the slice; the compiler died.
    """
    import jax

    from shardlens.compilers import process

    slice_ = parse_target(target)
    need_compiler(slice_)
    if os.environ.get(FOLDER, "off") == "off":
        process.compiler.start()  # its imports run beside the lowering
    lowered, named = lowered_for(Handed(f, tuple(args), kwargs or {}), target, axes)
    module, count = lowered.compiler_ir("stablehlo"), device_count(lowered)
    named = named or _named_inside(lowered, count)
    if count > 1 and count != slice_.size:
        raise _mesh_inside(count, target, axes) if axes else size_differs(slice_, dict(named or {}))
    outputs = jax.tree.leaves(lowered.out_info)
    request = Request(
        module.operation.attributes["sym_name"].value,
        target,
        named,
        count,
        _bytecode(module),
        _options(lowered, module, count),
        tuple((_physical(out), _asked(out)) for out in outputs),
    )
    reply, said, refused = _compiled(request, slice_.platform)
    infos = tuple(_info(out, placed) for out, placed in zip(outputs, reply.placements, strict=True))
    devices_there = (types.SimpleNamespace(platform=slice_.platform),) * count
    return CrossCompiled(reply, infos, devices_there, lowered.args_info, _warned(said), refused), named


def _compiled(request: Request, platform: str) -> tuple[Reply, str, str]:
    """The compiled program, what the compiler wrote to stderr, and its refusal where the program does not fit the chip.

    What does not fit is compiled for a chip with more memory, so that it can be told what takes so much.
    """
    import jax

    from shardlens.compilers import process

    def compiled(request: Request) -> tuple[Reply, str]:
        with unimplemented(f"XLA for {platform.upper()}"):
            return kept(request, lambda: process.compiler.compile(request))

    try:
        return *compiled(request), ""
    except jax.errors.JaxRuntimeError as error:
        code, _, words = str(error).splitlines()[0].partition(": ")
        if code != "RESOURCE_EXHAUSTED":
            raise
        words = re.sub(r"^E\d+: \w+: ", "", words)  # a number and a name, which XLA of JAX 0.12 puts first
        for larger in roomier(request.target):
            with contextlib.suppress(jax.errors.JaxRuntimeError):
                reply, said = compiled(dataclasses.replace(request, target=str(larger)))
                return reply, said, f"{words} What follows is the program for {larger}, where it fits."
        mend = "cut large arrays over more devices, or recompute activations: jax.checkpoint."
        raise LensError("does-not-fit", words, where=f"target={request.target!r}", mend=mend) from error


def _warned(said: str) -> tuple[str, ...]:
    """What of a compiler's words a report tells; the rest goes to stderr."""
    found: list[str] = []
    if rest := sorted_out(said.encode(), found):
        print(rest.decode(), end="", file=sys.stderr)
    return tuple(found)


def lowered_for(handed: Handed, target: str, axes: Mapping[str, int] | None) -> tuple[Any, Axes | None]:
    """Lowered for the target's platform, and its mesh, if arguments or context have one.

    Nothing is moved, since what a function holds cannot be. Only for a mesh that is to have other sizes, and for callbacks
    over an abstract one, the devices of the slice are described in this process, and meshes laid over them.
    """
    import jax

    platform = parse_target(target).platform.replace("gpu", "cuda")
    mesh = None if handed.staged else _first_mesh([*jax.tree.leaves((handed.args, handed.kwargs)), _context_mesh()])
    move = _Move(mesh, target, axes) if mesh is not None else None
    named = move.axes if move else None
    if move is None or not move.resized:
        try:
            return handed.lowered(platform), named
        except ValueError as error:
            # JAX tells by messages only; the type is ValueError for many other mistakes too.
            if OTHER_BACKEND in str(error):
                from jax._src.interpreters import mlir

                client = devices(target)[0].client
                with replaced(mlir.ModuleContext, "get_backend", lambda _: lambda context, optional=False: client):
                    return handed.lowered(platform), named
            if NO_DEVICES not in str(error):
                raise
    try:
        return _lowered_there(handed, target, move), named
    except ValueError as error:
        if not any(words in str(error) for words in MIXED):
            raise
        raise _mesh_inside(mesh.size if mesh is not None else 1, target, axes) from error


def _lowered_there(handed: Handed, target: str, move: _Move | None) -> Any:
    """Lowered for devices of the slice."""
    import jax

    under = move.mesh(context) if move and (context := _context_mesh()) is not None else None
    # What names no device is lowered for the default one, which is a CPU here.
    with jax.default_device(devices(target)[0]), contextlib.nullcontext() if under is None else jax.set_mesh(under):
        return handed.map(move.leaf if move else _described).lowered()


def _options(lowered: Any, module: Any, count: int) -> bytes:
    """The options that `lowered.compile()` compiles with, but for its devices, which are not these."""
    # Private, all of it: options depend on which shardings are left to XLA, and on flags of JAX. Nothing public gives them.
    from jax._src.interpreters import pxla

    asked = lowered._lowering.compile_args
    before = len(asked["ordered_effects"])
    inputs, outputs = pxla.get_prop_to_input_output(asked["in_shardings"], asked["out_shardings"], before)
    # `tuple_args` there is for the platform of the devices here; for TPUs see JAX: `dispatch.should_tuple_args`.
    tupled, chosen = len(asked["in_shardings"]) > 2000, dict(lowered._lowering._compiler_options_kvs)
    options = pxla.create_compile_options(module, tupled, inputs, outputs, asked["backend"], np.arange(count), chosen)
    serialised: bytes = options.SerializeAsString()
    return serialised


def _named_inside(lowered: Any, count: int) -> Axes | None:
    """The first mesh of the program that has all its devices; one axis for them where it names none."""
    inside = (axes for axes in meshes_inside(lowered) if math.prod(size for _, size in axes) == count)
    return next(inside, (("device", count),)) if count > 1 else None


def _bytecode(module: Any) -> bytes:
    written = io.BytesIO()
    module.operation.write_bytecode(written)
    return written.getvalue()


def _physical(out: Any) -> tuple[int, ...]:
    """The shape that the compiler sees: random keys have a dimension more."""
    import jax

    if not jax.numpy.issubdtype(out.dtype, jax.dtypes.prng_key):
        return tuple(out.shape)
    shape: tuple[int, ...] = jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(out.shape, out.dtype)).shape
    return shape


def _asked(out: Any) -> tuple[Axes, Any] | None:
    """Mesh and spec of an output whose sharding is not left to XLA."""
    import jax

    sharding = _sharding(out)
    named = isinstance(sharding, jax.sharding.NamedSharding)
    return (tuple(sharding.mesh.shape.items()), sharding.spec) if named else None


def _info(out: Any, placed: Placement) -> types.SimpleNamespace:
    rank = len(out.shape)
    if len(placed.shape) > rank:
        shards = tuple((device, index[:rank]) for device, index in placed.shards)
        spec = placed.spec and placed.spec[:rank]
        placed = dataclasses.replace(placed, shape=placed.shape[:rank], shards=shards, spec=spec)
    return types.SimpleNamespace(shape=out.shape, dtype=out.dtype, sharding=placed)


def _mesh_inside(size: int, target: str, axes: Mapping[str, int] | None) -> LensError:
    what = f"the function holds a mesh of {size} devices; {target} has {parse_target(target).size}."
    where = f"target={target!r}   {axes_text((axes or {}).items())}"
    mend = "take the mesh as the function's first argument, or leave it to jax.set_mesh."
    return LensError("mesh-inside", what, where=where, mend=mend)


class _Move:
    """From where meshes and arrays are to a slice: the first mesh's devices become the slice's, in order."""

    def __init__(self, mesh: Any, target: str, axes: Mapping[str, int] | None) -> None:
        sizes = {str(name): int(size) for name, size in mesh.shape.items()}
        slice_ = parse_target(target)
        if axes and set(axes) != set(sizes):
            raise size_differs(slice_, axes, f"the arguments' mesh: {axes_text(sizes.items())}")
        self.target, self.axes = target, tuple({**sizes, **(axes or {})}.items())
        if math.prod(size for _, size in self.axes) != slice_.size:
            raise size_differs(slice_, dict(self.axes))
        self.resized = dict(self.axes) != sizes
        self._first = mesh

    @functools.cached_property
    def over(self) -> Any:
        """The first mesh over the slice."""
        return target_mesh(self.target, self.axes, self._first.axis_types)

    def mesh(self, mesh: Any) -> Any:
        """A mesh of the same axes over the slice; the first mesh's, where sizes change."""
        same = self.resized or tuple(mesh.shape.items()) == self.axes
        return self.over if same else target_mesh(self.target, mesh.shape, mesh.axis_types)

    def leaf(self, x: Any) -> Any:
        """An argument's shape, and its sharding over the slice if it has one over a mesh."""
        import jax

        if is_mesh(x):
            return self.mesh(x)
        sharding = _sharding(x)
        if not isinstance(sharding, jax.sharding.NamedSharding):
            return _described(x)
        return _described(x, jax.sharding.NamedSharding(self.mesh(sharding.mesh), sharding.spec))


def _context_mesh() -> Any:
    """The mesh of `jax.set_mesh`, else the abstract one of the context, else `None`."""
    import jax

    mesh: Any
    try:
        mesh = jax.sharding.get_mesh()
    except ValueError:  # inside of `jit` the concrete mesh cannot be asked for
        mesh = jax.sharding.get_abstract_mesh()
    mesh = jax.sharding.get_abstract_mesh() if mesh.empty else mesh
    return None if mesh.empty else mesh


def _first_mesh(carriers: Sequence[Any]) -> Any:
    """The first mesh among meshes, shardings and what has one; `None` if there is none."""
    shardings = (getattr(carrier, "sharding", carrier) for carrier in carriers)
    meshes = (getattr(sharding, "mesh", sharding) for sharding in shardings)
    return next((mesh for mesh in meshes if is_mesh(mesh) and not mesh.empty), None)


def _sharding(x: Any) -> Any:
    return getattr(x, "sharding", None)


def _described(x: Any, sharding: Any = None) -> Any:
    """The shape of an array, with another sharding or none; anything else as it is."""
    import jax

    if not (hasattr(x, "shape") and hasattr(x, "dtype")):
        return x
    # A weak type decides what the result of `x * 2` is, so a description without it would compile to another program.
    return jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding, weak_type=bool(getattr(x, "weak_type", False)))
