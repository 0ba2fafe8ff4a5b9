"""Claims of chapter 3."""

from __future__ import annotations

import collections

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim, tpu
from shardlab_course.chapters import QUESTIONS

P = jax.P
AUTO = (AxisType.Auto, AxisType.Auto)
MESH = jax.make_mesh((4, 2), ("x", "y"), AUTO)
LINE = jax.make_mesh((8,), ("x",), AUTO[:1])
MODELS = jax.make_mesh((2, 4), ("data", "model"), AUTO)
RNG = np.random.default_rng(3)
ARRAY = RNG.normal(size=(64, 128)).astype("float32")


def put(array, spec, on=LINE):
    """An array in a place."""
    return jax.device_put(array, NamedSharding(on, spec))


def constrain(array, spec, on=LINE):
    """The same inside a program."""
    return jax.lax.with_sharding_constraint(array, NamedSharding(on, spec))


def described(sizes, spec, on):
    """An array that is not made."""
    return jax.ShapeDtypeStruct(sizes, "float32", sharding=NamedSharding(on, spec))


def kinds(f, *args, target=CPU):
    """How many collectives of each kind are compiled."""
    return collections.Counter(c.kind for c in sl.inspect(f, *args, target=target).collectives)


def center(a):
    """The page's first function."""
    return a - a.mean(axis=0, keepdims=True)


