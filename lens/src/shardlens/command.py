"""Read compiled JAX programs: what they communicate, why, and what that costs on which chip.

Exit status: 0 when all is well; 1 after a mistake, which is said on stderr; 2 for words that are no command; 3 when a
program moves more than it may or does not fit, or two differ.
"""

from __future__ import annotations

import argparse
import contextlib
import inspect
import json
import math
import os
import re
import shutil
import sys
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import shardlens
from shardlens import apart, arguments, progress
from shardlens.compilers.kept import keeping, usual_folder
from shardlens.compilers.topology import host_settings, in_slices
from shardlens.errors import LensError
from shardlens.exceptions import raised_at
from shardlens.sources import is_users
from shardlens.tables import read_bytes

TOO_MUCH = 3
"""Exit status where a program moves more than it may or does not fit, or where two differ."""
HERE = ("here", "cpu")
INTERRUPTED = 130
"""Exit status after Ctrl-C, as shells have it."""
EPILOG = """examples:
  shardlens inspect train.py:step                   train.py has step() and step_example()
  shardlens inspect train.py:step --args "float32[64,128]@x,_; bfloat16[128]" --mesh x=2,y=4
  shardlens inspect train.py:step --mesh x=4,y=4 --target v5e:4x4       the example on a larger slice
  shardlens inspect train.py:step --target v5e:2x4 --fail-above 1MB     status 3 if a device moves more
  shardlens inspect train.py:step --json | jq .price
  shardlens inspect train.py:step --by scope        twenty rows at most: which modules communicate most
  shardlens why train.py:step                       the line and the cut that make it communicate
  shardlens cost train.py:step v5e                  what a model of the chip says about its time
  shardlens compare train.py:step --targets here,v5e:2x4
  shardlens inspect train.py:step --mesh data=16 --target v5e:2x4 --num-slices 2
  shardlens diff old/train.py:step new/train.py:step    status 3 if the second moves more
  shardlens diff step.json train.py:step            against a lock file, or what inspect --json wrote
  shardlens diff --git HEAD~1 train.py:step --markdown   what the last commit changed, for a pull request
  shardlens diff train.py:step --targets v5e:2x4,v6e:2x4
  shardlens diverge plain.py:step parallel.py:step  the first value that differs: both run on numbers
  shardlens chip v5e                                what is known about a chip, and where it was read
  shardlens lock train.py:step step.json            status 3 if it communicates more than step.json says
  shardlens doctor                                  what there is to compile with, and how to mend what is missing
  shardlens doctor host0.log host1.log              the errors, warnings and hangs in logs, explained
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
    options, path = _parser().parse_args(words), [*sys.path]
    try:
        if getattr(options, "num_slices", 1) != 1:
            _name_slices(options)
        with progress.shown(), host_settings(), keeping(None if options.no_cache else usual_folder()):
            return int(options.run(options))
    except LensError as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("interrupted", file=sys.stderr)
        return INTERRUPTED
    except Exception as error:
        if not (said := _mistake(error, options)):
            raise
        print(said, file=sys.stderr)
        return 1
    finally:
        sys.path[:] = path


def _mistake(error: Exception, options: argparse.Namespace) -> str:
    """A mistake of the user's, with its line and its notes; empty where it may be ours, whose traceback is needed."""
    if isinstance(error, SyntaxError) and is_users(error.filename or ""):
        return "".join(traceback.format_exception_only(error)).rstrip()
    if not (at := raised_at(error) or _called(error, options)):
        return ""
    notes = (note for note in getattr(error, "__notes__", ()) if not note.startswith("---"))  # JAX: of its traceback
    return "\n".join([at, f"{type(error).__name__}: {error}", *notes])


def _called(error: Exception, options: argparse.Namespace) -> str:
    """The first line of the function, or of its example, if the error says that it takes other arguments."""
    said = re.match(r"([\w.<>]+)\(\) (?:missing|takes|got) ", str(error))
    names = (getattr(options, each, None) or "" for each in ("function", "A", "B"))
    with contextlib.suppress(Exception):  # the other one may not be there
        for f in (f for name in names if said and ":" in name for f in arguments.load(name) if callable(f)):
            if said and getattr(f, "__qualname__", "") == said[1]:
                return raised_at(error, inspect.unwrap(f))
    return ""


