"""What there is to compile with: versions, devices, targets, and how to mend what is missing."""

from __future__ import annotations

import platform
from collections.abc import Mapping
from typing import Any

import jax

from shardlens.compilers.cards import at_hand
from shardlens.compilers.kept import version
from shardlens.compilers.topology import accelerators, parse_target
from shardlens.costs.chips import TARGETS
from shardlens.errors import LensError
from shardlens.programs.inspection import HERE, inspect
from shardlens.tables import Table

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
