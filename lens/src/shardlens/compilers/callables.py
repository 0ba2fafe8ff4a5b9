"""What people hand in, as JAX's stages: functions, what wraps them, and programs that are traced, lowered or compiled."""

from __future__ import annotations

import contextlib
import functools
import math
import re
import threading
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from shardlens.errors import LensError
from shardlens.placement import Axes
from shardlens.sources import Line, users_line

AXIS = re.compile(r'"([^"]+)"=(\d+)')
"""A mesh axis and its size as StableHLO writes them, `"x"=2`."""
FRAME = re.compile(r'"([^"]+)":(\d+):\d+')
"""A line of a file in the location of an operation."""
KEPT = "jax_compilation_cache_dir"
"""JAX's option for a folder in which it keeps what it compiles, without the lines of a program in its key."""
ANEW = {"xla_embed_ir_in_executable": False}
"""A default of XLA's, written out: JAX compiles with it, and gives no program that it holds from a call or from disk."""


class Handed:
    """A function and what it is called with; a stage of `jax.jit`, which is `staged`, and nothing.

    What `functools.partial` and methods hold goes to the arguments where there is a jitted function inside, since a `jit`
    around it would lose what it donates.

    Raises:
        LensError: a stage is handed in together with arguments.
    """

    def __init__(self, f: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> None:
        import jax

        stages = (jax.stages.Compiled, jax.stages.Lowered, jax.stages.Traced)
        f = _inner(f, stages)
        while isinstance(f, (functools.partial, types.MethodType)) and hasattr(_held(f), "lower"):
            if isinstance(f, functools.partial):
                f, args, kwargs = f.func, (*f.args, *args), {**f.keywords, **kwargs}
            else:
                f, args = f.__func__, (f.__self__, *args)
        if isinstance(f, stages) and (args or kwargs):
            what, mend = "already has its arguments, but others are given.", "leave them out, or hand in the function."
            stage = type(f).__name__
            raise LensError("stage-with-arguments", f"a {stage} {what}", where=f"inspect(<{stage}>, ...)", mend=mend)
        if not isinstance(f, stages):
            need_function(f)
        if not hasattr(f, "lower") and not isinstance(f, stages):
            need_arrays(args, kwargs)
        self.f, self.args, self.kwargs, self.staged = f, args, dict(kwargs), isinstance(f, stages)

    def map(self, leaf: Callable[[Any], Any]) -> Handed:
        """The same with other arguments."""
        import jax

        args, kwargs = jax.tree.map(leaf, (self.args, self.kwargs))
        return Handed(self.f, args, kwargs)

    def compiled(self) -> Any:
        """As a `jax.stages.Compiled` for the devices here.

        Raises:
            LensError: there are fewer of them than an abstract mesh has; or the compiler lacks an operation, or would
                end this process.
        """
        import jax

        if isinstance(self.f, jax.stages.Compiled):
            return self.f
        try:
            lowered, over = self.lowered(), None
        except ValueError as error:
            # Meshes without devices: JAX is to be told for which platform to lower, and for which devices to compile.
            if "only AbstractMesh" not in str(error):
                raise
            client = jax.devices()[0].client
            lowered = self.lowered(getattr(client, "_raw_platform", client.platform))
            over = _first_devices(device_count(lowered))
        if jax.default_backend() == "cpu":
            _refuse_what_ends_the_process(lowered)
        with unimplemented(f"XLA for {jax.default_backend().upper()}"), own_lines():
            return lowered.compile(ANEW if getattr(jax.config, KEPT) else None, device_assignment=over)

    def lowered(self, platform: str | None = None) -> Any:
        """As a `jax.stages.Lowered`, for this platform or that of its devices.

        Raises:
            LensError: it is compiled, or lowered for another platform.
        """
        import jax

        f, args, platforms = self.f, self.args, (platform,) if platform else None
        if isinstance(f, jax.stages.Lowered):
            return _for_platform(f, platform)
        if isinstance(f, jax.stages.Compiled):
            raise _too_late("it is already compiled, for the devices that it runs on")
        if isinstance(f, jax.stages.Traced):
            return _whole(f.lower(lowering_platforms=platforms))
        if args and is_mesh(args[0]) and not hasattr(f, "lower"):
            f, args = functools.partial(f, args[0]), args[1:]
        f = f if hasattr(f, "lower") else jax.jit(f)
        described = any(isinstance(leaf, jax.ShapeDtypeStruct) for leaf in jax.tree.leaves((args, self.kwargs)))
        if described and type(f).__module__.startswith("equinox"):
            raise _described_to_equinox()
        if isinstance(f, _jitted()):
            with _arrays_named():
                traced = f.trace(*args, **self.kwargs)
            return _whole(traced.lower(lowering_platforms=platforms))
        # What wraps a jitted function (equinox, flax, pmap) has a `lower` that takes no platform.
        with replaced(jax.stages.Traced, "lower", lambda lower: functools.partial(lower, lowering_platforms=platforms)):
            return _whole(_inner(f.lower(*args, **self.kwargs), (jax.stages.Lowered,)))


def need_function(f: Any) -> None:
    """Raises unless it is a function, or has a `lower` method as what `jax.jit` returns."""
    import jax

    # Texts have a `lower` of their own, and a mesh can be called, as a decorator.
    if isinstance(f, str | bytes | jax.sharding.Mesh) or not (callable(f) or hasattr(f, "lower")):
        what = f"what was handed in is not a function, but of type {type(f).__name__}."
        mend = "hand in the function, not what it returns: inspect(f, x), not inspect(f(x))."
        raise LensError("nothing-to-compile", what, where="inspect(f, *args)", mend=mend)


def need_arrays(args: tuple[Any, ...], kwargs: Mapping[str, Any], *, led: bool = True) -> None:
    """Raises unless JAX can trace each leaf: an array, a number, or what describes one; `led`, after a leading mesh."""
    import jax
    import numpy as np

    if led and args and is_mesh(args[0]):
        args = (np.zeros(()), *args[1:])
    for path, leaf in jax.tree_util.tree_leaves_with_path((args, dict(kwargs))):
        array = hasattr(leaf, "shape") and hasattr(leaf, "dtype")
        if isinstance(leaf, np.ndarray | np.generic):
            array = leaf.dtype.kind not in "OUS"
        if not array and not isinstance(leaf, (bool, int, float, complex)) and not hasattr(leaf, "__jax_array__"):
            first, *rest = path[1:]
            name = f"args{jax.tree_util.keystr((first,))}" if path[0].idx == 0 else first.key
            raise no_array(f"{name}{jax.tree_util.keystr(tuple(rest))}", type(leaf).__name__)


def no_array(name: str, kind: str) -> LensError:
    """The error of an argument that is no array; `kind` is the name of its type."""
    what = f"an argument is of type {kind}, which JAX does not trace."
    mend = "name it in static_argnames, jax.jit(f, static_argnames='mode'), or give it with functools.partial(f, mode=...)."
    return LensError("no-array", what, where=f"{name}", mend=mend)


@contextlib.contextmanager
def _arrays_named() -> Iterator[None]:
    """What JAX says of an argument that is no array, as an error of ours."""
    try:
        yield
    except TypeError as error:
        found = re.search(
            r"value is of type <class '([^']+)'> and was passed to the function at path (\S+?)\.\s", f"{error} "
        )
        if not found:
            raise
        raise no_array(found[2], found[1].rpartition(".")[2]) from None


def _refuse_what_ends_the_process(lowered: Any) -> None:
    """Raises where XLA for CPU aborts, so that a notebook would lose all that it holds: jaxlib 0.10.2 and 0.12.0.1 do.

    It turns sums of bfloat16 into sums of float32, and takes no more for a sum than one operation of two numbers. Inside of
    a `shard_map` over some axes of the mesh, JAX lowers a sum to that operation and a sharding constraint.
    """
    from jaxlib.mlir import ir

    found: list[Any] = []

    def look(op: Any) -> Any:
        if op.name in ("stablehlo.all_reduce", "stablehlo.reduce_scatter"):
            kind = str(ir.RankedTensorType(op.operands[0].type).element_type)
            inside = {each.name for each in op.regions[0].blocks[0].operations}
            found.extend([op] if kind == "bf16" and "sdy.sharding_constraint" in inside else [])
        return ir.WalkResult.ADVANCE

    lowered.compiler_ir("stablehlo").operation.walk(look)
    if found:
        op, frames = found[0], FRAME.findall(str(found[0].location))
        line = users_line(Line(file, int(number)) for file, number in frames)
        what = "XLA for CPU would end this process: it aborts on a sum of bfloat16 in a shard_map over only some mesh axes."
        where = f"{op.name} of {op.operands[0].type}   {line}".rstrip()
        mend = (
            "sum in float32, or give the shard_map all axes; "
            "a target's compiler takes the program as it is: target='v5e:2x4'."
        )
        raise LensError("compiler-would-die", what, where=where, mend=mend)


@functools.cache
def _jitted() -> type[Any]:
    """The type of what `jax.jit` returns, which has no public name; making one is 3 % of a small compilation."""
    import jax

    return type(jax.jit(len))


def device_count(lowered: Any) -> int:
    """How many devices a lowered program is for."""
    return int(lowered.compiler_ir("stablehlo").operation.attributes["mhlo.num_partitions"].value)


def meshes_inside(lowered: Any) -> list[Axes]:
    """Names and sizes of the meshes that a lowered program names, in the order of their use."""
    named = (each.attributes["mesh"] for each in lowered.compiler_ir("stablehlo").body.operations if each.name == "sdy.mesh")
    return [tuple((name, int(size)) for name, size in AXIS.findall(str(mesh))) for mesh in named]


@contextlib.contextmanager
def setting(name: str, value: object) -> Iterator[None]:
    """Has an option of JAX hold a value while it lasts.

    Example:
        >>> with setting("jax_enable_checks", True):
        ...     jax.config.jax_enable_checks
        True
    """
    import jax

    before = getattr(jax.config, name)
    jax.config.update(name, value)
    try:
        yield
    finally:
        jax.config.update(name, before)


def own_lines() -> contextlib.AbstractContextManager[None]:
    """Has JAX tell apart programs on disk that differ in their lines alone: else one names those of the first compiled.

    Example:
        >>> with own_lines():
        ...     jax.config.jax_compilation_cache_include_metadata_in_key
        True
    """
    return setting("jax_compilation_cache_include_metadata_in_key", True)


@contextlib.contextmanager
def unimplemented(compiler: str) -> Iterator[None]:
    """What a compiler does not implement, as an error of ours; its other errors come through."""
    import jax

    try:
        yield
    except jax.errors.JaxRuntimeError as error:
        if not str(error).startswith("UNIMPLEMENTED"):
            raise
        what = f"{compiler} does not implement what this program asks for."
        mend = "write it with other operations, or compile for another target: inspect(f, *args, target='v5e:2x4')."
        raise LensError("compiler-lacks-it", what, where=str(error).splitlines()[0], mend=mend) from error


def _whole(lowered: Any) -> Any:
    """It, unless JAX took it for a program of one device beside the many of an abstract mesh that it names."""
    alone = [axes for axes in meshes_inside(lowered) if math.prod(size for _, size in axes) > 1]
    if alone and device_count(lowered) == 1:
        what = "the function names an abstract mesh, but nothing says which devices the mesh has."
        where = f"mesh {', '.join(f'{name}={size}' for name, size in alone[0])}   arguments without shardings"
        mend = "call it inside `with jax.set_mesh(mesh):`, or give its arguments shardings over the mesh."
        raise LensError("abstract-mesh-alone", what, where=where, mend=mend)
    return lowered


def _first_devices(count: int) -> tuple[Any, ...]:
    import jax

    here = jax.devices()
    if count > len(here):
        what, mend = (
            f"the mesh has {count} devices, but there are {len(here)} here.",
            f"give JAX {count} devices before it is used (jax_num_cpu_devices), or give target=.",
        )
        raise LensError("devices-too-few", what, where="inspect(f, *args)", mend=mend)
    return tuple(here[:count])


def _inner(x: Any, stages: tuple[type, ...]) -> Any:
    """The stage of JAX that one of flax or equinox holds, as `lowered` or `compiled`; anything else as it is."""
    held = (getattr(x, name, None) for name in ("compiled", "lowered", "traced"))
    return x if isinstance(x, stages) else next((stage for stage in held if isinstance(stage, stages)), x)


def _held(f: Any) -> Any:
    return f.func if isinstance(f, functools.partial) else f.__func__


def _for_platform(lowered: Any, platform: str | None) -> Any:
    """It, if it was lowered for the platform, which nothing public tells."""
    known = getattr(lowered._lowering, "_platforms", None) or (None,)
    if platform is not None and platform not in known:
        raise _too_late(f"it is already lowered, for {' and '.join(map(str, known))}")
    return lowered


_REPLACING = threading.RLock()


@contextlib.contextmanager
def replaced(owner: Any, name: str, make: Callable[[Any], Callable[..., Any]]) -> Iterator[None]:
    """While it holds, a method of JAX is, in this thread, what is made of it."""
    with _REPLACING:  # two at a time would put back each other's
        before, thread = getattr(owner, name), threading.get_ident()
        other = make(before)
        setattr(owner, name, lambda *args, **rest: (other if threading.get_ident() == thread else before)(*args, **rest))
        try:
            yield
        finally:
            setattr(owner, name, before)


def is_mesh(x: Any) -> bool:
    """Whether it is a mesh, of devices or abstract."""
    import jax

    return isinstance(x, (jax.sharding.Mesh, jax.sharding.AbstractMesh))


def _too_late(why: str) -> LensError:
    what = f"it cannot be compiled for a target: {why}."
    mend = "hand in the function and its arguments, or what jax.jit(f).trace(...) returns."
    return LensError("stage-of-another-platform", what, where="inspect(<stage>, target=...)", mend=mend)


def _described_to_equinox() -> LensError:
    what = "eqx.filter_jit takes a jax.ShapeDtypeStruct for a static value, not for an array."
    where = "inspect(eqx.filter_jit(...), ...)   with axes= on a target, arrays become descriptions too"
    mend = "give arrays (jax.device_put places them), or a function under jax.jit."
    return LensError("equinox-needs-arrays", what, where=where, mend=mend)
