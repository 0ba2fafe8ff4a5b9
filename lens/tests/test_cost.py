"""The cost model: scaling-book's worked numbers, its laws, JAX's own roofline, and how a cost prints itself."""

import dataclasses
import importlib.util
import io
import json
import math
import re
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from shardlens.compilers.topology import target_mesh
from shardlens.costs import alphabeta
from shardlens.costs.alphabeta import all_gather, all_reduce, all_to_all, collective_permute, link_load, reduce_scatter
from shardlens.costs.chips import CHIPS, Chip, chip, chip_called, chips_table
from shardlens.costs.cost import cost
from shardlens.costs.torus import places, routed
from shardlens.errors import LensError
from shardlens.placement import place
from shardlens.programs.inspection import inspect
from shardlens.programs.program import Memory, Program
from shardlens.reading.collectives import Collective
from shardlens.tables import Table

P = jax.P
US = 1e-6
V4P, V5E, H100 = 4.5e10, 4.5e10, 4.5e11
BD = 2 * 1024 * 4096

# Worked numbers of scaling-book (its current edition), in its own rounding. Each row: our model's; the book's.
WORKED = {
    "Part 3, Pop Quiz 2 (1), as if the 4 chips were a ring": (all_gather(2048 * 8192 * 2, 4, V5E, US), 377 * US),
    "Part 3, Pop Quiz 2 (1), the line that they are": (all_gather(2048 * 8192 * 2, 4, V5E, US, False), 560 * US),
    "Part 3, Pop Quiz 2 (2), 3 hops": (all_gather(256 * 256 * 2, 4, V5E, US, False), 3 * US),
    "Part 3, Question 2 (1), AllGather_X": (all_gather(BD / 4, 4, V4P, US), 23 * US),
    "Part 3, Question 2 (2), AllGather_XY": (all_gather(BD, (4, 4), V4P, US), 46 * US),
    "Part 3, Question 2 (3), AllReduce_Z": (all_reduce(BD / 16, 4, V4P, US), 11.6 * US),
    "Part 3, Question 2, fun fact, AllGather_XZ": (all_gather(BD / 4, (4, 4), V4P, US), 11.5 * US),
    "Part 3, Question 2, fun fact, AllGather_XYZ": (all_gather(BD, (4, 4, 4), V4P, US), 31 * US),
    "Part 3, Question 3, 2 hops": (all_gather(2 * 128, 4, V4P, US), 2 * US),
    "Part 3, Question 4, C / W_ici of v5p": (chip("v5p").flops / (2 * chip("v5p").link_bandwidth), 2550),
    "Part 3, AllToAll on a 4x8 torus": (all_to_all(1e9, (4, 8), V5E), 1e9 * 8 / (4 * 32 * 2 * V5E)),
    "Part 1, critical intensity of v5e": (chip("v5e").flops / chip("v5e").hbm_bandwidth, 240),
    "Part 2, Question 1, at its 1.23e12 bytes/s": (12.5e9 / chip("v4p").hbm_bandwidth, 12.5e9 / 1.23e12),
    "Part 12, Quiz 1, Question 3, critical intensity of H100": (chip("H100").flops / chip("H100").hbm_bandwidth, 295),
    "Part 12, Quiz 2, Question 3, AllGather in a node": (all_gather(2 * 4096 * 65536, 8, H100, 0.0, False), 1.04e-3),
    "Part 12, Pop Quiz 1, AllGather in a node": (all_gather(2 * 1024 * 16384, 8, H100, 0.0, False), 65 * US),
    "Part 12, Intra-node collectives, AllToAll": (alphabeta.switched_all_to_all(1e9, 8, H100), 1e9 * 7 / (H100 * 64)),
}


@pytest.mark.parametrize("ours, book", WORKED.values(), ids=WORKED)
def test_worked_numbers(ours: float, book: float) -> None:
    """The model gives scaling-book's worked numbers, as closely as the book rounds them."""
    assert ours == pytest.approx(book, rel=0.03)


