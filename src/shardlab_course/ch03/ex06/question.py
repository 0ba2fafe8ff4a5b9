"""Chapter 3, exercise 3.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import functools

from shardlab_course.ch03.ex06 import oracle as of
from shardlab_course.ch03.shared import LINE, WIDE, gathers
from shardlab_course.shared import products
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

STEPS = (
    WrongCost(
        "matrix-brought", "A matrix as large as W was brought together, and x is much smaller. Leave W in its place, and "
        "move x.", 1, when=lambda o: gathers(o, of=1)),
    WrongCost(
        "rows-only", "A step by rows needs all of x, so every step has to gather x first: six collectives. Which steps take "
        "x as it is?", 1, when=lambda o: o.kinds == {"all-gather"} and of.runs(o) >= of.STEPS),
    WrongCost(
        "meets-in-every-step", "A reduce-scatter in every step moves no more bytes, but all devices meet six times. If rows "
        "and columns alternate, they meet three times.",
        1, when=lambda o: o.kinds == {"reduce-scatter"} and of.runs(o) == of.STEPS),
    WrongCost(
        "columns-only", "Six sums over all devices, each at twice the price of a gather. A step by columns makes terms and "
        "needs a sum. Perhaps all six steps are by columns.", 1,
        when=lambda o: o.kinds == {"all-reduce"} and of.runs(o) == of.STEPS),
    WrongCost(
        "one-round-a-step", "x lies in the same place after every round of a loop, so each of the six rounds moves it "
        "again. Put a step by columns and a step by rows into one round, and make three rounds.", 3,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _gathered_in_each_round(o)),
    WrongCost(
        "rows-before-columns", "This gather of x is unnecessary. A step by rows needs x whole, but a step by columns takes "
        "x cut, as it arrives. Begin with columns, and do not gather x first.", 2,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _of_x(o, 0)),
    WrongCost(
        "gathered-between", "x is gathered three times. The sum after a step by columns leaves x whole, as a step by rows "
        "needs it. A step by rows leaves x cut, as a step by columns needs it. If the two alternate, no gather is "
        "needed.", 2,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _gathers_of_x(o) == of.STEPS // 2),
    WrongCost(
        "brought-together-at-the-end", "x is gathered once, and comes out whole. Begin with columns and end with rows. Then "
        "x lies in rows, as it should, and nothing more has to move.", 3,
        when=lambda o: _right(o) and "all-reduce" in o.kinds and _of_x(o, -1) and _gathers_of_x(o) == 1
        and o.placements[0].shard_shape == o.placements[0].shape),
    *(WrongValues(
        "one-step-too-few", "There are six steps, and each divides by the root of N.", 1, like=wrong)
      for wrong in (
          lambda x, rows, columns: of.steps(x, rows, columns) * len(x) ** 0.5,
          *(functools.partial(of.steps, times=of.STEPS + more) for more in (-2, -1, 1, 2)),
      )),
)  # fmt: skip


def _right(o: Observed) -> bool:
    x, rows, columns = o.inputs
    return products.same(o, of.steps(x, rows, columns))


def _gathers_of_x(o: Observed) -> int:
    """How often x is gathered, all rounds of loops counted."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather" and c.payload_bytes == o.inputs[0].nbytes)


def _gathered_in_each_round(o: Observed) -> bool:
    """Whether one gather of x runs as often as there are steps: it stands in a loop of as many rounds."""
    return any(c.kind == "all-gather" and c.executions == of.STEPS for c in o.collectives)


def _of_x(o: Observed, which: int) -> bool:
    """Whether the first or the last collective, in the order of the text, gathers x."""
    one = o.collectives[which]
    return one.kind == "all-gather" and one.payload_bytes == o.inputs[0].nbytes


QUESTION = Question(
    "3.6", "A collective in every second step", difficulty=4, minutes=40, optional=True,
    items=(
        ProgramItem("steps", {"V": 2.5, "S": 2.5, "H": 7}, oracle=of.steps, draw=of.draw_steps, most=of.STEPS // 2,
                    cases=(of.steps_case(LINE, 32, 4), of.steps_case(WIDE, 24, 6)), misconceptions=STEPS,
                    atol=1e-4, tolerance="six float32 products one after another"),
    ),
    hints=(
        "Two layouts of W are two kinds of step. Write down for each: how must x be cut before it, and how is x cut after "
        "it?",
        "Columns take x as it arrives and leave terms. When these are summed, x is whole. Which steps can take a whole x at "
        "no cost?",
        "Make three rounds: columns @ x, then rows @ that, each divided by the root of N. A Python loop and lax.fori_loop "
        "with fixed bounds are both fine. You need no constraints.",
    ),
    explanation="Columns of W take x cut and leave terms, W[I, J_x]·x[J_x]. An all-reduce makes these whole. Rows of W take "
                "x whole and leave it cut, W[I_x, J]·x[J], and nothing moves. If they alternate, they need three "
                "collectives in six steps instead of six. The bytes stay the same, because an all-reduce is priced as two "
                "gathers, but the devices meet half as often. Against the six all-reduces of columns alone (XLA for CPU), "
                "the price halves too. You pay by holding W twice. Two layers of a network are two different matrices, so "
                "there the pattern is free: that is tensor parallelism (chapter 9). A loop that begins with rows needs one "
                "more gather, or one in every round.",
)  # fmt: skip
