"""Programs compiled on 8 simulated CPU devices: what `inspect` says of them, and how it shows it."""

import io
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

import shardlens as lens
from shardlens.errors import LensError
from shardlens.placement import place
from shardlens.programs.inspection import inspect, read_program
from shardlens.programs.program import Memory, Program

P = jax.P
Entry = str | tuple[str, ...] | None


def mesh_of(**sizes: int) -> jax.sharding.Mesh:
    """A mesh of the first devices, Auto axes."""
    devices = np.array(jax.devices()[: math.prod(sizes.values())]).reshape(tuple(sizes.values()))
    return jax.sharding.Mesh(devices, tuple(sizes), axis_types=(jax.sharding.AxisType.Auto,) * len(sizes))


def spec(mesh: jax.sharding.Mesh, shape: tuple[int, ...], *entries: Entry, dtype: str = "float32") -> jax.ShapeDtypeStruct:
    """An array's shape and sharding."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=jax.NamedSharding(mesh, P(*entries)))


def matmul(a: jax.Array, b: jax.Array) -> jax.Array:
    """The product, left to the compiler."""
    return a @ b


def placed(f: Callable, mesh: jax.sharding.Mesh, *entries: Entry) -> Callable:
    """`f`, its output asked for with a spec."""
    return jax.jit(f, out_shardings=jax.NamedSharding(mesh, P(*entries)))


def mapped(f: Callable, mesh: jax.sharding.Mesh, ins: Any, outs: Any) -> Callable:
    """`f` on each device's block."""
    return jax.shard_map(f, mesh=mesh, in_specs=ins, out_specs=outs)


def summary(program: Program) -> list[tuple]:
    """Facts of each collective."""
    return [(c.kind, c.shape, c.dtype, "".join(c.axes), c.group_size, c.executions) for c in program.collectives]


