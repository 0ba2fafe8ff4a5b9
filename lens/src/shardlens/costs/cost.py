"""How long a program should take: compute, memory and communication against a chip's peak rates. A model."""

from __future__ import annotations

import collections
import dataclasses
import math
from collections.abc import Collection, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

from shardlens.costs import alphabeta
from shardlens.costs.chips import Chip, chip
from shardlens.costs.torus import Places, box, extents, places, routed
from shardlens.placement import Placement
from shardlens.reading.collectives import REMOTE, Collective
from shardlens.reading.outside import kernels
from shardlens.reading.slices import DCN, slice_axes
from shardlens.tables import Table, Tabled, seconds

MODEL = "A model, not a measurement: peak rates (FLOPs in bf16), and one axis of the chip's torus for each mesh axis."
SWITCHED = (
    "A model, not a measurement: peak rates (FLOPs in bf16), NVLink's switches in a host and a card's port between hosts."
)
Mesh = Mapping[str, tuple[int, bool]]


class Sizes(Protocol):
    """Bytes of a program's arguments and outputs on one device."""

    @property
    def argument(self) -> int:
        """Of the arguments."""

    @property
    def output(self) -> int:
        """Of what it returns."""


class Costed(Protocol):
    """What the model asks of a program; `Program` has it."""

    @property
    def hlo(self) -> str:
        """The compiled text."""

    @property
    def collectives(self) -> tuple[Collective, ...]:
        """In the program's order."""

    @property
    def memory(self) -> Sizes:
        """Bytes on one device."""

    @property
    def flops(self) -> float | None:
        """Of one device; `None` when data decides how often a loop runs."""

    @property
    def least_flops(self) -> float:
        """`flops`, or those with one round of such loops."""

    @property
    def output_placements(self) -> tuple[Placement, ...]:
        """One for each output array."""

    @property
    def platform(self) -> str:
        """The backend's name."""


@dataclasses.dataclass(frozen=True)
class CollectiveTime:
    """Modelled time of one collective, all its executions together.

    Args:
        collective: as the program has it.
        sizes: devices along each of its axes; one number when its groups are not whole axes.
        bidirectional: whether the model lets both directions carry bytes.
        seconds: of all executions.
        latency_bound: whether hops, not bytes, decide.
        bandwidth: bytes a second of one device, where that is not its link's: cards on several hosts share these's ports.
    """

    collective: Collective
    sizes: tuple[int, ...]
    bidirectional: bool
    seconds: float
    latency_bound: bool
    bandwidth: float = 0.0