def _name_slices(options: argparse.Namespace) -> None:
    """Has the targets named as those of so many slices."""
    if several := getattr(options, "targets", None):
        options.targets = [each if each in HERE else in_slices(each, options.num_slices) for each in several]
    else:
        options.target = in_slices(options.target, options.num_slices)


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
    asked = given(options)
    for name, file in (("hlo", options.hlo), ("html", options.html)):
        if file and not file.parent.is_dir():
            what, mend = f"there is no directory {file.parent}.", "name a file in a directory that exists."
            raise LensError("no-directory", what, where=f"--{name} {file}", mend=mend)
    program = shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes)
    modelled = program.cost(_slice(options.cost, options.target)) if options.cost else None
    if options.json:
        print(json.dumps(program.to_json(options.target) | ({"cost": modelled.to_json()} if modelled else {}), indent=1))
    else:
        _print(_table(program, options))
        for more in (program.occupied(options.target or "") if options.memory else None, modelled):
            if more is not None:
                _print("")
                _print(more)
    if options.html:
        from shardlens.charts.page import page

        options.html.write_text(page(program, options.function, options.target), encoding="utf-8")
    if options.hlo:
        options.hlo.write_text(program.hlo, encoding="utf-8")
    if _told_too_large({options.function: program}):
        return TOO_MUCH
    try:
        if options.fail_above is None or program.price <= options.fail_above:
            return 0
    except LensError as unknown:
        print(f"{options.function}: no limit can be checked: {unknown.what}", file=sys.stderr)
        return TOO_MUCH
    print(f"{options.function}: a device moves {program.price:,} bytes, more than {options.fail_above:,}.", file=sys.stderr)
    return TOO_MUCH


def _told_too_large(programs: Mapping[str, Any]) -> int:
    """`TOO_MUCH`, and a sentence on stderr, where a program does not fit into a device's memory; else 0."""
    told = [f"{name}: {program.too_large}\n" for name, program in programs.items() if program.refused]
    sys.stderr.writelines(told)
    return TOO_MUCH if told else 0


def _table(program: Any, options: argparse.Namespace) -> Any:
    """The program as it is asked for: every collective, groups, or what it shows itself as."""
    from shardlens.programs.table import collectives_table

    width = shutil.get_terminal_size((80, 24)).columns
    if options.all:
        return collectives_table(program.collectives, tuple(program._lines()), program._on_a_device(), width)
    return program.by(options.by, width) if options.by else program


def why_command(options: argparse.Namespace) -> int:
    """Prints why a function communicates; `TOO_MUCH` if it does not fit."""
    asked = given(options)
    found = shardlens.why(asked.f, *asked.args, target=options.target, axes=asked.axes)
    _print(found)
    return _told_too_large({options.function: found.program})


def cost_command(options: argparse.Namespace) -> int:
    """Prints a function's time by the model of a chip; `TOO_MUCH` if it does not fit."""
    asked = given(options)
    program = shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes)
    _print(program.cost(_slice(options.chip, options.target)))
    return _told_too_large({options.function: program})


def _slice(chip: str, target: str | None) -> str:
    """The slice that was compiled for, if it is of that chip, by any of its names: its torus is known."""
    return target if target and ":" not in chip and shardlens.chip(chip) is shardlens.chip(target) else chip


def compare_command(options: argparse.Namespace) -> int:
    """Prints what the compilers of several targets make of a function, side by side; `TOO_MUCH` if one does not fit."""
    options.target = next((each for each in options.targets if each not in HERE), None)
    asked = given(options)
    found = shardlens.compare(asked.f, asked.args, options.targets, asked.axes)
    _print(found)
    return _told_too_large(dict(found.programs))


def diff_command(options: argparse.Namespace) -> int:
    """Prints what differs between two programs; `TOO_MUCH` if the second moves more than it may, or does not fit."""
    from shardlens.guards.difference import Difference

    names, sides = _sides(options)
    found = Difference(names, *sides)
    if options.json:
        print(json.dumps(found.to_json(), indent=1))
    elif options.markdown:
        print(found.markdown())
    else:
        _print(found)
    a, b = found.a["price"], found.b["price"]
    moves = found.more and (None in (a, b) or b - a > options.fail_above)
    said = [f"{each}\n" for each in (found.sentence * moves, found.too_large[1]) if each]
    sys.stderr.writelines(said)
    return TOO_MUCH if said else 0


