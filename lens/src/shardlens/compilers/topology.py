"""Slices of TPUs and hosts of GPUs that are only described: their names, their devices and meshes over them."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import glob
import importlib.util
import itertools
import math
import os
import platform
import re
import sys
from collections.abc import ItemsView, Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlens.compilers import cards
from shardlens.costs.chips import TARGETS
from shardlens.errors import LensError, shown
from shardlens.placement import Axes
from shardlens.reading.slices import within

# Slices of chips whose torus has two axes.
FLAT = ((1, 1), (2, 2), (2, 4), (4, 4), (4, 8), (8, 8), (8, 16), (16, 16))

# What libtpu looks for on a TPU host. Without them it asks the metadata server of a cloud and complains on stderr.
_HOST = {
    "TPU_SKIP_MDS_QUERY": "1",
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",
    "TPU_WORKER_HOSTNAMES": "localhost",
    "TPU_ACCELERATOR_TYPE": "v5litepod-8",
}


@dataclasses.dataclass(frozen=True)
class Target:
    """TPU slices or GPUs: `"v5e:2x4"` is `Target("v5e", (2, 4))`, two slices are `"v5e:2x4*2"`, two hosts `"h100:2x8"`."""

    chip: str
    shape: tuple[int, ...]
    slices: int = 1

    @property
    def size(self) -> int:
        """Devices of all slices."""
        return math.prod(self.shape) * TARGETS[self.chip].devices * self.slices

    @property
    def platform(self) -> str:
        """Which of XLA's compilers compiles for it: "tpu" or "gpu"."""
        return "gpu" if TARGETS[self.chip].host else "tpu"

    def __str__(self) -> str:
        return f"{self.chip}:{'x'.join(map(str, self.shape))}" + f"*{self.slices}" * (self.slices > 1)


def parse_target(text: str) -> Target:
    """The target that `text` names.

    Raises:
        LensError: the chip is not known, or it comes in no slice of that shape.
    Example:
        >>> parse_target("v5p:4x4x4").size
        64
    """
    found = re.fullmatch(r"(\w+):(\d+(?:x\d+)*)(?:\*([1-9]\d*))?", text if isinstance(text, str) else "")
    target = Target(found[1], tuple(map(int, found[2].split("x"))), int(found[3] or 1)) if found else None
    if target is None or not _exists(target):
        raise LensError(
            "unknown-target",
            f"there is no target {shown(text)}.",
            where=f"target={shown(text)}",
            mend=f"v5e and v6e come as {', '.join('x'.join(map(str, shape)) for shape in FLAT)};\n"
            "v4, v5p and tpu7x as three sizes, each 2 or a multiple of 4 (the last may be 1): v5p:2x2x1, v5p:4x4x8;\n"
            "several slices with *: v5e:2x4*2;\n"
            f"{', '.join(name for name in TARGETS if TARGETS[name].host)} as cards, or hosts x cards: h100:8, h100:2x8.",
        )
    return target


def in_slices(target: str | None, num_slices: int) -> str | None:
    """The target of so many slices like this one, as JAX's `topologies.get_topology_desc` has it by the same keyword.

    Raises:
        LensError: there is no target, it says a number of slices itself, or they are no TPUs.
    Example:
        >>> in_slices("v5e:2x4", 2), in_slices("v5e:2x4", 1), in_slices(None, 1)
        ('v5e:2x4*2', 'v5e:2x4', None)
    """
    if isinstance(num_slices, int) and num_slices == 1 and isinstance(target, str | None):
        return target  # it is looked up where it is used
    one = None if target is None else parse_target(target)
    if one is None or one.slices != 1 or one.platform == "gpu" or not isinstance(num_slices, int) or num_slices < 1:
        what = f"num_slices={shown(num_slices)} slices of {target} are not a target."
        mend = (
            "give one TPU slice and how many of it: target='v5e:2x4', num_slices=2, or target='v5e:2x4*2'; hosts of GPUs are"
        )
        raise LensError(
            "no-slices", what, where=f"target={target!r}   num_slices={shown(num_slices)}", mend=f"{mend} target='h100:2x8'."
        )
    return str(dataclasses.replace(one, slices=num_slices))


def devices(target: str) -> tuple[Any, ...]:
    """The slice's devices, which programs are compiled for and cannot run on.

    Raises:
        LensError: the target is not known, or its compiler is not installed, or it refuses.
    """
    return _devices(parse_target(target))


