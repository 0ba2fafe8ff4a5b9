"""Chapter 6, exercise 6.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.shared import (
    AMBIGUOUS,
    COLUMNS,
    GATHERED_TERMS,
    LINE,
    ROWS,
    WHOLE,
    WIDE,
    dot,
    lies,
    moved,
    program,
    right,
    summed_products,
)
from shardlab_judge.question import Misconception, Question, WrongCost
from shardlens import Spec

WHOLE_SUM = (AMBIGUOUS, WrongCost(
    "sum-left-open", "Each device still holds its own term: the output is unreduced along x, not replicated.",
    1, when=lambda o: "x" in o.terms[0]))  # fmt: skip


def cut_sum(other: Spec) -> tuple[Misconception, ...]:
    """Of a sum that is to be cut along one dimension, where `other` cuts the other one."""
    return (
        AMBIGUOUS,
        WrongCost(
            "sum-not-cut", "The sum is whole on every device; name x in the dimension that is to be cut.",
            1, when=lambda o: right(o, summed_products) and lies(o, ())),
        WrongCost(
            "cut-the-other-way", "The sum is cut along the other dimension: entries of a spec are dimensions, in "
            "order.", 1, when=lambda o: right(o, summed_products) and lies(o, other)),
        WrongCost(
            "sum-left-open", "Each device still holds its own term: the output is unreduced along x.",
            1, when=lambda o: "x" in o.terms[0]),
        GATHERED_TERMS,
    )  # fmt: skip


TERMS = (
    AMBIGUOUS,
    WrongCost(
        "sum-already-paid",
        "The terms are added up already. Nothing has to move as long as the type says who still has to add.",
        2, when=lambda o: bool(o.kinds & {"all-reduce", "reduce-scatter"}) and not o.terms[0]),
    GATHERED_TERMS,
)  # fmt: skip
LATE = (
    AMBIGUOUS,
    WrongCost(
        "pays-three-times",
        "More than one sum is added up over the devices, and each moves its bytes. Terms may be added to terms first, "
        "without communication.",
        2, when=lambda o: right(o, summed_products)
        and moved(o, "all-reduce") >= 2 * summed_products(*o.inputs[:2]).size * 4),
    WrongCost(
        "never-pays",
        "The sum of the three is still unreduced along x; jax.reshard adds it up.", 2, when=lambda o: "x" in o.terms[0]),
    WrongCost(
        "joins-sharded-dimensions",
        "To put matrices side by side along a dimension that is sharded moves their blocks to other devices.",
        3, when=lambda o: "all-to-all" in o.kinds),
    GATHERED_TERMS,
)  # fmt: skip

QUESTION = Question(
    "6.3", "One dot, four outputs; three dots, one sum", difficulty=3, minutes=35,
    items=(
        program("replicated", summed_products, dot(COLUMNS, ROWS, WHOLE), ((8, 48, 16), (24, 32, 16)), WHOLE_SUM,
                (WIDE, LINE)),
        program("rows", summed_products, dot(COLUMNS, ROWS, ROWS), ((8, 48, 16), (24, 32, 16)), cut_sum(COLUMNS),
                (WIDE, LINE), points={"V": 0.5, "S": 0.5}),
        program("columns", summed_products, dot(COLUMNS, ROWS, COLUMNS), ((8, 48, 16), (24, 32, 16)), cut_sum(ROWS),
                (WIDE, LINE), points={"V": 0.5, "S": 0.5}),
        program("terms", summed_products, dot(COLUMNS, ROWS, (None, None), terms=True), ((8, 48, 16), (24, 32, 16)),
                TERMS, (WIDE, LINE)),
        program("late", summed_products, dot(COLUMNS, ROWS, WHOLE, pairs=3), ((8, 48, 16), (24, 32, 16)), LATE,
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