@pytest.mark.parametrize("devices", [2, 4, 8, 16, 64])
def test_question_10(devices: int) -> None:
    """Part 3, Question 10: what crosses one link of a one-way ring, and the quarter of a two-way one."""
    one_way = {"bandwidth": 1.0, "bidirectional": False}
    assert all_gather(1.0, devices, **one_way) == pytest.approx(1 - 1 / devices)
    assert all_to_all(1.0, devices, **one_way) == pytest.approx((1 - 1 / devices) / 2)
    assert all_to_all(1.0, devices, 1.0) == pytest.approx(all_gather(1.0, devices, 1.0) / 4)


@pytest.mark.parametrize("devices", [2, 3, 4, 7, 8, 16])
def test_all_to_all_on_a_line(devices: int) -> None:
    """As many blocks as the messages of all pairs lay on its busiest link, and the longest way's hops."""
    load, hops = link_load([(a, b) for a in range(devices) for b in range(devices) if a != b], [(devices, False)])
    assert all_to_all(1.0, devices, 1.0, line=True) == pytest.approx(load / devices**2)
    assert all_to_all(0.0, devices, 1.0, 1.0, line=True) == hops
    assert all_to_all(1.0, devices, 1.0, line=True) <= all_to_all(1.0, devices, 1.0, bidirectional=False)


def test_question_5_of_part_2() -> None:
    """Part 2, Question 5: from chip (0, 0) to (3, 3) of a 4x4 slice, which has no rings, is six hops; with rings, two."""
    assert link_load([(0, 15)], [(4, False), (4, False)]) == (1, 6)
    assert link_load([(0, 15)], [(4, True), (4, True)]) == (1, 2)


sizes = st.integers(2, 512)
amounts = st.floats(1.0, 1e12)
bandwidths = st.floats(1e9, 1e12)
latencies = st.floats(0.0, 1e-3)
rings = st.booleans()


@given(amounts, sizes, bandwidths, latencies, rings)
def test_an_all_reduce_is_two(nbytes: float, n: int, bandwidth: float, latency: float, both: bool) -> None:
    """An all-reduce takes as long as a reduce-scatter and an all-gather."""
    ring = (n, bandwidth, latency, both)
    assert all_reduce(nbytes, *ring) == reduce_scatter(nbytes, *ring) + all_gather(nbytes, *ring)


@given(amounts, st.integers(1, 255), bandwidths, latencies)
def test_two_ways_halve(nbytes: float, half: int, bandwidth: float, latency: float) -> None:
    """Both directions halve the time; exactly where the number of devices is odd, so that both ways are as long."""
    odd, even = 2 * half + 1, 2 * half
    both, one = (all_gather(nbytes, odd, bandwidth, latency, ways) for ways in (True, False))
    assert both == pytest.approx(one / 2)
    both, one = (all_gather(nbytes, even, bandwidth, latency, ways) for ways in (True, False))
    assert both == pytest.approx(one / 2 * even / (even - 1))


@given(amounts, st.integers(1, 256), st.integers(1, 256), bandwidths)
def test_size_does_not_matter(nbytes: float, one: int, other: int, bandwidth: float) -> None:
    """Bound by bandwidth, an all-gather takes as long on 4 devices as on 400; one way round, nearly."""
    assert all_gather(nbytes, 2 * one, bandwidth) == pytest.approx(all_gather(nbytes, 2 * other, bandwidth))
    one_way = [all_gather(nbytes, n + 1, bandwidth, 0.0, False) * bandwidth / nbytes for n in (one, other)]
    assert one_way == pytest.approx([n / (n + 1) for n in (one, other)])


@given(amounts, sizes, bandwidths, latencies, rings)
def test_bounds(nbytes: float, n: int, bandwidth: float, latency: float, both: bool) -> None:
    """No collective is faster than its hops or than its bytes, and more of either never helps."""
    ring = (n, bandwidth, latency, both)
    for model in (all_gather, all_to_all, collective_permute):
        time = model(nbytes, *ring)
        assert time == max(model(nbytes, n, bandwidth, 0.0, both), model(0.0, *ring))
        assert model(2 * nbytes, *ring) >= time and model(nbytes, n, bandwidth, 2 * latency, both) >= time
    assert all_to_all(nbytes, n, bandwidth, 0.0, both) <= all_gather(nbytes, n, bandwidth, 0.0, both)


