"""The HLO reader: stored texts of real programs, short texts for each way of writing a thing, groups, and prices."""

import dataclasses
from pathlib import Path

import pytest

import hlo_texts
from shardlens.errors import LensError
from shardlens.reading.collectives import (
    Collective,
    axes_of,
    crossing,
    device_groups,
    group_size,
    price,
    read_collectives,
    total_bytes,
)
from shardlens.reading.hlo import parse_hlo

HLO = Path(__file__).parent / "hlo"
X4, X8, XY, X8Y1 = (("x", 4),), (("x", 8),), (("x", 2), ("y", 4)), (("x", 8), ("y", 1))

# Each row: kind, output arrays, payload bytes, operand bytes, axes, group size, executions.
# By hand: elements times 4 (f32) or 2 (bf16).
# The TPU texts are without `backend_config`; compiled for v5e:2x4.
STORED = {
    "cpu_case1": (XY, []),
    "cpu_case2_gather": (X4, [("all-gather", "f32[64,128]", 64 * 128 * 4, 64 * 32 * 4, "x", 4, 1)]),
    "cpu_case2_reduce": (X8, [("all-reduce", "f32[64,64]", 64 * 64 * 4, 64 * 64 * 4, "x", 8, 1)]),
    "cpu_case3_slice": (X4, [("all-reduce", "f32[64,256]", 64 * 256 * 4, 64 * 256 * 4, "x", 4, 1)]),
    "cpu_psum_scatter": (XY, [("reduce-scatter", "f32[32,32]", 32 * 32 * 4, 64 * 32 * 4, "x", 2, 1)]),
    "cpu_all_to_all": (XY, [("all-to-all", "f32[16,3]" * 4, 16 * 12 * 4, 16 * 12 * 4, "y", 4, 1)]),
    "cpu_axis_order": (XY, [("collective-permute", "f32[8,6]", 8 * 6 * 4, 8 * 6 * 4, "xy", 3, 1)]),
    "cpu_data_parallel": (
        X8,
        [("all-reduce", "f32[32,32]f32[32]" * 4, 4 * (1024 + 32) * 4, 4 * (1024 + 32) * 4, "x", 8, 1)],
    ),
    "cpu_nested_loops": (
        XY,
        [("collective-permute", "f32[8,6]", 192, 192, "y", 4, 15), ("all-reduce", "f32[]", 4, 4, "x", 2, 3)],
    ),
    "cpu_unknown_rounds": (
        X8,
        [("collective-permute", "f32[8]", 32, 32, "x", 8, None), ("all-reduce", "f32[]", 4, 4, "x", 8, None)],
    ),
    "cpu_conditional": (
        X8,
        [("all-reduce", "f32[8,32]f32[]", 1028, 1028, "x", 8, 1), ("all-reduce", "f32[8,32]", 1024, 1024, "x", 8, 1)],
    ),
    "cpu_axis_of_one": (X8Y1, [("all-reduce", "f32[]", 4, 4, "x", 8, 1)]),
    "cpu_bf16": (X4, [("all-reduce", "f32[64,256]", 64 * 256 * 4, 64 * 256 * 4, "x", 4, 1)]),
    "tpu_gather": (XY, [("all-gather", "bf16[512,2048]", 512 * 2048 * 2, 512 * 512 * 2, "y", 4, 1)]),
    "tpu_scatter_fusion": (
        XY,
        [
            ("reduce-scatter", "bf16[264,4096]", 264 * 4096 * 2, 1024 * 4096 * 2, "y", 4, 1),
            ("collective-permute", "bf16[24,4096]", 24 * 4096 * 2, 24 * 4096 * 2, "y", 4, 1),
        ],
    ),
    "tpu_ring": (XY, [("collective-permute", "bf16[32,8]", 512, 512, "y", 4, 1)]),
    "tpu_all_to_all": (XY, [("all-to-all", "bf16[512,2,1024]", 2**21, 2**21, "x", 2, 1)]),
    "tpu_async_gather": (
        X8,
        [
            ("all-gather", "bf16[4096,4096]", 2**25, 2**22, "x", 8, 1),
            *[("collective-permute", "bf16[1,512,4096]", 2**22, 2**22, "x", 8, 2)] * 4,
            ("collective-permute", "bf16[1,512,4096]", 2**22, 2**22, "x", 8, 1),
            ("all-gather", "bf16[4096,4096]", 2**25, 2**22, "x", 8, 1),
            ("all-reduce", "bf16[4096,4096]" * 3, 3 * 2**25, 3 * 2**25, "x", 8, 1),
        ],
    ),
}


