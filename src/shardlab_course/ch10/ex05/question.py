"""Chapter 10, exercise 10.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from functools import partial

from shardlab_course.ch10.ex05 import oracle as of
from shardlab_course.ch10.shared import LINE, PLANE, gathers
from shardlab_course.shared.manual import LEFT
from shardlab_course.shared.sent import sent
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

STATISTICS = (
    LEFT,
    WrongValues(
        "own-statistics",
        "Each device normalized with the mean and variance of its own rows, so the same row would give other values on "
        "another device.",
        1, local=of.normalised_own),
    WrongValues(
        "mean-of-variances",
        "The mean of the devices' variances omits how far apart their means are. Measure deviations from the global mean.",
        2, when=of.mean_of_variances),
    WrongValues(
        "mean-of-deviations",
        "Standard deviations cannot be averaged. Average squared deviations from the global mean, then take the root.",
        2, when=partial(of.mean_of_variances, root=True)),
    WrongValues(
        "means-summed",
        "psum of the devices' means is n times the mean. pmean is the mean, because all have equally many rows.",
        1, when=of.mean_summed),
    WrongValues(
        "wrong-dimension", "Each row was normalized. A batch norm takes its statistics over the batch, for each column.",
        1, like=of.normalised_rows),
    WrongValues(
        "own-mean", "Each device subtracted the mean of its own rows. Subtract the mean of the whole batch.",
        1, when=of.own_mean),
    WrongValues(
        "divided-by-the-variance", "That divides by the variance. Divide by its root, the standard deviation.", 1,
        like=of.without_root),
    WrongValues(
        "epsilon-forgotten", "Where a column hardly varies, the small number under the root decides. It is 1e-5, added to "
        "the variance.", 3, like=of.without_epsilon),
    WrongValues(
        "epsilon-outside-the-root", "1e-5 is added to the variance, before the root is taken.", 3,
        like=of.epsilon_outside),
    WrongValues(
        "unbiased-variance", "The variance here is the mean of the squared deviations: divide by the number of rows.", 1,
        like=of.unbiased_variance),
    WrongCost(
        "statistics-gathered",
        "Every device gets every device's statistics, and it needs only their mean. With pmean one number moves for each.",
        2, when=lambda o: sent(o, "all-gather") >= 2 * o.inputs[1].nbytes
        and all(c.payload_bytes < o.inputs[0].nbytes for c in o.collectives)),
    gathers("The whole batch is gathered. The devices need only two numbers for each column from one another."),
)  # fmt: skip

QUESTION = Question(
    "10.5", "Statistics of a batch that nobody has", difficulty=3, minutes=35,
    items=(
        ProgramItem("batch_norm", {"V": 4, "S": 2, "H": 4}, oracle=of.normalised, names=of.steps,
                    misconceptions=STATISTICS, manual=True,
                    rtol=2e-4, atol=2e-4, tolerance="the variance may be taken as a difference of float32 means",
                    cases=(of.columns(LINE, 32, 6), of.columns(PLANE, 24, 7)), draw=of.draw_columns),
    ),
    hints=(
        "How many numbers does a device need from the others before it can normalize its own rows?",
        "Take deviations from the global mean. The mean of their squares over your rows, averaged over devices, is the "
        "global variance.",
        "m = pmean(x.mean(0)), v = pmean(((x - m) ** 2).mean(0)), both over data; then (x - m) / sqrt(v + 1e-5) * scale + "
        "shift.",
    ),
    explanation="All devices have equally many rows, so the mean of their means is the mean. For variances this fails: "
                "var = mean of the own variances + variance of the own means, and pmean of the variances drops the second "
                "term. Two ways are right: deviations from the global mean, or means of x and x² in one all-reduce. "
                "Either way two numbers move for each column.\n\nOn global arrays under jit, batch norm is over the whole "
                "batch by itself, also on many hosts, because a global array is global. In shard_map statistics are local "
                "unless you reduce them. The same holds in libraries where a process knows only its own batch; there the "
                "global version is called synchronized batch norm.",
)  # fmt: skip
