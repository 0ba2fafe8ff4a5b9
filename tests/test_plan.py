"""Plans of contractions: the textbook's ways against programs written by hand, and against what the compiler makes."""

from __future__ import annotations

import dataclasses
import pathlib
import random
from collections.abc import Callable, Sequence
from html.parser import HTMLParser

import jax
import jaxlib.version
import numpy as np
import pytest
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from shardlab.planner.contraction import contraction
from shardlab.planner.planning import layouts, plan
from shardlab.planner.plans import Plan
from shardlab.planner.textbook import Way, ways
from shardlab.planner.verification import sent

MATMUL = "i j, j k -> i k"
MLP = "b x, x y, y z -> b z"
M = ((64, 128), (128, 256))
LAYERS = ((8, 128), (128, 256), (256, 64))
XY = {"x": 4, "y": 2}
KINDS = {"AG": "all-gather", "AR": "all-reduce", "RS": "reduce-scatter", "A2A": "all-to-all"}
Sent = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Row:
    """One program of tests/plans.txt, and what the textbook's cheapest way sends."""

    id: str
    text: str
    operands: list[str]
    shapes: list[tuple[int, ...]]
    out: str | None
    mesh: dict[str, int] | None
    textbook: Sent
    dtype: str

    def plan(self) -> Plan:
        """The plan of the program."""
        return plan(self.text, *self.operands, *self.shapes, out=self.out, mesh=self.mesh, dtype=self.dtype)


def read(line: str) -> Row:
    """One line of the table; `-` is no collective, `AG 1024, AR 256` are two."""
    name, text, operands, shapes, out, mesh, textbook, dtype = [cell.strip() for cell in line.split("|")]
    pairs = [word.split() for word in textbook.split(",") if word != "-"]
    return Row(
        name, text, [operand.strip() for operand in operands.split(";")],
        [tuple(map(int, shape.split())) for shape in shapes.split(";")], out or None,
        {axis: int(size) for axis, size in (pair.split("=") for pair in mesh.split())} or None,
        tuple(sorted((KINDS[kind], int(nbytes)) for kind, nbytes in pairs)), dtype or "float32",
    )  # fmt: skip


LINES = pathlib.Path(__file__).with_name("plans.txt").read_text().splitlines()
ROWS = [pytest.param(row, id=row.id) for row in (read(line) for line in LINES if not line.startswith("#"))]


@pytest.mark.parametrize("row", ROWS)
def test_cheapest_way(row: Row) -> None:
    """What it sends; no other sequence of ways has a lower price."""
    made = row.plan()
    assert sent(made.collectives) == row.textbook
    assert made.price == min(sum(way.cost[0] for way in path) for path in made.paths())


@pytest.mark.parametrize("row", ROWS)
def test_verify_measures(row: Row) -> None:
    """It agrees where the compiled program sends what the plan says, and names another way only if that sends it."""
    verification = row.plan().verify()
    program, told = verification.program, str(verification)
    same = sent(program.collectives) == row.textbook
    assert ("differs" in told) != verification.agrees and same == ("sends what the textbook's cheapest way sends" in told)
    assert program.memory.argument == verification.plan.argument_bytes
    if verification.alike is not None:
        assert sent(c for way in verification.alike for c in way.collectives) == sent(program.collectives)
    if same:
        assert verification.plan.flops <= program.flops <= verification.plan.flops * 1.2


# Bodies of `jax.shard_map` that make `A @ B` as a way says, on a device's own blocks.
Body = Callable[[jax.Array, jax.Array], jax.Array]
lax = jax.lax


def own_rows(b: jax.Array, axis: str) -> jax.Array:
    """The part of the rows that this device takes, of a copy of `b`."""
    n = b.shape[0] // lax.axis_size(axis)
    return lax.dynamic_slice_in_dim(b, lax.axis_index(axis) * n, n)


def gathered(x: jax.Array, axes: str | tuple[str, ...], dimension: int) -> jax.Array:
    """The whole dimension."""
    return lax.all_gather(x, axes, axis=dimension, tiled=True)


def scattered(x: jax.Array, axes: str | tuple[str, ...], dimension: int) -> jax.Array:
    """This device's part of the sum."""
    return lax.psum_scatter(x, axes, scatter_dimension=dimension, tiled=True)


