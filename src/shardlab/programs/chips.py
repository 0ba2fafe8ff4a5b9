"""What one chip can do: a small table of peak rates, each with where it was read."""

from __future__ import annotations

import dataclasses

from shardlab.errors import ShardlabError
from shardlab.tables import Table

_SPECS = "scaling-book, Part 2 (How to Think About TPUs), table under 'TPU specs'"
_LINKS = (
    "scaling-book, Part 2, table of ICI bandwidth per link, one-way; "
    "its first edition has 5e10 for v5e, 1e11 for v5p and v6e"
)
_TORUS = "scaling-book, Part 2, 'TPU Networking': 2D torus for v5e and v6e, 3D torus for v4p and v5p"
_HOP = "scaling-book, Part 3 (Sharded Matrices), 'A note on ICI latency': typically around 1us a hop"
_GPU = "scaling-book, Part 12 (How to Think About GPUs), 'Summary of GPU specs'"
_NODE = "scaling-book, Part 12, 'At the node level': 18 NVLinks of 25 GB/s each way, 8 GPUs on switches"


@dataclasses.dataclass(frozen=True, repr=False)
class Chip:
    """Peak rates of one chip.

    Args:
        name: as scaling-book writes it, without "TPU".
        flops: bf16 floating-point operations a second; half that, or less, is what f32 gets.
        hbm_bandwidth: bytes a second between the chip and its memory.
        hbm_bytes: bytes of that memory.
        link_bandwidth: bytes a second over one link, one way. A ring has a link on either side, hence twice that.
        torus_axes: axes of the torus that the links form; 0 for chips on a switch.
        pod: the largest slice that links connect.
        hop_latency: seconds from one chip to its neighbour, however few the bytes.
        sources: for each field, where its number was read.
    """

    name: str
    flops: float
    hbm_bandwidth: float
    hbm_bytes: float
    link_bandwidth: float
    torus_axes: int
    pod: tuple[int, ...]
    hop_latency: float
    sources: tuple[tuple[str, str], ...]

    def is_ring(self, size: int) -> bool:
        """Whether an axis of `size` chips closes to a ring, so that both directions carry bytes.

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
    def critical_intensity(self) -> float:
        """FLOPs a byte of memory traffic above which a program is bound by compute."""
        return self.flops / self.hbm_bandwidth

    def _table(self) -> Table:
        rows = [(field, _number(getattr(self, field)), source) for field, source in self.sources]
        return Table((self.name, "", "source"), ("left", "right", "left"), tuple(rows))

    def __repr__(self) -> str:
        return str(self._table())

    def _repr_html_(self) -> str:
        return self._table().html()


def chip(name: str) -> Chip:
    """The chip of that name; a target such as "v5e:2x4" names its chip too.

    Raises:
        ShardlabError: the table has no such chip.
    """
    head = name.partition(":")[0]
    for known in CHIPS:
        if head in (known.name, known.name.removesuffix("p")) and head != "v5":
            return known
    raise ShardlabError(
        "unknown-chip", f"there are no numbers for a chip {name!r}.", where=f"chip({name!r})",
        mend=f"name one of {', '.join(c.name for c in CHIPS)}; or make a shardlab.Chip with your own numbers.",
    )  # fmt: skip


def _number(value: float | tuple[int, ...]) -> str:
    return "x".join(map(str, value)) if isinstance(value, tuple) else f"{value:g}"


def _tpu(name: str, flops: float, hbm: float, gigabytes: int, link: float, pod: tuple[int, ...], note: str = "") -> Chip:
    read = {"flops": f"{_SPECS}, bf16", "hbm_bandwidth": _SPECS + note, "hbm_bytes": _SPECS, "link_bandwidth": _LINKS}
    read |= {"torus_axes": _TORUS, "pod": _SPECS, "hop_latency": _HOP}
    return Chip(name, flops, hbm, gigabytes * 1e9, link, len(pod), pod, 1e-6, tuple(read.items()))


CHIPS = (
    _tpu("v4p", 2.75e14, 1.2e12, 32, 4.5e10, (16, 16, 16)),
    _tpu("v5e", 1.97e14, 8.2e11, 16, 4.5e10, (16, 16), ", 8.1e11; Cloud TPU documentation: 819 GB/s"),
    _tpu("v5p", 4.59e14, 2.8e12, 96, 9e10, (16, 20, 28)),
    _tpu("v6e", 9.20e14, 1.6e12, 32, 9e10, (16, 16)),
    Chip(
        "H100", 9.9e14, 3.4e12, 80e9, 4.5e11, 0, (8,), 0.0,
        (
            ("flops", f"{_GPU}, bf16"), ("hbm_bandwidth", _GPU), ("hbm_bytes", _GPU), ("link_bandwidth", _NODE),
            ("torus_axes", _NODE), ("pod", _NODE), ("hop_latency", "not in scaling-book; 0 makes small messages too cheap"),
        ),
    ),
)  # fmt: skip


def chips_table() -> Table:
    """All chips side by side."""
    columns = ("chip", "bf16 FLOPs/s", "HBM bytes/s", "HBM bytes", "link bytes/s, one way", "torus axes", "largest slice")
    fields = ("flops", "hbm_bandwidth", "hbm_bytes", "link_bandwidth", "torus_axes", "pod")
    rows = tuple((c.name, *(_number(getattr(c, field)) for field in fields)) for c in CHIPS)
    sides = ("left", *("right" for _ in fields))
    sources = sorted({source for c in CHIPS for _, source in c.sources})
    return Table(columns, sides, rows, tuple(sources))