# Sharded matmuls, as the course numbers them. Each row: mesh; (I, J, K); specs of A[I, J], B[J, K] and of the output, None
# if free; the collective, as kind, shape, axis and group size; how often its bytes count; multiplications on one device.
IJK = (64, 128, 256)
PARTIAL = ("all-reduce", (64, 256), "x", 4)
MATMULS = {
    "case 1": (dict(x=4, y=2), IJK, ("x",), (None, "y"), None, None, 0, 16 * 128 * 128),
    "case 1, mesh turned": (dict(x=2, y=4), IJK, ("x",), (None, "y"), None, None, 0, 32 * 128 * 64),
    "case 2 gathers A, all FLOPs everywhere": (
        dict(x=4), IJK, (None, "x"), (), None, ("all-gather", (64, 128), "x", 4), 1, 64 * 128 * 256,
    ),
    "case 2, long J, reduces C": (
        dict(x=8), (64, 4096, 64), (None, "x"), (), None, ("all-reduce", (64, 64), "x", 8), 2, 64 * 512 * 64,
    ),
    "B by another axis reduces": (
        dict(x=4, y=2), IJK, ("x",), ("y",), None, ("all-reduce", (16, 256), "y", 2), 2, 16 * 64 * 256,
    ),
    "case 3 replicated": (dict(x=4), IJK, (None, "x"), ("x",), (), PARTIAL, 2, 64 * 32 * 256),
    "case 3 by rows, no reduce-scatter": (dict(x=4), IJK, (None, "x"), ("x",), ("x", None), PARTIAL, 2, 64 * 32 * 256),
    "case 3 by columns, no reduce-scatter": (dict(x=4), IJK, (None, "x"), ("x",), (None, "x"), PARTIAL, 2, 64 * 32 * 256),
    "case 4 left open gathers A": (
        dict(x=4), IJK, ("x",), (None, "x"), None, ("all-gather", (64, 128), "x", 4), 1, 64 * 128 * 64,
    ),
    "case 4 by rows gathers B": (
        dict(x=4), IJK, ("x",), (None, "x"), ("x", None), ("all-gather", (128, 256), "x", 4), 1, 16 * 128 * 256,
    ),
    "case 4 by columns gathers A": (
        dict(x=4), IJK, ("x",), (None, "x"), (None, "x"), ("all-gather", (64, 128), "x", 4), 1, 64 * 128 * 64,
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", MATMULS)
def test_matmul(case: str) -> None:
    """The four cases communicate, cost and compute what was measured for the course."""
    sizes, (i, j, k), left, right, out, collective, counted, products = MATMULS[case]
    mesh = mesh_of(**sizes)
    f = matmul if out is None else placed(matmul, mesh, *out)
    program = inspect(f, spec(mesh, (i, j), *left), spec(mesh, (j, k), *right))
    assert [(c.kind, c.shape, "".join(c.axes), c.group_size) for c in program.collectives] == (
        [collective] if collective else []
    )
    assert program.price == (counted * 4 * math.prod(collective[1]) if collective else 0)
    assert 2 * products <= program.flops <= 2 * products + 3 * i * k


@pytest.mark.parametrize("sizes", [dict(x=2, y=4), dict(x=8, y=1), dict(x=1, y=4)])
def test_axes_of_size_one(sizes: dict[str, int]) -> None:
    """A sum over an axis of size 1 moves nothing."""
    mesh = mesh_of(**sizes)
    program = inspect(mapped(add_up, mesh, P("x", "y"), P("x")), spec(mesh, (16, 24), "x", "y"))
    assert [(c.kind, c.axes) for c in program.collectives] == ([("all-reduce", ("y",))] if sizes["y"] > 1 else [])


def swap(a: jax.Array) -> jax.Array:
    """Rows of the block against columns, along y."""
    return jax.lax.all_to_all(a, "y", 0, 1, tiled=True)


# Each row: what a device does with its block of 8 by 6, spec of the output; then kind, elements out and in, axes, group.
MAPPED = {
    "psum": (lambda a: jax.lax.psum(a, "y"), P("x"), ("all-reduce", 48, 48, "y", 4)),
    "psum over both": (lambda a: jax.lax.psum(a, ("x", "y")), P(), ("all-reduce", 48, 48, "xy", 8)),
    "psum_scatter": (lambda a: jax.lax.psum_scatter(a, "y", tiled=True), P(("x", "y")), ("reduce-scatter", 12, 48, "y", 4)),
    "all_gather": (lambda a: jax.lax.all_gather(a, "x", tiled=True), P(("x", "y")), ("all-gather", 96, 48, "x", 2)),
    "all_to_all": (swap, P(("x", "y")), ("all-to-all", 48, 48, "y", 4)),
    "ppermute": (lambda a: jax.lax.ppermute(a, "x", [(0, 1)]), P("x", "y"), ("collective-permute", 48, 48, "x", 2)),
}


@pytest.mark.parametrize("case", MAPPED)
def test_shard_map(case: str) -> None:
    """Each collective that is written out comes back with its bytes on both sides and its axes."""
    f, outs, (kind, payload, operand, axes, size) = MAPPED[case]
    mesh = mesh_of(x=2, y=4)
    (c,) = inspect(mapped(f, mesh, P("x", "y"), outs), spec(mesh, (16, 24), "x", "y")).collectives
    assert (c.kind, "".join(c.axes), c.group_size) == (kind, axes, size)
    assert (c.payload_bytes, c.operand_bytes) == (4 * payload, 4 * operand)


def test_resharding() -> None:
    """Rows to columns is an all-to-all; the order of two axes a permute."""
    mesh = mesh_of(x=2, y=4)
    columns = inspect(placed(lambda a: a, mesh, None, "y"), spec(mesh, (64, 32), "y"))
    turned = inspect(placed(lambda a: a, mesh, ("y", "x")), spec(mesh, (64, 32), ("x", "y")))
    assert (columns.kinds, columns.payload_bytes) == ({"all-to-all"}, 16 * 32 * 4)
    assert (turned.kinds, turned.payload_bytes) == ({"collective-permute"}, 8 * 32 * 4)


@pytest.mark.thorough
def test_data_parallel_gradients_are_one_collective() -> None:
    """Eight gradients travel in one all-reduce, whose bytes are those of the parameters."""
    mesh = mesh_of(x=8)

    def loss(layers: list, x: jax.Array) -> jax.Array:
        for w, b in layers:
            x = jnp.tanh(x @ w + b[None])
        return jnp.sum(x**2)

    layers = [(spec(mesh, (n, m)), spec(mesh, (m,))) for n, m in ((12, 20), (20, 28), (28, 12), (12, 4))]
    program = inspect(jax.grad(loss), layers, spec(mesh, (64, 12), "x"))
    (c,) = program.collectives
    parameters = 4 * sum(math.prod(leaf.shape) for leaf in jax.tree.leaves(layers))
    assert (c.kind, len(c.arrays), c.payload_bytes, program.price) == ("all-reduce", 8, parameters, 2 * parameters)


def test_loop_multiplies() -> None:
    """A ring of seven hops in a loop counts as seven permutes."""
    mesh = mesh_of(x=8)
    ring = [(i, (i + 1) % 8) for i in range(8)]

    def hops(a: jax.Array) -> jax.Array:
        return jax.lax.fori_loop(0, 7, lambda _, c: jnp.sin(jax.lax.ppermute(c, "x", ring)), a)

    program = inspect(mapped(hops, mesh, P("x"), P("x")), spec(mesh, (64, 16), "x"))
    assert summary(program) == [("collective-permute", (8, 16), "f32", "x", 8, 7)] and program.payload_bytes == 7 * 512


def test_unknown_loop_has_no_price() -> None:
    """A loop that ends when the values say so is shown with a question mark and has no price."""
    mesh = mesh_of(x=8)
    program = inspect(lambda a: jax.lax.while_loop(lambda s: s.sum() < 1e3, lambda s: s + 1, a), spec(mesh, (64, 32), "x"))
    assert [c.executions for c in program.collectives] == [None]
    lines = str(program).splitlines()
    assert lines[1].split()[-3:-1] == ["?", "?"]
    assert lines[2] == "?: in a loop whose number of rounds depends on data"
    with pytest.raises(LensError, match="unknown-rounds"):
        _ = program.price


def test_bfloat16_travels_as_float32_on_cpu() -> None:
    """The CPU backend promotes bf16 collectives, which doubles their bytes."""
    mesh = mesh_of(x=4)
    a, b = spec(mesh, (64, 128), None, "x", dtype="bfloat16"), spec(mesh, (128, 256), "x", dtype="bfloat16")
    program = inspect(matmul, a, b)
    assert summary(program) == [("all-reduce", (64, 256), "f32", "x", 4, 1)]


def collective(kind: str) -> Callable[[jax.Array], jax.Array]:
    """One collective over x."""
    pairs = [(i, (i + 1) % 4) for i in range(4)]
    made = {
        "all-gather": lambda a: jax.lax.all_gather(a, "x", tiled=True),
        "all-reduce": lambda a: jax.lax.psum(a, "x"),
        "all-to-all": lambda a: jax.lax.all_to_all(a, "x", 1, 0, tiled=True),
        "collective-permute": lambda a: jax.lax.ppermute(a, "x", pairs),
        "reduce-scatter": lambda a: jax.lax.psum_scatter(a, "x", tiled=True),
    }
    return jax.shard_map(made[kind], mesh=mesh_of(x=4), in_specs=P("x"), out_specs=P("x"), check_vma=False)


KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
TRAVELS = {
    "float16": "f16",
    "float8_e4m3fn": "f16",
    "float8_e5m2": "f16",
    "float4_e2m1fn": "f16",
    "int4": "s8",
    "int8": "s8",
}


@pytest.mark.thorough(after=10)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", TRAVELS)
def test_small_types_travel_on_cpu(dtype: str, kind: str) -> None:
    """As what the docstring of `Program` says: f8 and f4 in f16, s4 in s8, f16 and s8 as they are."""
    (found,) = inspect(collective(kind), spec(mesh_of(x=4), (32, 16), "x", dtype=dtype)).collectives
    assert (found.kind, found.dtype) == (kind, TRAVELS[dtype])


def test_branches() -> None:
    """All branches count, and the table says that one runs; in a loop as often as it is reached."""
    mesh = mesh_of(x=8)

    def f(flag: jax.Array, x: jax.Array) -> jax.Array:
        def step(x: jax.Array, i: jax.Array) -> tuple[jax.Array, None]:
            x = jax.lax.cond(i < flag[0], lambda x: jax.lax.psum(x, "x"), lambda x: jax.lax.pmax(x + 1, "x"), x)
            return jax.lax.ppermute(x, "x", [(d, (d + 1) % 8) for d in range(8)]), None

        return jax.lax.scan(step, x, jnp.arange(5, dtype=jnp.int32))[0]

    mapped = jax.shard_map(f, mesh=mesh, in_specs=(P(), P("x")), out_specs=P("x"), check_vma=False)
    program = inspect(mapped, jax.ShapeDtypeStruct((1,), "int32"), spec(mesh, (64, 4), "x"))
    assert sorted((c.kind, c.executions) for c in program.collectives) == [
        ("all-reduce", 5),
        ("all-reduce", 5),
        ("collective-permute", 5),
    ]
    assert [c.kind for c in program.chosen] == ["all-reduce"] * 2
    assert "2 of them in branches of a conditional" in str(program)
    assert inspect(matmul, spec(mesh, (64, 32), None, "x"), spec(mesh, (32, 8), "x")).chosen == ()


def test_memory_and_placements() -> None:
    """Arguments, outputs and donated bytes are those of one device; every output has its placement, in tree order."""
    mesh = mesh_of(x=2, y=4)
    f = jax.jit(lambda a, b: {"sum": a + 1, "more": (None, b * 2)}, donate_argnums=0)
    program = inspect(f, spec(mesh, (16, 24), "x", "y"), spec(mesh, (32,), "y"))
    assert (program.memory.argument, program.memory.alias) == (4 * 48 + 4 * 8, 4 * 48)
    assert (program.devices, program.platform) == (8, "cpu")
    assert program.memory.output - (4 * 48 + 4 * 8) in (0, 2 * 8)  # the tuple's two pointers
    more, total = program.output_placements
    assert more.same_as(place((32,), dict(x=2, y=4), ("y",))) and total.same_as(place((16, 24), dict(x=2, y=4), ("x", "y")))


def test_partial_sums_are_placed_as_copies() -> None:
    """An unreduced output has the placement of its slices."""
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:4]), ("x",), axis_types=(jax.sharding.AxisType.Explicit,))
    f = jax.jit(lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=P(unreduced={"x"})))
    with jax.set_mesh(mesh):
        program = inspect(f, spec(mesh, (8, 12), None, "x"), spec(mesh, (12, 4), "x", None))
    assert program.collectives == () and program.output_placements[0].copies == 4


