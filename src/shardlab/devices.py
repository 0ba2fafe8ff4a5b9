"""Eight devices anywhere: real ones where there are enough, else simulated ones on the CPU."""

from __future__ import annotations

import dataclasses
import platform
from typing import TYPE_CHECKING

from shardlab.errors import ShardlabError
from shardlab.topology import host_settings

if TYPE_CHECKING:
    import jax


@dataclasses.dataclass(frozen=True, repr=False)
class Devices:
    """What `setup` found; prints itself in one line.

    `kind` is the maker's name of a real device, and "CPU" for simulated ones.
    """

    python: str
    jax: str
    count: int
    kind: str
    simulated: bool

    def __repr__(self) -> str:
        what = "simulated CPU" if self.simulated else f"real {self.kind}"
        return f"Python {self.python}, JAX {self.jax}: {self.count} {what} device{'s' * (self.count != 1)}"


def setup(n: int = 8) -> Devices:
    """The devices that this session computes on: `n` real ones if there are as many, else `n` simulated on the CPU.

    To be called before JAX is used; again later does no harm.

    Raises:
        ShardlabError: JAX has already started with fewer devices.
    """
    import jax

    started = not _set_cpu_devices(n)
    with host_settings():  # libtpu, where it is installed, is loaded here and would print
        found = jax.devices()
    if len(found) < n:
        if started and (found[0].platform == "cpu" or jax.live_arrays()):
            raise _too_late(n, len(found), found[0].platform)
        found = _simulated(n)
    simulated = found[0].platform == "cpu"
    kind = "CPU" if simulated else found[0].device_kind
    return Devices(platform.python_version(), jax.__version__, len(found), kind, simulated)


def _simulated(n: int) -> list[jax.Device]:
    """`n` CPU devices in place of a backend that holds no array: one TPU chip of Colab, one GPU of a laptop."""
    import jax
    from jax.extend.backend import clear_backends

    clear_backends()
    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_num_cpu_devices", n)
    return jax.devices()


def _set_cpu_devices(n: int) -> bool:
    """Ask for `n` CPU devices; False when a backend has started, which JAX tells by an exception only."""
    import jax

    try:
        jax.config.update("jax_num_cpu_devices", n)
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
