"""Chapter 4, exercise 4.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import functools

from shardlab_course.ch04.ex04 import oracle as of
from shardlab_course.ch04.shared import (
    BLOCKS,
    COLUMNS,
    CUT_ROWS,
    FIRST_ROWS,
    LINE,
    PARTIAL,
    PROMISE,
    STARTS,
    SWAPPED,
    TWICE,
    UNTILED,
    WHOLE,
    WIDE,
    Situations,
    gathers,
    program,
    right,
)
from shardlab_course.shared.kinds import KINDS
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues

DEEP = (WrongValues(
    "case-2-always-gathers",
    "B is whole on every device, so XLA may slice it at no cost and then reduce C. Here C is 64 times smaller than A.",
    2, like="all-gather"),)  # fmt: skip
SHALLOW = (WrongValues(
    "always-reduces",
    "Here C is 64 times as large as A, so gathering A moves far less than reducing C.", 2, like="all-reduce"),)  # fmt: skip
COSTS = (
    WrongValues("elements-not-bytes", "These are elements. A float32 has 4 bytes.", 1, like=of.costs_with(bytes=1)),
    WrongValues(
        "all-reduce-counted-once", "An all-reduce is a reduce-scatter and an all-gather, so it moves its array twice.",
        1, like=of.costs_with(reductions=1)),
    WrongValues(
        "counts-all-devices", "These are the bytes of all devices. Payload bytes are counted for one device, as FLOPs are.",
        1,
        like=of.costs_with(devices=True)),
    WrongValues(
        "multiplications-only", "Each element of C takes J multiplications and J additions: 2·I·J·K FLOPs.", 1,
        like=of.costs_with(flops=1)),
    WrongValues(
        "gather-divides-the-work", "After the gather every device holds all of A and all of B: each does the whole product.",
        2, like=of.costs_with(split=True)),
    WrongValues(
        "counts-the-shard",
        "The shard is what one device sends. What arrives on every device is all of A.", 2, like=of.costs_with(shard=True)),
)  # fmt: skip
SECONDS = (WrongValues(
    "adds-the-times", "This chip multiplies and moves at the same time, so the longer time counts, and not the sum.",
    2, like=functools.partial(of.seconds, join=sum)),)  # fmt: skip
CHEAPER = (
    BLOCKS, CUT_ROWS, SWAPPED, TWICE, PROMISE, PARTIAL, FIRST_ROWS, UNTILED, STARTS,
    WrongCost(
        "always-gathers",
        "If J is larger than 2K, it costs more to gather A than to reduce C. XLA's own A @ B gathers here too when x is one "
        "of two axes.", 2, when=lambda o: right(o) and gathers(o, 0) and of.deep(o)),
    WrongCost(
        "always-reduces", "If J is smaller than 2K, it costs more to reduce C than to gather A.",
        2, when=lambda o: right(o) and o.kinds == {"all-reduce"} and not of.deep(o)),
)  # fmt: skip

DEPTHS: Situations = (
    (WIDE, (8, 64, 12)), (WIDE, (12, 16, 48)), (WIDE, (8, 40, 16)),
    (LINE, (16, 80, 8)), (LINE, (8, 24, 40)), (LINE, (16, 24, 16)),
)  # fmt: skip
"""On either side of J = 2K, far from it and near."""

QUESTION = Question(
    "4.4", "Gather, then multiply; or multiply, then reduce", difficulty=4, minutes=45,
    items=(
        ValueItem("deep", {"P": 1.25}, predicted=True, key="all-reduce", words=KINDS, misconceptions=DEEP),
        ValueItem("wide", {"P": 1.25}, predicted=True, key="all-gather", words=KINDS, misconceptions=SHALLOW),
        CallsItem("costs", {"C": 2.75}, oracle=of.costs, draw=of.draw_sizes, rtol=1e-9, misconceptions=COSTS,
                  calls=((64, 4096, 64, 8), (64, 64, 4096, 8), (8, 48, 20, 4), (3, 10, 7, 2))),
        CallsItem("seconds", {"C": 2.75}, oracle=of.seconds, draw=of.draw_machine, rtol=1e-6,
                  misconceptions=SECONDS, calls=(
            (64, 4096, 64, 8, 2e14, 9e10), (64, 64, 4096, 8, 2e14, 9e10), (1024, 12288, 16384, 4, 2e14, 9e10),
            (8, 48, 20, 4, 1e9, 1e9),
        )),
        program("case_2_cheaper",
                COLUMNS, WHOLE, WHOLE, DEPTHS, CHEAPER, lambda i, j, k: j != 2 * k, h=2.75, drawn=3),
    ),
    hints=(
        "Which array does each way move, and how often? An all-reduce counts twice. Which way lets every device do all "
        "the work?",
        "Gathering moves A: 4·I·J bytes. Reducing moves C twice: 8·I·K bytes. So bytes alone compare J with 2K, whatever "
        "n is.",
        "Shapes are plain numbers while JAX traces, so `if J > 2 * K` picks one of two shard_maps. To reduce, pass B with "
        "P('x', None), multiply the blocks, and psum over x.",
    ),
    explanation="Gathering moves I·J elements. B is whole too, so every device then multiplies everything: 2·I·J·K FLOPs, n "
                "times in all. Reducing moves I·K elements twice, and each device does an n-th of the work. Bytes favour "
                "the reduction if J > 2K. On a chip that moves and multiplies at the same time, the repeated arithmetic of "
                "the gather often takes longest, and the reduction wins earlier. That is the Scaling Book's question "
                "4.\n\nOn one axis of 8 devices XLA chose the cheaper way for both sizes of the page, for CPU and for TPU. "
                "When x was one of two mesh axes, both compilers gathered even in the deep product. For "
                "a CPU the gather moves 1,048,576 bytes, where a reduction would move 32,768. So case 2 names a situation, "
                "not a collective. On a TPU a gather before a product of float32 moves bfloat16, half the bytes, because at "
                "JAX's default precision the product rounds its operands anyway.",
)  # fmt: skip