@dataclasses.dataclass(frozen=True, repr=False)
class Cost(Tabled):
    """What a program should cost on a chip, by the alpha-beta model and the roofline.

    Args:
        chip: whose peak rates were used.
        flops: floating-point operations on one device, in all rounds of loops.
        hbm_bytes: bytes of one device's arguments and outputs: the least that moves between its memory and its cores, in a
            loop as without one.
        collectives: time of each, in the program's order.
        notes: what the model leaves out for this program.
    Example:
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> lens.inspect(lambda x: x + 1, x).cost("v5e").bound
        'memory'

    Source: scaling-book, Part 1 (Rooflines): lower bound, the largest of the times; upper bound, their sum.
    """

    chip: Chip
    flops: float
    hbm_bytes: float
    collectives: tuple[CollectiveTime, ...]
    notes: tuple[str, ...] = ()

    @property
    def compute(self) -> float:
        """Seconds of computing at the peak rate."""
        return self.flops / self.chip.flops

    @property
    def memory(self) -> float:
        """Seconds of reading the arguments and writing the outputs once."""
        return self.hbm_bytes / self.chip.hbm_bandwidth

    @property
    def communication(self) -> float:
        """Seconds of all collectives, one after the other."""
        return sum(c.seconds for c in self.collectives)

    @property
    def by_axes(self) -> dict[tuple[str, ...], float]:
        """Seconds of communication over each set of mesh axes; `()` for groups that are not whole axes."""
        times: dict[tuple[str, ...], float] = {}
        for c in self.collectives:
            times[c.collective.axes] = times.get(c.collective.axes, 0.0) + c.seconds
        return times

    @property
    def untimed(self) -> tuple[Collective, ...]:
        """Those between slices, if there is no number for the chip's network; their time is in no sum."""
        return tuple(c.collective for c in self.collectives if _between(c.collective) and not self.chip.network)

    @property
    def intensity(self) -> float:
        """FLOPs for each byte of memory traffic."""
        return self.flops / self.hbm_bytes if self.hbm_bytes else math.inf

    @property
    def lower(self) -> float:
        """Seconds if compute, memory and communication overlap wholly."""
        return max(self.compute, self.memory, self.communication)

    @property
    def upper(self) -> float:
        """Seconds if nothing overlaps."""
        return self.compute + self.memory + self.communication

    @property
    def bound(self) -> str:
        """What takes longest: "compute", "memory" or "communication"."""
        times = {"compute": self.compute, "memory": self.memory, "communication": self.communication}
        return max(times, key=lambda name: times[name])

    def to_json(self) -> dict[str, Any]:
        """The same as plain JSON, times in seconds."""
        keys = ("compute", "memory", "communication", "lower", "upper", "bound")
        over = [{"axes": [*axes], "seconds": time} for axes, time in self.by_axes.items()]
        told = {key: getattr(self, key) for key in keys} | {"communication_by_axes": over, "notes": [*self.notes]}
        return {"chip": self.chip.name, "flops": self.flops, "hbm_bytes": self.hbm_bytes, **told}

    def _table(self) -> Table:
        rows = [
            ("compute", f"{self.flops:,.0f} FLOPs", f"{self.chip.flops:.3g} FLOPs/s", seconds(self.compute)),
            ("memory", f"{self.hbm_bytes:,.0f} bytes", f"{self.chip.hbm_bandwidth:.3g} bytes/s", seconds(self.memory)),
            *map(self._row, self.collectives),
        ]
        if len(self.collectives) > 1:
            rows += [(f"all over {_over(axes)}", "", "", seconds(time)) for axes, time in self.by_axes.items()]
        between = f"between {seconds(self.lower)} (everything overlaps) and {seconds(self.upper)} (nothing does)"
        lines = (f"bound by {self.bound}; {between}", MODEL if self.chip.torus_axes else SWITCHED, *self.notes)
        columns, sides = ("one device", "how much", self.chip.name, "time"), ("left", "right", "right", "right")
        return Table(columns, sides, tuple(rows), lines)

    def _row(self, c: CollectiveTime) -> tuple[str, str, str, str]:
        times = "" if c.collective.executions == 1 else f"{c.collective.executions or '?'} x "
        bandwidth = c.bandwidth or (self.chip.network if _between(c.collective) else self.chip.link_bandwidth)
        link = f"{bandwidth:.3g} bytes/s {'both ways' if c.bidirectional else 'one way'}"
        if c.collective.uncounted:
            return (c.collective.name, "? bytes", "", "?")
        rate = (
            f"{self.chip.hop_latency * 1e6:g} us a {'hop' if self.chip.torus_axes else 'step'}" if c.latency_bound else link
        )
        over = f"{c.collective.kind} over {_over(c.collective.axes)} ({'x'.join(map(str, c.sizes))})"
        return (over, f"{times}{c.collective.payload_bytes:,} bytes", rate, seconds(c.seconds))


def cost(program: Costed, on: Chip | str, rings: Collection[str] | None = None, in_network: bool = False) -> Cost:
    """What `program` should cost on a chip, by a model.

    Args:
        program: from `inspect`.
        on: a chip, its name, or a target that names it, such as "v5e:2x4". With a target of as many chips as the mesh has,
            each collective goes the ways that the slice's torus has for it.
        rings: mesh axes that close into a ring; those whose size lets them on that chip unless given.
        in_network: whether the switches of GPUs add up an all-reduce (NVLink SHARP), where no device does.
    Raises:
        LensError: there are no numbers for a chip of that name.
    Example:
        >>> a = jax.ShapeDtypeStruct((1024, 1024), "float32")
        >>> lens.seconds(cost(lens.inspect(lambda a: a @ a, a), "v5e").compute)
        '10.9 us'
    """
    found = on if isinstance(on, Chip) else chip(on)
    # A program has no mesh of its own, and names axes only where its outputs are placed on one.
    axes = {name: size for placement in program.output_placements for name, size in placement.axes or ()}
    sizes = dict(slice_axes(tuple(axes.items()), program.hlo))
    mesh = {name: (size, found.is_ring(size) if rings is None else name in rings) for name, size in sizes.items()}
    laid = _Laid(on, places(on, tuple(sizes.values()))) if isinstance(on, str) and ":" in on and found.torus_axes else None
    joined = _joined(found, on if isinstance(on, str) else "")
    times = tuple(
        _time(c, found, mesh, laid) if found.torus_axes or c.uncounted else _switched(c, found, joined, in_network)
        for c in program.collectives
    )
    # Without temporaries: on CPU they follow that compiler's scheduling and say nothing of a TPU.
    traffic = program.memory.argument + program.memory.output
    return Cost(found, program.least_flops, traffic, times, tuple(_notes(program, found, mesh)))