# What no reader of today knows, and what it must say: kind, name, executions.
UNKNOWN = {
    "a new collective": ("%y = f32[8]{0} all-shuffle(%x), channel_id=3, replica_groups={{0,1}}", ("y (all-shuffle)", 1)),
    "a message to one device": ("%y = (f32[8]{0}, u32[], token[]) send(%x, %t), channel_id=3", ("y (send)", 1)),
    "a line of another form": ("%y := all-reduce(%x), replica_groups={}", ("%y := all-reduce(%x), replica_groups={}", None)),
}


def module(*lines: str, before: str = "") -> str:
    """An HLO module on 8 devices whose entry holds `lines` after a parameter `%x` of f32[8]."""
    body = "\n".join(f"  {line}" for line in ("%x = f32[8]{0} parameter(0)", *lines))
    return f"HloModule m, num_partitions=8\n\n{before}\n\nENTRY %main (x: f32[8]) -> f32[8] {{\n{body}\n}}\n"


def called(name: str, line: str) -> str:
    """A computation with one parameter and one instruction."""
    return f"%{name} (p: f32[8]) -> f32[8] {{\n  %p = f32[8]{{0}} parameter(0)\n  ROOT %inner = {line}\n}}\n"


REDUCE = (
    "all-reduce({}), channel_id=1, replica_groups={{{{0,1,2,3}},{{4,5,6,7}}}}, use_global_device_ids=true, to_apply=%add"
)
WHILE = "%w = f32[8]{{0}} while(%x), condition=%cond, body=%body{}"
TRIPS = ', backend_config={"known_trip_count":{"n":"7"},"known_init_step":{"init":"0","step":"1"}}'
ESCAPED = r', backend_config="{\"known_trip_count\":{\"n\":\"7\"}}"'
LOOP = called("body", "f32[8]{0} " + REDUCE.format("%p"))
TEST = "%cond (p: f32[8]) -> pred[] {\n  %p = f32[8]{0} parameter(0)\n  %s = f32[]{:T(128)} slice(%p)\n" + (
    "  %t = f32[] " + REDUCE.format("%s") + "\n  ROOT %c = pred[] compare(%t, %t), direction=LT\n}\n"
)

