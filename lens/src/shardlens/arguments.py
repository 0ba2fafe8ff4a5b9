"""What a command line says of a function: where it is, its arguments, their mesh."""

from __future__ import annotations

import argparse
import contextlib
import functools
import importlib
import math
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from shardlens.compilers.topology import accelerators
from shardlens.errors import LensError

ARGUMENT = re.compile(r"\s*([a-z]+\d+\w*|bool)\[([\d,\s]*)\](?:@(.*))?$")


def start(n: int) -> None:
    """Eight simulated CPU devices at least, or `n`, for JAX when it starts; `n` real ones where there are as many."""
    import jax

    with contextlib.suppress(RuntimeError):  # JAX has started, in the process of a test
        jax.config.update("jax_num_cpu_devices", max(n, 8) if n <= 64 else 8)
    if 0 < accelerators() < n:
        jax.config.update("jax_platforms", "cpu")  # too few to be used: they are not even started


def load(name: str) -> tuple[Any, Any]:
    """The function `module:function` or `path/file.py:function`, and the one beside it that makes its arguments, or `None`.

    A function of a class, `module:Class.function`, has `Class.function_example` beside it. The folder stays in
    `sys.path`, for what the function imports when it is traced.

    Raises:
        LensError: there is no such module or function.
    """
    module_name, colon, function = name.partition(":")
    if not module_name or not function:
        missing = "stands after" if module_name else "stands before"
        raise _no_function(name, f"nothing {missing} the colon." if colon else "the name has no colon.")
    file = Path(module_name)
    if file.suffix == ".py" and not file.is_file():
        raise _no_function(name, f"there is no file {module_name} here.")
    sys.path.insert(0, str(file.parent.resolve() if file.suffix == ".py" else Path.cwd()))
    module_name = file.stem if file.suffix == ".py" else module_name
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module_name}.".startswith(f"{error.name}."):
            raise
        raise _no_function(name, f"there is no module {error.name!r} here.") from error
    around, last = module, function
    try:
        *inside, last = function.split(".")
        around = functools.reduce(getattr, inside, module)
        return getattr(around, last), getattr(around, f"{last}_example", None)
    except AttributeError as error:
        raise _no_function(name, f"{module_name} has no {function!r}.") from error


def mesh_axes(text: str) -> dict[str, int]:
    """Names and sizes in `x=2,y=4`.

    Raises:
        LensError: the text is of another form.
    Example:
        >>> mesh_axes("x=2,y=4")
        {'x': 2, 'y': 4}
    """
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not size.strip().isdigit() or not name.strip() or int(size) < 1 for name, _, size in parts):
        mend = "write names and sizes: x=2,y=4."
        raise LensError("not-a-mesh", f"{text!r} is not a mesh.", where=f"--mesh {text}", mend=mend)
    names = [name.strip() for name, _, _ in parts]
    if len({*names}) < len(names):
        mend = "give each axis a name of its own: x=2,y=4."
        raise LensError("not-a-mesh", f"{text!r} names an axis twice.", where=f"--mesh {text}", mend=mend)
    return {name.strip(): int(size) for name, _, size in parts}


def read_arguments(text: str, mesh: Any) -> tuple[Any, ...]:
    """Shapes and shardings of arguments, as `float32[64,128]@x,_; bfloat16[128]`: after `@` a mesh axis for each dimension.

    Several axes on one dimension are joined by `+`; `_` stands for none.

    Raises:
        LensError: the text is of another form, or names an axis that the mesh does not have.
    """
    return tuple(_argument(part, mesh) for part in text.split(";") if part.strip())


def _argument(text: str, mesh: Any) -> Any:
    import jax

    found = ARGUMENT.match(text)
    if not found:
        raise _no_argument(text, "is not a shape.")
    entries = [tuple(filter(None, part.strip().removeprefix("_").split("+"))) for part in (found[3] or "").split(",")]
    shape = tuple(int(n) for n in found[2].split(",") if n.strip())
    names = {axis for entry in entries for axis in entry}
    if names - set(mesh.axis_names):
        raise _no_argument(text, f"names {', '.join(sorted(names - set(mesh.axis_names)))}, which the mesh does not have.")
    if len(entries) > max(len(shape), 1):
        raise _no_argument(text, "names axes for more dimensions than it has.")
    sharding = jax.NamedSharding(mesh, jax.P(*(entry or None for entry in entries[: len(shape)])))
    try:
        sharding.shard_shape(shape)
        return jax.ShapeDtypeStruct(shape, found[1], sharding=sharding)
    except (TypeError, ValueError) as error:
        raise _no_argument(text, f"cannot be: {str(error).splitlines()[0]}") from error


