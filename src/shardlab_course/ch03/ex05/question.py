"""Chapter 3, exercise 3.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch03.ex05 import oracle as of
from shardlab_course.ch03.shared import WIDE
from shardlab_judge.cases import Observed, axes
from shardlab_judge.items.layout import LayoutItem
from shardlab_judge.question import Question, WrongCost
from shardlens import Spec


def _rows(o: Observed) -> bool:
    return all(spec[:1] == ("x",) and set(spec[1:]) <= {None} for spec in of.specs(o))


def _inner_cut(o: Observed) -> bool:
    """Whether the dimension between B and C is cut over all axes in both."""
    _, b, c, _ = of.specs(o)
    return _axes_of(b, 1) == _axes_of(c, 0) == {axis for axis, _ in o.case.axes}


def _summed_cut(o: Observed) -> bool:
    """Whether a dimension that is summed over is cut in one of its two matrices."""
    a, b, c, d = of.specs(o)
    return any(_axes_of(*side) for side in ((a, 1), (b, 0), (b, 1), (c, 0), (c, 1), (d, 0)))


def _axes_of(spec: Spec, dimension: int) -> set[str]:
    entry = spec[dimension] if dimension < len(spec) else None
    return {entry} if isinstance(entry, str) else set(entry or ())


FREE = (
    WrongCost(
        "rows-everywhere", "With P('x') on all four, one operand of each product is cut along the contracted dimension. "
        "That makes three gathers.", 1,
        when=_rows),
    WrongCost(
        "inner-dimensions-cut", "A dimension that is summed is cut, so there is something to gather or to add. Which "
        "dimensions remain in the output?", 1, when=_summed_cut),
    WrongCost(
        "one-axis-twice", "A's rows and D's columns are cut over one axis. No device could hold its part of both in the "
        "output, so one of them is brought together.", 2, when=lambda o: bool(o.collectives)),
    WrongCost(
        "work-repeated", "Nothing moves, but devices repeat each other's work. All 8 divide the work of all three products "
        "only if both axes cut the rows of A.", 2, when=lambda o: not o.collectives),
)  # fmt: skip
ONE = (
    WrongCost(
        "rows-everywhere", "With P('x') on all four, one operand of each product is cut along the contracted dimension. "
        "That makes three gathers.", 1,
        when=_rows),
    WrongCost(
        "weights-stay-whole", "Nothing moves, because every device holds B and C whole. You pay for that in memory.",
        1, when=lambda o: not o.collectives),
    WrongCost(
        "another-dimension-cut", "One sum is enough to cut both B and C by 8: the sum over the dimension that they share. "
        "Cut that dimension over both axes.", 2,
        when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1 and not _inner_cut(o)),
    WrongCost(
        "d-could-be-cut", "The all-reduce leaves A·B·C whole on every device. So columns of D, and of the output, can be "
        "cut at no cost.", 3, when=lambda o: o.kinds == {"all-reduce"} and len(o.collectives) == 1
        and not _axes_of(of.specs(o)[3], 1)),
    WrongCost(
        "b-and-c-do-not-fit", "B·C is a sum over their common dimension. Cut B's columns and C's rows in the same way, and "
        "leave A whole. Otherwise the program has to add up more, or to gather something.",
        2, when=lambda o: len(o.collectives) > 1
        and (not _inner_cut(o) or bool(_axes_of(of.specs(o)[0], 0) | _axes_of(of.specs(o)[0], 1)))),
)  # fmt: skip

TALL = axes(x=2, y=4)

FREE_SPECS = {"A": [["x", "y"], None], "B": [None, None], "C": [None, None], "D": [None, None]}
ONE_SPECS = {"A": [None, None], "B": [None, ["x", "y"]], "C": [["x", "y"], None], "D": [None, ["x", "y"]]}
CHAINS = (of.chain_sizes(WIDE, 16, 32, 64, 16), of.chain_sizes(TALL, 24, 16, 48, 32))

QUESTION = Question(
    "3.5", "Four matrices, no collective; then one", difficulty=4, minutes=55,
    items=(
        LayoutItem("free", {"H": 2.5, "F": 4.5}, function=of.chain, reference=FREE_SPECS, cases=CHAINS,
                   misconceptions=FREE),
        LayoutItem("one", {"H": 4.5, "M": 4.5}, function=of.chain, reference=ONE_SPECS, cases=CHAINS, misconceptions=ONE),
    ),
    hints=(
        "If a dimension that is summed over is cut, the devices have to add their terms. Which two dimensions of the chain "
        "are never summed over?",
        "free: only rows of A and columns of D cost nothing to cut. The order of the products decides which cut divides "
        "more work. one: if B and C are cut, where is a sum over 8 devices unavoidable?",
        "one: cut the columns of B and the rows of C over both axes. With A whole, that gives A·B in columns and terms of "
        "A·B·C. After the all-reduce everything is whole, and D can be cut by columns.",
    ),
    explanation="To move nothing, keep every dimension whole that is summed over: B, C, A's columns and D's rows. Of 6,561 "
                "combinations of specs, compiled once with XLA for CPU, nine move nothing. One of these has all four whole, "
                "with eight times the work.\n\nOnly the rows of A, cut over both axes, divide all three products by 8. You "
                "pay for it in memory: every device holds B and C. If you cut B and C into 8, there is a sum over 8 "
                "devices: one all-reduce of A·B·C. A must be whole for that. D does not have to be: its columns can be cut, "
                "which divides the last product and the output. The two layers of Megatron-LM (chapter 9) are this B and C.",
)  # fmt: skip