# Each row: text, then (kind, output arrays, payload bytes, operand bytes, group size, executions).
SHORT = {
    "nothing": (module("ROOT %y = f32[8]{0} negate(%x)"), []),
    "without percent signs": (module("ROOT y = f32[8]{0} " + REDUCE.format("x")), [("all-reduce", "f32[8]", 32, 32, 4, 1)]),
    "operands with shapes": (
        module("ROOT %y = f32[8]{0} " + REDUCE.format("f32[8]{0} %x")),
        [("all-reduce", "f32[8]", 32, 32, 4, 1)],
    ),
    "all-reduce in a name": (module('ROOT %all-reduce.1 = f32[8]{0} negate(%x), metadata={op_name="all-reduce(x)"}'), []),
    "groups in an op_name": (
        module('ROOT %y = f32[8]{0} all-reduce(%x), replica_groups={}, metadata={op_name="f(, replica_groups={{0}}, /*"}'),
        [("all-reduce", "f32[8]", 32, 32, 8, 1)],
    ),
    "tuple with comments and tiles": (
        module(
            "%t = (f32[8]{0:T(256)S(1)}, /*index=1*/bf16[4,2]{1,0:T(8,128)(2,1)}) all-reduce(%x, /*index=1*/%x), "
            "replica_groups=[1,8]<=[8]"
        ),
        [("all-reduce", "f32[8]bf16[4,2]", 48, 64, 8, 1)],
    ),
    "mesh with its own order": (
        module(
            "ROOT %y = f32[8]{0} all-reduce(%x), replica_groups=mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'b'}, to_apply=%add"
        ),
        [("all-reduce", "f32[8]", 32, 32, 2, 1)],
    ),
    "all-reduce pair": (
        module(
            "%s = f32[8]{0} " + REDUCE.format("%x").replace("all-reduce", "all-reduce-start"),
            "ROOT %d = f32[8]{0} all-reduce-done(%s)",
        ),
        [("all-reduce", "f32[8]", 32, 32, 4, 1)],
    ),
    "all-reduce pair of JAX 0.12": (
        module(
            "%s = ((f32[8]{0}), f32[8]{0}) " + REDUCE.format("%x").replace("all-reduce", "all-reduce-start"),
            "ROOT %d = f32[8]{0} all-reduce-done(%s)",
        ),
        [("all-reduce", "f32[8]", 32, 32, 4, 1)],
    ),
    "combined all-gather pair": (
        module(
            "%s = ((f32[8]{0}, f32[8]{0}), (f32[16]{0}, f32[16]{0})) all-gather-start(%x, %x), replica_groups=[4,2]<=[8]",
            "%d = (f32[16]{0}, f32[16]{0}) all-gather-done(%s)",
        ),
        [("all-gather", "f32[16]f32[16]", 128, 64, 2, 1)],
    ),
    "async sugar": (
        module(
            "%s = ((f32[8]{0}), f32[1]{0}, u32[]) reduce-scatter-start(%x), replica_groups=[1,8]<=[8], dimensions={0}",
            "%u = ((f32[8]{0}), f32[1]{0}, u32[]) reduce-scatter-update(%s)",
            "ROOT %d = f32[1]{0} reduce-scatter-done(%u)",
        ),
        [("reduce-scatter", "f32[1]", 4, 32, 8, 1)],
    ),
    "async call": (
        module(
            "%s = ((f32[8]{0}), f32[8]{0}, u32[]) async-start(%x), calls=%wrapped",
            "ROOT %d = f32[8]{0} async-done(%s), calls=%wrapped",
            before=called("wrapped", "f32[8]{0} all-to-all(%p), replica_groups={}, dimensions={0}"),
        ),
        [("all-to-all", "f32[8]", 32, 32, 8, 1)],
    ),
    "known rounds": (module(WHILE.format(TRIPS), before=LOOP), [("all-reduce", "f32[8]", 32, 32, 4, 7)]),
    "escaped rounds": (module(WHILE.format(ESCAPED), before=LOOP), [("all-reduce", "f32[8]", 32, 32, 4, 7)]),
    "unknown rounds": (module(WHILE.format(""), before=LOOP), [("all-reduce", "f32[8]", 32, 32, 4, None)]),
    "condition": (
        module(WHILE.format(TRIPS), before=LOOP + TEST),
        [("all-reduce", "f32[8]", 32, 32, 4, 7), ("all-reduce", "f32[]", 4, 4, 4, 8)],
    ),
    "called twice": (
        module("%y = f32[8]{0} call(%x), to_apply=%body", "ROOT %z = f32[8]{0} call(%y), to_apply=%body", before=LOOP),
        [("all-reduce", "f32[8]", 32, 32, 4, 2)],
    ),
    "never called": (module("ROOT %y = f32[8]{0} negate(%x)", before=LOOP), []),
    "small types": (
        module("%s = s4[3]{0:E(4)} convert(%x)", "ROOT %y = s4[3]{0:E(4)} collective-broadcast(%s), replica_groups={{0,1}}"),
        [("collective-broadcast", "s4[3]", 2, 2, 2, 1)],
    ),
    "complex": (
        module("%s = c64[3]{0} convert(%x)", "ROOT %y = c64[3]{0} all-reduce(%s), replica_groups={{0,1}}"),
        [("all-reduce", "c64[3]", 24, 24, 2, 1)],
    ),
}

GROUPS = {
    "{{0,1},{2,3}}": ((0, 1), (2, 3)),
    "{}": ((0, 1, 2, 3, 4, 5, 6, 7),),
    "[2,4]<=[8]": ((0, 1, 2, 3), (4, 5, 6, 7)),
    "[4,2]<=[2,4]T(1,0)": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "[2,4]<=[2,2,2]T(1,0,2)": ((0, 1, 4, 5), (2, 3, 6, 7)),
    "mesh['axis_0'=2,'axis_1'=4] {'axis_0'}": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "mesh['a'=2,'b'=4] {'a','b'}": ((0, 1, 2, 3, 4, 5, 6, 7),),
    "mesh['a'=2,'b'=4] {'b','a'}": ((0, 4, 1, 5, 2, 6, 3, 7),),
    "mesh['a'=8] {'a':(1)2}": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "mesh['a'=8] {'a':(2)4}": ((0, 1, 2, 3), (4, 5, 6, 7)),
    "mesh['a'=8] {'a':(2)2}": ((0, 2), (1, 3), (4, 6), (5, 7)),
    "mesh['a'=2,'b'=2], device_ids=(0,2,1,3) {'a'}": ((0, 1), (2, 3)),
    "mesh[a=2,b=4], device_ids=([4,2]T(1,0)) {b}": ((0, 2, 4, 6), (1, 3, 5, 7)),
    "mesh[a=2,b=4] {a}": ((0, 4), (1, 5), (2, 6), (3, 7)),
    "mesh['a'=8] {'a':(1)2,'a':(4)2}": ((0, 1, 4, 5), (2, 3, 6, 7)),
}