@given(st.integers(2, 24), st.integers(0, 30), bandwidths)
def test_permutes_agree(n: int, distance: int, bandwidth: float) -> None:
    """A shift costs the same by its formula and by counting messages on links."""
    load, hops = link_load([(i, (i + distance) % n) for i in range(n)], [(n, True)])
    assert load == hops
    assert collective_permute(7.0, n, bandwidth, distance=distance) == pytest.approx(load * 7.0 / bandwidth)


def test_one_device_moves_nothing() -> None:
    """A ring of one device costs nothing, nor does an axis of one."""
    for model in (all_gather, reduce_scatter, all_reduce, all_to_all, collective_permute):
        assert model(1e9, 1, 1.0, 1.0) == 0
    assert all_gather(1e9, (1, 4), 1.0) == all_gather(1e9, 4, 1.0)


# JAX's own roofline, which reads the jaxpr. It gives bytes over each axis: a one-way ring's for gathers and sums; for an
# all-to-all, half the array over the two links of the cut, which both directions of both links share.
def scattered(x: jax.Array) -> jax.Array:
    """A reduce-scatter."""
    return jax.lax.psum_scatter(x, "x", tiled=True)


def transposed(x: jax.Array) -> jax.Array:
    """An all-to-all."""
    return jax.lax.all_to_all(x, "x", 1, 0, tiled=True)


def shifted(x: jax.Array) -> jax.Array:
    """A permute, three hops round the ring."""
    return jax.lax.ppermute(x, "x", [(i, (i + 3) % 8) for i in range(8)])


ROOFLINES: dict[str, tuple[Callable, Any, Any, Callable[[int], float]]] = {
    "all-gather": (lambda x: jax.lax.all_gather(x, "x", tiled=True), P("x"), P(), lambda v: all_gather(v, 8, 1, 0, False)),
    "reduce-scatter": (scattered, P(), P("x"), lambda v: reduce_scatter(v, 8, 1, 0, False)),
    "all-reduce": (lambda x: jax.lax.psum(x, "x"), P("x"), P(), lambda v: all_reduce(v / 8, 8, 1, 0, False)),
    "all-to-all": (transposed, P("x"), P(None, "x"), lambda v: 2 * all_to_all(v, 8, 1)),
    "collective-permute": (shifted, P("x"), P("x"), lambda v: collective_permute(v / 8, 8, 1, distance=3)),
}


@pytest.fixture
def roofline() -> Any:
    """`jax.experimental.roofline`, which needs absl, which JAX itself does not."""
    return pytest.importorskip("jax.experimental.roofline", exc_type=ImportError)


@pytest.mark.parametrize("name", ROOFLINES)
def test_jax_roofline_bytes(name: str, roofline: Any) -> None:
    """Bytes over the ring are those of `jax.experimental.roofline`."""
    f, ins, outs, model = ROOFLINES[name]
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    mapped = jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs, check_vma=name == "all-reduce")
    x = jax.ShapeDtypeStruct((64, 128), "float32")
    _, found = roofline.roofline(mapped, mesh)(x)
    assert found.ici_bytes["x"] == model(64 * 128 * 4)


