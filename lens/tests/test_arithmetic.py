"""FLOPs of HLO, counted here, against XLA's own analysis: operation by operation, and of every stored text and record."""

import importlib.util
import math
import re

import jax
import pytest
from jaxlib import _hlo, _jax

from shardlens.programs.inspection import inspect
from shardlens.reading.arithmetic import ELEMENTWISE, Arithmetic, added_by_rounds, least
from shardlens.reading.hlo import parse_hlo
from test_second_reader import STORED

X = "x = f32[4,8] parameter(0)"
ZERO = "z = f32[] constant(0)"
SUM = "s {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = f32[] add(a, b)\n}\n"
LARGER = "l {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n  ROOT r = pred[] compare(a, b), direction=GT\n}\n"
IMAGE = "x = f32[4,8,7,6] parameter(0)"
LABELS = "dim_labels=b01f_01io->b01f"
# By name: instructions before the last, and the last.
OPERATIONS: dict[str, tuple[list[str], str]] = {
    "dot": ([X], "f32[4,4] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={1}"),
    "convolution": (
        [IMAGE, "k = f32[3,2,6,5] parameter(1)"],
        f"f32[4,8,6,5] convolution(x, k), window={{size=3x2 pad=1_1x0_0}}, {LABELS}",
    ),
    "convolution with steps": (
        [IMAGE, "k = f32[3,2,6,5] parameter(1)"],
        f"f32[4,3,3,5] convolution(x, k), window={{size=3x2 stride=3x2 pad=1_1x0_0}}, {LABELS}",
    ),
    "convolution with gaps": (
        [IMAGE, "k = f32[3,2,6,5] parameter(1)"],
        f"f32[4,15,13,5] convolution(x, k), window={{size=3x2 pad=2_2x1_1 lhs_dilate=2x2 rhs_dilate=2x2}}, {LABELS}",
    ),
    "convolution in groups": (
        [IMAGE, "k = f32[3,2,3,10] parameter(1)"],
        f"f32[4,6,6,10] convolution(x, k), window={{size=3x2}}, {LABELS}, feature_group_count=2",
    ),
    "reduce": ([X, ZERO], "f32[4] reduce(x, z), dimensions={1}, to_apply=s"),
    "reduce-window": ([X, ZERO], "f32[4,8] reduce-window(x, z), window={size=1x3 pad=0_0x1_1}, to_apply=s"),
    "reduce-window of all": ([X, ZERO], "f32[4,8] reduce-window(x, z), window={size=1x15 pad=0_0x7_7}, to_apply=s"),
    "reduce-window of nearly all": ([X, ZERO], "f32[4,8] reduce-window(x, z), window={size=1x13 pad=0_0x6_6}, to_apply=s"),
    "select-and-scatter": (
        ["x = f32[8] parameter(0)", "y = f32[4] parameter(1)", ZERO],
        "f32[8] select-and-scatter(x, y, z), window={size=2 stride=2}, select=l, scatter=s",
    ),
    "scatter": (
        [X, "i = s32[2,1] parameter(1)", "u = f32[2,8] parameter(2)"],
        "f32[4,8] scatter(x, i, u), update_window_dims={1}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0},"
        " index_vector_dim=1, to_apply=s",
    ),
    "sort": ([X], "f32[4,8] sort(x), dimensions={1}, to_apply=l"),
    "map": ([X], "f32[4,8] map(x, x), dimensions={0,1}, to_apply=s"),
    "all-reduce": ([X], "(f32[4,8], f32[4,8]) all-reduce(x, x), to_apply=s"),
    "reduce-scatter": ([X], "f32[4,4] reduce-scatter(x), replica_groups={{0,1}}, dimensions={1}, to_apply=s"),
    "fft": (["x = c64[4,32,8] parameter(0)"], "c64[4,32,8] fft(x), fft_type=FFT, fft_length={32,8}"),
    "cholesky": (["x = f32[4,8,8] parameter(0)"], "f32[4,8,8] cholesky(x), lower=true"),
    "triangular-solve": (
        ["x = f32[4,8,8] parameter(0)", "y = f32[4,8,3] parameter(1)"],
        "f32[4,8,3] triangular-solve(x, y), left_side=true, lower=true, transpose_a=NO_TRANSPOSE",
    ),
    "call": ([X, ZERO], "f32[] call(z, z), to_apply=s"),
    "compare": ([X], "pred[4,8] compare(x, x), direction=LT"),
    "select": ([X, "p = pred[4,8] parameter(1)"], "f32[4,8] select(p, x, x)"),
    "clamp": ([X], "f32[4,8] clamp(x, x, x)"),
    "exponential": ([X], "f32[4,8] exponential(x)"),
    "convert": ([X], "s32[4,8] convert(x)"),
    "pad": ([X, ZERO], "f32[4,10] pad(x, z), padding=0_0x1_1"),
}


WHOLE = [("s32", opcode) for opcode in "add divide maximum remainder subtract and shift-left xor multiply".split()]


# By hand: 2 images of 8 rows, with rows of neighbours beside them, and 64 columns; the two outer ones have 2 taps of 3.
OF_CUDNN = {"h100_halo": 2.0 * 2 * 128 * 128 * (3 * 8) * (3 * 64 - 2)}


def analysed(text: str) -> float:
    """FLOPs as XLA's analysis has them."""
    found = _jax.hlo_module_cost_analysis(jax.devices()[0].client, _hlo.hlo_module_from_text(text))
    return float(found.get("flops", 0.0))