def _sides(options: argparse.Namespace) -> tuple[tuple[str, str], list[dict[str, Any]]]:
    """What is compared, with its names: two functions, one at two commits, or one for two targets."""
    given_ways = [way for way in ("B", "git", "targets") if getattr(options, way)]
    if len(given_ways) != 1 or (options.targets and len(options.targets) != 2):
        mend = "name a second function or file, or give --git HEAD~1, or --targets v5e:2x4,v6e:2x4."
        raise LensError("two-programs", "a difference needs two programs.", where=f"shardlens diff {options.A}", mend=mend)
    if options.git:
        with apart.at_commit(options.git, options.A) as name:
            before = _figures(options, name)
        return (f"{options.A} at {options.git}", options.A), [before, _figures(options, options.A)]
    if options.targets:
        each = (argparse.Namespace(**{**vars(options), "target": target}) for target in options.targets)
        return (options.targets[0], options.targets[1]), [_figures(one, options.A) for one in each]
    return (options.A, options.B), [_figures(options, options.A), _figures(options, options.B)]


def _figures(options: argparse.Namespace, name: str) -> dict[str, Any]:
    """The facts of a function, which is compiled, or of a file that has them."""
    from shardlens.guards.difference import read_figures

    if ":" not in name:
        return read_figures(Path(name))
    with apart.Apart().entered():
        asked = given(argparse.Namespace(**{**vars(options), "function": name}))
        return shardlens.inspect(asked.f, *asked.args, target=options.target, axes=asked.axes).to_json(options.target)


def diverge_command(options: argparse.Namespace) -> int:
    """Prints where two functions part; `TOO_MUCH` if they do."""
    sides = []
    for name in (options.A, options.B):
        with (aside := apart.Apart()).entered():
            asked = given(argparse.Namespace(**{**vars(options), "function": name}))
        sides.append(asked._replace(f=aside.calling(asked.f)))
    found = shardlens.diverge(sides[0].f, sides[1].f, *arguments.drawn(sides[0].args, sides[1].args))
    _print(found)
    return TOO_MUCH if found.first else 0


def doctor_command(options: argparse.Namespace) -> int:
    """Prints what there is to compile with, 1 if that is not even for this machine; or what messages in log files mean."""
    from shardlens.doctor import examine, read_logs

    if options.logs:
        print(read_logs(options.logs))
        return 0

    arguments.start(1)
    table, works = examine()
    _print(table)
    return 0 if works else 1


def chip_command(options: argparse.Namespace) -> int:
    """Prints what is known about one chip, or about all."""
    from shardlens.costs.chips import chips_table

    _print(shardlens.chip(options.name) if options.name else chips_table())
    return 0


def lock_command(options: argparse.Namespace) -> int:
    """Compares a program with its lock file, or writes the file; `TOO_MUCH` if it communicates more."""
    if options.why:
        os.environ["SHARDLENS_WHY"] = "1"
    if options.file.is_dir() or not (options.update or options.file.is_file()):
        file = options.file / "step.json" if options.file.is_dir() else options.file
        mend = f"write it: shardlens lock {options.function} {file} --update."
        raise LensError("no-lock-file", f"there is no lock file {options.file}.", where=f"lock {options.file}", mend=mend)
    asked = given(options)
    try:
        less = shardlens.locked(
            options.file, asked.f, *asked.args, target=options.target, axes=asked.axes, update=options.update
        )
    except AssertionError as error:
        print(error, file=sys.stderr)
        return TOO_MUCH
    if less:
        print(f"{options.file.name}: differs from what is locked, but communicates no more; --update writes it again")
    return 0


def main() -> None:
    """The command line's own words."""
    try:
        status = lens_command()
        sys.stdout.flush()
    except BrokenPipeError:  # `| head` has read enough; Python would write once more at its end, and rich ends so too
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = 1
    sys.exit(status)


def _print(shown: Any) -> None:
    from rich.console import Console

    Console().print(shown if hasattr(shown, "__rich__") or hasattr(shown, "__rich_console__") else str(shown), markup=False)