def mesh_of(axes: Mapping[str, int]) -> Any:
    """A mesh over the first devices, or an abstract one where there are fewer."""
    import jax

    types = (jax.sharding.AxisType.Auto,) * len(axes)
    if math.prod(axes.values()) > len(jax.devices()):
        return jax.sharding.AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=types)
    found = jax.devices()[: math.prod(axes.values())]
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=types, devices=found)


def example_of(example: Any, name: str) -> tuple[Any, ...]:
    """What the function beside the one named `name` returns: its arguments, one or a tuple of them.

    Raises:
        LensError: there is no such function.
    """
    if example is None:
        raise LensError(
            "no-arguments",
            f"no arguments are given for {name}.",
            where=f"shardlens inspect {name}",
            mend=f'give --args "float32[64,128]@x,_" --mesh x=2,y=4,\n'
            f"or write {name.partition(':')[2]}_example() in the same file: a tuple of arrays or jax.ShapeDtypeStructs.",
        )
    if not callable(example):
        what = f"{name.partition(':')[2]}_example is not a function, but of type {type(example).__name__}."
        mend = "make it a function that returns the arguments: one, or a tuple of them."
        raise LensError("no-arguments", what, where=f"shardlens inspect {name}", mend=mend)
    made = example()
    return made if isinstance(made, tuple) else (made,)


def drawn(plain: tuple[Any, ...], parallel: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments with numbers, placed as those of the parallel function: where only shapes are known, normal ones are drawn.

    Raises:
        LensError: the two functions take other shapes, or of whole numbers only a shape is known.
    """
    import jax
    import numpy as np

    rng = np.random.default_rng(0)
    shapes = [[(np.shape(x), jax.numpy.result_type(x)) for x in jax.tree.leaves(each)] for each in (plain, parallel)]
    if shapes[0] != shapes[1]:
        where, mend = f"{shapes[0]} and {shapes[1]}", "let both examples return arguments of the same shapes."
        raise LensError("other-arguments", "the two functions take different arguments.", where=where, mend=mend)

    def of(values: Any, places: Any) -> Any:
        if isinstance(values, jax.ShapeDtypeStruct):
            if not jax.numpy.issubdtype(values.dtype, jax.numpy.floating):
                mend = "let the example return arrays: indices and keys cannot be drawn."
                raise LensError("no-numbers", "an argument is a shape without numbers.", where=str(values), mend=mend)
            fan = values.shape[-2] if len(values.shape) > 1 else 1
            values = jax.numpy.asarray(rng.standard_normal(values.shape) / fan**0.5, values.dtype)
        sharding = getattr(places, "sharding", None)
        return jax.device_put(values, sharding) if isinstance(sharding, jax.NamedSharding) else values

    return tuple(jax.tree.map(of, plain, parallel))


def need_same_mesh(args: tuple[Any, ...], axes: Mapping[str, int], options: argparse.Namespace) -> None:
    """Raises where `--mesh` says another mesh than that of the arguments, which would not be heard."""
    import jax

    shardings = (getattr(leaf, "sharding", None) for leaf in jax.tree.leaves(args))
    meshes = [dict(each.mesh.shape) for each in shardings if isinstance(each, jax.NamedSharding)]
    if meshes and dict(axes) not in meshes:
        lies = ", ".join(f"{name}={size}" for name, size in meshes[0].items())
        what = f"the arguments of {options.function}_example are on a mesh {lies}."
        mend = "leave --mesh out, or give --args too; with --target, --mesh gives the sizes on the target."
        raise LensError("not-a-mesh", what, where=f"--mesh {options.mesh}", mend=mend)


def _no_function(name: str, why: str) -> LensError:
    mend = "write file:function or module:function: train.py:step is step in train.py of this directory."
    return LensError("no-function", f"{name!r} is not a function: {why}", where=f"shardlens inspect {name}", mend=mend)


def _no_argument(text: str, why: str) -> LensError:
    mend = (
        'write dtype[shape]@axes, joined by semicolons: "float32[64,128]@x,_; int32[64]@x+y"; '
        "a dimension without an axis is _."
    )
    return LensError("not-an-argument", f"{text.strip()!r} {why}", where=f"--args {text.strip()!r}", mend=mend)
