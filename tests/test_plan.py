"""Plans of contractions: what they say, against what was measured and against what the compiler makes now."""

from __future__ import annotations

import dataclasses
import pathlib
from html.parser import HTMLParser

import jax
import pytest

import shardlab as sl
from shardlab.planner.contraction import contraction
from shardlab.planner.operands import Place, layouts
from shardlab.planner.partitioner import RULES
from shardlab.planner.planning import plan
from shardlab.planner.plans import UNKNOWN, Plan

MATMUL = "i j, j k -> i k"
MLP = "b x, x y, y z -> b z"
M = ((64, 128), (128, 256))
LAYERS = ((8, 128), (128, 256), (256, 64))
XY = {"x": 4, "y": 2}
KINDS = {
    "AG": "all-gather",
    "AR": "all-reduce",
    "RS": "reduce-scatter",
    "A2A": "all-to-all",
    "CP": "collective-permute",
}
Sent = tuple[tuple[str, int], ...]


@dataclasses.dataclass(frozen=True)
class Row:
    """One program of tests/plans.txt: what the CPU compiler was measured to send, and the textbook where it differs."""

    id: str
    text: str
    operands: list[str]
    shapes: list[tuple[int, ...]]
    out: str | None
    mesh: dict[str, int] | None
    compiler: Sent
    book: Sent | None
    rule: str
    dtype: str

    def plan(self) -> Plan:
        """The plan of the program."""
        return plan(self.text, *self.operands, *self.shapes, out=self.out, mesh=self.mesh, dtype=self.dtype)


def read(line: str) -> Row:
    """One line of the table; `-` is no collective."""
    cells = [cell.strip() for cell in line.split("|")]
    name, text, operands, shapes, out, mesh, compiler, book, rule, dtype = cells
    return Row(
        name, text, [operand.strip() for operand in operands.split(";")],
        [tuple(map(int, shape.split())) for shape in shapes.split(";")], out or None,
        {axis: int(size) for axis, size in (pair.split("=") for pair in mesh.split())} or None,
        kinds(compiler), kinds(book) if book else None, rule, dtype or "float32",
    )  # fmt: skip


def kinds(cell: str) -> Sent:
    """`AG 1024, AR 256` in full, sorted."""
    pairs = [word.split() for word in cell.split(",") if word != "-"]
    return tuple(sorted((KINDS[kind], int(nbytes)) for kind, nbytes in pairs))


LINES = pathlib.Path(__file__).with_name("plans.txt").read_text().splitlines()
TABLE = [read(line) for line in LINES if not line.startswith("#")]
ROWS = [pytest.param(row, id=row.id) for row in TABLE]


def sent(collectives: tuple[sl.Collective, ...]) -> Sent:
    """Kinds and payload bytes, sorted."""
    return tuple(sorted((c.kind, c.payload_bytes) for c in collectives))


@pytest.mark.parametrize("row", ROWS)
def test_plan_says_what_was_measured(row: Row) -> None:
    """The compiler's collectives, and the textbook's where they are others, with the rule that explains them."""
    made = row.plan()
    book = row.compiler if row.book is None else row.book
    assert made.compiler is not None
    assert (sent(made.compiler.collectives), sent(made.textbook.collectives)) == (row.compiler, book)
    assert made.differs == (row.book is not None)
    assert not row.rule or RULES[row.rule] in made.compiler.notes


@pytest.mark.parametrize("row", ROWS)
def test_compiler_agrees_with_plan(row: Row) -> None:
    """Compiled now for CPU devices: kinds, payload bytes, bytes of arguments and output, and FLOPs but for the sums'."""
    verification = row.plan().verify()
    assert verification.agrees, f"\n{verification}"
    assert verification.plan.flops <= verification.program.flops <= verification.plan.flops * 1.2


def test_every_rule_has_a_measurement() -> None:
    """No rule stands without a program that shows it."""
    assert {row.rule for row in TABLE} - {""} == set(RULES) and len(TABLE) >= 40


