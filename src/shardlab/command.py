"""The commands of `python -m shardlab`: `inspect` prints what a function became, `doctor` what is installed."""

from __future__ import annotations

import argparse
import functools
import importlib
import json
import math
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from shardlab.errors import ShardlabError

TOO_MUCH = 3
"""Exit status of `inspect --fail-above`."""
ARGUMENT = re.compile(r"\s*([a-z]+\d+\w*|bool)\[([\d,\s]*)\](?:@(.*))?$")
EPILOG = """examples:
  python -m shardlab inspect train.py:step                   train.py has step() and step_example()
  python -m shardlab inspect train.py:step --args "float32[64,128]@x,_; bfloat16[128]" --mesh x=2,y=4
  python -m shardlab inspect train.py:step --args "..." --mesh x=16,y=16 --target v5e:16x16 --cost v5e
  python -m shardlab inspect train.py:step --mesh x=4,y=4 --target v5e:4x4       the example on a larger slice
  python -m shardlab inspect train.py:step --target v5e:2x4 --fail-above 1MB     status 3 if a device moves more
  python -m shardlab inspect train.py:step --json | jq .price
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs one command: 0; 1 after a mistake, which is said on stderr; 3 if a program moves more than it may."""
    options = _parser().parse_args(arguments)
    try:
        return int(options.run(options))
    except ShardlabError as error:
        print(error, file=sys.stderr)
        return 1


def inspect_command(options: argparse.Namespace) -> int:
    """Prints the program that a function becomes; `TOO_MUCH` if it moves more than it may."""
    from rich.console import Console

    from shardlab.programs.cost import cost
    from shardlab.programs.inspection import inspect
    from shardlab.testing.lock import facts

    axes = mesh_axes(options.mesh)
    _start(math.prod(axes.values()))
    f, example = load(options.function)
    given = options.args is not None
    args = read_arguments(options.args, _mesh(axes)) if given else _example_of(example, options.function)
    if axes and not given and not options.target:
        _need_same_mesh(args, axes, options)
    if options.hlo and not options.hlo.parent.is_dir():
        what, mend = f"there is no directory {options.hlo.parent}.", "name a file in a directory that there is."
        raise ShardlabError("no-directory", what, where=f"--hlo {options.hlo}", mend=mend)
    # Arguments of the command line lie on their mesh already; an example's may lie on another one than the target's.
    program = inspect(f, *args, target=options.target, axes=axes if axes and not given and options.target else None)
    console = Console()
    if options.json:
        print(json.dumps(facts(program, options.target) | {"flops": program.flops}, indent=1))
    else:
        console.print(program)
    if options.cost:
        console.print()
        console.print(cost(program, options.cost))
    if options.hlo:
        options.hlo.write_text(program.hlo, encoding="utf-8")
    if options.fail_above is None or program.price <= options.fail_above:
        return 0
    print(f"{options.function}: a device moves {program.price:,} bytes, more than {options.fail_above:,}.", file=sys.stderr)
    return TOO_MUCH