MESH = mesh_of(x=2, y=4)


def add_up(a: jax.Array) -> jax.Array:
    """The sum along y."""
    return jax.lax.psum(a, "y")


SUM = mapped(add_up, MESH, P("x", "y"), P("x"))
WAYS = {
    "function of sharded arrays": lambda x: inspect(SUM, jax.device_put(x, jax.NamedSharding(MESH, P("x", "y")))),
    "plain arrays": lambda x: inspect(SUM, x),
    "jitted": lambda x: inspect(jax.jit(SUM), x),
    "mesh first": lambda x: inspect(lambda mesh, a: mapped(add_up, mesh, P("x", "y"), P("x"))(a), MESH, x),
    "compiled": lambda x: read_program(jax.jit(SUM).lower(x).compile()),
    "compiled, mesh named": lambda x: read_program(jax.jit(SUM).lower(x).compile(), (("x", 2), ("y", 4)), [x[:, :6]]),
}


@pytest.mark.parametrize("way", WAYS)
def test_ways_in(way: str) -> None:
    """Every way to hand over a program finds the mesh and reads the same."""
    x = np.random.default_rng(4).normal(size=(16, 24)).astype("float32")
    program = WAYS[way](x)
    assert summary(program) == [("all-reduce", (8, 6), "f32", "y", 4, 1)]
    assert program.output_placements[0].same_as(place((16, 6), dict(x=2, y=4), ("x",)))