def test_jax_roofline_compute(roofline: Any) -> None:
    """FLOPs and memory traffic of a local product are those of `jax.experimental.roofline`."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    mapped = jax.shard_map(lambda a, b: a @ b, mesh=mesh, in_specs=(P("x"), P()), out_specs=P("x"))
    args = (jax.ShapeDtypeStruct((512, 256), "float32"), jax.ShapeDtypeStruct((256, 128), "float32"))
    _, found = roofline.roofline(mapped, mesh)(*args)
    over = (jax.NamedSharding(mesh, P("x")), jax.NamedSharding(mesh, P()))
    placed = [jax.ShapeDtypeStruct(x.shape, x.dtype, sharding=sharding) for x, sharding in zip(args, over)]
    made = cost(inspect(mapped, *placed), "v5e")
    assert (made.flops, made.hbm_bytes) == (found.flops, found.hbm_bytes)


def program(*collectives: Collective, axes: dict[str, int] | None = None, platform: str = "tpu") -> Program:
    """A program with 2e8 FLOPs, 1 MB of arguments, 1 MB of outputs, and these collectives."""
    placement = place((16, 16), axes or {"x": 2, "y": 4}, ("x",))
    return Program(collectives, Memory(10**6, 10**6, 0, 0, 0), 2e8, "", (placement,), 8, platform)


GATHER = Collective("all-gather", (512, 1024), "bf16", 2**20, 2**18, ("y",), 4, ((0, 1, 2, 3), (4, 5, 6, 7)))
ALL = tuple(range(8))
LARGE = dataclasses.replace(GATHER, payload_bytes=2**30, operand_bytes=2**27, axes=("x",), group_size=8, groups=(ALL,))
LARGER = dataclasses.replace(LARGE, group_size=16, groups=(tuple(range(16)),))
SHIFT = tuple((i, (i + 4) % 8) for i in range(8))

# Each row: a collective on a mesh x=2, y=4 (or the one given), a chip, and its time.
TIMES = {
    "line of 4": (GATHER, "v5e", None, 3 / 4 * 2**20 / 4.5e10),
    "ring of 4": (GATHER, "v5p", None, 2**20 / 2 / 9e10),
    "five times": (dataclasses.replace(GATHER, executions=5), "v5p", None, 5 * 2**20 / 2 / 9e10),
    "times unknown": (dataclasses.replace(GATHER, executions=None), "v5p", None, 2**20 / 2 / 9e10),
    "reduce-scatter": (
        dataclasses.replace(GATHER, kind="reduce-scatter", payload_bytes=2**18, operand_bytes=2**20), "v5p", None,
        2**20 / 2 / 9e10,
    ),
    "all-reduce": (dataclasses.replace(GATHER, kind="all-reduce"), "v5p", None, 2**20 / 9e10),
    "all-to-all": (dataclasses.replace(GATHER, kind="all-to-all"), "v5p", None, 4 * 2**20 / 8 / 9e10),
    "two axes, lines": (
        dataclasses.replace(GATHER, axes=("x", "y"), group_size=8), "v5e", None, 7 / 8 * 2**20 / (2 * 4.5e10),
    ),
    "two axes, rings, 16 hops": (
        dataclasses.replace(GATHER, axes=("x", "y"), group_size=256), "v5e", {"x": 16, "y": 16}, 16e-6,
    ),
    "no whole axis": (dataclasses.replace(GATHER, axes=(), group_size=2), "v5e", None, 2**20 / 2 / 4.5e10),
    "few bytes": (dataclasses.replace(GATHER, payload_bytes=8, operand_bytes=2), "v5e", None, 3e-6),
    "permute": (
        dataclasses.replace(GATHER, kind="collective-permute", axes=("x",), groups=SHIFT), "v5e", None, 2**20 / 4.5e10,
    ),
    "switch": (LARGE, "H100", {"x": 8}, 7 / 8 * 2**30 / 4.5e11),
    "switch, all-to-all": (
        dataclasses.replace(LARGE, kind="all-to-all"), "H100", {"x": 8}, 7 / 8 * 2**30 / 4.5e11,
    ),
    "switch, steps of a ring": (
        dataclasses.replace(LARGE, payload_bytes=2**20, operand_bytes=2**17), "H100", {"x": 8}, 7 * 4.7e-7,
    ),
    "switch, steps of a tree": (
        dataclasses.replace(GATHER, kind="all-reduce", payload_bytes=4, operand_bytes=4), "H100", None, 2 * 2 * 4.7e-7,
    ),
    "switch, shift": (dataclasses.replace(LARGE, kind="collective-permute", groups=SHIFT), "H100", None, 2**30 / 4.5e11),
    "two hosts": (LARGER, "h100:2x8", {"x": 16}, 15 / 16 * 2**30 / 4.5e11),
    "eight hosts of two": (LARGER, "h100:8x2", {"x": 16}, 7 / 8 * 2**30 / (2 * 5e10)),
    "two hosts, all-reduce": (
        dataclasses.replace(LARGER, kind="all-reduce"), "h100:8x2", {"x": 16}, 2 * 7 / 8 * 2**30 / (2 * 5e10),
    ),
    "two hosts, a card of each": (
        dataclasses.replace(LARGE, axes=("x",), group_size=2, groups=((0, 8), (1, 9))), "h100:2x8", {"x": 2, "y": 8},
        2**30 / 2 / 5e10,
    ),
    "two hosts, all-to-all": (
        dataclasses.replace(LARGER, kind="all-to-all"), "h100:2x8", {"x": 16}, 2**30 / 2 / 5e10,
    ),
    "two hosts, shift": (
        dataclasses.replace(LARGER, kind="collective-permute", groups=((0, 8), (8, 0))), "h100:2x8", {"x": 16}, 2**30 / 5e10,
    ),
    "a rack": (LARGER, "gb200:4x4", {"x": 16}, 15 / 16 * 2**30 / 9e11),
}  # fmt: skip


@pytest.mark.parametrize("collective, on, axes, expected", TIMES.values(), ids=TIMES)
def test_times(collective: Collective, on: str, axes: dict[str, int] | None, expected: float) -> None:
    """A collective's time follows from its kind, bytes, axes and chip."""
    made = cost(program(collective, axes=axes), on)
    assert made.communication == pytest.approx(expected)