ALL8 = ((0, 1, 2, 3, 4, 5, 6, 7),)
PAIRS_OF_X = ((0, 4), (1, 5), (2, 6), (3, 7))
# Each row: groups, mesh, whether they are pairs, axes.
AXES = {
    "slow axis": (PAIRS_OF_X, XY, False, ("x",)),
    "fast axis": (((0, 1, 2, 3), (4, 5, 6, 7)), XY, False, ("y",)),
    "any order in a group": (((3, 2, 1, 0), (6, 7, 5, 4)), XY, False, ("y",)),
    "both": (ALL8, XY, False, ("x", "y")),
    "two of three": (((0, 1, 4, 5), (2, 3, 6, 7)), (("a", 2), ("b", 2), ("c", 2)), False, ("a", "c")),
    "axis of one left out": (ALL8, X8Y1, False, ("x",)),
    "half an axis": (PAIRS_OF_X, X8, False, ()),
    "some devices only": (((0, 1, 2, 3),), XY, False, ()),
    "more devices than the mesh": (ALL8, X4, False, ()),
    "ring along y": (((0, 1), (1, 2), (2, 3), (3, 0), (4, 5), (5, 6), (6, 7), (7, 4)), XY, True, ("y",)),
    "swap along x": (PAIRS_OF_X, XY, True, ("x",)),
    "diagonal": (((0, 5),), XY, True, ("x", "y")),
}


def spelled(c: Collective) -> str:
    """Its output arrays, as HLO writes them."""
    return "".join(f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in c.arrays)


@pytest.mark.parametrize("name", STORED)
def test_stored_text(name: str) -> None:
    """Each stored program has the collectives that were read from it by hand."""
    mesh, expected = STORED[name]
    found = read_collectives((HLO / f"{name}.txt").read_text(), mesh)
    assert [
        (c.kind, spelled(c), c.payload_bytes, c.operand_bytes, "".join(c.axes), c.group_size, c.executions) for c in found
    ] == expected


def test_every_stored_text_has_a_row() -> None:
    """No stored text goes unread."""
    assert {path.stem for path in HLO.glob("*.txt")} == {*STORED, *("_".join(each) for each in hlo_texts.stored())}


@pytest.mark.parametrize("case", SHORT)
def test_short_text(case: str) -> None:
    """Each way of writing a collective is read."""
    text, expected = SHORT[case]
    found = read_collectives(text)
    assert [(c.kind, spelled(c), c.payload_bytes, c.operand_bytes, c.group_size, c.executions) for c in found] == expected


@pytest.mark.parametrize("case", UNKNOWN)
def test_unknown(case: str) -> None:
    """What the reader does not know is reported as unknown."""
    line, expected = UNKNOWN[case]
    (c,) = read_collectives(module(line))
    assert (c.kind, c.name, c.executions) == ("unknown", *expected)


def test_unknown_caller() -> None:
    """A collective in a computation that an unknown operation calls runs an unknown number of times."""
    (c,) = read_collectives(module("ROOT %y = f32[8]{0} repeat(%x), calls=%body", before=LOOP))
    assert (c.kind, c.executions) == ("all-reduce", None)


def test_host_transfers_are_no_collectives() -> None:
    """Messages to the host, and the second halves of pairs, are not reported."""
    host = "%y = (f32[8]{0}, u32[], token[]) send(%x, %t), channel_id=3, is_host_transfer=true"
    assert read_collectives(module(host, "%z = token[] send-done(%y), channel_id=3, is_host_transfer=true")) == ()


@pytest.mark.parametrize("text", GROUPS)
def test_device_groups(text: str) -> None:
    """Each spelling of replica groups names the right devices."""
    assert device_groups(text, 8) == GROUPS[text]


