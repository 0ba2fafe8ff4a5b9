"""Chapter 7, exercise 7.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import functools

import numpy as np

from shardlab_course.ch07.ex04 import oracle as of
from shardlab_course.ch07.shared import GATHERS, PARTS, WIDE, drawing, same, whole_blocks
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

NORMALIZE = (
    WrongValues(
        "pmean-is-mean",
        "pmean takes the mean over devices, element by element. The mean over a device's own columns is still missing.",
        1, when=lambda o: same(o, of.across_devices(o.inputs[0], dict(o.case.axes)["y"]))),
    WrongValues(
        "blocks-apart",
        "Each device normalized its own columns only.", 1, local=lambda at, x: of.normalized(x)),
    WrongValues(
        "rows-and-devices-mixed", "The mean was also taken over other rows, which lie along x. A row lies along y.", 2,
        when=of.mixed_rows),
    WrongValues(
        "columns-reduced", "The mean over dimension 0 mixes the rows of a block. The columns of a row are dimension 1.", 2,
        when=of.by_columns),
    WrongValues(
        "mean-of-spreads",
        "The standard deviation of a row is not the mean of its blocks' standard deviations. Average the squared "
        "deviations from the row's mean, and take the root once.", 2, when=of.mean_of_spreads),
    WrongValues(
        "own-mean", "Each device subtracted the mean of its own columns. A row has one mean, that of all its columns.", 2,
        when=of.own_mean),
    WrongValues(
        "sum-of-means",
        "psum of the blocks' means is too large by a factor, the number of devices that share a row. pmean divides by "
        "this number.", 2,
        when=of.sums_as_means),
    WrongValues(
        "sum-of-means",
        "All values are too small by a factor as large as the root of the number of devices that share a row. Perhaps mean "
        "squares were added up by psum; pmean divides by this number.", 2,
        when=lambda o: of.normalized_by(o, lambda blocks, n: np.sqrt(n) * blocks.std((1, 2)))),
    WrongValues(
        "mean-of-variances",
        "The variance of a row is not the mean of its blocks' own variances: the differences between the blocks' means "
        "are missing. Square deviations from the mean of the row.", 2,
        when=lambda o: of.normalized_by(o, lambda blocks, n: np.sqrt(blocks.var(2).mean(1)))),
    WrongValues(
        "variance-not-rooted", "The rows were divided by the variance. The standard deviation is its root.", 1,
        when=lambda o: of.normalized_by(o, lambda blocks, n: blocks.var((1, 2)))),
    WrongValues(
        "not-divided", "The mean was subtracted, and nothing was divided. The standard deviation should be 1.", 1,
        when=lambda o: of.normalized_by(o, lambda blocks, n: np.ones(len(blocks)))),
    WrongValues(
        "one-degree-less", "NumPy's x.std() divides by the number of entries, and not by one less.", 1,
        when=lambda o: of.normalized_by(o, lambda blocks, n: blocks.reshape(len(blocks), -1).std(1, ddof=1))),
    LEFT, GATHERS, PARTS,
    WrongCost(
        "whole-blocks-summed", "An all-reduce carries as much as a whole block. Reduce the block to one number per row "
        "first.", 2,
        when=whole_blocks),
)  # fmt: skip
TEST = (
    WrongValues(
        "moments-prove-nothing",
        "A test of mean 0 and standard deviation 1 accepts wrong arrays too: plus and minus ones have both. Compare with "
        "the right answer.", 3, like=of.moments),
    WrongValues(
        "moments-of-rows-prove-nothing",
        "Rows with mean 0 and standard deviation 1 can be rows other than those of x. Compare with the right answer.",
        3, like=functools.partial(of.moments, axis=1)),
    WrongValues(
        "order-proves-nothing",
        "Rows can have mean 0, standard deviation 1 and the order of x, and still be wrong: after a cube for example. "
        "Compare with the right answer.", 3, like=of.in_order),
    WrongValues(
        "correlation-proves-nothing",
        "Rows that are correlated with x can be shifted, scaled, or wrong in some entries. Compare with the right answer.",
        3, like=of.correlated),
    WrongValues(
        "correlation-proves-nothing",
        "Rows that are correlated with x can be shifted, or wrong in some entries. Compare with the right answer.",
        3, like=of.deviating),
    WrongValues(
        "exactly-equal",
        "Your test refuses all right answers. Print how far y is from what the test expects. If that is tiny, "
        "allow it: the last digits of y differ from NumPy's.", 3,
        like=lambda x, y: bool((np.asarray(y) == of.normalized(np.asarray(x))).all())),
    WrongValues(
        "first-row-compared",
        "Your test decides as if it compared only the first row, and another row may be wrong. Compare all of them.", 3,
        like=lambda x, y: of.is_normalized(x[:1], y[:1])),
    WrongValues("believes-everything", "Your test accepts every array.", 3, like=lambda x, y: True),
    WrongValues(
        "differences-with-their-sign", "Entries that are too large pass. Compare absolute differences.", 3,
        like=of.not_below),
    WrongValues(
        "differences-with-their-sign", "Entries that are too small pass. Compare absolute differences.", 3,
        like=functools.partial(of.not_below, sign=-1)),
)  # fmt: skip

GRIDS = (WIDE, of.TALL)

QUESTION = Question(
    "7.4", "Normalized, says the test", difficulty=3, minutes=40,
    items=(
        ProgramItem("parallel_normalize", {"V": 4, "S": 2, "H": 2}, oracle=of.normalized, misconceptions=NORMALIZE,
                    cases=(of.grid_case(WIDE, 8, 24), of.grid_case(of.TALL, 6, 40)), draw=drawing(of.grid_case, GRIDS, 4, 8),
                    manual=True, atol=1e-4, tolerance="float32 means of numbers up to 10, and a division by their spread"),
        CallsItem("is_normalized", {"V": 4}, oracle=of.is_normalized, calls=tuple(of.attempts()), draw=of.draw_attempt,
                  misconceptions=TEST),
    ),
    hints=(
        "Take one row with 4 numbers on 2 devices, and do by hand what the given body does. Over how many numbers is each "
        "of its means taken?",
        "The mean over a row is the mean over devices of the mean over each device's columns, because all devices have "
        "equally many. keepdims=True keeps the shapes simple.",
        "Body: take the block's mean over dimension 1, then pmean over y; do the same for squared deviations. Test: "
        "compute the right answer with NumPy and compare with np.allclose.",
    ),
    explanation="pmean of an array is taken over devices, element by element, and leaves an array of the block's size. So "
                "the body subtracts the mean of 2 numbers, not of a row. With two devices every deviation is plus or minus "
                "the same number, so everything becomes plus or minus one. The mean of these is 0 and their standard "
                "deviation is 1, so the test in the published notebook passed.\n\nA test of properties proves nothing if "
                "the wrong answers have these properties too. Compare with an independent, slow, obvious answer, on data "
                "that show the mistakes you can think of.\n\nIf you reduce a block first, one number per row crosses "
                "devices instead of a block.",
)  # fmt: skip