def sizes_of(axes: Any) -> dict[str, int]:
    """Mesh axes and their sizes.

    Raises:
        LensError: they are not names with sizes.
    """
    pairs = axes.items() if isinstance(axes, Mapping) else axes
    if isinstance(pairs, list | tuple | ItemsView) and all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
        if all(isinstance(name, str) and isinstance(size, int | np.integer) for name, size in pairs):
            return {name: int(size) for name, size in pairs}
    what, mend = "the axes of a mesh are names with sizes.", "write {'x': 2, 'y': 4}."
    raise LensError("not-a-mesh", what, where=f"axes are of type {type(axes).__name__}", mend=mend)


def target_mesh(
    target: str, axes: Mapping[str, int] | Axes, axis_types: Sequence[Any] | None = None, num_slices: int = 1
) -> Any:
    """A mesh over the slice, its devices in the order that `jax.make_mesh` would give them on the real one.

    Where mesh axes fit those of the torus only in parts, the torus is split; `jax.make_mesh` does so on v5e alone. Of
    several slices each has a part of the slowest axes, as `mesh_utils.create_hybrid_device_mesh` gives it.

    Args:
        target: such as "v5e:2x4", or "v5e:2x4*2" for two slices.
        axes: mesh axis names and sizes, slowest first.
        axis_types: `jax.sharding.AxisType` of each axis; Auto unless given.
        num_slices: how many such slices, where `target` names one.
    Raises:
        LensError: the target is not known, its compiler is missing, or the axes do not make up the slice.
    Example:
        >>> target_mesh("v5e:2x4", {"x": 2, "y": 8})
        Traceback (most recent call last):
            ...
        shardlens.errors.LensError: [target-size] axes x=2, y=8 do not make up the 8 devices of v5e:2x4.
        ...
    """
    import jax
    from jax.experimental import mesh_utils

    sizes = sizes_of(axes)
    slice_ = parse_target(in_slices(target, num_slices) or target)
    if math.prod(sizes.values()) != slice_.size:
        raise size_differs(slice_, sizes)
    found, inside = _devices(slice_), within(tuple(sizes.items()), slice_.slices)
    if math.prod(size for _, size in inside) * slice_.slices != slice_.size:
        raise size_differs(slice_, sizes, f"the {slice_.slices} slices do not divide the slowest axes")
    each = len(found) // slice_.slices
    parts = [
        mesh_utils.create_device_mesh(
            tuple(size for _, size in inside), found[k * each : (k + 1) * each], allow_split_physical_axes=True
        )
        for k in range(slice_.slices)
    ]
    ordered = np.concatenate([part.reshape(-1) for part in parts]).reshape(tuple(sizes.values()))
    types = tuple(axis_types or (jax.sharding.AxisType.Auto,) * len(sizes))
    return jax.sharding.Mesh(ordered, tuple(sizes), axis_types=types)


@functools.lru_cache(maxsize=32)
def _devices(target: Target) -> tuple[Any, ...]:
    import jax
    from jax.experimental import topologies

    need_compiler(target)
    if target.platform == "gpu":
        known, (*hosts, count) = TARGETS[target.chip], target.shape
        return cards.described(target.chip, math.prod(hosts), count, joined=known.pod[0] > known.host)
    # A v4 chip has two cores, and each is a device of its own unless they are told to be one: 2x2x1 has 8 devices without.
    options: dict[str, Any] = {"chip_config_name": "megacore"} if target.chip == "v4" else {}
    if target.slices > 1:
        options["num_slices"] = target.slices
    if math.prod(target.shape) == 1:
        # By default a host has 2x2x1 chips, and libtpu refuses a slice that these do not divide.
        options["chips_per_host_bounds"] = [1, 1, 1]
    try:
        with host_settings():
            described = topologies.get_topology_desc(platform="tpu", topology_name=str(target).partition("*")[0], **options)
    except jax.errors.JaxRuntimeError as error:
        raise LensError(
            "target-refused",
            f"libtpu does not describe {target}.",
            where=str(error).splitlines()[0],
            mend="try a smaller or squarer slice; pip install 'shardlens[tpu]' brings the libtpu that fits this JAX.",
        ) from error
    return tuple(described.devices)


def need_compiler(target: Target) -> None:
    """Nothing, where the target's compiler is installed.

    Raises:
        LensError: it is not.
    """
    if target.platform == "gpu":
        cards.need_plugin(target)
    elif importlib.util.find_spec("libtpu") is None and "TPU_LIBRARY_PATH" not in os.environ:
        raise _no_libtpu(target)


