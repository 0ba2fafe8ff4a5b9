"""What cannot be counted is never counted as nothing: kernels, foreign functions, rounds that data decides, and the host."""

from __future__ import annotations

import dataclasses
import importlib.util
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shardlens as lens
from shardlens.errors import LensError
from shardlens.guards import amounts, lock
from shardlens.guards.assertions import assert_communicates
from shardlens.programs import figures
from shardlens.programs.comparison import Comparison
from shardlens.programs.program import Program
from shardlens.programs.table import or_unknown
from shardlens.reading.collectives import Collective, price, read_collectives, total_bytes
from shardlens.reading.outside import FOREIGN, KERNEL, host_calls, kernels

HLO = Path(__file__).parent / "hlo"
TEXTS = sorted(path.stem for path in HLO.glob("*.txt"))
P = jax.P
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")

REMOTE = '"custom_call_config":{"body":"TUzv","has_communication":true}'
LOCAL = '"custom_call_config":{"body":"TUzv"}'

# What is planted: a line of HLO, and what is said of it on a machine that is no TPU; nothing where it moves nothing.
CALLS = {
    "kernel that sends": (f'custom-call(), custom_call_target="tpu_custom_call", backend_config={{{REMOTE}}}', KERNEL),
    "kernel with metadata": (
        'custom-call(), custom_call_target="tpu_custom_call", frontend_attributes={kernel_metadata={\n'
        f'"mesh_axes":"[\\"x\\"]"\n}}}}, backend_config={{{REMOTE}}}',
        KERNEL,
    ),
    "kernel alone": (f'custom-call(), custom_call_target="tpu_custom_call", backend_config={{{LOCAL}}}', ""),
    "mpi": ('custom-call(), custom_call_target="mpi_allreduce_ffi"', f"{FOREIGN}: mpi_allreduce_ffi"),
    "nccl": ('custom-call(), custom_call_target="my_nccl_all_gather"', f"{FOREIGN}: my_nccl_all_gather"),
    "nvshmem": ('custom-call(), custom_call_target="NvshmemPut"', f"{FOREIGN}: NvshmemPut"),
    "mosaic on GPU": ('custom-call(), custom_call_target="mosaic_gpu_v2"', f"{FOREIGN}: mosaic_gpu_v2"),
    "name that begins alike": ('custom-call(), custom_call_target="TopKOverRing"', f"{FOREIGN}: TopKOverRing"),
    "asynchronous": ('custom-call-start(), custom_call_target="put_remote"', f"{FOREIGN}: put_remote"),
    "lapack": ('custom-call(), custom_call_target="lapack_spotrf_ffi"', ""),
    "top_k": ('custom-call(), custom_call_target="TopK"', ""),
    "cublas": ('custom-call(), custom_call_target="__cublas$gemm"', ""),
    "threefry": ('custom-call(), custom_call_target="cu_threefry2x32_ffi"', ""),
    "triton": ('custom-call(), custom_call_target="__gpu$xla.gpu.triton"', ""),
}  # fmt: skip
ON_TPU = {"mpi", "nccl", "nvshmem", "mosaic on GPU", "name that begins alike", "asynchronous"}
UNKNOWN = [name for name, (_, said) in CALLS.items() if said]
PROGRAM = """HloModule planted, num_partitions=8

%body (p: f32[4]) -> f32[4] {
  %p = f32[4]{0} parameter(0)
  ROOT %inside = f32[4]{0} INSIDE
}

ENTRY %main (x: f32[4]) -> f32[4] {
  %x = f32[4]{0} parameter(0)
  %planted = f32[4]{0} ENTRY_CALL
  ROOT %call = f32[4]{0} call(%planted), to_apply=%body
}
"""
NOTHING = "negate(%p)"


def planted(call: str, *, inside: bool = False, devices: int = 8) -> str:
    """A program with a call in its entry, or in a computation that it calls."""
    text = PROGRAM.replace("num_partitions=8", f"num_partitions={devices}")
    return text.replace("INSIDE", call if inside else NOTHING).replace("ENTRY_CALL", "negate(%x)" if inside else call)