def swapped(x: jax.Array, split: int, concat: int) -> jax.Array:
    """Cut along `split` in place of `concat`."""
    return lax.all_to_all(x, "x", split, concat, tiled=True)


# name: placements of A, B and the product, the way's collectives and slices, its body, the case.
BY_HAND: dict[str, tuple[str, str, str, str, Body, tuple[int, ...]]] = {
    "1": ("i@x j", "j k@y", "i@x k@y", "nothing", lambda a, b: a @ b, (1,)),
    "1, gathered": ("i@x j", "j k", "i k", "all-gather AB", lambda a, b: gathered(a @ b, "x", 0), (1,)),
    "1, swapped": ("i@x j", "j k", "i k@x", "all-to-all AB", lambda a, b: swapped(a @ b, 1, 0), (1,)),
    "2, left": ("i j@x", "j k", "i k", "all-gather A", lambda a, b: gathered(a, "x", 1) @ b, (2,)),
    "2, right": ("i j", "j@x k", "i k", "all-gather B", lambda a, b: a @ gathered(b, "x", 0), (2,)),
    "2, sliced": ("i j@x", "j k", "i k", "slice B, all-reduce AB", lambda a, b: lax.psum(a @ own_rows(b, "x"), "x"), (2,)),
    "2, rows": ("i@x j", "j@x k", "i@x k", "all-gather B", lambda a, b: a @ gathered(b, "x", 0), (2,)),
    "2, turned": (
        "i@x j", "j@x k", "i k", "all-to-all A, all-reduce AB", lambda a, b: lax.psum(swapped(a, 1, 0) @ b, "x"), (2,),
    ),
    "2, two axes": (
        "i j@x", "j@y k", "i k", "all-gather A, all-gather B", lambda a, b: gathered(a, "x", 1) @ gathered(b, "y", 0), (2,),
    ),
    "2, part of a cut": (
        "i j@(x y)", "j@x k", "i k", "all-gather A, all-reduce AB",
        lambda a, b: lax.psum(gathered(a, "y", 1) @ b, "x"), (2,),
    ),
    "3": ("i j@x", "j@x k", "i k", "all-reduce AB", lambda a, b: lax.psum(a @ b, "x"), (3,)),
    "3, rows": ("i j@x", "j@x k", "i@x k", "reduce-scatter AB", lambda a, b: scattered(a @ b, "x", 0), (3,)),
    "3, columns": ("i j@x", "j@x k", "i k@x", "reduce-scatter AB", lambda a, b: scattered(a @ b, "x", 1), (3,)),
    "3, rows summed whole": (
        "i j@x", "j@x k", "i@x k", "all-reduce AB", lambda a, b: own_rows(lax.psum(a @ b, "x"), "x"), (3,),
    ),
    "3, both axes": ("i j@(x y)", "j@(x y) k", "i k", "all-reduce AB", lambda a, b: lax.psum(a @ b, ("x", "y")), (3,)),
    "3, one axis scattered": (
        "i j@(x y)", "j@(x y) k", "i@x k", "reduce-scatter AB, all-reduce AB",
        lambda a, b: lax.psum(scattered(a @ b, "x", 0), "y"), (3,),
    ),
    "3, with rows": ("i@y j@x", "j@x k", "i@y k", "all-reduce AB", lambda a, b: lax.psum(a @ b, "x"), (1, 3)),
    "4, left": ("i@x j", "j k@x", "i k@x", "all-gather A", lambda a, b: gathered(a, "x", 0) @ b, (4,)),
    "4, right": ("i@x j", "j k@x", "i@x k", "all-gather B", lambda a, b: a @ gathered(b, "x", 1), (4,)),
    "4, with a sum": (
        "i@x j@y", "j@y k@x", "i k@x", "all-gather A, all-reduce AB",
        lambda a, b: lax.psum(gathered(a, "x", 0) @ b, "y"), (3, 4),
    ),
}  # fmt: skip
MESHES = [{"x": 4, "y": 2}, {"x": 2, "y": 4}, {"y": 2, "x": 2, "z": 2}]
SIZES = [(16, 32, 80), (48, 16, 24)]


