"""Eight devices anywhere: real ones where there are enough, else simulated ones on the CPU."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import platform
import re
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from shardlab.axes import rename
from shardlab.errors import ShardlabError
from shardlab.recording import recording
from shardlens import accelerators, host_settings

if TYPE_CHECKING:
    import jax

OLDEST_JAX = "0.10"
# Settings of JAX, by name: it adds them when it is imported, so that a type checker may not know them.
PRECISION = "jax_default_matmul_precision"
CPU_DEVICES = "jax_num_cpu_devices"
# What the notebooks compute and draw with, and what an installation in a running kernel may replace.
WATCHED = ("jax", "jaxlib", "matplotlib", "numpy")

RESTARTED = (
    "After a restart of the kernel, select the cell where you were and choose Run > Run All Above Selected Cell "
    "(Colab: Runtime > Run before)."
)


@dataclasses.dataclass(frozen=True, repr=False)
class Devices:
    """What `setup` found; prints itself in one line.

    `kind` is the maker's name of a real device, and "CPU" for simulated ones; `unused` is why an accelerator did not start.
    """

    python: str
    jax: str
    count: int
    kind: str
    simulated: bool
    unused: str = ""

    def __repr__(self) -> str:
        what = "simulated CPU" if self.simulated else f"real {self.kind}"
        said = f"Python {self.python}, JAX {self.jax}: {self.count} {what} device{'s' * (self.count != 1)}"
        return f"{said} ({self.unused})" if self.unused else said

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """The line; in a notebook also what to do when the kernel has been restarted."""
        printer.text(repr(self) + (f"\n{RESTARTED}" if _shell() is not None else ""))


def setup(n: int = 8, axes: Mapping[str, str] | None = None) -> Devices:
    """The devices that this session computes on: `n` real ones if there are as many, else `n` simulated on the CPU.

    Call it before JAX is used; calling it again later does no harm. On a TPU, products of float32 get float32's
    precision, unless somebody has chosen another: JAX's default there is bfloat16's.

    Args:
        n: how many devices.
        axes: what the notebook's exercises call the mesh axes, by the names that the course has for them. A notebook that
            needs it comes with it.
    Raises:
        ShardlabError: JAX has already started with fewer devices, is too old, or was replaced after it was imported.
    """
    if not isinstance(n, int) or isinstance(n, bool) or n < 1:
        raise ShardlabError(
            "no-number-of-devices",
            f"{n!r} is not a number of devices.",
            where=f"sl.setup({n!r})",
            mend="write a whole number of at least 1: sl.setup(8).",
        )
    if axes is not None:
        rename(axes)
    _check_versions(n)
    if (shell := _shell()) is not None:
        from shardlab.cells import load_ipython_extension

        load_ipython_extension(shell)
    import jax

    started, idle = not _set_cpu_devices(n), accelerators()
    if not started and 0 < idle < n:
        jax.config.update("jax_platforms", "cpu")  # too few to be used: they are not even started
    found, unused = _found()
    if len(found) < n:
        # A backend that computes on CPU, or holds arrays, is not replaced: what belongs to it would be lost without a word.
        if started and found and (found[0].platform == "cpu" or jax.live_arrays()):
            raise _too_late(n, len(found), found[0].platform)
        found = _simulated(n)
    simulated = found[0].platform == "cpu"
    if simulated and idle >= n and not started:
        unused = unused or f"JAX does not start the {idle} accelerators that are here"
    elif simulated and idle and not unused:
        here = f"{idle} accelerators are" if idle > 1 else "1 accelerator is"
        measures = "sl.on_chip(f, *args) measures on it; " if idle == 1 else ""
        unused = f"{here} here and idle; {measures}to compute on real devices, restart and run sl.setup({idle})"
    if found[0].platform == "tpu" and getattr(jax.config, PRECISION) is None:
        jax.config.update(PRECISION, "float32")
    kind = "CPU" if simulated else found[0].device_kind
    return Devices(platform.python_version(), jax.__version__, len(found), kind, simulated, unused)


def set_up_anew(n: int) -> None:
    """`setup(n)` in a kernel that was restarted and has not run its first cell: to start JAX would fix one device."""
    import jax

    if getattr(jax.config, CPU_DEVICES) != n and _set_cpu_devices(n):
        setup(n)


def _shell() -> Any:
    """The shell of the notebook's kernel that this runs in; `None` in a terminal, and where a class is graded."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return shell if hasattr(shell, "kernel") and not recording() else None