@pytest.mark.parametrize("inside", [False, True], ids=["entry", "called"])
@pytest.mark.parametrize("name", CALLS)
def test_what_is_known_of_a_call(name: str, inside: bool) -> None:
    """A row of its own where nobody can count, which no sum passes over; nothing where nothing moves, or on one device."""
    call, said = CALLS[name]
    found = read_collectives(planted(call, inside=inside))
    assert [c.uncounted for c in found] == ([said] if said else [])
    assert read_collectives(planted(call, inside=inside, devices=1)) == ()
    for measure in (price, total_bytes) if said else ():
        assert or_unknown(measure, found) == "?"
        with pytest.raises(
            LensError, match=r"\[uncounted-bytes\] the bytes of (planted|inside) .* cannot be counted: it is a "
        ):
            measure(found)
    tiles = planted(call, inside=inside).replace("{0}", "{0:T(128)}")
    assert bool(read_collectives(tiles)) == (bool(said) and name not in ON_TPU)


@settings(max_examples=60, deadline=None)
@given(text=st.sampled_from(TEXTS), name=st.sampled_from(UNKNOWN), place=st.integers(0, 10**6), data=st.data())
def test_planted_in_real_programs(text: str, name: str, place: int, data: st.DataObject) -> None:
    """Wherever in a compiled program that runs an unknown call is planted, no sum is given, and what was read before is."""
    hlo = (HLO / f"{text}.txt").read_text()
    name = data.draw(st.sampled_from([each for each in UNKNOWN if each not in ON_TPU])) if ":T(" in hlo else name
    lines = hlo.splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("ENTRY"))
    places = [i for i in range(start + 1, len(lines)) if lines[i].startswith("  ")]
    at = places[place % len(places)]
    more = "".join([*lines[:at], f"  %planted.77 = f32[4]{{0}} {CALLS[name][0]}\n", *lines[at:]])
    more = more if "num_partitions" in more.partition("\n")[0] else more.replace("\n", ", num_partitions=8\n", 1)
    found = read_collectives(more)
    assert [c.name.split()[0] for c in found if c.uncounted] == ["planted.77"]
    assert or_unknown(price, found) == "?"
    assert [c for c in found if not c.uncounted] == [*read_collectives(hlo)] or "num_partitions" not in hlo


def mesh(*sizes: int, names: str = "xy") -> jax.sharding.Mesh:
    """A mesh over the first devices."""
    return jax.make_mesh(sizes, tuple(names[: len(sizes)]), axis_types=(jax.sharding.AxisType.Auto,) * len(sizes))


def spec(over: jax.sharding.Mesh, shape: tuple[int, ...], *entries: Any) -> jax.ShapeDtypeStruct:
    """An argument."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(over, P(*entries)))


TARGET = "v5e:2x4"
OVER = mesh(8)


def copied(x: Any, out: Any, semaphores: Sequence[Any], target: Any) -> None:
    """A copy to another device, waited for."""
    from jax.experimental.pallas import tpu as pltpu

    copy = pltpu.make_async_remote_copy(x, out, *semaphores, (target,))
    copy.start()
    copy.wait()


def neighbour(by: int = 1) -> Any:
    """The device so many further on."""
    return jax.lax.rem(jax.lax.axis_index("x") + by, 8)


def whole(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """The issue's: the whole block to the right."""
    copied(x, out, semaphores, neighbour())