def of_libtpu(text: str) -> float:
    """What libtpu counts beyond it: see `test_the_largest_on_a_tpu`."""
    rows = re.findall(r"= \(\w+\[([\d,]+)\]\S*:T\(\S* .*custom-call\(%(\S+)\), custom_call_target=\"TopK\"", text)
    made = dict(re.findall(r"%(\S+) = \w+\[([\d,]+)\]", text))
    return float(sum(math.prod(map(int, made[x].split(","))) * int(out.split(",")[-1]) for out, x in rows))


def once(text: str) -> float:
    """FLOPs as they are counted here, loops once."""
    module = parse_hlo(text)
    return Arithmetic(module, loops=True).once(module.entry)


@pytest.mark.parametrize("name", OPERATIONS)
def test_operation(name: str) -> None:
    """Each operation costs what XLA says."""
    before, last = OPERATIONS[name]
    lines = "\n".join(f"  {line}" for line in (*before, f"ROOT r = {last}"))
    text = f"HloModule m\n\n{SUM}\n{LARGER}\nENTRY e {{\n{lines}\n}}\n"
    assert once(text) == analysed(text)


@pytest.mark.parametrize("dtype, opcode", [*WHOLE, *(("f32", opcode) for _, opcode in WHOLE[:5])])
def test_of_two_numbers(dtype: str, opcode: str) -> None:
    """One for each element of the output."""
    text = f"HloModule m\n\nENTRY e {{\n  x = {dtype}[4,8] parameter(0)\n  ROOT r = {dtype}[4,8] {opcode}(x, x)\n}}\n"
    assert opcode in ELEMENTWISE and once(text) == analysed(text) == 32


@pytest.mark.parametrize("name", STORED)
def test_stored(name: str) -> None:
    """Each stored text, too; where it has no loop, nothing is added."""
    agree(STORED[name].read_text(), OF_CUDNN.get(name, 0.0))


def agree(text: str, beyond: float = 0.0) -> None:
    """What is counted is what XLA counts, and what it does not see `beyond` that."""
    # XLA adds up in 32 bits.
    assert once(text) == pytest.approx(analysed(text) + of_libtpu(text) + beyond, rel=1e-5, abs=64)
    assert " while(" in text or (added_by_rounds(text) == 0 and least(text) == once(text))


@pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")
@pytest.mark.parametrize("shape, k", [((8, 1000), 5), ((16, 2048), 3), ((64, 64), 4)])
def test_the_largest_on_a_tpu(shape: tuple[int, ...], k: int) -> None:
    """The TPU compiler takes the k largest by an operation of its own, or sorts; in a loop each round counts."""

    def chosen(x: jax.Array) -> jax.Array:
        return jax.lax.top_k(x, k)[0]

    def again(x: jax.Array) -> jax.Array:
        return jax.lax.scan(lambda x, _: (x * chosen(x).sum(-1, keepdims=True), None), x, None, length=7)[0]

    x = jax.ShapeDtypeStruct(shape, "float32")
    program, loop = (inspect(f, x, target="v5e:1x1") for f in (chosen, again))
    assert once(program.hlo) == program.flops
    assert program.flops is not None and loop.flops is not None and loop.flops >= 7 * program.flops


CUDNN = """HloModule m, num_partitions=1
ENTRY %main (x: f32[1,64,64,16], k: f32[32,3,3,16], g: f32[1,64,64,32]) -> f32[1,64,64,32] {
  %x = f32[1,64,64,16]{3,2,1,0} parameter(0)
  %k = f32[32,3,3,16]{3,2,1,0} parameter(1)
  %g = f32[1,64,64,32]{3,2,1,0} parameter(2)
  ROOT %c = (ARRAY, u8[0]{0}) custom-call(OPERANDS), window={size=3x3 pad=1_1x1_1}, dim_labels=b01f_o01i->b01f, TARGET
}
"""
CONVOLUTIONS = {
    "Forward": ("f32[1,64,64,32]{3,2,1,0}", "%x, %k"),
    "BiasActivationForward": ("f32[1,64,64,32]{3,2,1,0}", "%x, %k, %g"),
    "BackwardFilter": ("f32[32,3,3,16]{3,2,1,0}", "%x, %g"),
    "BackwardInput": ("f32[1,64,64,16]{3,2,1,0}", "%g, %k"),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
def test_convolutions_of_cudnn(name: str) -> None:
    """Forward and backward have the same products; those with padding, a row and a column of 64 on each side, are none."""
    made, operands = CONVOLUTIONS[name]
    text = CUDNN.replace("ARRAY", made).replace("OPERANDS", operands)
    assert least(text.replace("TARGET", f'custom_call_target="__cudnn$conv{name}"')) == 2 * 16 * 32 * (3 * 64 - 2) ** 2


def test_products_of_cublas() -> None:
    """Two for each number of the output and each one summed over, in a batch of products."""
    text = """HloModule m, num_partitions=1
ENTRY %main (a: bf16[4,8,16], b: bf16[4,16,32]) -> bf16[4,8,32] {
  %a = bf16[4,8,16]{2,1,0} parameter(0)
  %b = bf16[4,16,32]{2,1,0} parameter(1)
  ROOT %c = (bf16[4,8,32]{2,1,0}, s8[64]{0}) custom-call(%a, %b), custom_call_target="__cublas$lt$matmul", backend_config={"gemm_backend_config":{"dot_dimension_numbers":{"lhs_contracting_dimensions":["2"],"rhs_contracting_dimensions":["1"],"lhs_batch_dimensions":["0"],"rhs_batch_dimensions":["0"]}}}
}
"""  # noqa: E501
    assert least(text) == 2 * 4 * 8 * 32 * 16
