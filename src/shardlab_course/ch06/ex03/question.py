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
from shardlab_course.shared.sent import sends_a_part
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
            "sum-not-cut", "The sum is whole on every device. Name x in the dimension that should be cut.",
            1, when=lambda o: right(o, summed_products) and lies(o, ())),
        WrongCost(
            "cut-the-other-way",
            "The sum is cut along the other dimension: the entries of a spec stand for the dimensions, in order.",
            1, when=lambda o: right(o, summed_products) and lies(o, other)),
        WrongCost(
            "sum-left-open", "Each device still holds its own term: the output is unreduced along x.",
            1, when=lambda o: "x" in o.terms[0]),
        GATHERED_TERMS,
    )  # fmt: skip


TERMS = (
    AMBIGUOUS,
    WrongCost(
        "sum-already-paid",
        "The terms have already been added up. Nothing has to move as long as the type says that they are still to be "
        "added.",
        2, when=lambda o: bool(o.kinds & {"all-reduce", "reduce-scatter"}) and not o.terms[0]),
    GATHERED_TERMS,
)  # fmt: skip
LATE = (
    AMBIGUOUS,
    WrongCost(
        "pays-three-times",
        "The bytes of more than one sum are added up over the devices. Perhaps each product is added up by itself. Terms "
        "can be added to terms first, which needs no communication.",
        2, when=lambda o: right(o, summed_products)
        and moved(o, "all-reduce") >= 2 * summed_products(*o.inputs[:2]).size * 4),
    WrongCost(
        "never-pays",
        "The output is still unreduced along x; jax.reshard adds it up.",
        2, when=lambda o: "x" in o.terms[0]),
    WrongCost(
        "joins-sharded-dimensions",
        "Blocks move to other devices. Perhaps matrices were put side by side along a sharded dimension.",
        3, when=lambda o: sends_a_part(o, "all-to-all")),
    GATHERED_TERMS,
)  # fmt: skip

QUESTION = Question(
    "6.3", "One dot, four outputs; three dots, one sum", difficulty=3, minutes=35,
    items=(
        program("replicated", summed_products, dot(COLUMNS, ROWS, WHOLE), ((8, 48, 16), (24, 32, 16)), WHOLE_SUM,
                (WIDE, LINE), points={"V": 0.75, "S": 0.75, "H": 0.75}),
        program("rows", summed_products, dot(COLUMNS, ROWS, ROWS), ((8, 48, 16), (24, 32, 16)), cut_sum(COLUMNS),
                (WIDE, LINE), points={"V": 0.75, "S": 0.75}),
        program("columns", summed_products, dot(COLUMNS, ROWS, COLUMNS), ((8, 48, 16), (24, 32, 16)), cut_sum(ROWS),
                (WIDE, LINE), points={"V": 0.75, "S": 0.75}),
        program("terms", summed_products, dot(COLUMNS, ROWS, (None, None), terms=True), ((8, 48, 16), (24, 32, 16)),
                TERMS, (WIDE, LINE), points={"V": 0.75, "S": 0.75, "H": 0.75}),
        program("late", summed_products, dot(COLUMNS, ROWS, WHOLE, pairs=3), ((8, 48, 16), (24, 32, 16)), LATE,
                (WIDE, LINE), points={"V": 0.75, "S": 0.75, "H": 1.5}, most=1),
    ),
    hints=(
        "The first four functions are one call of jnp.dot each, with different out_shardings.",
        "A spec may name the axes over which terms are still to be added: P(None, None, unreduced={...}). Adding terms "
        "to terms is free.",
        "late: write three dots with the unreduced out_sharding, add them with +, and then reshard once to P().",
    ),
    explanation="If A has its columns over x and B its rows, the product is a sum over devices, C[I, K]{U_x}. You choose "
                "what the type says next: whole, cut into rows or columns, or left as it is. The last choice moves nothing, "
                "because nothing is added up; the check adds the terms to judge its values. Each device can add its terms "
                "of several products, so three products cost the bytes of one.\n\nA relu and a bias do not commute with the "
                "sum, so JAX refuses them as long as the terms are still to be added. On Auto axes there is no such type, "
                "and XLA decides when it adds. For a sum of three all-reduced products, XLA for TPU sends one sum, and XLA "
                "for CPU sends all three in one all-reduce. In exercise 10.4 the same type keeps a gradient's all-reduce "
                "out of a loop.",
)  # fmt: skip