def steps(way: Way) -> str:
    """The way's collectives and slices, without shapes and axes."""
    words = [step.split()[:2] for step in str(way).split(", ") if step.split()[0] not in ("x", "y")]
    return ", ".join(" ".join(step) for step in words)


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("mesh", MESHES, ids=str)
@pytest.mark.parametrize("name", BY_HAND)
def test_way_costs_what_a_hand_written_program_does(
    name: str, mesh: dict[str, int], sizes: tuple[int, int, int], rng: np.random.Generator
) -> None:
    """Kinds, payload bytes, price and FLOPs of a program that does what the way says, and that makes the right product."""
    *placements, said, body, case = BY_HAND[name]
    i, j, k = sizes
    made = plan(MATMUL, *placements[:2], (i, j), (j, k), out=placements[2], mesh=mesh)
    way = next(way for way in ways(made.ways[0].product) if steps(way) == said)
    arrays = [rng.standard_normal(shape, dtype=np.float32) for shape in ((i, j), (j, k))]
    axes = jax.make_mesh(tuple(mesh.values()), tuple(mesh), axis_types=(AxisType.Auto,) * len(mesh))
    specs = [jax.P(*(cut or None for cut in layout.cuts)) for layout in (*made.arguments, way.output)]
    mapped = jax.jit(jax.shard_map(body, mesh=axes, in_specs=tuple(specs[:2]), out_specs=specs[2], check_vma=False))
    placed = [jax.device_put(x, NamedSharding(axes, spec)) for x, spec in zip(arrays, specs)]
    program = sl.inspect(mapped, *placed)
    assert sent(program.collectives) == sent(way.collectives) and made.cases == (case,)
    assert (program.payload_bytes, program.price) == (way.payload_bytes, way.cost[0])
    assert sorted(c.axes for c in program.collectives) == sorted(c.axes for c in way.collectives)
    assert way.flops <= program.flops <= way.flops * 1.2 + 3 * i * k  # additions of sums
    np.testing.assert_allclose(np.asarray(mapped(*placed)), arrays[0] @ arrays[1], rtol=1e-4, atol=1e-4)


WAYS = {
    "case 1": ("i@x j", "j k@y", None, ["nothing"]),
    "case 2": ("i j", "j@x k", None, ["all-gather B", "slice A, all-reduce AB"]),
    "case 2, on different axes": (
        "i j@x", "j@y k", None,
        ["all-gather A, all-gather B", "all-gather A, slice A, all-reduce AB", "all-gather B, slice B, all-reduce AB"],
    ),
    "case 2, axes in another order": (
        "i j@(x y)", "j@(y x) k", None,
        ["all-gather A, all-gather B", *["all-gather A, all-gather B, all-reduce AB"] * 2,
         "all-gather A, all-reduce AB", "all-gather B, all-reduce AB"],
    ),
    "case 3": ("i j@x", "j@x k", None, ["all-reduce AB"]),
    "case 3, output asked": ("i j@x", "j@x k", "i k@x", ["all-reduce AB", "reduce-scatter AB"]),
    "case 4": ("i@x j", "j k@x", None, ["all-gather A", "all-gather B"]),
}  # fmt: skip


@pytest.mark.parametrize("left, right, out, expected", [pytest.param(*row, id=name) for name, row in WAYS.items()])
def test_ways_of_each_case(left: str, right: str, out: str | None, expected: list[str]) -> None:
    """All that the textbook names, and no more."""
    made = plan(MATMUL, left, right, *M, out=out, mesh=XY)
    assert sorted(steps(way) for way in ways(made.ways[0].product)) == expected


def random_layouts(draw: random.Random, names: Sequence[str]) -> str:
    """An expression that gives each axis of a mesh to a dimension, or to none."""
    owners = {axis: draw.choice((None, *names)) for axis in "xyz"}
    cuts = {name: [axis for axis, owner in owners.items() if owner == name] for name in names}
    return " ".join(f"{name}@({' '.join(cut)})" if cut else name for name, cut in cuts.items())


