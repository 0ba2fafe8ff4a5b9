"""What there is to compile with: versions, devices, targets, and how to mend what is missing; and what logs tell."""

from __future__ import annotations

import platform
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import jax

from shardlens.compilers.cards import at_hand
from shardlens.compilers.kept import version
from shardlens.compilers.topology import accelerators, parse_target
from shardlens.costs.chips import TARGETS
from shardlens.errors import LensError
from shardlens.messages.recognising import diagnose
from shardlens.programs.inspection import HERE, inspect
from shardlens.tables import Table

MOST = 20_000_000
PACKAGES = ("shardlens", "jax", "jaxlib", "numpy", "libtpu")


def examine() -> tuple[Table, bool]:
    """A table of what is here, what is missing below it, and whether programs can be compiled for this machine.

    A small program is compiled for the devices here, and for a few of each chip that is known.
    """
    names = [HERE, *(f"{chip}:{_FEW[len(known.pod)]}" for chip, known in TARGETS.items())]
    refused = {name: error for name in names if (error := _refused(name))}
    works = [name for name in names if name not in refused]
    found = [] if HERE in refused else jax.devices()
    rows = [("Python", f"{platform.python_version()}, {platform.system()} {platform.machine()}")]
    rows += [(name, version(name)) for name in PACKAGES]
    rows += [("XLA for GPU", "of jaxlib's version" if at_hand() else "not here")]
    rows += [("devices", _devices(found)), ("compiles for", ", ".join(works) or "nothing")]
    return Table(("part", "here"), ("left", "left"), tuple(rows), (*_missing(refused), *_idle(found))), HERE in works


def read_logs(logs: Sequence[Path]) -> str:
    """What the errors and warnings in log files mean, and how to mend them; below each file's name, if there are several.

    Args:
        logs: the files, of each at most the last `MOST` bytes; `-` is stdin.
    Raises:
        LensError: a file cannot be read.
    """
    told = []
    for log in logs:
        name = [f"== {log} =="] if len(logs) > 1 else []
        told.append("\n".join([*name, repr(diagnose(_end_of(log)))]))
    return "\n\n".join(told)


def _end_of(log: Path) -> str:
    if str(log) == "-":
        return sys.stdin.buffer.read()[-MOST:].decode(errors="replace")
    try:
        with log.open("rb") as file:
            file.seek(max(file.seek(0, 2) - MOST, 0))
            return file.read().decode(errors="replace")
    except OSError as error:
        mend = "name a file that holds a program's output: python train.py > train.log 2>&1"
        raise LensError("no-log", f"{log} cannot be read: {error.strerror}.", where=f"doctor {log}", mend=mend) from error


_FEW = {1: "4", 2: "2x2", 3: "2x2x1"}
"""A slice that there is, by the axes of the largest."""


def _refused(name: str) -> tuple[str, str] | None:
    """Why nothing can be compiled for a target, and how to mend it; `None` if it can."""
    try:
        inspect(jax.numpy.negative, jax.ShapeDtypeStruct((8,), "float32"), target=None if name == HERE else name)
        return None
    except LensError as error:
        return error.what, error.mend
    except RuntimeError as error:  # of JAX: a device that another program has, a library that does not fit
        extra = "shardlens" if name == HERE else f"shardlens[{parse_target(name).platform}]"
        return str(error).splitlines()[0], f"end other programs that use the device, or pip install --upgrade '{extra}'."


def _devices(found: list[Any]) -> str:
    if not found:
        return "none"
    return f"{len(found)} simulated on the CPU" if found[0].platform == "cpu" else f"{len(found)} {found[0].device_kind}"


def _missing(refused: Mapping[str, tuple[str, str]]) -> list[str]:
    """What cannot be compiled for, why, and how to mend it; targets with the same reason together."""
    lines = []
    for why in dict.fromkeys(refused.values()):
        names = ", ".join(name for name, other in refused.items() if other == why)
        lines += [f"not for {names}: {why[0]}", f"  mend: {why[1]}"]
    return lines


def _idle(found: list[Any]) -> list[str]:
    count = accelerators()
    if not count or not found or found[0].platform != "cpu":
        return []
    mend = "pip install 'jax[cuda12]' or 'jax[tpu]', and leave JAX_PLATFORMS unset."
    return [f"accelerators of this machine that JAX does not use: {count}", f"  mend: {mend}"]
