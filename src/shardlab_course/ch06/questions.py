"""Chapter 6's questions: explicit sharding, shardings in types."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

from shardlab_course.ch06 import misconceptions as wrong
from shardlab_course.ch06 import oracles as of
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.cases import Case, Input, axes
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Misconception, Question
from shardlens import Axes, Spec

WIDE, TALL, LINE = axes(x=4, y=2), axes(x=2, y=4), axes(x=8)
ROWS: Spec = ("x", None)
COLUMNS: Spec = (None, "x")
WHOLE: Spec = ()


def program(name: str, oracle: Callable[..., Any], make: Callable[..., Case], sizes: tuple[of.Sizes, of.Sizes],
            misconceptions: tuple[Misconception, ...], meshes: tuple[Axes, Axes] = (WIDE, TALL), *,
            points: Mapping[str, float] = {"V": 0.5, "S": 0.5, "H": 0.5}, **options: Any) -> ProgramItem:  # fmt: skip
    """A program on two meshes, with `make(mesh, *sizes)` for each case, and for a drawn one."""

    def draw(rng: random.Random) -> Case:
        return make(rng.choice(meshes), *of.eights(rng, len(sizes[0])))

    cases = tuple(make(mesh, *size) for mesh, size in zip(meshes, sizes))
    return ProgramItem(name, points, misconceptions=misconceptions, oracle=oracle, cases=cases, draw=draw, **options)


def dot(left: Spec, right: Spec, out: Spec | None, **options: Any) -> Callable[..., Case]:
    """Cases with A, I x J, and B, J x K, on Explicit axes."""
    return lambda mesh, i, j, k: of.product_case(mesh, (i, j, k), left, right, out, **options)


def explicit(mesh: Axes, out: Spec, *inputs: Input) -> Case:
    """A case on Explicit axes."""
    return Case(mesh, inputs, (out,), explicit=True)


def sum_case(mesh: Axes, i: int, k: int) -> Case:
    """Rows over x, columns over y; their sum on all devices, y the slower axis."""
    return explicit(mesh, (("y", "x"),), Input((i, k), ("x", "y")))


def ported_case(mesh: Axes, batch: int, width: int, hidden: int) -> Case:
    """X whole, the hidden units of both weights over y; the output by rows over x.

    Wide, so that a relu may be written with an operation more: that is less than a hundredth of a device's FLOPs.
    """
    width *= 8
    up, down = Input((width, hidden), (None, "y")), Input((hidden, width), ("y", None))
    return explicit(mesh, ROWS, Input((batch, width)), up, down)


TYPES = Question(
    "6.1", "Read the type before it exists", difficulty=2, minutes=20,
    items=(
        ValueItem("types", {"P": 2.5}, predicted=True, spelling=of.spelt, words=("error",),
                  pattern=of.TYPE, misconceptions=wrong.TYPES, key={
            "a": "float32[16@y,8@x]", "b": "float32[16@y]", "c": "float32[8@x,1,16@y]", "d": "float32[128@y]",
            "e": "float32[8@x,4@y,4]", "f": "float32[8@x,16@y]", "g": "float32[8@x,12@y]", "h": "error",
            "i": "float32[8@x,12]", "j": "float32[8,16@y]",
        }),
    ),
    hints=(
        "Follow each dimension: where does it go, and which axis does it carry along? Dimensions that are new carry none.",
        "Where operands meet: whole against sharded is sharded. Sharded alike stays so. Summed on both sides over one axis: "
        "nobody can know what you want.",
        "d: turned, the dimension over y is the slower one. e: columns become 4 and 4; the first takes the axis. i: where "
        "they are summed only one operand is sharded, so nothing is ambiguous.",
    ),
    explanation="An axis travels with its dimension: transposed it stands elsewhere, summed away it is gone, and a "
                "new dimension has none. Where two operands meet element by element, a whole dimension adapts to a sharded "
                "one, since slicing what one holds is free; so f is cut both ways. Merged dimensions carry their axes, the "
                "slower first (with an axis on the faster one only, JAX asks: 6.2), and a split gives the axis to "
                "the first part.\n\nOnly h has no answer: each device can make a term of X @ V, and whether the sum "
                "shall be whole, cut or left open is a decision about communication. JAX leaves it to you. In i "
                "nobody asks, although terms are added up at these sizes too, by an all-reduce: U is whole, and "
                "for that JAX has a rule of where the result lies. So a line that passes may still move data. All of "
                "this is decided while tracing, before anything is compiled: jax.eval_shape finds the same types.",
)  # fmt: skip

REPAIR = Question(
    "6.2", "Five errors, five decisions", difficulty=4, minutes=55,
    items=(
        program("contraction", of.summed_products, dot(("x", "y"), ("y", None), ROWS), ((16, 48, 24), (24, 32, 16)),
                wrong.CONTRACTION),
        program("clash", of.summed_products, dot(ROWS, COLUMNS, ROWS), ((16, 24, 32), (24, 16, 40)), wrong.CLASH),
        program("added", of.added, lambda mesh, i, j: explicit(mesh, ROWS, Input((i, j), ROWS), Input((i, j), COLUMNS)),
                ((16, 24), (24, 40)), wrong.ADDED),
        program("merged", of.merged, lambda mesh, b, s, d: explicit(mesh, ("y", None), Input((b, s, d), (None, "y", None))),
                ((8, 16, 24), (16, 24, 8)), wrong.MERGED),
        program("picked", of.picked, lambda mesh, d, n: explicit(
            mesh, WHOLE, Input((104, d), ROWS), Input((n // 8 + 3,), WHOLE, "int32", values=of.ids)),
            ((16, 24), (24, 8)), wrong.PICKED),
    ),
    hints=(
        "Read each message for its question. Three of them even name the argument that wants the answer.",
        "contraction takes out_sharding, merged too (in JAX 0.12 at the price of a gather: reshard there); picked takes it "
        "in .at[ids].get; for clash and added, jax.reshard one operand so that no axis is used twice.",
        "clash: make B whole, with P(). added: give B the sharding of A. merged: first let y cut b instead of s, with "
        "jax.reshard; then the two dimensions merge.",
    ),
    explanation="An error of the type system is a question about communication that JAX will not answer for you. "
                "contraction: where shall the sum lie? Cut into rows only the device's own rows are added. clash: "
                "which operand gives up its axis? The one that the output can spare; asked by out_sharding alone, "
                "XLA found the way too, on 2 by 4 with a permute more.\n\nadded: from columns to rows each device needs one "
                "part of its neighbours' blocks, an all-to-all, where a gather brings everything. merged: the same, before "
                "the reshape. (jnp.reshape takes out_sharding, too: with JAX 0.10 XLA for CPU finds the all-to-all, with "
                "0.12 it gathers.) picked: every device finds the rows that it holds, zeros elsewhere, and few numbers are "
                "added, where the table may be large. In Auto mode all five run as they stand, and you learn the answers "
                "from the compiled program.",
)  # fmt: skip

OUTPUTS = Question(
    "6.3", "One dot, four outputs; three dots, one sum", difficulty=3, minutes=35,
    items=(
        program("replicated", of.summed_products, dot(COLUMNS, ROWS, WHOLE), ((8, 48, 16), (24, 32, 16)), wrong.WHOLE_SUM,
                (WIDE, LINE)),
        program("rows", of.summed_products, dot(COLUMNS, ROWS, ROWS), ((8, 48, 16), (24, 32, 16)), wrong.cut_sum(COLUMNS),
                (WIDE, LINE), points={"V": 0.5, "S": 0.5}),
        program("columns", of.summed_products, dot(COLUMNS, ROWS, COLUMNS), ((8, 48, 16), (24, 32, 16)), wrong.cut_sum(ROWS),
                (WIDE, LINE), points={"V": 0.5, "S": 0.5}),
        program("terms", of.summed_products, dot(COLUMNS, ROWS, (None, None), terms=True), ((8, 48, 16), (24, 32, 16)),
                wrong.TERMS, (WIDE, LINE)),
        program("late", of.summed_products, dot(COLUMNS, ROWS, WHOLE, pairs=3), ((8, 48, 16), (24, 32, 16)), wrong.LATE,
                (WIDE, LINE), points={"V": 0.5, "S": 0.5, "H": 1}, most=1),
    ),
    hints=(
        "All four of the first are one call of jnp.dot with another out_sharding.",
        "A spec may carry the axes over which terms are still to be added: P(None, None, unreduced={...}). Terms add to "
        "terms for nothing.",
        "late: three dots with the unreduced out_sharding, added with +, and then one jax.reshard to P().",
    ),
    explanation="The product of columns over x and rows over x is a sum over devices, C[I, K]{U_x}. What the type says "
                "next is your choice: whole, rows, columns, or left as it is. The last moves nothing, because nobody has "
                "added: its values are judged by adding the terms. Terms of several products may be added on each "
                "device, so three products pay for the bytes of one.\n\nA relu and a bias, which do not commute with the "
                "sum, are refused as long as the sum is owed. On Auto axes there is no such type, and XLA decides when "
                "it adds: of three all-reduced products that are summed, XLA for TPU sends one sum, XLA for CPU all "
                "three, in one all-reduce. In exercise 10.4 the same type is what keeps a gradient's all-reduce out of a "
                "loop.",
)  # fmt: skip

HIDDEN = Question(
    "6.4", "The type is right, and everything moved", difficulty=4, minutes=40,
    items=(
        ValueItem("kinds", {"P": 1}, predicted=True, members=KINDS, misconceptions=wrong.KINDS, key={
            "fft": frozenset({"all-gather"}), "softmax": frozenset({"all-reduce"}), "sort": frozenset(),
        }),
        CallsItem("audit", {"V": 2}, oracle=of.audit, draw=of.draw_audit, drawn=40, misconceptions=wrong.AUDIT, calls=(
            ("float32[8@x,16]", "complex64[8@x,16]", of.FFT),
            ("float32[8@x,16]", "float32[8@x,16]", of.NAMED),
            ("float32[8@x,16]", "float32[16,8@x]", of.NAMED),
            ("float32[8@x,16]", "float32[8,16]", of.exchanged("all-gather", "f32[8,16]{1,0}")),
            ("float32[8@x,16]", "float32[8,16@x]", of.exchanged("all-to-all", "f32[8,8]{1,0}")),
            ("float32[8@x,16@y]", "float32[8@x,16@y]", of.exchanged("all-reduce", "f32[4,16]{1,0}")),
            ("float32[8@x,4@(y,z)]", "bfloat16[24@x,16@(y,z)]",
             of.exchanged("collective-permute-start", "(f32[4,16]{1,0}, f32[4,16]{1,0})")),
            ("float32[8,16@x]", "float32[8,16@x]", of.exchanged("all-reduce", "(f32[4,16]{1,0}, f32[8]{0})")),
            ("float32[8@(x,y),4]", "float32[8@(y,x),4]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
            ("float32[8@(x,y),4]", "float32[8@(x,z),4]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
            ("float32[4,8@(x,y)]", "float32[4,8@(x,z)]", of.exchanged("collective-permute", "f32[4,16]{1,0}")),
        )),
    ),
    hints=(
        "Two questions, asked of different witnesses: is there a collective in the compiled text? Do the two types shard "
        "each dimension alike?",
        "In the text an operation stands between a blank and its bracket; names and op_name do not. In a type, what counts "
        "stands behind each @, up to the next comma that is not in brackets.",
        "One search finds them: a blank, one of the kinds, perhaps -start, an opening bracket. Of the types keep what "
        "remains when dtype and sizes are taken away, and compare.",
    ),
    explanation="A type is a promise about where the result lies. An FFT along a dimension that is whole on every "
                "device needs nobody else, and its type says so; yet XLA for CPU, as it comes with JAX 0.10, does "
                "not split a batch of FFTs, so it gathers all rows, transforms them all on every device, and lets "
                "each slice out its own. Values, placement and type are right. XLA for TPU splits it and moves "
                "nothing, with the same types.\n\nA softmax along a sharded dimension communicates by nature, two small "
                "all-reduces, and its type does not tell either: Explicit mode raises where its rules end, and "
                "not wherever something moves: along a sharded dimension it refuses a sort, and lets an FFT pass. Only "
                "the compiled text knows. An audit of ten lines in a test keeps such a surprise from coming back. "
                "Chapter 13 makes this FFT local, with shard_map.",
)  # fmt: skip

PORTING = Question(
    "6.5", "A constraint that constrains nothing", difficulty=3, minutes=25,
    items=(program("ported", of.mlp, ported_case, ((16, 24, 32), (24, 16, 48)), wrong.PORTED,
                   points={"V": 0.5, "S": 0.5, "H": 0.5, "F": 0.5}, atol=1e-3,
                   tolerance="float32 sums of up to 64 products of sums of 512, in another order"),),
    hints=(
        "Go through the three constraints in order: which asserts something true, which something false, and which is never "
        "reached?",
        "Where the constraint was meant to move data, it becomes jax.reshard. Where it was meant to choose the layout of a "
        "product, it becomes out_sharding.",
        "Reshard X to rows over x; keep the middle constraint, which now checks what you know; give the second product "
        "out_sharding=P('x', None).",
    ),
    explanation="On Auto axes with_sharding_constraint tells XLA where a value must lie; on Explicit ones the type "
                "has decided already, and the same call only compares, with an AssertionError where they differ. The "
                "first constraint was meant to cut X: jax.reshard does, for nothing, because X was whole. The second "
                "is true, since rows over x met columns over y, and may stay as a check. The third asked where the "
                "product should lie, which is now an argument of the product. To delete all three makes the errors "
                "go away except one, and leaves every device with the whole batch. jax.sharding.auto_axes around the "
                "old function is right too, and postpones the question.",
)  # fmt: skip

THREE = Question(
    "6.6", "One layer, three styles", difficulty=3, minutes=35, optional=True,
    items=(
        program("auto_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=False), ((32, 24), (48, 16)),
                wrong.AUTO, (WIDE, LINE)),
        program("explicit_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=True), ((32, 24), (48, 16)),
                wrong.EXPLICIT, (WIDE, LINE)),
        program("manual_layer", of.layer, lambda m, j, k: of.layer_case(m, j, k, explicit=True), ((32, 24), (48, 16)),
                wrong.MANUAL, (WIDE, LINE), manual=True),
    ),
    hints=(
        "Write the layer for one device first. Two of the three styles need very little change.",
        "Explicit: the product asks where its sum should lie. Manual: each device has a piece of x and the same rows of W, "
        "and makes a term.",
        "Manual: psum(x @ W, 'x'), then add the bias, then the sigmoid, with in_specs P('x'), P('x', None), P() and "
        "out_specs P().",
    ),
    explanation="All three compile to the same all-reduce of one number a unit, so to the machine they are one program. To "
                "you they are not. Auto is the program for one device; where x and W lie is said outside, and what moves is "
                "found out afterwards. Explicit is the same line with the one decision in it. Manual says everything: "
                "pieces in, terms, their sum, bias and sigmoid after it.\n\nEach way has its own mistakes. Where things lie "
                "cannot make Auto wrong; it can only change what it costs. Explicit refuses what its rules do not decide. "
                "Manual trusts your order: with the bias inside of the sum it is added once for each device along x, and a "
                "sigmoid before the sum is another function, and neither is an error.",
)  # fmt: skip

FULLY = Question(
    "6.7", "Fully sharded", difficulty=3, minutes=15, optional=True,
    items=(
        ValueItem("copies", {"P": 0.25}, predicted=True, key=4, misconceptions=wrong.COPIES),
        wrong.MECHANISM,
        program("fully_sharded", of.column_sums, sum_case, ((16, 24), (24, 40)), wrong.FULLY),
    ),
    hints=(
        "Count: into how many parts does P('x') cut on this mesh? Each part needs devices, and there are eight.",
        "One dimension can be cut by two axes: P(('a', 'b')). Which of the two orders leaves each part on a device that "
        "holds it already?",
        "After the sum the device at (x, y) holds block y. Cut each block further over x: the slower axis is y.",
    ),
    explanation="A spec that names one axis cuts into as many parts as that axis has devices, and all others hold "
                "copies: on 2 by 4, P('x') leaves four copies of each element, where the sum, cut over y, had left two. "
                "It moves data as well.\n\nA one-dimensional array is spread over all eight by both axes in one entry. "
                "With y slower, every device keeps a part of what it holds, and nothing moves after the sum; with x "
                "slower, the blocks change places first. Whoever writes psum_scatter in shard_map halves even the sum, "
                "as XLA for CPU compiles it (chapter 8 has the exception). That this was overlooked in print shows how "
                "little a spec alone tells: look at the picture.",
)  # fmt: skip

QUESTIONS: tuple[Question, ...] = (TYPES, REPAIR, OUTPUTS, HIDDEN, PORTING, THREE, FULLY)
