"""Chapter 7, exercise 7.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch07.ex05 import oracle as of
from shardlab_course.ch07.shared import GATHERS, LINE, MESHES, PARTS, PROMISE, WIDE, drawing
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongValues

MASKED = (
    PROMISE, LEFT,
    WrongValues(
        "mean-of-means",
        "Means were averaged, or added up, so every device, or every sentence, has the same weight, however few words it "
        "has. Add up sums and counts first, then divide once.", 1, when=of.mean_of_means),
    WrongValues(
        "padding-counted", "All entries were averaged, including the padding after the sentences.", 1,
        like=lambda losses, lengths: losses.mean()),
    WrongValues(
        "padding-as-zeros", "The padding is zero in the sum, but it is still counted in the denominator.", 1,
        like=lambda losses, lengths: of.masked_mean(losses, lengths) * lengths.sum() / losses.size),
    WrongValues(
        "not-divided", "This is the sum of the losses. Divide it by the number of words.", 1,
        like=lambda losses, lengths: of.masked_mean(losses, lengths) * lengths.sum()),
    WrongValues(
        "each-device-its-own",
        "Each device returned the mean of its own sentences. Add sums, and counts, over devices.", 1,
        local=lambda at, losses, lengths: of.masked_mean(losses, lengths.astype(int))),
    WrongValues(
        "psum-and-pmean",
        "The mean is too large or too small by a factor, the number of devices along x. Perhaps one of the two sums is a "
        "pmean, and the other a psum.", 2, when=lambda o: of.scaled(o, of.masked_mean)),
    WrongValues(
        "own-words-counted",
        "The losses of all devices were added, and divided by the number of words on one device. Count over all devices "
        "too.", 2,
        when=of.own_counts),
    WrongValues(
        "padding-times-zero",
        "The mean is NaN where the padding is NaN, because 0 * NaN is NaN. Do not multiply the padding by zero: choose with "
        "jnp.where.", 3, when=of.padding_times_zero),
    WrongValues(
        "nothing-by-nothing",
        "Some value is NaN. If a device without a word divides zero by zero, the result is NaN, and so is every sum that "
        "contains it. Add up first; divide once, at the end.", 2, when=of.nothing_by_nothing),
    WrongValues(
        "nothing-counts-as-one",
        "The count is too large by one for each device without a word. Perhaps max(count, 1) stands before the sum over "
        "devices. Add the counts first.", 2, when=of.nothing_as_one),
    WrongValues(
        "last-word-too", "A sentence of n words has the positions 0 to n - 1.", 1,
        when=of.last_word_too),
    GATHERS, PARTS,
)  # fmt: skip

QUESTION = Question(
    "7.5", "The mean over all words", difficulty=2, minutes=25, optional=True,
    items=(
        ProgramItem("masked_mean", {"V": 3.5, "S": 1.75, "H": 1.75}, oracle=of.masked_mean,
                    misconceptions=MASKED, manual=True,
                    cases=(of.losses_case(LINE, 16, idle=False), of.losses_case(WIDE, 12)),
                    draw=drawing(of.losses_case, MESHES, 8)),
    ),
    hints=(
        "Take two devices: one has 1 word of loss 10, the other has 9 words of loss 2. What is the mean over the 10 "
        "words? What is the mean of the means?",
        "A mean is a quotient of two sums. Which two numbers does each device contribute?",
        "keep = jnp.arange(width) < lengths[:, None]. Sum jnp.where(keep, losses, 0) and keep, psum both over x, and then "
        "divide.",
    ),
    explanation="A mean is a sum divided by a count, and both run over devices. If each device divides first, every "
                "device's mean gets the same weight, whether it stands for 9 words or for 1. With sentences of unequal "
                "length that is wrong, by an amount that changes from batch to batch. pmean is right for all numbers only "
                "if all devices have equally many terms. The right program sends two numbers per device, whatever the "
                "batch. Its price is 16 bytes, because this course counts an all-reduce twice.\n\njnp.where omits the "
                "padding whatever it holds. A product with weights of 1 and 0 does not, because 0 * NaN is NaN. If the "
                "weights are a boolean mask, XLA for CPU makes a selection of the product, but do not rely on that.",
)  # fmt: skip