@pytest.mark.parametrize("seed", range(40))
def test_cheapest_of_random_chains(seed: int) -> None:
    """No sequence of ways is cheaper, every array ends as asked, and what is summed is reduced once."""
    draw = random.Random(seed)
    mesh = dict(zip("xyz", draw.choice([(2, 2, 2), (4, 2, 1), (3, 2, 1)])))
    shapes = [tuple(draw.choice((24, 48, 96)) for _ in range(4))]
    a, b, c, d = shapes[0]
    operands = [random_layouts(draw, names) for names in ("ab", "bc", "cd")]
    out = draw.choice([None, random_layouts(draw, "ad")])
    made = plan("a b, b c, c d -> a d", *operands, (a, b), (b, c), (c, d), out=out, mesh=mesh)
    costs = [tuple(map(sum, zip(*(way.cost for way in path)))) for path in made.paths()]
    assert tuple(map(sum, zip(*(way.cost for way in made.ways)))) == min(costs)
    assert made.asked is None or made.output == made.asked
    for way in ways(made.ways[0].product):
        over = [axis for c in way.collectives if c.kind in ("all-reduce", "reduce-scatter") for axis in c.axes]
        assert sorted(over) == sorted(way.terms.partial if way.terms else ())


def test_ties_go_to_fewer_collectives_then_flops() -> None:
    """Of two arrays as large the left stays; of two ways at one price the one of fewer FLOPs is taken."""
    square = plan(MATMUL, "i@x j", "j k@x", (16, 16), (16, 16), mesh=XY)
    assert str(square.ways[0]) == "all-gather B f32[16,16] over x"
    even = plan(MATMUL, "i j@x", "j k", (8, 32), (32, 16), mesh=XY)
    assert [way.cost[0] for way in ways(even.ways[0].product)] == [1024, 1024]
    assert steps(even.ways[0]) == "slice B, all-reduce AB" and even.ways[0].flops == 8 * 32 * 16 * 2 / 4


def test_chain_is_cheapest_as_a_whole() -> None:
    """A dearer way of the first product is taken where the second pays for it."""
    made = plan("a b, b c, c d -> a d", "a@x b", "b@x c", "c@x d", (8, 16), (16, 64), (64, 8), mesh={"x": 4})
    first = ways(made.ways[0].product)[0]
    greedy = min(sum(way.cost[0] for way in path) for path in made.paths((first,)))
    assert (steps(first), greedy) == ("all-gather B", 4096 + 1024)
    assert (steps(made.ways[0]), made.price) == ("all-to-all A, all-reduce AB", 128 + 2 * 2048 + 2 * 256)


def test_case_three_holds_terms_of_sums() -> None:
    """Before the all-reduce the product is marked with the axis over which it must still be summed."""
    made = plan(MATMUL, "i@x j@y", "j@y k", *M, mesh=XY)
    assert (str(made.ways[0].terms), made.cases) == ("i@x k {U:y}", ((1, 3),))


def test_numbers_of_one_device() -> None:
    """Bytes and FLOPs are those of one device; an all-reduce is priced twice."""
    made = plan(MLP, "* ...", "x y*", "y* z", *LAYERS)
    assert (made.argument_bytes, made.output_bytes, made.flops) == (4096 + 16384 + 8192, 2048, 98304.0)
    assert (made.payload_bytes, made.price, made.cases) == (2048, 4096, ((1,), (3,)))


def test_expressions_share_a_mesh() -> None:
    """Numbers in different places cut the devices finer, until one mesh has them all."""
    made = plan(MATMUL, "i2 j 4", "4 j k2", *M)
    assert made.axes == (("axis0", 2), ("axis1", 2), ("axis2", 2))
    assert [str(layout) for layout in (*made.arguments, made.output)] == ["i@axis0 j", "j k@axis2", "i@axis0 k@axis2"]


def test_meshes_and_shapes_in_any_form() -> None:
    """A mesh, the mesh in force, names with sizes; shapes, arrays, or one tuple of them."""
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Explicit,) * 2)
    structs = [jax.ShapeDtypeStruct(shape, "bfloat16") for shape in M]
    with jax.set_mesh(mesh):
        in_force = plan(MATMUL, "i@x j", "j k", *structs)
    given = plan(MATMUL, "i@x j", "j k", M, mesh=mesh, dtype="bfloat16")
    assert in_force == given == plan(MATMUL, "i@x j", "j k", *M, mesh=XY, dtype="bfloat16")
    assert given.verify() and given.mesh is mesh