def test_mesh_in_context() -> None:
    """Without sharded arguments or outputs the mesh of the context names the axes."""
    with jax.set_mesh(MESH):
        program = inspect(lambda a: jax.lax.with_sharding_constraint(a, P("x", "y")).sum(0), np.zeros((16, 24), "float32"))
    assert summary(program) == [("all-reduce", (6,), "f32", "x", 2, 1)]


def test_own_exceptions_come_through() -> None:
    """What a function raises while it is traced is not wrapped."""

    def broken(a: jax.Array) -> None:
        raise LookupError("mine")

    with pytest.raises(LookupError, match="^mine"):
        inspect(broken, np.zeros(3, "float32"))


TABLE = """\
collective  per device           axes  group  line                 payload bytes  times  total bytes  price
all-reduce  2 f32[8,6] + f32[8]  y         4  test_program.py:{line}            416      1          416    832  ██████████
collectives: 1, payload 416 bytes a device, price 832, 8 CPU devices
payload: bytes of the output; total: payload times rounds; price: the larger of input and output of a device, in bytes,
times rounds, doubled for an all-reduce
memory of a device  bytes
"""


def combined() -> Program:
    """Three sums that the compiler combines."""
    f = mapped(lambda a, b, c: jax.lax.psum((a, b, c), "y"), MESH, (P("x", "y"), P("x", "y"), P("y")), (P("x"), P("x"), P()))
    return inspect(f, spec(MESH, (16, 24), "x", "y"), spec(MESH, (16, 24), "x", "y"), spec(MESH, (32,), "y"))


