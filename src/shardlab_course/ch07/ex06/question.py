"""Chapter 7, exercise 7.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import numpy as np

from shardlab_course.ch07.ex06 import oracle as of
from shardlab_course.ch07.shared import (
    GATHERS,
    LINE,
    MESHES,
    PARTS,
    PROMISE,
    WIDE,
    drawing,
    whole_blocks,
)
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

OVERFLOW = WrongValues(
    "no-maximum-subtracted",
    "Some values are no numbers, as if nothing were subtracted, or nearly the same number in every row. But float32 holds "
    "neither exp(100) nor exp(-200). First subtract the row's maximum, which is the same on all devices.", 2,
    when=of.constant_subtracted)  # fmt: skip
PART_OF_ROW = WrongValues(
    "part-of-the-row-summed",
    "Some values are no numbers. Perhaps the sum is not that of the whole row: on a device whose columns are far below the "
    "maximum it is zero. Add up the block's columns, then psum over x. Then divide, or take the logarithm.", 2,
    when=of.sums_a_part)  # fmt: skip
ONE_MAXIMUM = WrongValues(
    "one-maximum-for-all-rows",
    "Something near the largest logit of all rows was subtracted. In a row that lies far below it every exponential is "
    "zero. Subtract the maximum of each row.", 2,
    when=lambda o: of.overflows(o, of.one_maximum))  # fmt: skip
MEAN = WrongValues(
    "mean-for-maximum",
    "You subtracted something other than the row's maximum, such as its mean, and some logit lies far above it. The "
    "exponential of the difference is too large for float32. No logit lies above the maximum.", 2,
    when=lambda o: of.overflows(o, of.row_means))  # fmt: skip
SOFTMAX = (
    LEFT, ONE_MAXIMUM, MEAN, PART_OF_ROW, OVERFLOW,
    WrongValues(
        "pmean-for-psum",
        "All values are the right ones times one number above 1. Perhaps the sum is a mean: take psum, not pmean, and in a "
        "block sum, not mean.", 2, when=of.sum_averaged),
    WrongValues(
        "local-softmax",
        "Each device divided by the sum of its own columns, so a row adds up to the number of devices along x.", 1,
        local=lambda at, x: of.softmax(x)),
    WrongValues(
        "own-maximum",
        "Each device subtracted its own maximum. So the sums are in different units, and cannot be added.", 2,
        when=of.own_maximum),
    WrongValues(
        "devices-compared",
        "pmax and psum go over devices, element by element. The block's own columns are still to be reduced.", 1,
        when=of.softmax_over_devices),
    WrongValues(
        "rows-summed", "The sum goes over rows, dimension 0. A row's sum goes over its columns: reduce dimension 1, then "
        "psum over x.", 1, when=of.rows_summed),
    WrongValues(
        "everything-adds-up", "All rows together add up to 1. Reduce over dimension 1 only.", 1,
        like=lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum()),
    WrongValues(
        "columns-add-up", "Softmax was taken over dimension 0: columns add up to 1 instead of rows.", 1,
        like=lambda x: of.softmax(x.T).T),
    GATHERS, PARTS,
    WrongCost(
        "whole-blocks-summed", "An all-reduce carries as much as a whole block. Reduce the block to one number per row "
        "first.", 2,
        when=whole_blocks),
)  # fmt: skip
LOGSUMEXP = (
    PROMISE, LEFT, ONE_MAXIMUM, MEAN, PART_OF_ROW, OVERFLOW,
    WrongValues(
        "pmean-for-psum",
        "All values are too small by one amount. Perhaps the logarithm is that of a mean: take psum, not pmean, and in a "
        "block sum, not mean.", 2,
        when=of.logarithm_of_mean),
    WrongValues(
        "maximum-forgotten", "What was subtracted before exp has to be added after log.", 2,
        like=lambda x: of.logsumexp(x) - x.max(1)),
    WrongValues(
        "logarithms-added",
        "The logarithm of a sum is not the sum, or the mean, of logarithms. Add up the exponentials.", 1,
        when=of.summed_logarithms),
    WrongValues(
        "each-device-its-own",
        "Each device returned the logarithm of its own sum. Add up the exponentials over devices.", 1,
        local=lambda at, x: of.logsumexp(x)),
    GATHERS, PARTS,
)  # fmt: skip

QUESTION = Question(
    "7.6", "Softmax over many devices", difficulty=4, minutes=40,
    known_as="the merge of partial softmaxes in online softmax (Milakov and Gimelshein, 2018)",
    items=(
        ProgramItem("softmax", {"V": 2.5, "S": 1.5, "H": 2.5}, oracle=of.softmax, misconceptions=SOFTMAX, manual=True,
                    cases=(of.SOFTMAX(LINE, 6, 64), of.SOFTMAX(WIDE, 10, 48)), draw=drawing(of.SOFTMAX, MESHES, 3, 16),
                    rtol=1e-4, tolerance="exponentials of float32 numbers up to 350"),
        ProgramItem("logsumexp", {"V": 2.5, "S": 1.5, "H": 1.5}, oracle=of.logsumexp,
                    misconceptions=LOGSUMEXP, manual=True,
                    cases=(of.LOGSUMEXP(LINE, 6, 64), of.LOGSUMEXP(WIDE, 10, 48)),
                    draw=drawing(of.LOGSUMEXP, MESHES, 3, 16)),
    ),
    hints=(
        "Write softmax of one row in NumPy, with the maximum subtracted. Which of its steps need the whole row? How large "
        "is what they produce?",
        "Two steps need every device: the maximum and the sum of exponentials. Each is one number per row. Reduce the block "
        "first, then over x.",
        "m = pmax of the block's maximum over dimension 1, keepdims=True; e = exp(block - m); divide by psum of e's sum. "
        "logsumexp is the log of that sum, plus m.",
    ),
    explanation="Softmax needs the whole row twice, for its maximum and for its sum, and each of these is one number per "
                "row. So each device reduces its block first, and then there are two all-reduces of one number per row, "
                "however wide the row is. pmax and psum return invarying values, so logsumexp may promise P().\n\nThe "
                "maximum must be the same on all devices, or sums in different units are added. Without any maximum float32 "
                "overflows at exp(89), and exp(-88) is already zero on XLA for CPU. A local softmax makes each block of a "
                "row add up to 1, and the row to the number of devices along x. Vocabulary-parallel cross-entropy and "
                "attention over split sequences are made of these two functions. To train through them, put "
                "jax.lax.stop_gradient around the argument of pmax: JAX has no derivative of pmax, and none is needed.",
)  # fmt: skip