def test_plan_prints_as_table() -> None:
    """All ways are rows, the cheapest first; the one that is taken is marked."""
    made = plan(MATMUL, "i j*", "j* k", *M, out="i* k")
    assert str(made).splitlines() == [
        "i j, j k -> i k   on axis0=8",
        "product  case  way                                      payload bytes    price    FLOPs",
        "AB       3     reduce-scatter AB f32[8,256] over axis0          8,192   65,536  524,288  taken",
        "               all-reduce AB f32[64,256] over axis0            65,536  131,072  524,288",
        "A: i j@axis0, 4,096 bytes a device",
        "B: j@axis0 k, 16,384 bytes a device",
        "output: i@axis0 k, 8,192 bytes a device, from terms i k {U:axis0}; case 3",
        "cheapest by the textbook: payload 8,192 bytes, price 65,536 bytes, 524,288 FLOPs a device",
    ]


def test_plan_and_verification_as_html() -> None:
    """Both are complete markup with headings, and ask for nothing from outside."""
    made = plan(MATMUL, "i* j", "* j k", *M, out="* i k")
    for html in (made._repr_html_(), made.verify()._repr_html_()):
        tags: list[str] = []
        reader = HTMLParser()
        reader.handle_starttag = lambda tag, _, tags=tags: tags.append(tag)  # type: ignore[method-assign]
        reader.feed(html)
        assert tags.count("table") == 1 and "th" in tags and "http" not in html


XLA = f"compiled by XLA for cpu, jaxlib {jaxlib.version.__version__}"


def test_verification_where_the_compiler_agrees() -> None:
    """Collectives, bytes and FLOPs of the plan beside those of the compiled program, and who compiled it."""
    verification = plan(MLP, "* ...", "x y*", "y* z", *LAYERS).verify()
    lines = str(verification).splitlines()
    assert lines[0] == f"b x, x y, y z -> b z   on axis0=8; {XLA}" and verification.agrees
    assert lines[2].split() == ["all-reduce,", "2,048", "bytes", "1", "1"]
    assert lines[-1] == "the compiler sends what the textbook's cheapest way sends"


def test_verification_where_the_compiler_takes_another_way() -> None:
    """For the CPU it sums on every device and slices: a way that the textbook has, and not its cheapest."""
    verification = plan(MATMUL, "i j*", "j* k", *M, out="i* k").verify()
    lines = str(verification).splitlines()
    assert not verification and verification.alike is not None
    assert [line.split() for line in lines[2:5]] == [
        ["all-reduce,", "65,536", "bytes", "0", "1", "differs"],
        ["reduce-scatter,", "8,192", "bytes", "1", "0", "differs"],
        ["price,", "bytes", "65,536", "131,072", "differs"],
    ]
    said = (
        "the compiler sends something else, as another of the textbook's ways does: AB: all-reduce AB f32[64,256] over axis0"
    )
    assert lines[-1] == said


def test_verification_where_the_compiler_does_as_no_way_does() -> None:
    """For the CPU it moves a cut between axes by a collective-permute."""
    verification = plan(MATMUL, "i@x j", "j k@x", *M, mesh={"x": 2, "y": 4}).verify()
    assert verification.alike is None
    assert str(verification).splitlines()[-1] == "the compiler sends something else, as none of the textbook's ways does"


def test_verification_tells_of_another_type() -> None:
    """For the CPU, bfloat16 is sent as float32: the same collectives at twice the bytes."""
    verification = plan(MATMUL, "i j*", "j* k", *M, dtype="bfloat16").verify()
    assert verification.program.price == 2 * verification.plan.price and not verification
    assert str(verification).splitlines()[-1] == "the compiler sends the same collectives of f32 in place of bf16"


@pytest.mark.parametrize(
    "left, right, out", [("i j@x", "j@x k", "i@x k"), ("i@x j", "j@y k", "i k"), ("i j", "j@y k", "i@x k")]
)
def test_verify_compiles_what_one_would_write(left: str, right: str, out: str) -> None:
    """The same collectives as `A @ B` under `jax.jit` with these shardings."""
    verification = plan(MATMUL, left, right, *M, out=out, mesh=XY).verify()
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(AxisType.Auto,) * 2)
    specs = [jax.P(*(word.partition("@")[2] or None for word in text.split())) for text in (left, right, out)]
    shardings = [NamedSharding(mesh, spec) for spec in specs]
    arrays = [jax.ShapeDtypeStruct(shape, "float32", sharding=s) for shape, s in zip(M, shardings)]
    program = sl.inspect(jax.jit(lambda a, b: a @ b, out_shardings=shardings[2]), *arrays)
    assert verification.compiled == sent(program.collectives)


