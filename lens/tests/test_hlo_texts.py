"""Stored texts of programs in `hlo_texts`, compiled for CPU, v4, v5e, v5p, v6e and H100: what the reader finds in each.

The answers were worked out by hand from the programs: shapes of blocks, bytes of their elements, sizes of the axes.
"""

import math
import re

import pytest

import hlo_texts
from shardlens.reading.collectives import Collective, read_collectives

MESHES = {name: tuple(axes.items()) for name, (axes, _) in hlo_texts.PROGRAMS.items()}
BYTES = {"f32": 4, "bf16": 2, "f16": 2, "u32": 4, "s8": 1, "pred": 1, "f8e4m3fn": 1}
ACCELERATORS = ("v4", "v5e", "v5p", "v6e", "h100")
Row = tuple[str, str, str, str, int, int | None]
GATHERS = [("all-gather", f"f32[8,{128 * k}]", f"f32[64,{128 * k}]", "x", 8, 1) for k in range(1, 8)]
SUMS = "".join(f"f32[128,{8 * k}]" for k in range(1, 8))
HALF, WHOLE = "[128,256]", "[256,256]"


def fsdp(dtype: str) -> list[Row]:
    """Both weights gathered forward, both gradients scattered backward."""
    gather = ("all-gather", dtype + HALF, dtype + WHOLE, "x", 2, 1)
    return [gather, gather, *[("reduce-scatter", dtype + WHOLE, dtype + HALF, "x", 2, 1)] * 2]


def together(rows: list[Row]) -> Row:
    """Several of a kind, combined into one."""
    kinds, before, after, axes, sizes, times = zip(*rows)
    assert len(set(kinds)) == len(set(axes)) == 1
    return kinds[0], "".join(before), "".join(after), axes[0], sizes[0], times[0]


def looped(inner: int | None, outer: int | None) -> list[Row]:
    """The permute of the inner loop, the sum of the outer one."""
    block = "f32[8,128]"
    return [("collective-permute", block, block, "y", 4, inner), ("all-reduce", block, block, "x", 2, outer)]


def twice(kind: str, before: str, after: str, axes: str, size: int, times: int | None = 1) -> list[Row]:
    """The same collective two times."""
    return [(kind, before, after, axes, size, times)] * 2