def test_switches_can_add() -> None:
    """An all-reduce in a host's switches takes as long as its bytes once; between hosts nothing changes."""
    for target, sizes, factor in (("h100:8", {"x": 8}, 2 * 7 / 8), ("h100:2x8", {"x": 16}, 1.0)):
        summed = dataclasses.replace(LARGE if target == "h100:8" else LARGER, kind="all-reduce")
        ring, added = (cost(program(summed, axes=sizes), target, in_network=way).communication for way in (False, True))
        assert ring == pytest.approx(added * factor)
    assert cost(program(summed, axes=sizes), "h100:2x8").lower > 0


# Bus bandwidths of 8 H100 on one host, large arrays, bytes a second (ring: NCCL_ALGO=Ring). Sources: NCCL's maintainer in
# NVIDIA/nccl-tests#212 and #290, and NVIDIA/nccl#1281.
PUBLIC = {
    "all-reduce, ring": ("all-reduce", False, 3.7e11),
    "all-reduce, in the switches": ("all-reduce", True, 4.8e11),
    "all-gather": ("all-gather", False, 3.5e11),
    "reduce-scatter": ("reduce-scatter", False, 3.6e11),
}
RATIOS = {"all-reduce, ring": 0.82, "all-reduce, in the switches": 0.61, "all-gather": 0.78, "reduce-scatter": 0.80}


@pytest.mark.stored
@pytest.mark.parametrize("name", PUBLIC)
def test_public_measurements(name: str) -> None:
    """The model's time over the measured one: peak rates are never reached, and the README's table says how nearly."""
    kind, in_network, measured = PUBLIC[name]
    made = cost(program(dataclasses.replace(LARGE, kind=kind), axes={"x": 8}), "h100:8", in_network=in_network)
    # nccl-tests, doc/PERFORMANCE.md: bus bandwidth is bytes over time, times this factor.
    factor = 2 * 7 / 8 if kind == "all-reduce" else 7 / 8
    assert made.communication / (factor * 2**30 / measured) == pytest.approx(RATIOS[name], abs=0.006)


def test_rings_can_be_said() -> None:
    """Who knows that an axis is a ring says so, and the time falls."""
    line, ring = cost(program(GATHER), "v5e"), cost(program(GATHER), "v5e", rings=("y",))
    assert ring.communication == pytest.approx(line.communication * 2 / 3)


def test_bounds_of_a_program() -> None:
    """The bound names the largest time; the program takes between that and the sum."""
    made = cost(program(GATHER, dataclasses.replace(GATHER, axes=("x",), group_size=2)), "v5e")
    assert made.bound == "communication" and made.lower == made.communication
    assert made.upper == made.compute + made.memory + made.communication
    assert set(made.by_axes) == {("x",), ("y",)} and sum(made.by_axes.values()) == pytest.approx(made.communication)
    assert cost(program(), "v5e").bound == "memory"
    assert cost(dataclasses.replace(program(), flops=1e12), "v5e").bound == "compute"
    assert made.intensity == 100