class _Laid(NamedTuple):
    """A mesh on a slice that is known: where each of its devices is."""

    target: str
    at: Places


def _time(c: Collective, on: Chip, mesh: Mesh, laid: _Laid | None) -> CollectiveTime:
    if c.uncounted:
        return CollectiveTime(c, (c.group_size,), False, 0.0, False)
    if _between(c):
        return CollectiveTime(c, (c.group_size,), False, _over_dcn(c, on) * (c.executions or 1), False)
    rings = tuple(mesh[axis] for axis in c.axes if axis in mesh)
    if len(rings) != len(c.axes) or not 0 < len(rings) <= on.torus_axes:
        rings = ((c.group_size, on.is_ring(c.group_size)),)
    sends = c.kind in ("collective-permute", REMOTE)
    if laid and laid.at and c.groups and not sends:
        rings = box(c.groups[0], laid.at, laid.target, on) or rings
    sizes, both = tuple(size for size, _ in rings), all(ring for _, ring in rings)
    if sends:
        load, hops = _permute(c, on, tuple(mesh.values()), laid)
        # A kernel may send to several others; what it takes in all is then several messages.
        messages = max(collections.Counter(target for _, target in c.groups).values(), default=1)
        bytes_only, hops_only = load * c.payload_bytes / messages / on.link_bandwidth, hops * on.hop_latency
    else:
        bytes_only = _gather_like(c, on, sizes, both, c.payload_bytes, c.operand_bytes, 0.0)
        hops_only = _gather_like(c, on, sizes, both, 0, 0, on.hop_latency)
    once = max(bytes_only, hops_only)
    return CollectiveTime(c, sizes, both, once * (1 if c.executions is None else c.executions), hops_only > bytes_only)


def _between(c: Collective) -> bool:
    """Whether it goes between slices."""
    return c.axes == (DCN,) and not c.groups


def _over_dcn(c: Collective, on: Chip) -> float:
    """Seconds of one execution between slices: each chip sends its own part to the chips of the others, as on a switch."""
    if not on.network:
        return 0.0
    wide = dataclasses.replace(on, link_bandwidth=on.network, torus_axes=0)
    if c.kind == "collective-permute":
        return c.payload_bytes / wide.link_bandwidth
    return _gather_like(c, wide, (c.group_size,), False, c.payload_bytes, c.operand_bytes, 0.0)


def _permute(c: Collective, on: Chip, mesh: tuple[tuple[int, bool], ...], laid: _Laid | None) -> tuple[int, int]:
    """Messages over the busiest link and hops of the longest way; one of each where the mesh is not known."""
    if laid and laid.at and max(map(max, c.groups), default=0) < len(laid.at):
        rings = [(size, on.is_ring(size)) for size in extents(laid.target)]
        return alphabeta.link_load(routed(c.groups, laid.at, laid.target), rings)
    if max((max(pair) for pair in c.groups), default=0) >= math.prod(size for size, _ in mesh):
        return 1, 1
    return alphabeta.link_load(c.groups, mesh)


def _gather_like(c: Collective, on: Chip, sizes: tuple[int, ...], both: bool, out: int, into: int, latency: float) -> float:
    """Seconds of one execution of anything but a permute, for `out` bytes of output and `into` bytes of operand."""
    if c.kind in ("all-to-all", "ragged-all-to-all"):
        return alphabeta.all_to_all(out * c.group_size, sizes, on.link_bandwidth, latency, both, line=not both)
    model = alphabeta.all_reduce if c.kind == "all-reduce" else alphabeta.all_gather
    return model(max(out, into), sizes, on.link_bandwidth, latency, both)