def test_case_three_holds_terms_of_sums() -> None:
    """Before the all-reduce the product is marked with the axis over which it must still be summed."""
    made = plan(MATMUL, "i@x j@y", "j@y k", *M, mesh=XY)
    assert (str(made.textbook.terms), made.cases) == ("i@x k {U:y}", ((1, 3),))


def test_numbers_of_one_device() -> None:
    """Bytes and FLOPs are those of one device; an all-reduce is priced twice."""
    made = plan(MLP, "* ...", "x y*", "y* z", *LAYERS)
    assert (made.argument_bytes, made.output_bytes, made.flops) == (4096 + 16384 + 8192, 2048, 98304.0)
    assert (made.payload_bytes, made.price, made.kinds, made.cases) == (2048, 4096, {"all-reduce"}, ((1,), (3,)))


def test_expressions_share_a_mesh() -> None:
    """Numbers in different places cut the devices finer, until one mesh has them all."""
    made = plan(MATMUL, "i2 j 4", "4 j k2", *M)
    assert made.axes == (("axis0", 2), ("axis1", 2), ("axis2", 2))
    assert [str(layout) for layout in (*made.arguments, made.output)] == ["i@axis0 j", "j k@axis2", "i@axis0 k@axis2"]


def test_meshes_and_shapes_in_any_form() -> None:
    """A mesh, the mesh in force, names with sizes; shapes, arrays, or one tuple of them."""
    mesh = jax.make_mesh((4, 2), ("x", "y"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    structs = [jax.ShapeDtypeStruct(shape, "bfloat16") for shape in M]
    with jax.set_mesh(mesh):
        in_force = plan(MATMUL, "i@x j", "j k", *structs)
    given = plan(MATMUL, "i@x j", "j k", M, mesh=mesh, dtype="bfloat16")
    assert in_force.chain == given.chain == plan(MATMUL, "i@x j", "j k", *M, mesh=XY, dtype="bfloat16").chain
    assert given.verify() and given.mesh is mesh


def test_no_rule_no_guess() -> None:
    """Where no rule covers a product the plan says so, and compiling shows what happens."""
    made = plan(MATMUL, "i@x j@y", "j@y k@x", *M, out="i@(x y) k", mesh=XY)
    assert made.compiler is None and made.notes == (UNKNOWN,) and made.route is made.textbook
    assert not made.verify().agrees


def test_plan_prints_as_table() -> None:
    """Both ways are rows where they differ, and the reason stands below."""
    made = plan(MATMUL, "i j*", "j* k", *M, out="i* k")
    assert str(made).splitlines() == [
        "i j, j k -> i k   on axis0=8",
        "who           collective      array  per device   payload bytes  axes   group",
        "textbook      reduce-scatter  AB     f32[8,256]           8,192  axis0      8",
        "CPU compiler  all-reduce      AB     f32[64,256]         65,536  axis0      8",
        "A: i j@axis0, 4,096 bytes a device",
        "B: j@axis0 k, 16,384 bytes a device",
        "output: i@axis0 k, 8,192 bytes a device, from terms i k {U:axis0}; case 3",
        "textbook: payload 8,192 bytes, price 65,536 bytes, 524,288 FLOPs a device",
        "CPU compiler: payload 65,536 bytes, price 131,072 bytes, 524,288 FLOPs a device",
        "note: the CPU compiler makes no reduce-scatter: an all-reduce, then each device keeps its slice",
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


def test_verification_prints_both_sides() -> None:
    """Collectives, bytes and FLOPs of the plan beside those of the compiled program."""
    lines = str(plan(MLP, "* ...", "x y*", "y* z", *LAYERS).verify()).splitlines()
    assert lines[2].split() == ["all-reduce,", "2,048", "bytes", "1", "1"]
    assert lines[-1] == "the compiler does what the plan says"


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
        layouts(said, said.operands, ["i2 j3", "j3 k2"], [(12, 12), (12, 12)], Place(None, 6))
    assert str(caught.value) == (
        "[no-common-mesh] the expressions cut the devices in ways that no mesh has together.\n"
        '  where: "i j -> i2 j3"   "j k -> j3 k2"   6 devices\n'
        "  mend:  write the same numbers in the same order, or name the axes of a mesh with '@'."
    )
