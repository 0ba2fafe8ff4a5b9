"""Read compiled JAX programs: what they communicate, why, and what that costs on which chip.

Exit status: 0 when all is well; 1 after a mistake, which is said on stderr; 2 for words that are no command; 3 when a
program moves more than it may.
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import shardlens
from shardlens import arguments
from shardlens.errors import LensError
from shardlens.exceptions import raised_at

TOO_MUCH = 3
"""Exit status of `inspect --fail-above`, of `diff` and of `lock`."""
EPILOG = """examples:
  shardlens inspect train.py:step                   train.py has step() and step_example()
  shardlens inspect train.py:step --args "float32[64,128]@x,_; bfloat16[128]" --mesh x=2,y=4
  shardlens inspect train.py:step --mesh x=4,y=4 --target v5e:4x4       the example on a larger slice
  shardlens inspect train.py:step --target v5e:2x4 --fail-above 1MB     status 3 if a device moves more
  shardlens inspect train.py:step --json | jq .price
  shardlens why train.py:step                       the line and the cut that make it communicate
  shardlens cost train.py:step v5e                  what a model of the chip says of its time
  shardlens compare train.py:step --targets here,v5e:2x4
  shardlens diff old/train.py:step new/train.py:step    status 3 if the second moves more
  shardlens diff step.json train.py:step            against a lock file, or what inspect --json wrote
  shardlens chip v5e                                what is known of a chip, and where it was read
  shardlens lock train.py:step step.json            status 3 if it communicates more than step.json says
  shardlens doctor                                  what there is to compile with, and how to mend what is missing
"""


class Given(NamedTuple):
    """A function with its arguments, and the sizes of the mesh on the target where they are not those of the arguments."""

    f: Any
    args: tuple[Any, ...]
    axes: dict[str, int] | None


def lens_command(words: Sequence[str] | None = None) -> int:
    """Runs one command, and gives its exit status.

    Example:
        >>> lens_command(["cost", "no_such_file.py:step", "v5e"])  # stderr says what is missing
        1
    """
    options = _parser().parse_args(words)
    try:
        return int(options.run(options))
    except LensError as error:
        print(error, file=sys.stderr)
        return 1
    except Exception as error:
        if not (at := raised_at(error)):
            raise
        print(f"{at}\n{type(error).__name__}: {error}", file=sys.stderr)
        return 1


def given(options: argparse.Namespace) -> Given:
    """What the command line says of a function."""
    axes = arguments.mesh_axes(options.mesh)
    arguments.start(math.prod(axes.values()))
    f, example = arguments.load(options.function)
    if options.args is not None:
        # Arguments of the command line lie on their mesh already; an example's may lie on another one than the target's.
        return Given(f, arguments.read_arguments(options.args, arguments.mesh_of(axes)), None)
    args = arguments.example_of(example, options.function)
    if axes and not options.target:
        arguments.need_same_mesh(args, axes, options)
    return Given(f, args, axes if axes and options.target else None)


def inspect_command(options: argparse.Namespace) -> int:
    """Prints the program that a function becomes; `TOO_MUCH` if it moves more than it may."""
    from shardlens.guards.difference import figures

    asked = given(options)
    if options.hlo and not options.hlo.parent.is_dir():
        what, mend = f"there is no directory {options.hlo.parent}.", "name a file in a directory that there is."
        raise LensError("no-directory", what, where=f"--hlo {options.hlo}", mend=mend)
    program = shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes)
    if options.json:
        print(json.dumps(figures(program, options.target), indent=1))
    else:
        _print(program)
    if options.cost:
        _print("")
        _print(program.cost(options.cost))
    if options.hlo:
        options.hlo.write_text(program.hlo, encoding="utf-8")
    if options.fail_above is None or program.price <= options.fail_above:
        return 0
    print(f"{options.function}: a device moves {program.price:,} bytes, more than {options.fail_above:,}.", file=sys.stderr)
    return TOO_MUCH


def why_command(options: argparse.Namespace) -> int:
    """Prints why a function communicates."""
    asked = given(options)
    _print(shardlens.why(asked.f, *asked.args, target=options.target, axes=asked.axes))
    return 0


def cost_command(options: argparse.Namespace) -> int:
    """Prints what a model of a chip says of a function's time."""
    asked = given(options)
    _print(shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes).cost(options.chip))
    return 0


def compare_command(options: argparse.Namespace) -> int:
    """Prints what the compilers of several targets make of a function, side by side."""
    options.target = next((each for each in options.targets if each not in ("here", "cpu")), None)
    asked = given(options)
    _print(shardlens.compare(asked.f, asked.args, options.targets, asked.axes))
    return 0