@claim("What JAX does not list is what moves", "All of that is for one device")
def plain_jax():
    """FLOPs, bytes and places without `sl`."""
    rows = put(ARRAY, P("x", None), MESH)
    compiled = jax.jit(center).lower(rows).compile()
    seen = sl.inspect(center, rows)
    assert compiled.output_shardings.spec == P("x", None)
    assert compiled.cost_analysis()["flops"] == seen.flops
    memory = compiled.memory_analysis()
    assert (memory.argument_size_in_bytes, memory.output_size_in_bytes) == (ARRAY.nbytes // 4, ARRAY.nbytes // 4)
    assert "all-reduce(" in compiled.as_text()


@claim("Rows have to be added up across devices. Columns do not", targets=THREE)
def five_inputs(target):
    """Both compilers move the same."""
    for spec, price in ((P(), 0), (P("x", None), 1024), (P(None, "y"), 0), (P("x", "y"), 512), (P(("x", "y"), None), 1024)):
        program = sl.inspect(center, put(ARRAY, spec, MESH), target=target)
        assert (program.kinds, program.price) == ({"all-reduce"} if price else set(), price)


@claim("XLA joins small all-reduces, for CPU, TPU and GPU", targets=THREE)
def joined(target):
    """Two gradients, one all-reduce."""

    def loss(p, x):
        return ((jnp.tanh(x @ p["up"]) @ p["down"]) ** 2).mean()

    weights = {"up": (128, 24), "down": (24, 8)}
    params = {name: put(RNG.normal(size=size).astype("float32"), P(), MESH) for name, size in weights.items()}
    (one,) = sl.inspect(jax.grad(loss), params, put(ARRAY, P("x", None), MESH), target=target).collectives
    assert (one.kind, one.payload_bytes) == ("all-reduce", 4 * 24 * (128 + 8))


@claim(
    "become one all-reduce for CPU, and four for v5e and for GPU",
    "gradients into one all-reduce, and the other two compilers do not",
    targets=(CPU, V5E, GPU),
)
def joined_large(target):
    """Four gradients of four layers."""

    def loss(weights, x):
        for w in weights:
            x = jnp.tanh(x @ w)
        return (x**2).mean()

    weights = [described((4096, 4096), P(), LINE)] * 4
    p = sl.inspect(jax.grad(loss), weights, described((64, 4096), P("x", None), LINE), target=target)
    assert [c.kind for c in p.collectives] == ["all-reduce"] * (1 if target == CPU else 4)
    assert sum(c.payload_bytes for c in p.collectives) == 4 * 4 * 4096**2


@claim(
    "XLA for CPU sums the whole product and then cuts the rows out. XLA for v5e and for GPU scatter the sums",
    "at half the price, and they move bfloat16",
    targets=(CPU, V5E, GPU),
    alone=True,
)
def asked_for_rows(target):
    """Rows of a product; a reduce-scatter of its bf16 has half the price of its all-reduce."""
    a, b = (jax.ShapeDtypeStruct(n, "bfloat16", sharding=NamedSharding(LINE, s)) for n, s in CUT)
    (one,) = (p := sl.inspect(lambda a, b: constrain(a @ b, P("x", None)), a, b, target=target)).collectives
    assert one.kind == ("all-reduce" if target == CPU else "reduce-scatter")
    assert p.price == 512 * 512 * (2 * 4 if target == CPU else 2)


CUT = ((512, 1024), P(None, "x")), ((1024, 512), P("x", None))


@claim("In the loop, XLA for GPU takes the last reduce-scatter out of the rounds", targets=(CPU, V5E, GPU))
def pipelined(target):
    """Six layers: a loop of six rounds, or of five and one after it."""

    def layer(x, w):
        return jnp.tanh(x @ jax.lax.all_gather(w, "x", tiled=True)), None

    def loss(weights, x):
        return (jax.lax.scan(layer, x, weights)[0] ** 2).sum()

    cut = P(None, "x"), P("x")
    f = jax.shard_map(jax.grad(loss), mesh=LINE, in_specs=cut, out_specs=cut[0])
    args = described((6, 1024, 1024), cut[0], LINE), described((512, 1024), cut[1], LINE)
    # On a torus of three axes XLA for TPU sums and cuts.
    sums = ("reduce-scatter", "all-reduce")
    runs = [c.executions for c in sl.inspect(f, *args, target=target).collectives if c.kind in sums]
    assert sorted(runs) == ([1, 5] if target == GPU else [6])


@claim("(XLA for CPU, TPU and GPU remove a loop of a single round", targets=THREE)
def single_round(target):
    """A loop of two rounds stays."""
    W, v = described((32, 32), P(None, "x"), MESH), described((32, 4), P("x", None), MESH)
    for rounds in (1, 2):
        p = sl.inspect(lambda v, W, n=rounds: jax.lax.fori_loop(0, n, lambda i, v: W @ v, v), v, W, target=target)
        assert (" while(" in p.hlo) == (rounds > 1)


@claim("counts a loop's body **once**")
def counted_once():
    """Ten rounds have the FLOPs of one, by XLA's own count."""
    square, x = RNG.normal(size=(32, 32)).astype("float32"), RNG.normal(size=(32, 4)).astype("float32")

    def flops(n):
        run = jax.jit(lambda x, w: jax.lax.fori_loop(0, n, lambda i, x: w @ x, x))
        return run.lower(x, square).compile().cost_analysis()["flops"]

    assert flops(100) < 1.1 * flops(10)


@claim("XLA for CPU, TPU and GPU all do as they are told here, pointless or not",
       "the array that it *returns* will have the sharding that you ask for",
       "A constraint is an order to place the array that it returns.", targets=THREE)  # fmt: skip
def orders(target):
    """There and back are two all-to-alls, and the constrained array stays where its own constraint says."""
    rows = put(ARRAY, P("x", None), MESH)

    def there_and_back(a):
        return constrain(constrain(2 * a, P(None, "x"), MESH) + 1, P("x", None), MESH)

    def both_places(a):
        centered = constrain(center(a), P("x", None), MESH)
        return centered, constrain(centered, P(None, "x"), MESH)

    assert kinds(there_and_back, rows, target=target) == {"all-to-all": 2}
    stays, turned = sl.inspect(both_places, rows, target=target).output_placements
    assert (stays.shard_shape, turned.shard_shape) == ((16, 128), (64, 32))


@claim(
    "asks for the whole array and then for rows again. XLA for CPU gathers the rows of `a`, and XLA for TPU and for GPU "
    "send nothing",
    "None of these compilers asks whether the constraint is wise",
    targets=THREE,
)
def undone(target):
    """Rows of an argument, asked to be whole and in rows again; of what was computed all compilers gather them."""
    rows = put(ARRAY, P("x", None), MESH)

    def whole_and_back(a):
        return constrain(constrain(a, P(), MESH) + 1, P("x", None), MESH)

    assert kinds(whole_and_back, rows, target=target) == ({"all-gather": 1} if target is CPU else {})
    assert kinds(lambda a: whole_and_back(2 * a), rows, target=target) == {"all-gather": 1}


@claim("`None` asks for the *whole* dimension on every device", "`P.UNCONSTRAINED` is the entry for", targets=THREE)
def none_is_whole(target):
    """Columns are gathered for `None`, and stay where nothing is asked."""
    blocks = put(ARRAY, P("x", "y"), MESH)
    assert kinds(lambda a: constrain(2 * a, P("x", None), MESH), blocks, target=target) == {"all-gather": 1}
    assert not kinds(lambda a: constrain(2 * a, P("x", P.UNCONSTRAINED), MESH), blocks, target=target)


@claim("XLA for TPU brings the twelve together with an all-reduce, at twice the price", targets=THREE)
def uneven(target):
    """Ten numbers over four."""
    few = put(RNG.normal(size=10).astype("float32"), P(), MESH)
    program = sl.inspect(lambda v: constrain(constrain(2 * v, P("x"), MESH), P(), MESH), few, target=target)
    kind, price = ("all-reduce", 96) if tpu(target) else ("all-gather", 48)
    assert (program.kinds, program.price) == ({kind}, price)


@claim("XLA for TPU gathers the same arrays, in bfloat16, and XLA for GPU in float32.", targets=THREE)
def one_constraint_too_many(target):
    """The page's block, and without its constraint."""

    def given(x, up, down):
        hidden = constrain(jax.nn.relu(x @ up), P(("data", "model"), None), MODELS)
        return constrain(hidden @ down, P("data", None), MODELS)

    def block(x, up, down):
        return constrain(jax.nn.relu(x @ up) @ down, P("data", None), MODELS)

    layers = (described((64, 256), P("data", None), MODELS), described((256, 1024), P(None, "model"), MODELS),
              described((1024, 256), P("model", None), MODELS))  # fmt: skip
    seen = sl.inspect(given, *layers, target=target)
    assert seen.kinds == {"all-gather"}
    assert seen.price == 2_228_224 // (2 if tpu(target) else 1)
    assert sl.inspect(block, *layers, target=target).price == 65_536


@claim(
    "for 1,024 rows it gathers the totals of blocks, and no rows",
    "XLA for TPU does the same for as few rows as here; for 1,024 rows it gathers totals",
    targets=THREE,
)
def running_totals(target):
    """All rows for CPU, however many; for a TPU all of a few, and of many less than a thirtieth.

    XLA for GPU gathers all rows with JAX 0.10, and always the totals of blocks with JAX 0.12.
    """
    for rows, knows in ((64, False), (128, False), (1024, True), (4096, True)):
        found = sl.inspect(lambda x: jnp.cumsum(x, axis=0), described((rows, 128), P("x", None), LINE), target=target)
        whole = rows * 128 * 4
        if target == GPU and not jax.__version__.startswith("0.10."):
            assert found.price == 8 * 128 * 4
        else:
            assert found.price < whole / 30 if knows and tpu(target) else found.price == whole


@claim("(XLA for TPU v5e and for GPU make the same kinds of collectives for all six.)",
       "XLA for CPU and XLA for GPU of JAX 0.10 know no better way",
       "XLA for CPU does not know the trick", targets=THREE)  # fmt: skip
def is_it_free(target):
    """The six operations of 3.4."""
    x = put(ARRAY, P("x", None))
    for f, expected in (
        (lambda x: x.T, {}),
        (lambda x: jnp.roll(x, 1, axis=0), {"collective-permute"}),
        (lambda x: jnp.cumsum(x, axis=0), {"all-gather"}),
        (lambda x: jnp.cumsum(x, axis=1), {}),
        (lambda x: jax.nn.softmax(x, axis=0), {"all-reduce"}),
        (lambda x: x.T.ravel(), {"all-gather"}),
    ):
        assert set(kinds(f, x, target=target)) == set(expected)
    assert sl.inspect(lambda x: jnp.roll(x, 1, axis=0), x, target=target).price == 512


@claim("XLA for CPU and for TPU make three gathers. XLA for GPU joins the three into one.", targets=THREE)
def rows_everywhere(target):
    """Four matrices over their first dimension."""
    shapes = ((16, 32), (32, 64), (64, 32), (32, 16))
    placed = [described(sizes, P("x"), MESH) for sizes in shapes]
    assert kinds(lambda a, b, c, d: a @ b @ c @ d, *placed, target=target) == {"all-gather": 1 if target == GPU else 3}


SIX = (described((512, 4), P("x", None), LINE), described((512, 512), P("x", None), LINE),
       described((512, 512), P(None, "x"), LINE))  # fmt: skip


def six(*order):
    """Six steps, each by rows (0) or by columns (1)."""

    def run(x, *matrices):
        for which in order:
            x = len(matrices[0]) ** -0.5 * (matrices[which] @ x)
        return x

    return run


@claim(
    "XLA for v5e and for GPU use a reduce-scatter in every step but the last",
    "For v6e XLA uses a single reduce-scatter, and for v5p none",
    targets=(*THREE, "v6e:2x4", "v5p:2x2x2"),
    alone=True,
)
def steps_by_columns(target):
    """Six sums, of which each chip's compiler scatters some."""
    scattered = {V5E: 5, GPU: 5, "v6e:2x4": 1}.get(target, 0)
    assert kinds(six(*[1] * 6), *SIX, target=target) == +collections.Counter(
        {"reduce-scatter": scattered, "all-reduce": 6 - scattered}
    )


@claim(
    "rows alone cost *half* of what the alternation costs",
    "keeps three all-reduces in float32, because the sums are scaled before they are multiplied",
    targets=THREE,
)
def steps(target):
    """Six steps by rows, and in turn."""
    rows, turns = six(*[0] * 6), six(*[1, 0] * 3)
    assert kinds(rows, *SIX, target=target) == {"all-gather": 6}
    assert kinds(turns, *SIX, target=target) == {"all-reduce": 3}
    prices = [sl.inspect(f, *SIX, target=target).price for f in (rows, turns)]
    assert prices == ([24_576, 49_152] if tpu(target) else [49_152, 49_152])


@claim("(XLA for TPU v5e and for GPU compile the same for all six.)", "The array is moved without an error",
       "`in_shardings` moves what nobody has placed, and refuses a committed array that is cut in another way.",
       targets=THREE)  # fmt: skip
def border(target):
    """Placements at the border of jit."""
    lies = {"rows": P("x", None), "columns": P(None, "x"), "whole": P()}
    at = {name: put(ARRAY, spec) for name, spec in lies.items()} | {"host": ARRAY, "free": jnp.asarray(ARRAY)}

    def made(name, **options):
        asked = {key: NamedSharding(LINE, lies[value]) for key, value in options.items()}
        return set(kinds(jax.jit(lambda x: 2 * x, **asked), at[name], target=target))

    assert made("rows") == made("whole", out_shardings="rows") == set()
    assert made("rows", out_shardings="columns") == {"all-to-all"}
    assert made("rows", out_shardings="whole") == {"all-gather"}
    assert made("host", in_shardings="rows") == made("free", in_shardings="rows") == set()
    with pytest.raises(ValueError, match="does not match"):
        made("columns", in_shardings="rows")


@claim(
    "If an array is cut as promised, but on other devices (the same number of them), it is moved to the "
    "devices of the mesh without an error"
)
def moved_to_the_mesh():
    """The same rows on other devices, and in another order."""
    devices = np.array(jax.devices())
    for before, after in (([0, 1, 2, 3], [4, 5, 6, 7]), ([*range(8)], [*range(8)][::-1]), ([0], [1])):
        here, there = (NamedSharding(Mesh(devices[ids], ("x",), axis_types=AUTO[:1]), P("x")) for ids in (before, after))
        moved = jax.jit(lambda x: 2 * x, in_shardings=there)(jax.device_put(ARRAY, here))
        assert moved.sharding.is_equivalent_to(there, 2) and np.array_equal(moved, 2 * ARRAY)


@claim("`out_shardings` may change where the work is done (in `d` each device doubles only its own rows)",
       "XLA does some work directly in the output's sharding, and adds collectives for other work",
       targets=THREE)  # fmt: skip
def work_where_the_output_lies(target):
    """FLOPs of a whole array's double, and of a product of whole arrays, asked for rows."""
    rows, whole = NamedSharding(LINE, P("x", None)), put(ARRAY, P())
    for f in (lambda x: 2 * x, lambda x: x @ x.T):
        alone, asked = (sl.inspect(each, whole, target=target) for each in (f, jax.jit(f, out_shardings=rows)))
        assert not asked.collectives and asked.flops < alone.flops / 7
    moved = sl.inspect(jax.jit(lambda x: 2 * x, out_shardings=rows), put(ARRAY, P(None, "x")), target=target)
    assert moved.kinds == {"all-to-all"}


@claim("It takes the softmax over *cut* columns, with two all-reduces, and then moves the output into columns",
       "both programs are the same, for a TPU and a GPU too", targets=THREE)  # fmt: skip
def turned_at_the_end(target):
    """`out_shardings`, with and without a `device_put` inside."""
    x, end = put(ARRAY, P("x", None)), NamedSharding(LINE, P(None, "x"))
    for inside in (lambda x: x, lambda x: jax.device_put(x, end)):
        f = jax.jit(lambda x, inside=inside: jax.nn.softmax(inside(x), axis=0), out_shardings=end)
        # XLA for GPU scatters one of the two sums.
        sums = {"all-reduce": 1, "reduce-scatter": 1} if target == GPU else {"all-reduce": 2}
        assert kinds(f, x, target=target) == sums | {"all-to-all": 1}


@claim("in its sharding XLA for TPU and for GPU do move the array into columns",
       "device_put constrains nothing (for a TPU or a GPU, unless it names another memory)",
       targets=(V5E, GPU))  # fmt: skip
def put_elsewhere(target):
    """A `device_put` to columns, in the same memory and in the host's."""
    for memory, expected in ((None, {}), ("device", {}), ("pinned_host", {"all-to-all": 1})):
        columns = NamedSharding(LINE, P(None, "x"), memory_kind=memory)
        moved = kinds(lambda x, to=columns: jax.device_put(2 * x, to), put(ARRAY, P("x", None)), target=target)
        assert moved == expected


@claim(
    "is cut over `x` again, so XLA, for CPU, TPU and GPU, sends parts of these rows on to the other devices",
    "`a.reshape(4, -1, *a.shape[1:])[:, :n]` takes the first rows of each block, and moves nothing",
    targets=THREE,
)
def slices(target):
    """What the page's slices move, and that those inside of blocks move nothing."""
    rows = put(ARRAY, P("x", None), MESH)
    silent = (lambda a: a[:, 0], lambda a: a[::2], lambda a: a.reshape(4, -1, 128)[:, :8])
    assert [kinds(f, rows, target=target) for f in silent] == [kinds(lambda a: a + 1, rows, target=target)] * 3
    for f in (lambda a: a[:8], lambda a: a[::-1]):
        found = sl.inspect(f, rows, target=target)
        assert found.kinds == {"collective-permute"} and found.output_placements[0].spec[0] == "x"
    assert sl.inspect(lambda a: a[5], rows, target=target).kinds == {"all-reduce"}


@claim("Without `jit`, `a[::2]` and `a[:8]` leave an array that is *whole on every device*")
def slices_outside_of_jit():
    """The sharding of what comes out."""
    rows = put(ARRAY, P("x", None), MESH)
    assert rows[::2].sharding.is_fully_replicated and rows[:8].sharding.is_fully_replicated


@claim("Under `jit` a constraint accepts them (outside `jit` it raises the same error as `device_put`)")
def uneven_outside_of_jit():
    """Ten rows over four devices."""
    four = jax.make_mesh((4,), ("x",), AUTO[:1], devices=jax.devices()[:4])
    few = RNG.normal(size=(10, 3)).astype("float32")
    np.testing.assert_array_equal(jax.jit(lambda a: 1 + constrain(2 * a, P("x"), four))(few), 1 + 2 * few)
    for place in (constrain, put):
        with pytest.raises(ValueError, match="partitioned 4 times"):
            place(few, P("x"), four)


@claim("XLA for CPU leaves temporary memory out of it")
def peak():
    """The peak is no more than arguments and outputs and a few bytes, whatever lies between them."""
    m = sl.inspect(center, put(ARRAY, P("x", None), MESH)).memory
    assert m.argument + m.output <= m.peak < m.argument + m.output + 64 < m.argument + m.output + m.temp


@claim("and one more text. When you hand in, it uses 20 others.")
def texts():
    """Ten stored texts and a drawn one, as exercise 3.2 declares."""
    (item,) = QUESTIONS["3.2"].items
    assert (len(item.calls), item.drawn) == (10 + 1, 20)