@pytest.mark.parametrize("case", AXES)
def test_axes_of(case: str) -> None:
    """Groups are named by the mesh axes that they span, or not at all."""
    groups, mesh, pairs, axes = AXES[case]
    assert axes_of(groups, mesh, pairs=pairs) == axes


@pytest.mark.parametrize(
    "pairs, size",
    [
        ([(0, 1), (1, 2), (2, 0)], 3),
        ([(0, 1), (1, 2)], 3),
        ([(0, 1), (1, 0), (2, 3), (3, 2)], 2),
        ([(0, 0), (1, 1)], 1),
        ([(1, 2), (3, 4), (2, 3)], 4),
    ],
)
def test_group_size_of_pairs(pairs: list[tuple[int, int]], size: int) -> None:
    """A permute's group is what its pairs connect."""
    assert group_size(tuple(pairs), pairs=True) == size


def test_largest_array_gives_the_shape() -> None:
    """A combined collective has the shape and type of its largest array."""
    (c,) = read_collectives(SHORT["tuple with comments and tiles"][0])
    assert (c.shape, c.dtype, c.name) == ((8,), "f32", "t")


def test_source() -> None:
    """The JAX operation and the line of Python come from the stack tables of the text."""
    (c,) = read_collectives((HLO / "cpu_psum_scatter.txt").read_text())
    assert c.op_name == "jit(<lambda>)/shard_map/reduce_scatter" and c.source == "chapter.py:7"


@pytest.mark.parametrize(
    "kind, price_of_one", [("all-gather", 80), ("reduce-scatter", 80), ("collective-permute", 80), ("all-reduce", 160)]
)
def test_price(kind: str, price_of_one: int) -> None:
    """The price takes the larger side, every execution, and an all-reduce twice."""
    small = Collective(kind, (4,), "f32", payload_bytes=16, operand_bytes=80, executions=1)
    large = Collective(kind, (20,), "f32", payload_bytes=80, operand_bytes=16, executions=3)
    assert price([small]) == price_of_one
    assert price([small, large]) == 4 * price_of_one
    assert total_bytes([small, large]) == 16 + 240


@pytest.mark.parametrize(
    ("name", "called"), [("inner", "all-reduce inner"), ("all-reduce.3", "all-reduce.3")], ids=["own", "of-its-kind"]
)
def test_unknown_rounds_have_no_price(name: str, called: str) -> None:
    """A collective that runs an unknown number of times is refused, not counted once."""
    (collective,) = read_collectives(SHORT["unknown rounds"][0])
    with pytest.raises(LensError) as caught:
        price([dataclasses.replace(collective, name=name)])
    assert str(caught.value) == (
        f"[unknown-rounds] the {called} is in a loop whose number of rounds depends on data.\n"
        "  where: f32[8]   no source in the HLO\n"
        "  mend:  use lax.scan, or lax.fori_loop with fixed bounds."
    )


def test_unread_groups() -> None:
    """Groups in an unknown spelling are refused, not taken for all devices."""
    with pytest.raises(LensError, match="unread-groups"):
        device_groups("torus[2,4] {x}", 8)


def test_not_hlo() -> None:
    """Text without an entry computation is refused."""
    with pytest.raises(LensError) as caught:
        parse_hlo("module @jit_f {}")
    assert str(caught.value) == (
        "[not-hlo] there is no ENTRY computation in this text.\n"
        "  where: 'module @jit_f {}'\n"
        "  mend:  pass the text of a compiled program: jax.jit(f).lower(x).compile().as_text()."
    )


CROSSINGS = {
    "rows stay": (((0, 1, 2, 3), (4, 5, 6, 7)), {"y"}),
    "columns cross": (((0, 4), (1, 5), (2, 6), (3, 7)), {"x"}),
    "everybody": ((tuple(range(8)),), {"x", "y"}),
    "one hop over the edge": (((2, 3), (3, 4)), {"x", "y"}),
    "hops within": (((0, 1), (1, 2), (2, 3)), {"y"}),
    "groups unknown": ((), {"x", "y"}),
}


@pytest.mark.parametrize("case", CROSSINGS)
def test_crossing(case: str) -> None:
    """A collective crosses an axis where devices of one group differ in their place along it."""
    groups, over = CROSSINGS[case]
    one = Collective("all-reduce", (4,), "f32", 16, 16, groups=groups)
    assert {axis for axis in ("x", "y") if crossing([one], XY, axis)} == over