def _joined(on: Chip, target: str) -> int:
    """Cards that NVLink joins: of a whole rack, or of each host of the target."""
    hosts = extents(target) if on.pod[0] == on.host else ()
    return hosts[-1] if hosts else on.pod[0]


def _switched(c: Collective, on: Chip, joined: int, in_network: bool) -> CollectiveTime:
    """Between cards on switches, where none forwards another's bytes, and between hosts, whose cards have a port each.

    Source: scaling-book, Part 12, 'Intra-node collectives' and 'Cross-node collectives'.
    """
    n, together = c.group_size, collections.Counter(device // joined for device in (c.groups or ((),))[0])
    near = max(together.values(), default=n) if on.network else n
    reduced, nbytes = c.kind == "all-reduce", max(c.payload_bytes, c.operand_bytes)
    port, steps = on.network * near, n - 1
    if c.kind == "collective-permute":
        far = on.network and any(a // joined != b // joined for a, b in c.groups)
        port, steps = on.network if far else 0.0, 1
        inside, between = nbytes / on.link_bandwidth, nbytes / port if far else 0.0
    elif c.kind.endswith("all-to-all"):
        inside = alphabeta.switched_all_to_all(c.payload_bytes * n, n, on.link_bandwidth)
        between = c.payload_bytes * (n - near) / n / on.network if near < n else 0.0
        port, steps = on.network, 1
    else:
        model = alphabeta.all_reduce if reduced else alphabeta.all_gather
        inside = model(nbytes, n, on.link_bandwidth, bidirectional=False)
        between = model(nbytes, n // near, port, bidirectional=False) if near < n else 0.0
        if reduced:
            inside = alphabeta.in_network_all_reduce(nbytes, on.link_bandwidth) if in_network and near == n else inside
            # A tree has fewer steps than a ring, and NCCL takes it for few bytes.
            steps = 2 * min(n - 1, math.ceil(math.log2(n)))
    once, hops = max(inside, between), steps * on.hop_latency
    seconds_all = max(once, hops) * (1 if c.executions is None else c.executions)
    return CollectiveTime(c, (n,), False, seconds_all, hops > once, port if between > inside else 0.0)


def _notes(program: Costed, on: Chip, mesh: Mesh) -> Iterator[str]:
    for c in (c for c in program.collectives if c.uncounted):
        yield f"What {c.name} moves cannot be counted, because it is {c.uncounted}; its time is left out."
    if count := kernels(program.hlo):
        of = f"{count} Pallas kernels are" if count > 1 else "a Pallas kernel is"
        yield f"The arithmetic of {of} left out: XLA does not see inside."
    if program.platform == "cpu":
        yield "Compiled for CPU: bf16 collectives run in f32 there. Another compiler may differ; target= asks it."
    if any(c.executions is None for c in program.collectives):
        yield "Data decides how often a loop with a collective runs; the collective counts once."
    if program.flops is None:
        yield "Data decides how often a loop runs; its FLOPs count once."
    if any(c.kind == "ragged-all-to-all" for c in program.collectives):
        yield "A ragged all-to-all counts as a full one, which is its upper limit."
    if on.torus_axes and any(len(c.axes) > on.torus_axes for c in program.collectives):
        yield f"A collective over more mesh axes than {on.name} has torus axes counts as one ring."
    if not on.network and any(map(_between, program.collectives)):
        yield f"There is no number for the network between slices of {on.name}; that time is left out."
    if on.torus_axes and any(not c.axes or not set(c.axes) <= {*mesh, DCN} for c in program.collectives):
        yield "A collective whose groups are not whole mesh axes, or whose axes have no known size, counts as one ring."
    if not on.torus_axes and not on.network and any(c.group_size > on.pod[0] for c in program.collectives):
        yield f"A collective spans more than {on.pod[0]} chips; the slower network between nodes is not in the model."


def _over(axes: tuple[str, ...]) -> str:
    return ", ".join(axes) or "no whole axis"
