"""GPUs that are only described: XLA for GPU on a machine without one, from JAX's plugin and a file of ours for each card.

The plugin lies in a folder of its own. Among the installed packages JAX would find it in every process, and each one would
begin with a traceback where there is no CUDA.
"""

from __future__ import annotations

import contextlib
import functools
import importlib.metadata
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shardlens.errors import LensError

PLUGINS = ("xla_cuda12", "xla_cuda13")


def folder() -> Path:
    """Where the plugin of JAX's version is looked for, if none is installed."""
    return Path(sys.prefix, "share", "shardlens", f"gpu-{importlib.metadata.version('jaxlib')}")


def described(card: str, hosts: int, cards: int, *, joined: bool) -> tuple[Any, ...]:
    """The devices of so many hosts.

    Args:
        card: such as "h100", of which there is a file in `descriptions`.
        hosts, cards: hosts, and cards on each.
        joined: whether NVLink connects the hosts too.
    """
    from jax.experimental import topologies

    _register()
    text = Path(__file__).with_name("descriptions").joinpath(f"{card}.txtpb").read_text(encoding="utf-8")
    # XLA's words for it: domains of NVLink, hosts in each, cards on each host.
    shape = f"1x{hosts}x{cards}" if joined else f"{hosts}x1x{cards}"
    topology = topologies.get_topology_desc(f"{card}:{shape}", platform="cuda", target_config=text, topology=shape)
    return tuple(topology.devices)


def _found(folders: list[str]) -> Iterator[str]:
    return (name for each in folders for name in PLUGINS if Path(each, "jax_plugins", name).is_dir())


@functools.cache
def _register() -> None:
    """Tell JAX of the plugin in the folder: of its compiler, and of the functions that its programs call."""
    from shardlens.compilers.warnings import heard

    if any(_found(sys.path)):
        return
    name, skip = next(_found([str(folder())])), "JAX_SKIP_CUDA_CONSTRAINTS_CHECK"
    sys.path.append(str(folder()))
    try:
        with unless_set({skip: "1"}), heard():
            importlib.import_module(f"jax_plugins.{name}").initialize()
    finally:
        sys.path.remove(str(folder()))


@contextlib.contextmanager
def unless_set(variables: Mapping[str, str]) -> Iterator[None]:
    """While it lasts, variables of the environment have these values, unless they had others before."""
    added = {name: value for name, value in variables.items() if name not in os.environ}
    os.environ.update(added)
    try:
        yield
    finally:
        for name in added:
            os.environ.pop(name, None)


def at_hand() -> bool:
    """Whether XLA for GPU is here: with JAX, or in the folder."""
    return any(_found([*sys.path, str(folder())]))


def command() -> str:
    """What installs the plugin of JAX's version into the folder: no CUDA comes along."""
    jaxlib = folder().name.removeprefix("gpu-")
    packages = " ".join(f"jax-cuda12-{part}=={jaxlib}" for part in ("pjrt", "plugin"))
    return f"{sys.executable} -m pip install --quiet --no-deps --target {folder()} {packages}"


def need_plugin(target: object) -> None:
    """Nothing, where XLA for GPU is at hand.

    Raises:
        LensError: it is not.
    """
    if at_hand():
        return
    able = sys.platform == "linux"
    install = f"{command()}\n(a download of 182 MB)" if able else "it exists for Linux only: use a Linux machine or Colab"
    raise LensError(
        "no-gpu-compiler",
        "compiling for a GPU needs XLA for GPU, which is not installed here.",
        where=f"target='{target}'   {platform.system()} {platform.machine()}, Python {platform.python_version()}",
        mend=f"{install}; without it, leave out target=.",
    )
