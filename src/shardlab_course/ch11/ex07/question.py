"""Chapter 11, exercise 11.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch11.ex07 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

FITS = (
    WrongValues(
        "outputs-are-small", "Writing new weights and state over the old ones saves at most the outputs' bytes. Two "
        "arrays of the last table are larger.", 1, like="a"),
    WrongValues(
        "copies-are-not-enough", "A checkpoint drops the gathered weights, which are kept in bfloat16. They are the "
        "second largest array, and dropping them is not enough.", 2, like="b"),
    WrongValues(
        "batch-is-small", "Half of the batch halves the activations. They are small next to the weights and gradients of "
        "such wide layers.", 1, like="d"),
)  # fmt: skip
READ = (
    WrongValues(
        "exchanged", "Count the bytes of a number. In a gradient it has four. The gathers above the table bring weights in "
        "bfloat16.", 1, like={"largest": "weights", "second": "gradients"}),
    WrongValues(
        "state-is-cut", "m and v are cut, so a device has an eighth of each. Both are among the arguments.", 2,
        like=lambda said: "state" in said.values()),
    WrongValues(
        "activations-are-small", "The outputs of all layers have 10 arrays of 1024 rows on a device. Weights and gradients "
        "have 10 arrays of 16384 rows.", 2, like=lambda said: "activations" in said.values()),
)  # fmt: skip
FITTING = (
    WrongValues(
        "exact-fit-refused", "Arrays of exactly `room` bytes in all fit.", 2, like=of.fitting_with(of.whole, exact=False)),
    WrongValues(
        "others-forgotten", "Too many changes fit. Perhaps only the arrays that change are counted: those that a change "
        "does not touch stay in memory, and also need room.", 2,
        like=of.fitting_with(lambda held, after: sum(after.values()))),
    WrongValues(
        "new-sizes-forgotten", "Too many changes fit. Perhaps an array that changes is not counted at all: it still takes "
        "the bytes that `changes` has for it.", 2, like=of.fitting_with(of.others)),
    WrongValues(
        "left-taken-for-saved", "`changes` has the bytes that an array takes afterwards, not the bytes that are saved.", 2,
        like=of.fitting_with(lambda held, after: sum(held.values()) - sum(after.values()))),
    WrongValues(
        "counted-twice", "Here no change ever fits. Perhaps an array that changes is counted twice, before and after: count "
        "only its new size.", 2,
        like=of.fitting_with(lambda held, after: sum(held.values()) + sum(after.values()))),
    WrongValues(
        "largest-alone", "It is not enough that each array fits. They are all in memory at the same time.", 1,
        like=of.fitting_with(lambda held, after: max((held | after).values()))),
    WrongValues(
        "changes-add-up", "Each change is tried on the first program. If you write into `held`, the next change starts "
        "from what the one before it left.", 3, like=of.accumulated),
    WrongValues("only-the-best", "More than one change may be enough. Return all of them.", 1, like=of.best),
)  # fmt: skip

QUESTION = Question(
    "11.7", "Which change makes it fit?", difficulty=3, minutes=30, optional=True,
    items=(
        ValueItem("fits", {"P": 2}, predicted=True, key="c", words=tuple("abcd"), misconceptions=FITS),
        ValueItem("read", {"V": 3}, key={"largest": "gradients", "second": "weights"}, misconceptions=READ,
                  words=("activations", "gradients", "state", "weights")),
        CallsItem("fitting", {"C": 5}, oracle=of.fitting, draw=of.draw, misconceptions=FITTING,
                  calls=(of.FIRST, of.EXACT)),
    ),
    hints=(
        "How many bytes are too many? And which array in the last table is at least as large as that?",
        "Take the shape of all weights, and count its bytes at four and at two bytes an element. Which arrays of a step "
        "have this shape, and in which dtype? The listing says what is gathered.",
        "For each change take a copy of `held` in which its arrays have their new sizes: {**held, **after}. Add up all of "
        "its values, and compare with `room`.",
    ),
    explanation="The program is seven `G` too large. The largest array has as many numbers as all weights, with four bytes "
                "each: the gradients, which `whole` asks for on every device. If they "
                "are cut as the weights are, they take an eighth. The all-reduce becomes a reduce-scatter, so this change "
                "also sends less.\n\nThe other three remedies are good ones, but not for this program. Donation saves the "
                "new copies of weights and state. A checkpoint drops the gathered weights, which are in bfloat16 and half "
                "as large as the gradients. Half of the batch halves the activations, which are small here."
                " So first read which array is the largest and what it is. Then "
                "choose the change that removes it.",
)  # fmt: skip