def test_table() -> None:
    """The whole text, as the terminal shows it."""
    program = combined()
    line = combined.__code__.co_firstlineno + 2
    head, _, memory = str(program).partition("memory of a device  bytes\n")
    assert repr(program) == str(program) and f"{head}memory of a device  bytes\n" == TABLE.format(line=line)
    rows = [row.split()[:2] for row in memory.splitlines()]
    sizes = (program.memory.argument, program.memory.output, program.memory.temp, program.memory.peak)
    assert rows[:4] == [list(row) for row in zip(("arguments", "outputs", "temporary", "peak"), map("{:,}".format, sizes))]
    assert memory.splitlines()[-1] == f"FLOPs a device: {program.flops:,.0f}"
    console = Console(width=100, record=True, file=io.StringIO())
    console.print(program)
    assert "832  ██████████" in console.export_text()


@pytest.mark.parametrize(("rounds", "left"), [(1, "group  payload bytes"), (48, "group     total bytes")])
def test_what_a_narrow_terminal_shows(rounds: int, left: str) -> None:
    """No number is broken: what can be spared is left out, and the price stays."""
    c = lens.Collective("all-reduce", (6400, 51200), "f32", 2**30, 2**30, ("model",), 8, (), rounds, source="t.py:5")
    head, row, *_, last = str(lens.collectives_table([c], (), width=80)).splitlines()
    assert left in head and "times" not in head and last == "t.py:5: 1 all-reduce"
    assert row.split() == ["all-reduce", "f32[6400,51200]", "model", "8", f"{rounds * 2**30:,}", f"{rounds * 2**31:,}"]
    assert "times" in str(lens.collectives_table([c], (), width=120)).splitlines()[0]


def test_no_collectives_is_said() -> None:
    """Nothing to show is said in words."""
    alone, apart = inspect(jnp.sin, np.zeros(3, "float32")), inspect(jnp.sin, spec(MESH, (16, 24), "x"))
    assert str(alone).splitlines()[0] == "no collectives: 1 CPU device"
    assert str(apart).splitlines()[0] == "no collectives: 8 CPU devices, and nothing moves between them"
    assert apart._repr_html_().count("<table") == 1 and "no collectives" in apart._repr_html_()


def test_html_takes_the_reader_s_colours() -> None:
    """The notebook's table escapes names, sets no colour of its own and loads nothing."""
    program = combined()
    page = program._repr_html_()
    assert "<td" in page and "2 f32[8,6] + f32[8]" in page and "416" in page
    assert not any(word in page for word in ("#", "rgb", "white", "black", "src=", "http", "class="))


def test_records_are_plain() -> None:
    """Programs compare by value and hold no JAX objects."""
    assert combined() == combined()
    assert combined().memory == Memory(*combined().memory.__dict__.values())


def test_text_is_returned_and_not_displayed_in_a_notebook(monkeypatch: pytest.MonkeyPatch) -> None:
    """rich would display at once in a notebook what is only asked for as text."""
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    program = lens.inspect(lambda x: x + 1, jax.ShapeDtypeStruct((4,), "float32"))
    assert str(program).startswith("no collectives")
    assert str(lens.chip("v5e")).startswith("v5e")