PRINTED = """\
one device                      how much                      v5e      time
compute                200,000,000 FLOPs         1.97e+14 FLOPs/s   1.02 us
memory                   2,000,000 bytes          8.2e+11 bytes/s   2.44 us
all-gather over y (4)    1,048,576 bytes  4.5e+10 bytes/s one way   17.5 us
all-gather over x (2)    ? x 8 bytes                 1 us a hop      1 us
all over y                                                        17.5 us
all over x                                                           1 us
"""


def test_printed() -> None:
    """In a terminal, what the model says and leaves out stands in one table; a notebook gets the same."""
    small = dataclasses.replace(GATHER, axes=("x",), group_size=2, payload_bytes=8, operand_bytes=4, executions=None)
    made = cost(program(GATHER, small, platform="cpu"), "v5e")
    lines = str(made).splitlines()
    assert [line.split() for line in lines[:7]] == [line.split() for line in PRINTED.splitlines()]
    assert lines[7] == "bound by communication; between 18.5 us (everything overlaps) and 21.9 us (nothing does)"
    assert lines[8].startswith("A model, not a measurement") and len(lines) == 11
    console = Console(file=io.StringIO(), width=120)
    console.print(made)
    assert console.file.getvalue().splitlines()[0].rstrip() == lines[0]
    html = made._repr_html_()
    assert "A model, not a measurement" in html and "<script" not in html and html.count("<tr") == 7


@pytest.mark.parametrize("known", CHIPS, ids=lambda c: c.name)
def test_every_number_has_a_source(known: Chip) -> None:
    """No rate without where it was read."""
    fields = {field.name for field in dataclasses.fields(Chip)} - {"name", "peak", "sources", "target", "aliases"}
    fields -= set() if known.host else {"host"}  # TPUs have none
    assert {field for field, source in known.sources if source} == fields | {f"peak {dtype}" for dtype in known.peak}
    source = "NVL72" if known.name == "GB200" else "scaling-book, Part"
    assert all(part in str(known).replace("\n", " ") for part in (known.name, source))


# JAX's names of devices.
KINDS = {
    "TPU v4": "v4p", "TPU v5 lite": "v5e", "TPU v5e": "v5e", "TPU v5": "v5p", "TPU v5p": "v5p", "TPU v6 lite": "v6e",
    "TPU v6e": "v6e", "TPU7x": "tpu7x",
}  # fmt: skip


def test_chip_names() -> None:
    """A chip goes by its name, by libtpu's, and by a target."""
    assert chip("v5e:2x4") is chip("v5e") and chip("v4:2x2x1") is chip("v4p")
    assert {name: chip(name).name for name in KINDS} == KINDS and chip_called("NVIDIA H100 80GB HBM3") is chip("H100")
    assert [chip_called(name) for name in ("Tesla T4", "cpu", "v5", "")] == [None] * 4
    assert [chip("v5p").is_ring(n) for n in (2, 4, 6, 8)] == [False, True, False, True]
    with pytest.raises(LensError) as error:
        chip("v9")
    assert str(error.value) == (
        "[unknown-chip] there are no numbers for a chip 'v9'.\n  where: chip('v9')\n"
        "  mend:  name one of v4p, v5e, v5p, v6e, tpu7x, A100, H100, H200, B200, GB200; "
        "or make a Chip with your own numbers."
    )


def test_tables() -> None:
    """A table without rows is its lines; cells are escaped."""
    assert str(Table(("a",), ("left",), (), ("nothing",), "title")) == "title\nnothing"
    assert "&lt;b&gt;" in Table(("a",), ("left",), (("<b>",),), title="t").html()
    assert str(chips_table()).count("\n") > len(CHIPS)