def _bytes(text: str) -> int:
    try:
        return read_bytes(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="shardlens", description=__doc__, epilog=EPILOG, formatter_class=raw)
    parser.add_argument("--version", action="version", version=f"shardlens {shardlens.__version__}")
    commands = parser.add_subparsers(required=True, metavar="command")

    def command(name: str, run: Any, told: str, functions: Sequence[str] = ("function",)) -> argparse.ArgumentParser:
        examples = "".join(line for line in EPILOG.splitlines(keepends=True) if f"shardlens {name} " in line)
        made = commands.add_parser(name, help=told, description=told, epilog="examples:\n" + examples, formatter_class=raw)
        made.set_defaults(run=run, no_cache=False)
        if functions:
            _function_options(made, name, functions)
        return made

    def target(made: argparse.ArgumentParser) -> argparse.ArgumentParser:
        made.add_argument("--target", help="devices that need not be here: v5e:2x4, h100:8, h100:2x8")
        made.add_argument("--num-slices", type=int, default=1, metavar="N", help="compile for N such slices")
        made.add_argument("--no-cache", action="store_true", help="compile again, and store nothing")
        return made

    _inspect_options(target(command("inspect", inspect_command, "print what the compiler makes of a function")))
    target(command("why", why_command, "print why a function communicates, line by line"))
    cost = target(command("cost", cost_command, "print a function's time by the model of a chip"))
    cost.add_argument("chip", help="v5e, H100, or another that `shardlens chip` lists")
    compare = command("compare", compare_command, "print what several compilers make of a function, side by side")
    told = "targets separated by commas, like here,v5e:2x4"
    compare.add_argument("--targets", type=lambda text: text.split(","), default=["here", "v5e:2x4"], help=told)
    compare.add_argument("--num-slices", type=int, default=1, metavar="N", help="compile for N slices of each target")
    diff = target(command("diff", diff_command, "print what differs between two functions: status 3 if B moves more", "A"))
    diff.add_argument("B", nargs="?", default="", help="another function, or a lock file")
    diff.add_argument("--git", metavar="COMMIT", help="compare with the function as it was at this commit")
    diff.add_argument("--targets", type=lambda text: text.split(","), metavar="A,B", help="compare it for two targets")
    diff.add_argument("--json", action="store_true", help="print JSON: the rows that differ, and whether B moves more")
    diff.add_argument("--markdown", action="store_true", help="print Markdown, for a comment")
    told = "end with status 3 only if a device moves more than this many additional bytes"
    diff.add_argument("--fail-above", type=_bytes, default=0, metavar="BYTES", help=told)
    told = "print the first value that differs between two functions: status 3 if there is one"
    command("diverge", diverge_command, told, ("A", "B")).set_defaults(target=None)
    told = "print which compilers are here and how to add a missing one, or what messages in log files mean"
    doctor = command("doctor", doctor_command, told, functions=())
    doctor.add_argument("logs", nargs="*", type=Path, metavar="LOG", help="what a program printed; - reads stdin")
    chip = command("chip", chip_command, "print what is known about one chip, or about all", functions=())
    chip.add_argument("name", nargs="?", help="v5e, H100, or a target")
    lock = target(command("lock", lock_command, "compare a function with its lock file: status 3 if it communicates more"))
    lock.add_argument("file", type=Path, help="the lock file")
    lock.add_argument("--update", action="store_true", help="write the file")
    lock.add_argument("--why", action="store_true", help="also print why, and what would be cheaper: changes are compiled")
    return parser


def _function_options(made: argparse.ArgumentParser, name: str, functions: Sequence[str]) -> None:
    for each in functions:
        made.add_argument(each, help="file.py:function, or module:function" + ", or a lock file" * (name == "diff"))
    made.add_argument("--args", help='shapes and shardings, as "float32[64,128]@x,_; bfloat16[128]"')
    resized = {"compare": "; without --args, the sizes on the targets", "diverge": ""}
    said = resized.get(name, "; with --target and without --args, the sizes on the target")
    made.add_argument("--mesh", default="", help="axes and sizes, like x=2,y=4" + said)


def _inspect_options(inspect: argparse.ArgumentParser) -> None:
    inspect.add_argument("--json", action="store_true", help="print JSON: the facts of a lock file, FLOPs, lines, times")
    told = "at most twenty rows, the most expensive first, by line of Python, scope, leaf, purpose, axis or kind"
    inspect.add_argument("--by", choices=("line", "scope", "leaf", "purpose", "axis", "kind"), help=told)
    inspect.add_argument("--all", action="store_true", help="a row for each collective, however many there are")
    told = "end with status 3 if a device moves more than this price: 1MB, 64KiB"
    inspect.add_argument("--fail-above", type=_bytes, metavar="BYTES", help=told)
    inspect.add_argument("--cost", metavar="CHIP", help="also print its time by the model of this chip")
    told = "also print what occupies a device at the peak, with lines, and whether it fits the target"
    inspect.add_argument("--memory", action="store_true", help=told)
    inspect.add_argument("--html", type=Path, metavar="FILE", help="also write a page: scopes that fold, tables, memory")
    inspect.add_argument("--hlo", type=Path, metavar="FILE", help="also write the HLO text to a file")
