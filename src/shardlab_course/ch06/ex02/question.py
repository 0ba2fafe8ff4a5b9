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
from shardlab_course.shared.sent import sends_a_part, sent
from shardlab_judge.cases import Input
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

CONTRACTION = (
    AMBIGUOUS,
    WrongCost(
        "sum-made-whole",
        "The error asks where the sum should lie. P() puts all of it on every device, including the rows that nobody "
        "asked for.", 1, when=lambda o: lies(o, ()) or (lies(o, ("x", None))
        and moved(o, "all-gather") == o.inputs[0].shape[0] * o.inputs[1].shape[1] * 4)),
    GATHERED_TERMS,
)  # fmt: skip
CLASH = (
    WrongProgram(
        "clash-unresolved",
        "Rows and columns of the product would both lie over x. One operand has to give up its x first.",
        1, error="illegally sharded result"),
    WrongCost(
        "left-to-out-sharding",
        "out_sharding says where, not how. XLA moved blocks between devices first, and then gathered over y. If you "
        "reshard B yourself, there is one gather and nothing else.", 2,
        when=lambda o: sends_a_part(o, "collective-permute", number=1)
        and moved(o, "all-gather") == o.inputs[1].nbytes),
    WrongCost(
        "wrong-operand-gathered",
        "A already has the rows that the product should have. A gather of A moves data that is already in its place.", 2,
        when=lambda o: moved(o, "all-gather") in (o.inputs[0].nbytes, o.inputs[0].nbytes + o.inputs[1].nbytes)),
)  # fmt: skip
ADDED = (
    WrongProgram(
        "clash-unresolved",
        "One operand has its rows over x, the other its columns. No device could hold its part of both.",
        1, error="illegally sharded result"),
    WrongCost(
        "gathers-to-add",
        "A gather brings the whole array to every device, and each device needs one part of it. An all-to-all brings "
        "only that part.",
        2, when=lambda o: sent(o, "all-gather") >= o.inputs[0].nbytes),
    WrongCost(
        "other-operand-moved", "A already lies where the output should lie. B has to move.", 1,
        when=lambda o: (lies(o, (None, "x")) and sends_a_part(o, "all-to-all"))
        or moved(o, "all-to-all") >= 2 * o.inputs[1].nbytes // dict(o.case.axes)["x"]),
)  # fmt: skip
MERGED = (
    WrongProgram(
        "reshape-unresolved",
        "The sharded dimension is not the first of the merged ones. So a device does not hold one run of rows of the "
        "result, but a piece of each sequence. JAX asks where the result should lie.", 1,
        error=r"reshape is not supported[^\n]* operand type: \w+\[\d+,\d+@"),
    WrongCost(
        "gathers-to-merge", "Everything was brought together. Each position has to go to one device only.",
        2, when=lambda o: moved(o, "all-gather") == o.inputs[0].nbytes),
    WrongValues(
        "order-changed",
        "A transpose before the merge makes communication unnecessary, but gives another order: positions come first, and "
        "sequences within them.",
        1, like=lambda h: h.swapaxes(0, 1).reshape(-1, h.shape[2])),
)  # fmt: skip
PICKED = (
    WrongProgram(
        "lookup-unresolved",
        "Any row may lie on any device, so JAX asks where the result should lie. Square brackets have no place for the "
        "answer; `.at[...].get` has one.", 1, error=r"\.at\[\.\.\.\]\.get"),
    WrongCost(
        "gathers-the-table", "The table itself was moved to pick a few of its rows.",
        2, when=lambda o: moved(o, "all-gather") >= o.inputs[0].nbytes or sends_a_part(o, "all-to-all")),
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
        "Read each message as a question. Three of them even name the argument that takes the answer.",
        "contraction takes out_sharding. merged takes it too, but JAX 0.12 then gathers, so use jax.reshard. picked takes "
        "it in .at[ids].get. For clash and added, jax.reshard one operand so that no axis is used twice.",
        "clash: make B whole, with P(). added: give B the sharding of A. merged: first use jax.reshard to let y cut b "
        "instead of s; then the two dimensions merge.",
    ),
    explanation="An error of the type system is a question about communication that JAX does not answer for you. "
                "contraction: where should the sum lie? If it is cut into rows, each device adds only its own rows. clash: "
                "which operand gives up its axis? B, because the output does not need that axis there. If you only give "
                "out_sharding, XLA finds a way too; on a mesh of 2 by 4 it adds a permute.\n\nadded: from columns to rows "
                "each device needs one part of every other device's block. That is an all-to-all; a gather brings "
                "everything. merged: the same all-to-all, before the reshape. (jnp.reshape takes out_sharding as well: with "
                "JAX 0.10 XLA for CPU finds the all-to-all, with 0.12 it gathers.) picked: every device takes the rows that "
                "it holds, and zeros for the others. An all-reduce adds these few numbers, however large the table is. In "
                "Auto mode all five run as they stand, and you learn the answers from the compiled program.",
)  # fmt: skip