def test_permute_beyond_the_mesh() -> None:
    """A permute of positions that the mesh does not have counts as one hop."""
    far = dataclasses.replace(GATHER, kind="collective-permute", axes=(), groups=((0, 9),))
    assert cost(program(far), "v5e").communication == pytest.approx(2**20 / 4.5e10)
    assert math.isinf(dataclasses.replace(cost(program(), "v5e"), hbm_bytes=0).intensity)
    assert np.isfinite(cost(program(), "v5e").lower)


NEIGHBOURS = tuple((i * 8 + j, (i + 1) % 32 * 8 + j) for i in range(32) for j in range(8))


def test_a_mesh_that_splits_the_torus() -> None:
    """Neighbours on 32x8 over v5e:16x16 are nine hops apart where the axis turns, one elsewhere; axes have their extents."""
    shift = dataclasses.replace(GATHER, kind="collective-permute", axes=("x",), group_size=32, groups=NEIGHBOURS)
    rows = tuple(tuple(range(8 * i, 8 * i + 8)) for i in range(32))
    across = dataclasses.replace(GATHER, axes=("y",), group_size=8, groups=rows)
    columns = dataclasses.replace(GATHER, axes=("x",), group_size=32, groups=tuple(zip(*rows)))
    placement = place((32, 16), {"x": 32, "y": 8}, ("x",))
    made = dataclasses.replace(program(shift, across, columns), output_placements=(placement,))
    by_chip, by_slice = cost(made, "v5e"), cost(made, "v5e:16x16")
    at = places("v5e:16x16", (32, 8))
    inside = [pair for pair in NEIGHBOURS if pair[0] // 8 not in (15, 31)]
    rings = [(16, True), (16, True)]
    assert link_load(routed(inside, at, "v5e:16x16"), rings) == (1, 1)
    load, hops = link_load(routed(NEIGHBOURS, at, "v5e:16x16"), rings)
    assert (load, hops) == (8, 9) and by_slice.collectives[0].seconds == pytest.approx(load * 2**20 / 4.5e10)
    assert by_chip.collectives[0].seconds == pytest.approx(31e-6)  # one axis of the torus, which no slice has
    assert [c.sizes for c in by_slice.collectives[1:]] == [(8,), (2, 16)]
    assert cost(made, "v5e:4x4").communication == by_chip.communication  # a slice of another size says nothing


@pytest.mark.parametrize("target", ["v5e:1x1", "v6e:1x1"])
def test_one_chip(target: str) -> None:
    """A slice of one chip has a place for a mesh of one, and for no mesh none."""
    alone = dataclasses.replace(program(), output_placements=(place((16, 16), {}, ()),))
    assert cost(alone, target).communication == 0 and places(target, ()) == () and places(target, (1,)) == ((0, 0),)


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
@pytest.mark.parametrize(
    "target, sizes",
    [("v5e:2x4", (8,)), ("v5e:16x16", (32, 8)), ("v6e:4x4", (16,)), ("v5p:2x2x2", (8,)), ("v4:4x4x4", (16, 4))],
)
def test_places_are_those_of_the_described_slice(target: str, sizes: tuple[int, ...]) -> None:
    """What is computed without libtpu is where libtpu's devices are."""
    there = target_mesh(target, dict(zip("xy", sizes))).devices.flat
    assert places(target, sizes) == tuple(tuple(device.coords[: target.count("x") + 1]) for device in there)


def test_what_is_left_out_is_said() -> None:
    """The arithmetic of Pallas kernels, and what nobody can count, have notes."""
    text = 'ENTRY %main () -> f32[4] {\n  ROOT %k = f32[4]{0} custom-call(), custom_call_target="tpu_custom_call"\n}'
    unknown = Collective("unknown", (4,), "f32", 16, 0, name="k (custom-call)", uncounted="a kernel that sends")
    made = cost(dataclasses.replace(program(GATHER, unknown), hlo=text), "v5e")
    assert made.notes[0].startswith("What k") and made.notes[1].startswith("The arithmetic of a Pallas kernel is")
    assert made.communication == cost(program(GATHER), "v5e").communication
    assert re.search(r"^k \(custom-call\) +\? bytes +\?$", str(made), re.MULTILINE)
    assert json.loads(json.dumps(made.to_json()))["communication"] == made.communication