def read_bytes(text: str) -> int:
    """A number of bytes: `1048576`, `1MB` (10**6), `1MiB` (2**20).

    Example:
        >>> read_bytes("1.5MB"), read_bytes("2 KiB"), read_bytes("0")
        (1500000, 2048, 0)
    """
    found = re.fullmatch(r"\s*([\d_]+(?:\.\d+)?)\s*(?:([kKMGT])(i?)B|B)?\s*", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of bytes: write 1048576, 1MB or 1MiB")
    base, power = 1024 if found[3] else 1000, " KMGT".index(found[2].upper()) if found[2] else 0
    return round(float(found[1]) * float(base) ** power)


def doctor_command(options: argparse.Namespace) -> int:
    """Prints what there is to compile with."""
    import importlib.metadata as metadata

    from shardlab.devices import setup

    print(setup(options.devices))
    for name in ("shardlab", "jaxlib", "numpy", "libtpu"):
        try:
            print(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            print(f"{name} is not installed" + ("; target= needs it: pip install 'shardlab[tpu]'" * (name == "libtpu")))
    return 0


def load(name: str) -> tuple[Any, Any]:
    """The function `module:function` or `path/file.py:function`, and the one beside it that makes its arguments, or `None`.

    A function of a class, `module:Class.function`, has `Class.function_example` beside it.

    Raises:
        ShardlabError: there is no such module or function.
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
    finally:
        sys.path.pop(0)
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
        ShardlabError: the text is of another form.
    Example:
        >>> mesh_axes("x=2,y=4")
        {'x': 2, 'y': 4}
    """
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    if any(not size.strip().isdigit() or not name.strip() or int(size) < 1 for name, _, size in parts):
        mend = "write names and sizes: x=2,y=4."
        raise ShardlabError("not-a-mesh", f"{text!r} is no mesh.", where=f"--mesh {text}", mend=mend)
    names = [name.strip() for name, _, _ in parts]
    if len({*names}) < len(names):
        mend = "give each axis a name of its own: x=2,y=4."
        raise ShardlabError("not-a-mesh", f"{text!r} names an axis twice.", where=f"--mesh {text}", mend=mend)
    return {name.strip(): int(size) for name, _, size in parts}


def read_arguments(text: str, mesh: Any) -> tuple[Any, ...]:
    """Shapes and shardings of arguments, as `float32[64,128]@x,_; bfloat16[128]`: after `@` a mesh axis for each dimension.

    Several axes on one dimension are joined by `+`; `_` stands for none.

    Raises:
        ShardlabError: the text is of another form, or names an axis that the mesh does not have.
    """
    return tuple(_argument(part, mesh) for part in text.split(";") if part.strip())


def _argument(text: str, mesh: Any) -> Any:
    import jax

    found = ARGUMENT.match(text)
    if not found:
        raise _no_argument(text, "is no shape.")
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


def _mesh(axes: Mapping[str, int]) -> Any:
    """A mesh over the first devices, or an abstract one where there are fewer."""
    import jax

    types = (jax.sharding.AxisType.Auto,) * len(axes)
    if math.prod(axes.values()) > len(jax.devices()):
        return jax.sharding.AbstractMesh(tuple(axes.values()), tuple(axes), axis_types=types)
    found = jax.devices()[: math.prod(axes.values())]
    return jax.make_mesh(tuple(axes.values()), tuple(axes), axis_types=types, devices=found)


def _start(n: int) -> None:
    from shardlab.devices import setup

    setup(max(n, 8) if n <= 64 else 8)


def _example_of(example: Any, name: str) -> tuple[Any, ...]:
    if example is None:
        raise ShardlabError(
            "no-arguments",
            f"nothing says what {name} is called with.",
            where=f"python -m shardlab inspect {name}",
            mend=f'give --args "float32[64,128]@x,_" --mesh x=2,y=4,\n'
            f"or write {name.partition(':')[2]}_example() beside it: a tuple of arrays or jax.ShapeDtypeStructs.",
        )
    if not callable(example):
        what = f"{name.partition(':')[2]}_example is no function, but of type {type(example).__name__}."
        mend = "let it be a function that returns the arguments, one or a tuple of them."
        raise ShardlabError("no-arguments", what, where=f"python -m shardlab inspect {name}", mend=mend)
    made = example()
    return made if isinstance(made, tuple) else (made,)


def _need_same_mesh(args: tuple[Any, ...], axes: Mapping[str, int], options: argparse.Namespace) -> None:
    """Raises where `--mesh` says another mesh than that of the arguments, which would not be heard."""
    import jax

    shardings = (getattr(leaf, "sharding", None) for leaf in jax.tree.leaves(args))
    meshes = [dict(each.mesh.shape) for each in shardings if isinstance(each, jax.NamedSharding)]
    if meshes and dict(axes) not in meshes:
        lies = ", ".join(f"{name}={size}" for name, size in meshes[0].items())
        what = f"the arguments of {options.function}_example lie on a mesh {lies}."
        mend = "leave --mesh out, or give --args too; with --target it says the sizes on the target."
        raise ShardlabError("not-a-mesh", what, where=f"--mesh {options.mesh}", mend=mend)


def _no_function(name: str, why: str) -> ShardlabError:
    mend = "write file:function or module:function, as train.py:step for step in train.py of this directory."
    return ShardlabError(
        "no-function", f"{name!r} is no function: {why}", where=f"python -m shardlab inspect {name}", mend=mend
    )


def _no_argument(text: str, why: str) -> ShardlabError:
    mend = (
        'write dtype[shape]@axes, joined by semicolons: "float32[64,128]@x,_; int32[64]@x+y"; a dimension without axis is _.'
    )
    return ShardlabError("not-an-argument", f"{text.strip()!r} {why}", where=f"--args {text.strip()!r}", mend=mend)


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="python -m shardlab", description=__doc__, epilog=EPILOG, formatter_class=raw)
    commands = parser.add_subparsers(required=True, metavar="command")
    told = "print what the compiler makes of a function"
    inspect = commands.add_parser("inspect", help=told, description=told, epilog=EPILOG, formatter_class=raw)
    inspect.add_argument("function", help="file.py:function, or module:function")
    inspect.add_argument("--args", help='shapes and shardings, as "float32[64,128]@x,_; bfloat16[128]"')
    told = "axes and sizes, as x=2,y=4; with --target and without --args those on the target"
    inspect.add_argument("--mesh", default="", help=told)
    inspect.add_argument("--target", help="a TPU slice, as v5e:2x4")
    inspect.add_argument("--json", action="store_true", help="print JSON: see shardlab.testing.lock.facts, and flops")
    told = "end with status 3 if a device moves more than this price: 1MB, 64KiB"
    inspect.add_argument("--fail-above", type=read_bytes, metavar="BYTES", help=told)
    inspect.add_argument("--cost", metavar="CHIP", help="also what a model of this chip says of its time")
    inspect.add_argument("--hlo", type=Path, metavar="FILE", help="also write the HLO text to a file")
    inspect.set_defaults(run=inspect_command)
    doctor = commands.add_parser("doctor", help="print devices and versions")
    doctor.add_argument("--devices", type=int, default=8, help="how many devices are wanted")
    doctor.set_defaults(run=doctor_command)
    return parser