@contextlib.contextmanager
def host_settings() -> Iterator[None]:
    """While libtpu loads: environment variables that keep it quiet, where there is no TPU and the user has set none.

    Example:
        >>> with host_settings():
        ...     devices = jax.devices()
    """
    # Where there are chips (/dev/vfio under VFIO, else /dev/accel), libtpu needs the truth about their host.
    if any(os.path.exists(path) for path in ("/dev/accel0", "/dev/vfio/0")):
        yield
        return
    with cards.unless_set(_HOST):
        yield


def accelerators() -> int:
    """TPU chips or NVIDIA GPUs of this machine, counted by their files, without starting them.

    Example:
        >>> accelerators() >= 0
        True
    """
    # Not by `jax.devices()`: once a backend has started, the number of CPU devices is fixed. Chips are /dev/vfio/* under
    # VFIO, else /dev/accel*; without libtpu JAX cannot use them.
    chips = glob.glob("/dev/accel[0-9]*") or glob.glob("/dev/vfio/[0-9]*")
    if chips and importlib.util.find_spec("libtpu"):
        return len(chips)
    return len(glob.glob("/dev/nvidia[0-9]*"))


def _exists(target: Target) -> bool:
    pod = TARGETS[target.chip].pod if target.chip in TARGETS else ()
    if len(pod) == 1:
        fits = 0 < target.shape[-1] <= TARGETS[target.chip].host and min(target.shape) > 0
        return fits and len(target.shape) < 3 and target.slices == 1
    if len(pod) == 2:
        return target.shape in FLAT
    if len(target.shape) != len(pod) or any(size > most for size, most in zip(target.shape, pod)):
        return False
    *front, last = target.shape
    return all(size == 2 or size % 4 == 0 for size in front) and (last in (1, 2) or last % 4 == 0) and min(target.shape) > 0


def axes_text(axes: Iterable[tuple[str, int]]) -> str:
    """Names and sizes as error messages write them: `x=2, y=4`."""
    return ", ".join(f"{name}={size}" for name, size in axes)


def size_differs(target: Target, axes: Mapping[str, int], where: str = "") -> LensError:
    """The error of a mesh that is not as large as the slice."""
    size = math.prod(axes.values())
    return LensError(
        "target-size",
        f"axes {axes_text(axes.items())} do not make up the {target.size} devices of {target}.",
        where=where or f"target='{target}'   {axes_text(axes.items())} makes {size}",
        mend=(f"choose a slice of {size} devices, or " if _comes(target.chip, size) else "no slice has so many devices: ")
        + f"say which sizes the axes have there: axes={{{_example(target, axes)}}}.",
    )


def _comes(chip: str, size: int) -> bool:
    """Whether the chip comes in a slice of so many."""
    return any(_slices(chip, size))


def _slices(chip: str, size: int, slices: int = 1) -> Iterator[Target]:
    """The chip's slices of so many devices, the most compact first."""
    devices = TARGETS[chip].devices * slices
    size, left = divmod(size, devices)
    parts = [n for n in range(1, size + 1) if size % n == 0 and not left]
    shapes = [*itertools.product(parts, repeat=2), *itertools.product(parts, repeat=3)]
    fit = (Target(chip, shape, slices) for shape in sorted(shapes, key=max) if math.prod(shape) == size)
    yield from filter(_exists, fit)


def roomier(target: str) -> Iterator[Target]:
    """Slices of as many chips with more memory each, those with the most first."""
    slice_ = parse_target(target)
    known = TARGETS[slice_.chip]
    larger = (c for c in TARGETS.values() if c.hbm_bytes > known.hbm_bytes and bool(c.host) == bool(known.host))
    for chip in sorted(larger, key=lambda c: -c.hbm_bytes):
        yield from itertools.islice(_slices(chip.target, slice_.size, slice_.slices), 1)


def _example(target: Target, axes: Mapping[str, int]) -> str:
    fits = len(axes) == len(target.shape)
    sizes = target.shape if fits else (target.size, *(1 for _ in list(axes)[1:]))
    return ", ".join(f"{name!r}: {size}" for name, size in zip(axes, sizes))


def _no_libtpu(target: Target) -> LensError:
    here = f"{platform.system()} {platform.machine()}, Python {platform.python_version()}"
    able = sys.platform == "linux" and platform.machine() == "x86_64"
    install = "pip install 'shardlens[tpu]' (a download of 213 MB); without it, leave out target=."
    elsewhere = "libtpu exists for Linux on x86-64 only: use a machine of that kind or Colab; without it, leave out target=."
    return LensError(
        "no-libtpu",
        "compiling for a TPU needs libtpu, the TPU compiler, which is not installed here.",
        where=f"target='{target}'   {here}",
        mend=install if able else elsewhere,
    )
