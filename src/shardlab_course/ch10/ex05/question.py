"""Chapter 10, exercise 10.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from functools import partial

from shardlab_course.ch10.ex05 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, gathers
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

STATISTICS = (
    LEFT,
    WrongValues(
        "own-statistics",
        "Each device normalized with the mean and variance of its own rows, so the same row would come out differently "
        "elsewhere.",
        1, local=of.normalised_own),
    WrongValues(
        "mean-of-variances",
        "The mean of the devices' variances leaves out how far their means lie apart: measure deviations from the global "
        "mean.",
        2, when=of.mean_of_variances),
    WrongValues(
        "mean-of-deviations",
        "Standard deviations do not average; average squared deviations from the global mean, then take the root.",
        2, when=partial(of.mean_of_variances, root=True)),
    WrongValues(
        "means-summed",
        "psum of the devices' means is n times the mean; pmean is the mean, since all have equally many rows.",
        1, when=of.mean_summed),
    WrongValues(
        "wrong-dimension", "Each row was normalized; a batch norm takes its statistics over the batch, for each column.",
        1, like=of.normalised_rows),
    WrongValues(
        "own-mean", "Each device subtracted the mean of its own rows; deviations are from the mean of the whole batch.",
        1, when=of.own_mean),
    WrongValues(
        "divided-by-the-variance", "That divides by the variance; its root is the standard deviation.", 1,
        like=of.without_root),
    WrongValues(
        "epsilon-forgotten", "Where a column hardly varies the small number below the root decides: it is 1e-5, added to "
        "the variance.", 3, like=of.without_epsilon),
    WrongValues(
        "epsilon-outside-the-root", "1e-5 is added to the variance, before its root is taken.", 3,
        like=of.epsilon_outside),
    WrongValues(
        "unbiased-variance", "The variance here is the mean of the squared deviations: divide by the number of rows.", 1,
        like=of.unbiased_variance),
    WrongCost(
        "statistics-gathered",
        "Every device gets every device's statistics, and needs only their mean: pmean moves one number for each.",
        2, when=lambda o: "all-gather" in o.kinds and all(c.payload_bytes < o.inputs[0].nbytes for c in o.collectives)),
    gathers("The whole batch is gathered; two numbers for each column are all that the devices need from one another."),
)  # fmt: skip

QUESTION = Question(
    "10.5", "Statistics of a batch that nobody has", difficulty=3, minutes=35,
    items=(
        ProgramItem("batch_norm", {"V": 1, "S": 0.5, "H": 1}, oracle=of.normalised,
                    misconceptions=STATISTICS, manual=True,
                    rtol=2e-4, atol=2e-4, tolerance="the variance may be taken as a difference of float32 means",
                    cases=(of.columns(LINE, 32, 6), of.columns(PLANE, 24, 7)), draw=of.draw_columns),
    ),
    hints=(
        "How many numbers does a device need from the others before it can normalize its own rows?",
        "Deviations must be from the global mean. Then their squares' mean over your rows, averaged over devices, is the "
        "global variance.",
        "m = pmean(x.mean(0)), v = pmean(((x - m) ** 2).mean(0)), both over data; then (x - m) / sqrt(v + 1e-5) * scale + "
        "shift.",
    ),
    explanation="All devices have equally many rows, so the mean of their means is the mean. For variances that fails: "
                "var = mean of the own variances + variance of the own means, and pmean of the variances drops the "
                "second term. Deviations from the global mean, or means of x and x² in one all-reduce, are right. Either"
                " way two numbers a column move. On global arrays under jit batch norm is over the whole batch by "
                "itself. On many hosts too: a global array is global. In shard_map statistics are local unless you "
                "reduce them, and so they are in libraries in which a process knows its own batch alone; the other thing"
                " is called synchronized batch norm.",
)  # fmt: skip