def _found() -> tuple[list[jax.Device], str]:
    """JAX's devices; or none, and why their backend does not start: another program has it, or its library does not fit."""
    import jax

    try:
        with host_settings():  # libtpu, where it is installed, is loaded here and would print
            return jax.devices(), ""
    except RuntimeError as error:
        return [], str(error).splitlines()[0].partition(" (set JAX_PLATFORMS")[0]


def _check_versions(n: int) -> None:
    """Nothing, where JAX is new enough, and what the kernel has imported is what is installed.

    An installation leaves the modules that a running kernel has imported as they were, beside the new files of the rest.
    """
    installed = {name: version for name in WATCHED if (version := _installed(name))}
    if "jax" in installed and _numbers(installed["jax"]) < _numbers(OLDEST_JAX):
        raise ShardlabError(
            "jax-too-old",
            f"JAX {installed['jax']} is installed; the course needs {OLDEST_JAX} or newer.",
            where=f"sl.setup({n})   Python {platform.python_version()}",
            mend=f'run  %pip install -q "jax>={OLDEST_JAX}"  in a cell, restart the kernel, and run the first cell again.',
        )
    running = {name: str(getattr(sys.modules.get(name), "__version__", "")) for name in installed}
    stale = [name for name, version in running.items() if version and _numbers(version) != _numbers(installed[name])]
    if stale:
        imported, new = (", ".join(f"{name} {versions[name]}" for name in stale) for versions in (running, installed))
        what = f"this kernel had imported {imported} before {new} was installed."
        where = f"sl.setup({n})   what it has imported does not fit the files that it would import next"
        mend = "restart the kernel (Colab: Runtime > Restart session; Kaggle: Run > Restart), then run the first cell again."
        raise ShardlabError("kernel-is-older", what, where=where, mend=mend)


def _installed(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def _numbers(version: str) -> tuple[int, ...]:
    """The release that a version belongs to: `(0, 10, 2)` for "0.10.2.dev7+local"."""
    found = re.match(r"\d+(\.\d+)*", version)
    return tuple(map(int, found[0].split("."))) if found else ()


def _simulated(n: int) -> list[jax.Device]:
    """`n` CPU devices in place of a backend that holds no array: one TPU chip of Colab, one GPU of a laptop."""
    import jax

    # Needed where a first cell has already looked at Colab's one TPU chip. TPU arrays beside eight CPU devices in one
    # process fail later (jax-ml/jax issue 33353), hence all of one kind.
    from jax.extend.backend import clear_backends

    clear_backends()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update(CPU_DEVICES, n)
    return jax.devices()


def _set_cpu_devices(n: int) -> bool:
    """Ask for `n` CPU devices; False when a backend has started, which JAX tells by an exception only."""
    import jax

    try:
        jax.config.update(CPU_DEVICES, n)
    except RuntimeError:
        return False
    return True


def _too_late(n: int, count: int, kind: str) -> ShardlabError:
    return ShardlabError(
        "devices-too-late",
        f"JAX has already started with {count} {kind.upper()} device{'s' * (count != 1)}; it cannot get {n} now.",
        where=f"sl.setup({n})   an earlier cell or import used JAX: an array, jax.devices(), a compiled function",
        mend=f"restart the kernel and run sl.setup({n}) before anything else uses JAX.",
    )