def fault(*arguments: object, **keywords: object) -> str:
    """The whole message of the mistake."""
    with pytest.raises(sl.ShardingError) as caught:
        plan(*arguments, **keywords)
    return str(caught.value)


MESSAGES = {
    "no arrow": (
        ("i j, j k",),
        "[contraction-arrow] a contraction has one '->', and this has none.\n"
        '  where: "i j, j k"\n'
        '  mend:  write it like "b x, x y -> b y".',
    ),
    "number in the contraction": (
        ("i2 j, j k -> i2 k", "i2 j", "j k", *M),
        "[word-unreadable] 'i2' is no name of a dimension.\n"
        '  where: "i2 j, j k -> i2 k"\n'
        "          ^^           ^^\n"
        "  mend:  name dimensions with letters and '_'; how they are sharded stands in the expressions that follow.",
    ),
    "dimension alone": (
        ("i j, j k -> i", "i* j", "* j k", *M),
        "[dimension-alone] dimension 'k' stands in one array only.\n"
        '  where: "i j, j k -> i"\n'
        "                 ^\n"
        "  mend:  add 'k' after '->', or to the array that it is summed with.",
    ),
    "expression missing": (
        (MATMUL, "i* j", *M),
        "[expressions-do-not-fit] 2 arrays are multiplied, and expressions are written for 1.\n"
        '  where: "i j, j k -> i k"   "i* j"\n'
        "  mend:  write one expression for each array, then one shape for each.",
    ),
    "shape missing": (
        (MATMUL, "i* j", "* j k", M[0]),
        "[shapes-do-not-fit] 2 arrays are multiplied, and shapes are given for 1.\n"
        '  where: "i j, j k -> i k"\n'
        "  mend:  pass one shape for each array.",
    ),
    "sizes differ": (
        (MATMUL, "i* j", "* j k", (64, 128), (64, 256)),
        "[sizes-differ] dimension 'j' is 128 and 64.\n"
        '  where: "i j, j k -> i k"   shapes (64, 128), (64, 256)\n'
        "               ^\n"
        "  mend:  pass shapes that agree, or use two names.",
    ),
    "other dimensions": (
        (MATMUL, "a b -> a b*", "* j k", *M),
        "[dimensions-differ] the contraction gives this array the dimensions 'i j'.\n"
        '  where: "a b -> a b*"   in "i j, j k -> i k"\n'
        "          ^^^\n"
        "  mend:  name the dimensions as the contraction does, or write the right side alone.",
    ),
    "does not divide": (
        (MATMUL, "i2 j4", "* j k", (64, 63), (63, 256)),
        "[parts-do-not-divide] 4 parts do not divide dimension 'j' of size 63.\n"
        '  where: "i j -> i2 j4"   shape (64, 63)   8 devices\n'
        "                    ^^\n"
        '  mend:  make \'j\' a multiple of 4, or write "i j -> i2* j" or "i j -> i8 j".',
    ),
}


@pytest.mark.parametrize("arguments, message", [pytest.param(*row, id=name) for name, row in MESSAGES.items()])
def test_mistakes_are_told_whole(arguments: tuple[object, ...], message: str) -> None:
    """What happened, where with a caret, and how to mend it."""
    assert fault(*arguments) == message


def test_too_few_devices_to_verify() -> None:
    """A plan for more devices than there are can be made, and not compiled."""
    made = plan(MATMUL, "i@x j", "j k", *M, mesh={"x": 16})
    with pytest.raises(sl.ShardlabError, match=r"call sl.setup\(16\) first"):
        made.verify()


def test_expressions_that_no_mesh_has_together() -> None:
    """Halves and thirds of six devices, each slowest, cannot be cut on one mesh."""
    said = contraction(MATMUL)
    with pytest.raises(sl.ShardingError) as caught:
        layouts(said, said.operands, ["i2 j3", "j3 k2"], [(12, 12), (12, 12)], "float32", None, 6)
    assert str(caught.value) == (
        "[no-common-mesh] the expressions cut the devices in ways that no mesh has together.\n"
        '  where: "i j -> i2 j3"   "j k -> j3 k2"   6 devices\n'
        "  mend:  write the same numbers in the same order, or name the axes of a mesh with '@'."
    )