def thrice(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """Four of eight rows to the left, three times."""
    from jax.experimental import pallas as pl

    @pl.loop(0, 3)
    def _(i: Any) -> None:
        copied(x.at[pl.ds(i, 4)], out.at[pl.ds(i, 4)], semaphores, neighbour(7))


def some(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """From the first three devices alone, and to two others."""
    from jax.experimental import pallas as pl

    @pl.when(jax.lax.axis_index("x") < 3)
    def _() -> None:
        copied(x, out, semaphores, neighbour())
        copied(x, out, semaphores, neighbour(2))


def itself(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """To the device that it is on: nothing moves between devices."""
    copied(x, out, semaphores, neighbour(8))


def by_data(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """As many as a number of the arguments says."""
    from jax.experimental import pallas as pl

    @pl.when(n[0] == 1)
    def _() -> None:
        copied(x, out, semaphores, neighbour())


def to_data(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """To a device that a number of the arguments names: who sends to whom is not known."""
    copied(x, out, semaphores, jax.lax.rem(jax.lax.axis_index("x") + n[0], 8))


def alone(n: Any, x: Any, out: Any, *semaphores: Any) -> None:
    """No copy to another device."""
    from jax.experimental.pallas import tpu as pltpu

    copy = pltpu.make_async_copy(x, out, semaphores[0])
    copy.start()
    copy.wait()


def kernel(f: Any, grid: tuple[int, ...] = ()) -> Program:
    """The program of a kernel that runs on each device, compiled for a TPU slice."""
    return lens.inspect(called(f, grid), *KERNEL_ARGS, target=TARGET)


def called(f: Any, grid: tuple[int, ...] = ()) -> Any:
    """A kernel in a shard_map."""
    from jax.experimental import pallas as pl
    from jax.experimental.pallas import tpu as pltpu

    anywhere = pl.BlockSpec(memory_space=pl.ANY)
    inner = pl.pallas_call(
        f,
        out_shape=jax.ShapeDtypeStruct((8, 128), "float32"),
        grid=grid,
        in_specs=[pl.BlockSpec(memory_space=pltpu.SMEM), anywhere],
        out_specs=anywhere,
        scratch_shapes=[pltpu.SemaphoreType.DMA] * 2,
    )
    return jax.shard_map(inner, mesh=OVER, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)


KERNEL_ARGS = (jax.ShapeDtypeStruct((1,), "int32", sharding=jax.NamedSharding(OVER, P())), spec(OVER, (64, 128), "x"))
# Each row: the kernel, its grid, the bytes that one device moves (`None` where nobody knows), and how many pairs of devices.
SENDING: dict[str, tuple[Any, tuple[int, ...], int | None, int]] = {
    "a block": (whole, (), 4096, 8),
    "in a grid": (whole, (2, 3), 6 * 4096, 8),
    "parts in a loop": (thrice, (), 3 * 2048, 8),
    "from some": (some, (), 2 * 4096, 6),
    "to itself": (itself, (), 0, 0),
    "as data says": (by_data, (), None, 0),
    "where data says": (to_data, (), None, 0),
    "none": (alone, (), 0, 0),
}


@needs_libtpu
@pytest.mark.thorough(after=4)
@pytest.mark.parametrize("name", SENDING)
def test_a_kernel_that_sends(name: str) -> None:
    """A Pallas kernel's own copies are counted where its program says them; else it is a row of unknown bytes."""
    f, grid, moves, pairs = SENDING[name]
    program = kernel(f, grid)
    if moves is None:
        assert [c.uncounted for c in program.collectives] == [KERNEL]
        assert "cannot be counted, because it is a kernel" in str(program)
        assert figures.facts(program, TARGET)["price"] is None
        assert "its time is left out" in " ".join(str(program.cost(TARGET)).split())
        return
    assert program.price == moves and kernels(program.hlo) == 1 and "what 1 Pallas kernels do" in str(program)
    assert [(c.kind, c.axes, len(c.groups)) for c in program.collectives] == [("remote-copy", ("x",), pairs)] * bool(moves)
    assert (program.cost(TARGET).communication > 0) == bool(moves)


@needs_libtpu
def test_limits_of_kernels() -> None:
    """A limit holds what is counted, and fails with the reason where nobody can count."""
    fits = assert_communicates(called(whole), *KERNEL_ARGS, at_most={"x": 4096}, target=TARGET)
    assert fits.memory.main < fits.memory.peak and fits.refused == fits.too_large == ""
    with pytest.raises(AssertionError, match="one device moves 4,096 bytes, 4,096 more than 0"):
        assert_communicates(called(whole), *KERNEL_ARGS, at_most=0, target=TARGET)
    with pytest.raises(AssertionError, match="nobody can say that a device moves at most 0 bytes"):
        assert_communicates(called(by_data), *KERNEL_ARGS, at_most=0, target=TARGET)


HOST = {
    "pure": (lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((4, 6), "float32"), x), 96, 96, 1),
    "debug": (lambda x: (jax.debug.callback(print, x[0]), x + 1)[1], 24, 0, 1),
    "in a loop": (
        lambda x: jax.lax.fori_loop(0, 5, lambda i, y: jax.pure_callback(np.sin, jax.typeof(y), y) + i.astype("float32"), x),
        96, 96, 5,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", HOST)
def test_the_host_is_told(name: str) -> None:
    """Bytes to the host and from it have a line, and are not part of the price."""
    f, out, into, times = HOST[name]
    program = lens.inspect(f, jax.ShapeDtypeStruct((4, 6), "float32"))
    calls = program.host_calls
    assert (sum(c.out for c in calls), sum(c.into for c in calls), {c.executions for c in calls}) == (out, into, {times})
    assert (
        program.price == 0 and f"host: {out:,} bytes out, {into:,} in" in str(program) and "test_unknown.py" in str(program)
    )
    assert host_calls(program.hlo) == calls


# Regressions that a total hides: what was locked, and what it became; each a list of (kind, axes, bytes, times, loops).
HIDDEN = {
    "axes exchanged": (
        [("all-reduce", "ici", 4096, 1, ()), ("all-reduce", "dcn", 64, 1, ())],
        [("all-reduce", "ici", 64, 1, ()), ("all-reduce", "dcn", 4096, 1, ())],
        "all-reduce over dcn: 4,096 bytes of outputs; 64 are locked",
    ),
    "kinds exchanged": (
        [("all-gather", "x", 4096, 1, ()), ("all-to-all", "x", 64, 1, ())],
        [("all-gather", "x", 64, 1, ()), ("all-to-all", "x", 4096, 1, ())],
        "all-to-all over x: 4,096 bytes of outputs; 64 are locked",
    ),
    "larger in a loop of unknown rounds": (
        [("all-reduce", "x", 4, None, (None,))],
        [("all-reduce", "x", 4096, None, (None,))],
        "all-reduce over x: 4,096 bytes of outputs in a round of a loop whose number of rounds depends on data; "
        "4 are locked",
    ),
    "into such a loop": (
        [("all-reduce", "x", 4, 1, ()), ("all-reduce", "x", 4, None, (None,))],
        [("all-reduce", "x", 4, None, (None,)), ("all-reduce", "x", 4, None, (None,))],
        "all-reduce over x: 8 bytes of outputs in a round of a loop whose number of rounds depends on data; 4 are locked",
    ),
    "more known rounds inside": (
        [("all-reduce", "x", 4, None, (None, 2))],
        [("all-reduce", "x", 4, None, (None, 200))],
        "all-reduce over x: 800 bytes of outputs in a round of a loop whose number of rounds depends on data; 8 are locked",
    ),
    "into an inner loop": (
        [("all-reduce", "x", 4, None, (None,))],
        [("all-reduce", "x", 4, None, (None, None))],
        "1 all-reduce over x, 2 such loops deep; 0 locked",
    ),
    "more rounds": (
        [("all-gather", "x", 4, 10, ())],
        [("all-gather", "x", 4, 11, ())],
        "all-gather over x: 44 bytes of outputs; 40 are locked",
    ),
    "known, then unknown": (
        [("all-gather", "x", 4, 10, ())],
        [("all-gather", "x", 4, None, (None,))],
        "all-gather over x: 4 bytes of outputs in a round of a loop whose number of rounds depends on data; 0 are locked",
    ),
    "uncounted": (
        [("unknown", "", 64, 1, ())],
        [("unknown", "", None, 1, ())],
        "unknown over -: 1 with bytes that cannot be counted; 0 locked",
    ),
    "one more": (
        [("all-gather", "x", 64, 1, ())],
        [("all-gather", "x", 32, 1, ()), ("all-gather", "x", 32, 1, ())],
        "2 all-gather over x; 1 locked",
    ),
}  # fmt: skip


def stored(rows: list[tuple[str, str, int | None, int | None, tuple[int | None, ...]]]) -> dict[str, Any]:
    """The facts of such collectives."""
    keys = ("kind", "axes", "bytes", "times", "loops")
    made = [dict(zip(keys, row)) | {"dtype": "f32", "count": 1, "axes": [row[1]] if row[1] else []} for row in rows]
    return {"collectives": made}


@pytest.mark.parametrize("name", HIDDEN)
def test_what_a_total_hides(name: str) -> None:
    """A lock compares by axes, kind and loop, in both directions where the total is the same, and equals itself."""
    before, now, said = HIDDEN[name]
    assert said in amounts.grown(stored(before), stored(now))
    assert amounts.grown(stored(now), stored(now)) == amounts.grown(stored(before), stored(before)) == []


def test_a_lock_by_axis(tmp_path: Path) -> None:
    """Two sums exchanged between the axes of a mesh fail, with their lines, and nothing is compiled twice for it."""
    over = mesh(2, 4, names="di")

    def step(a: Any, b: Any, large: str, small: str) -> Any:
        def local(a: Any, b: Any) -> Any:
            return jax.lax.psum(a, large), jax.lax.psum(b, small)

        return jax.shard_map(local, mesh=over, in_specs=(P(), P()), out_specs=(P(), P()), check_vma=False)(a, b)

    args, file = (spec(over, (32, 32)), spec(over, (4,))), tmp_path / "step.json"
    lens.locked(file, lambda a, b: step(a, b, "i", "d"), *args, update=True)
    assert not lens.locked(file, lambda a, b: step(a, b, "i", "d"), *args)
    with pytest.raises(AssertionError) as error:
        lens.locked(file, lambda a, b: step(a, b, "d", "i"), *args)
    said = str(error.value)
    assert "all-reduce over d: 4,096 bytes of outputs; 16 are locked" in said and "--shardlens-why" in said
    assert "return jax.lax.psum(a, large)" in said and "0 changes compiled" in said


def test_loops_around(tmp_path: Path) -> None:
    """A sum in a scan inside of a `while` has the rounds of both; a hundred times the rounds in the scan are seen."""
    over = mesh(8)

    def step(x: Any, rounds: int) -> Any:
        def body(y: Any) -> Any:
            def once(y: Any, _: None) -> Any:
                summed = jax.lax.with_sharding_constraint(y.sum(0, keepdims=True), jax.NamedSharding(over, P()))
                return jnp.tanh(y + summed), None

            return jax.lax.scan(once, y, None, length=rounds)[0]

        return jax.lax.while_loop(lambda y: (y[0] < 1).any(), body, x)

    args, file = (spec(over, (8, 128), "x"),), tmp_path / "step.json"
    lens.locked(file, lambda x: step(x, 3), *args, update=True)
    assert {tuple(one["loops"]) for one in json.loads(file.read_text())["collectives"] if one["times"] is None} >= {
        (None, 3)
    }
    with pytest.raises(AssertionError, match="in a round of a loop whose number of rounds depends on data"):
        lens.locked(file, lambda x: step(x, 300), *args)
    with pytest.raises(AssertionError, match="nobody can say that a device moves at most 10 bytes"):
        assert_communicates(lambda x: step(x, 3), *args, at_most=10)


def test_a_lock_of_another_target() -> None:
    """Temporaries and peak are compared where the target is the same, and nowhere else."""
    now = figures.facts(lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4, 6), "float32")), None)
    now["made_with"]["target"] = "v5e:2x4"
    for target, fails in (("v5e:2x4", True), ("v6e:2x4", False), (None, False)):
        before = json.loads(json.dumps(now))
        before["made_with"]["target"] = target
        before["memory"]["peak"] = 1
        assert bool([*lock._grown(before, now)]) == fails


def test_side_by_side() -> None:
    """A comparison and a page have a question mark for what nobody can count, too."""
    program = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"))
    unknown = Collective("unknown", (4,), "f32", 16, 0, name="k (custom-call)", uncounted=KERNEL)
    told = Comparison((("here", dataclasses.replace(program, collectives=(unknown,))),))
    rows = [line.split() for line in str(told).splitlines()]
    assert ["price", "?"] in rows and any(row[0] == "unknown" and row[-1] == "?" for row in rows if row)


def test_a_ragged_exchange_is_bounded() -> None:
    """Its price is said to be the most that it can be."""
    (c,) = read_collectives((HLO / "v5e_ragged.txt").read_text(), (("x", 8),))
    cells = str(lens.collectives_table([c], lines=()))
    assert f"<= {price([c]):,}" in cells and not c.uncounted
    assert "<=" not in str(lens.collectives_table([dataclasses.replace(c, kind="all-to-all")], lines=()))