def diff_command(options: argparse.Namespace) -> int:
    """Prints what differs between two programs; `TOO_MUCH` if the second moves more."""
    from shardlens.guards.difference import Difference

    found = Difference((options.A, options.B), _figures(options, options.A), _figures(options, options.B))
    if options.json:
        print(json.dumps(found.json(), indent=1))
    else:
        _print(found)
    if not found.more:
        return 0
    print(found.sentence, file=sys.stderr)
    return TOO_MUCH


def _figures(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The facts of a function, which is compiled, or of a file that has them."""
    from shardlens.guards.difference import figures, read_figures

    if ":" not in name:
        return read_figures(Path(name))
    with arguments.forgotten_modules():
        asked = given(argparse.Namespace(**{**vars(options), "function": name}))
        return figures(shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes), options.target)


def doctor_command(options: argparse.Namespace) -> int:
    """Prints what there is to compile with; 1 if that is not even for this machine."""
    from shardlens.doctor import examine

    arguments.start(1)
    table, works = examine()
    _print(table)
    return 0 if works else 1


def chip_command(options: argparse.Namespace) -> int:
    """Prints what is known of a chip, or of all."""
    from shardlens.costs.chips import chips_table

    _print(shardlens.chip(options.name) if options.name else chips_table())
    return 0


def lock_command(options: argparse.Namespace) -> int:
    """Compares a program with its lock file, or writes the file; `TOO_MUCH` if it communicates more."""
    asked = given(options)
    try:
        less = shardlens.locked(
            options.file, asked.f, *asked.args, target=options.target, axes=asked.axes, update=options.update
        )
    except AssertionError as error:
        print(error, file=sys.stderr)
        return TOO_MUCH
    if less:
        print(f"{options.file.name}: not as locked, and no more than that; --update writes it again")
    return 0


def main() -> None:
    """The command line's own words."""
    sys.exit(lens_command())


def _print(shown: Any) -> None:
    from rich.console import Console

    Console().print(shown if hasattr(shown, "__rich__") or hasattr(shown, "__rich_console__") else str(shown), markup=False)


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


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="shardlens", description=__doc__, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"shardlens {shardlens.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Any, told: str, functions: Sequence[str] = ("function",)) -> argparse.ArgumentParser:
        examples = "".join(line for line in EPILOG.splitlines(keepends=True) if f"shardlens {name} " in line)
        made = commands.add_parser(name, help=told, description=told, epilog="examples:\n" + examples, formatter_class=raw)
        made.set_defaults(run=run)
        for each in functions:
            made.add_argument(each, help="file.py:function, or module:function" + ", or a lock file" * (len(functions) > 1))
        if functions:
            made.add_argument("--args", help='shapes and shardings, as "float32[64,128]@x,_; bfloat16[128]"')
            said = "axes and sizes, as x=2,y=4; with --target and without --args those on the target"
            made.add_argument("--mesh", default="", help=said)
        return made

    def target(made: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made.add_argument("--target", help="a TPU slice, as v5e:2x4")
        return made

    inspect = target(command("inspect", inspect_command, "print what the compiler makes of a function"))
    inspect.add_argument("--json", action="store_true", help="print JSON: the facts of a lock file, flops, largest array")
    told = "end with status 3 if a device moves more than this price: 1MB, 64KiB"
    inspect.add_argument("--fail-above", type=read_bytes, metavar="BYTES", help=told)
    inspect.add_argument("--cost", metavar="CHIP", help="also what a model of this chip says of its time")
    inspect.add_argument("--hlo", type=Path, metavar="FILE", help="also write the HLO text to a file")
    target(command("why", why_command, "print why a function communicates, line by line"))
    target(command("cost", cost_command, "print what a model of a chip says of a function's time")).add_argument("chip")
    compare = command("compare", compare_command, "print what several compilers make of a function, side by side")
    told = "targets between commas, as here,v5e:2x4"
    compare.add_argument("--targets", type=lambda text: text.split(","), default=["here", "v5e:2x4"], help=told)
    diff = target(command("diff", diff_command, "print what differs between two functions: status 3 if B moves more", "AB"))
    diff.add_argument("--json", action="store_true", help="print JSON: the rows that differ, and whether B moves more")
    command("doctor", doctor_command, "print what there is to compile with, and how to mend what is missing", functions=())
    chip = command("chip", chip_command, "print what is known of a chip, or of all", functions=())
    chip.add_argument("name", nargs="?", help="v5e, H100, or a target")
    lock = target(command("lock", lock_command, "compare a function with its lock file: status 3 if it communicates more"))
    lock.add_argument("file", type=Path, help="the lock file")
    lock.add_argument("--update", action="store_true", help="write the file")
    return parser
