"""Chapter 6, exercise 6.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex02 import oracle as of
from shardlab_course.ch06.shared import (
    AMBIGUOUS,
    COLUMNS,
    GATHERED_TERMS,
    ROWS,
    WHOLE,
    dot,
    explicit,
    lies,
    moved,
    program,
    summed_products,
)
from shardlab_judge.cases import Input
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

CONTRACTION = (
    AMBIGUOUS,
    WrongCost(
        "sum-made-whole",
        "The error wants to know where the sum should lie; P() puts all of it on every device, also the rows that nobody "
        "asked for.", 1, when=lambda o: lies(o, ()) or (lies(o, ("x", None))
        and moved(o, "all-gather") == o.inputs[0].shape[0] * o.inputs[1].shape[1] * 4)),
    GATHERED_TERMS,
)  # fmt: skip
CLASH = (
    WrongProgram(
        "clash-unresolved", "Rows and columns of the product would both lie over x. One operand has to give up its x first.",
        1, error="illegally sharded result"),
    WrongCost(
        "left-to-out-sharding",
        "out_sharding says where, not how: XLA moved blocks between devices first and then gathered over y. Reshard B "
        "yourself, and it is one gather.", 2,
        when=lambda o: "collective-permute" in o.kinds and moved(o, "all-gather") == o.inputs[1].nbytes),
    WrongCost(
        "wrong-operand-gathered",
        "A has the rows already that the product should have: to gather it moves what lies right.", 2,
        when=lambda o: moved(o, "all-gather") in (o.inputs[0].nbytes, o.inputs[0].nbytes + o.inputs[1].nbytes)),
)  # fmt: skip
ADDED = (
    WrongProgram(
        "clash-unresolved",
        "Rows over x from one side, columns over x from the other: no device could hold its part of both.",
        1, error="illegally sharded result"),
    WrongCost(
        "gathers-to-add",
        "To gather an operand brings every device all of it, and each needs one part. An all-to-all brings only that part.",
        2, when=lambda o: "all-gather" in o.kinds),
    WrongCost(
        "other-operand-moved", "A lies right already; it is B that has to move.", 1,
        when=lambda o: (lies(o, (None, "x")) and "all-to-all" in o.kinds)
        or moved(o, "all-to-all") > o.inputs[1].nbytes // dict(o.case.axes)["x"]),
)  # fmt: skip
MERGED = (
    WrongProgram(
        "reshape-unresolved",
        "The sharded dimension is not the first of those that are merged, so a device's positions are not one run of the "
        "result but a piece of each sequence; JAX wants to be told where the result should "
        "lie.", 1, error="reshape is not supported"),
    WrongCost(
        "gathers-to-merge", "Everything was brought together. Each position has to go to one device only.",
        2, when=lambda o: moved(o, "all-gather") == o.inputs[0].nbytes),
    WrongValues(
        "order-changed",
        "Transposed first, the merge needs no communication, and is another one: positions come out ahead of sequences.",
        1, like=lambda h: h.swapaxes(0, 1).reshape(-1, h.shape[2])),
)  # fmt: skip
PICKED = (
    WrongProgram(
        "lookup-unresolved",
        "Any row may lie on any device, so JAX wants to know where the result should lie; indexing has no place for that, "
        "`.at[...].get` has.", 1, error=r"\.at\[\.\.\.\]\.get"),
    WrongCost(
        "gathers-the-table", "The table itself was moved, to pick a few rows of it.",
        2, when=lambda o: moved(o, "all-gather") >= o.inputs[0].nbytes or "all-to-all" in o.kinds),
)  # fmt: skip

QUESTION = Question(
    "6.2", "Five errors, five decisions", difficulty=4, minutes=55,
    items=(
        program("contraction", summed_products, dot(("x", "y"), ("y", None), ROWS), ((16, 48, 24), (24, 32, 16)),
                CONTRACTION),
        program("clash", summed_products, dot(ROWS, COLUMNS, ROWS), ((16, 24, 32), (24, 16, 40)), CLASH),
        program("added", of.added, lambda mesh, i, j: explicit(mesh, ROWS, Input((i, j), ROWS), Input((i, j), COLUMNS)),
                ((16, 24), (24, 40)), ADDED),
        program("merged", of.merged, lambda mesh, b, s, d: explicit(mesh, ("y", None), Input((b, s, d), (None, "y", None))),
                ((8, 16, 24), (16, 24, 8)), MERGED),
        program("picked", of.picked, lambda mesh, d, n: explicit(
            mesh, WHOLE, Input((104, d), ROWS), Input((n // 8 + 3,), WHOLE, "int32", values=of.ids)),
            ((16, 24), (24, 8)), PICKED),
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