# By program, then by where it was compiled: "tpu" for every chip, and for the GPU unless it has a line of its own. Kind,
# what goes in, what comes out, axes, group, executions. In the order of the text, which the compiler chooses.
ANSWERS: dict[str, dict[str, list[Row]]] = {
    "gather_slow": {"": [("all-gather", "f32[8,128]", "f32[16,128]", "x", 2, 1)]},
    "gather_both": {
        "cpu": [("all-gather", "f32[8,256]", "f32[64,256]", "xy", 8, 1)],
        "tpu": [("all-gather", "bf16[8,256]", "bf16[64,256]", "xy", 8, 1)],
    },
    "reduce_outer": {"": [("all-reduce", "f32[8,16,128]", "f32[8,16,128]", "ac", 4, 1)]},
    "scatter_middle": {"": [("reduce-scatter", "f32[32,32,128]", "f32[16,32,128]", "b", 2, 1)]},
    "swap_slow": {
        "cpu": [("all-to-all", "f32[16,512]", "f32[16,256]f32[16,256]", "x", 2, 1)],
        "tpu": [("all-to-all", "f32[16,512]", "f32[16,2,256]", "x", 2, 1)],
        "h100": [("all-to-all", "f32[16,512]", "f32[16,512]", "x", 2, 1)],
    },
    "shift": {"": [("collective-permute", "f32[8,128]", "f32[8,128]", "y", 4, 1)]},
    "diagonal": {"": [("collective-permute", "f32[8,128]", "f32[8,128]", "xy", 8, 1)]},
    # XLA for GPU lays the seven of a sum one behind the other before it adds, and gathers the seven in one.
    "seven_sums": {
        "": [("all-reduce", SUMS, SUMS, "x", 8, 1)],
        "h100": [("all-reduce", SUMS, f"f32[{128 * 8 * sum(range(1, 8))}]", "x", 8, 1)],
    },
    "seven_gathers": {"": GATHERS, "h100": [together(GATHERS)]},
    "loop": {"": [("all-reduce", "f32[8,128]", "f32[8,128]", "x", 8, 5)]},
    "loops": {"": looped(3 * 4, 3)},
    "until": {"": [("all-reduce", "f32[]", "f32[]", "x", 8, None)]},
    "branches": {
        "": [
            ("all-reduce", "f32[8,128]", "f32[8,128]", "y", 4, 1),
            ("collective-permute", "f32[8,128]", "f32[8,128]", "x", 2, 1),
        ]
    },
    "ragged": {
        "": [("ragged-all-to-all", "f32[32,128]", "f32[64,1,128]", "x", 8, 1)],
        "h100": [("ragged-all-to-all", "f32[32,128]", "f32[64,128]", "x", 8, 1)],
    },
    "fsdp": {
        "cpu": fsdp("f32"),
        "tpu": fsdp("bf16"),
        "h100": [together(fsdp("bf16")[:2]), together(fsdp("bf16")[2:])],
        "v6e": [*fsdp("bf16")[:2], ("all-reduce", "bf16" + WHOLE, "bf16" + WHOLE, "x", 2, 1), fsdp("bf16")[3]],
    },
    "softmax": {"": twice("all-reduce", "f32[32]", "f32[32]", "y", 4)},
    "embedding": {
        "cpu": [("all-reduce", "f32[32,256]", "f32[32,256]", "y", 4, 1)],
        "tpu": [("all-reduce", "bf16[32,256]", "bf16[32,256]", "y", 4, 1)],
    },
    "halo": {
        "cpu": twice("collective-permute", "f32[2,1,64,128]", "f32[2,1,64,128]", "x", 8),
        "tpu": twice("collective-permute", "bf16[2,1,64,128]", "bf16[2,1,64,128]", "x", 8),
        "h100": twice("collective-permute", "f32[2,1,64,128]", "f32[2,1,64,128]", "x", 8),
    },
    "reshard": {
        "cpu": [("all-to-all", "f32[32,512]", "f32[1,32,1,256]f32[1,32,1,256]", "x", 2, 1)],
        "tpu": [("all-to-all", "f32[32,512]", "f32[1,32,2,256]", "x", 2, 1)],
    },
    "small_types": {
        "cpu": [
            ("all-reduce", "s8[32,256]", "s8[32,256]", "x", 8, 1),
            ("all-gather", "pred[32,256]", "pred[256,256]", "x", 8, 1),
            ("all-gather", "f16[32,256]", "f16[256,256]", "x", 8, 1),
        ],
        "tpu": [
            ("all-gather", "f8e4m3fn[32,256]", "f8e4m3fn[256,256]", "x", 8, 1),
            ("all-reduce", "s8[32,256]", "u32[2,1024]", "x", 8, 1),
            ("all-gather", "pred[32,256]", "pred[256,256]", "x", 8, 1),
        ],
        "h100": [
            ("all-gather", "f8e4m3fn[32,256]pred[32,256]", "f8e4m3fn[256,256]pred[256,256]", "x", 8, 1),
            ("all-reduce", "s8[32,256]", "s8[32,256]", "x", 8, 1),
        ],
    },
    "wide": {
        "": [
            ("all-reduce", "f32[16,128]", "f32[16,128]", "x", 16, 1),
            ("all-gather", "f32[16,128]", "f32[256,128]", "y", 16, 1),
        ]
    },
    "cube": {
        "": [
            ("all-reduce", "f32[256,512]", "f32[256,4,128]", "ac", 16, 1),
            ("all-to-all", "f32[256,512]", "f32[256,4,128]", "b", 4, 1),
            ("all-reduce", "f32[1024,128]", "f32[1024,128]", "abc", 64, 1),
        ]
    },
    "overlapped": {
        "cpu": twice("all-gather", "f32[256,2048]", "f32[2048,2048]", "x", 8),
        "tpu": twice("all-gather", "bf16[256,2048]", "bf16[2048,2048]", "x", 8),
        "h100": [together(twice("all-gather", "bf16[256,2048]", "bf16[2048,2048]", "x", 8))],
    },
    "ring_attention": {
        "cpu": twice("collective-permute", "f32[512,128]", "f32[512,128]", "x", 8, 8),
        "tpu": twice("collective-permute", "bf16[512,128]", "bf16[512,128]", "x", 8, 8),
        "h100": [together(twice("collective-permute", "f32[512,128]", "f32[512,128]", "x", 8, 8))],
    },
}


def expected(where: str, name: str) -> list[Row]:
    """The answer for one text."""
    answers = ANSWERS[name]
    return answers.get(where) or answers.get("tpu" if where in ACCELERATORS else where) or answers[""]


def nbytes(arrays: str) -> int:
    """Bytes of arrays as HLO writes them."""
    found = re.findall(r"(\w+)\[([^]]*)\]", arrays)
    return sum(BYTES[dtype] * math.prod(map(int, filter(None, dims.split(",")))) for dtype, dims in found)


def found(c: Collective) -> tuple[object, ...]:
    """Its facts; arrays as HLO writes them."""
    arrays = "".join(f"{dtype}[{','.join(map(str, shape))}]" for dtype, shape in c.arrays)
    return c.kind, c.operand_bytes, arrays, c.payload_bytes, "".join(c.axes), c.group_size, c.executions


@pytest.mark.stored
@pytest.mark.parametrize("where, name", hlo_texts.stored())
def test_stored_text(where: str, name: str) -> None:
    """Each text has the collectives that were worked out by hand, no more and no fewer."""
    collectives = read_collectives((hlo_texts.FOLDER / f"{where}_{name}.txt").read_text(), MESHES[name])
    answer = expected(where, name)
    rows = [(kind, nbytes(into), out, nbytes(out), axes, size, times) for kind, into, out, axes, size, times in answer]
    assert sorted(map(found, collectives), key=str) == sorted(rows, key=str)


def test_enough_texts() -> None:
    """There are more than eighty texts, of six backends, in less than 1.5 MB, with every notation of groups."""
    texts = {path.stem: path.read_text() for path in hlo_texts.FOLDER.glob("*.txt")}
    assert len(texts) >= 80 and sum(map(len, texts.values())) < 1.5e6
    assert {f"{where}_{name}" for where, name in hlo_texts.stored()} <= set(texts)
    everything = "\n".join(texts.values())
    for written in (
        "replica_groups={{0,",
        "replica_groups=[",
        "replica_groups=mesh[",
        "source_target_pairs=",
        "/*index=5*/",
    ):
        assert written in everything
