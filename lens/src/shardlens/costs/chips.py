"""What one chip can do: a small table of peak rates, each with where it was read. No JAX here."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from shardlens.errors import LensError, shown
from shardlens.tables import Table, Tabled

_SPECS = "scaling-book, Part 2 (How to Think About TPUs), table under 'TPU specs'"
_LINKS = (
    "scaling-book, Part 2, table of ICI bandwidth per link, one-way; "
    "its first edition has 5e10 for v5e, 1e11 for v5p and v6e"
)
_TORUS = "scaling-book, Part 2, 'TPU Networking': 2D torus for v5e and v6e, 3D torus for v4p and v5p"
_DCN = "scaling-book, Part 2, 'TPU Networking', DCN egress of each TPU"
_IRONWOOD = "Cloud TPU documentation, 'TPU7x (Ironwood)', key specifications"
_HALF = f"{_IRONWOOD}, for a chip; halved, because a chip is two devices"
_HOP = "scaling-book, Part 3 (Sharded Matrices), 'A note on ICI latency': typically around 1us a hop"
_GPU = "scaling-book, Part 12 (How to Think About GPUs), 'Summary of GPU specs'"
_NODE = "scaling-book, Part 12, 'At the node level': NVLinks of a card, each way, and how many cards are on switches"
_STEP = "NCCL, src/graph/tuning.cc, hwLat: a step of a ring over NVLink, protocol LL"
_DGX = {
    "A100": "NVIDIA DGX A100 data sheet: a port of 200 Gb/s InfiniBand for each card",
    "H100": "NVIDIA DGX H100 data sheet: a port of 400 Gb/s InfiniBand for each card",
    "H200": "NVIDIA DGX H200 data sheet: a port of 400 Gb/s InfiniBand for each card",
    "B200": "NVIDIA DGX B200 data sheet: a port of 400 Gb/s InfiniBand for each card",
}
_RACK = "NVIDIA GB200 NVL72 data sheet, a 72nd of the rack, without sparsity; a tray's four cards run one system"


@dataclasses.dataclass(frozen=True, repr=False)
class Chip(Tabled):
    """Peak rates of one chip, each with where it was read: all that is known about a chip is here, and nowhere else.

    Args:
        name: as scaling-book or NVIDIA writes it, without "TPU".
        peak: operations a second by element type: "bf16", and "int8" or "fp8" where the chip has them. Half of that of
            "bf16", or less, is what f32 gets.
        hbm_bandwidth: bytes a second between the chip and its memory.
        hbm_bytes: bytes of that memory; a gigabyte is 1e9.
        link_bandwidth: bytes a second over one link, one way. A ring has a link on either side, hence twice that.
        torus_axes: axes of the torus that the links form; 0 for chips on a switch.
        pod: the largest slice that links connect.
        hop_latency: seconds from one chip to its neighbour, however few the bytes.
        sources: for each of these fields, where its number was read; of `peak` for each element type.
        target: the name under which its compiler knows it; empty where none compiles for it here.
        aliases: other names, among them JAX's (`jax.Device.device_kind`).
        host: cards that one host has; 0 for TPUs. `pod` is how many NVLink connects.
        network: bytes a second that it sends to other slices, or a card to other hosts; 0 where that is not known.
        devices: how many devices of JAX it is; of more than one, all rates are those of its part.
    Example:
        >>> chip("v5e").peak["int8"] / chip("v5e").flops
        2.0
    """

    name: str
    peak: Mapping[str, float] = dataclasses.field(hash=False)
    hbm_bandwidth: float
    hbm_bytes: float
    link_bandwidth: float
    torus_axes: int
    pod: tuple[int, ...]
    hop_latency: float
    sources: tuple[tuple[str, str], ...]
    target: str = ""
    aliases: tuple[str, ...] = ()
    host: int = 0
    network: float = 0.0
    devices: int = 1

    def is_ring(self, size: int) -> bool:
        """Whether an axis of `size` chips closes into a ring, so that both directions carry bytes.

        Source: scaling-book, Part 2, note on bidirectional bandwidth: a full axis of 16 on v5e and v6e, a multiple of 4 on
        v4p and v5p.

        Example:
            >>> chip("v5e").is_ring(8), chip("v5e").is_ring(16), chip("v5p").is_ring(8)
            (False, True, True)
        """
        if self.torus_axes == 2:
            return size == max(self.pod)
        return self.torus_axes == 3 and size % 4 == 0

    @property
    def flops(self) -> float:
        """Floating-point operations a second in bf16."""
        return self.peak["bf16"]

    def _table(self) -> Table:
        rows = [(field, _number(self._value(field)), source) for field, source in self.sources]
        return Table((self.name, "", "source"), ("left", "right", "left"), tuple(rows))

    def _value(self, field: str) -> Any:
        of, _, dtype = field.partition(" ")
        return self.peak[dtype] if of == "peak" else getattr(self, field)


def chip(name: str) -> Chip:
    """The chip of that name; a target such as "v5e:2x4", and JAX's name of a device, name their chip too.

    Raises:
        LensError: the table has no such chip.
    Example:
        >>> chip("v4:2x2x1").name, chip("TPU v5 lite").name
        ('v4p', 'v5e')
    """
    found = chip_called(name.partition(":")[0]) if isinstance(name, str) else None
    if found is None:
        raise LensError(
            "unknown-chip", f"there are no numbers for a chip {shown(name)}.", where=f"chip({shown(name)})",
            mend=f"name one of {', '.join(c.name for c in CHIPS)}; or make a Chip with your own numbers.",
        )  # fmt: skip
    return found


def chip_called(name: str) -> Chip | None:
    """The chip that goes by a name, JAX's `device_kind` included; `None` where there are no numbers for it.

    Example:
        >>> chip_called("NVIDIA H100 80GB HBM3").name, chip_called("cpu")
        ('H100', None)
    """
    known = (c for c in CHIPS if name in (c.name, c.target, *c.aliases) or re.match(rf"NVIDIA {c.name}\b", name))
    return next(known, None) if name else None


def _number(value: float | tuple[int, ...]) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}"


def _tpu(
    name: str, peak: Mapping[str, float], hbm: float, gigabytes: int, link: float, pod: tuple[int, ...],
    target: str, kinds: tuple[str, ...], dcn: float = 0.0, note: str = "",
) -> Chip:  # fmt: skip
    read = {f"peak {dtype}": f"{_SPECS}, {dtype}" for dtype in peak}
    read |= {"hbm_bandwidth": _SPECS + note, "hbm_bytes": _SPECS, "link_bandwidth": _LINKS}
    read |= {"torus_axes": _TORUS, "pod": _SPECS, "hop_latency": _HOP, "devices": "JAX's devices of a described slice"}
    read |= {"network": _DCN if dcn else "not in scaling-book; 0 means that traffic between slices takes no time"}
    return Chip(name, peak, hbm, gigabytes * 1e9, link, len(pod), pod, 1e-6, tuple(read.items()), target, kinds, network=dcn)


def _gpu(
    name: str, peak: Mapping[str, float], hbm: float, gigabytes: int, link: float, joined: int, host: int, network: float,
    between: str, sheet: str = "",
) -> Chip:  # fmt: skip
    read = {f"peak {dtype}": sheet or f"{_GPU}, {'bf16' if dtype == 'bf16' else 'fp8/int8'}" for dtype in peak}
    read |= dict.fromkeys(("hbm_bandwidth", "hbm_bytes"), sheet or _GPU)
    read |= dict.fromkeys(("link_bandwidth", "torus_axes", "pod", "host"), sheet or _NODE)
    read |= {"hop_latency": _STEP, "network": between, "devices": "JAX's devices of a host"}
    sources, aliases = tuple(read.items()), (f"NVIDIA {name}",)
    return Chip(name, peak, hbm, gigabytes * 1e9, link, 0, (joined,), 4.7e-7, sources, name.lower(), aliases, host, network)


CHIPS = (
    _tpu("v4p", {"bf16": 2.75e14, "int8": 2.75e14}, 1.2e12, 32, 4.5e10, (16, 16, 16), "v4", ("TPU v4",)),
    _tpu(
        "v5e", {"bf16": 1.97e14, "int8": 3.94e14}, 8.2e11, 16, 4.5e10, (16, 16), "v5e", ("TPU v5 lite", "TPU v5e"),
        3.125e9, ", 8.1e11; Cloud TPU documentation: 819 GB/s",
    ),
    _tpu("v5p", {"bf16": 4.59e14, "int8": 9.18e14}, 2.8e12, 96, 9e10, (16, 20, 28), "v5p", ("TPU v5", "TPU v5p"), 6.25e9),
    _tpu("v6e", {"bf16": 9.20e14, "int8": 1.84e15}, 1.6e12, 32, 9e10, (16, 16), "v6e", ("TPU v6 lite", "TPU v6e"), 1.25e10),
    Chip(
        "tpu7x", {"bf16": 1.1535e15, "fp8": 2.307e15}, 3.69e12, 96 * 2**30, 5e10, 3, (16, 24, 24), 1e-6,
        (
            ("peak bf16", _HALF), ("peak fp8", _HALF), ("hbm_bandwidth", _HALF), ("hbm_bytes", _HALF),
            ("link_bandwidth", f"{_HALF}: 1200 GB/s over six links in both directions"), ("network", _HALF),
            ("torus_axes", f"{_IRONWOOD}: as v5p"), ("pod", f"{_IRONWOOD}: 9216 chips; libtpu describes 16x24x24"),
            ("hop_latency", _HOP), ("devices", _IRONWOOD),
        ),
        "tpu7x", ("TPU7x", "TPU v7x", "Ironwood"), network=6.25e9, devices=2,
    ),
    _gpu("A100", {"bf16": 3.1e14, "int8": 6.2e14}, 2.0e12, 80, 3e11, 8, 8, 2.5e10, _DGX["A100"]),
    _gpu("H100", {"bf16": 9.9e14, "int8": 2.0e15, "fp8": 2.0e15}, 3.4e12, 80, 4.5e11, 8, 8, 5e10, _DGX["H100"]),
    _gpu("H200", {"bf16": 9.9e14, "int8": 2.0e15, "fp8": 2.0e15}, 4.8e12, 141, 4.5e11, 8, 8, 5e10, _DGX["H200"]),
    _gpu("B200", {"bf16": 2.3e15, "int8": 4.5e15, "fp8": 4.5e15}, 8.0e12, 192, 9e11, 8, 8, 5e10, _DGX["B200"]),
    _gpu("GB200", {"bf16": 2.5e15, "int8": 5.0e15, "fp8": 5.0e15}, 8.0e12, 186, 9e11, 72, 4, 5e10, _RACK, _RACK),
)  # fmt: skip
TARGETS = {c.target: c for c in CHIPS if c.target}
"""The chips that a compiler here compiles for, by its name for them."""


def chips_table() -> Table:
    """All chips side by side, in units in which a line of a terminal holds a chip."""
    dtypes = tuple(dict.fromkeys(dtype for c in CHIPS for dtype in c.peak))
    heads = ("HBM GB/s", "HBM GB", "link GB/s, one way", "torus axes", "largest slice")
    columns = ("chip", *(f"{dtype} Tops/s" for dtype in dtypes), *heads)
    rows = tuple((c.name, *(_peak(c, dtype) for dtype in dtypes), *_sizes(c)) for c in CHIPS)
    sources = sorted({source for c in CHIPS for _, source in c.sources})
    return Table(columns, ("left", *("right" for _ in columns[1:])), rows, tuple(sources))


def _peak(c: Chip, dtype: str) -> str:
    return f"{c.peak[dtype] / 1e12:,g}" if dtype in c.peak else "-"


def _sizes(c: Chip) -> tuple[str, ...]:
    giga = (f"{value / 1e9:,.4g}" for value in (c.hbm_bandwidth, c.hbm_bytes, c.link_bandwidth))
    return *giga, _number(c.torus_axes), _number(c.pod)
