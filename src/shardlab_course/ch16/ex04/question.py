"""Chapter 16, exercise 16.4: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex04 import oracle as of
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import LEFT, promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

ATTEND = (
    LEFT,
    WrongValues(
        "softmaxes-averaged", "Each device made a softmax of its own positions, and the results were averaged. A device "
        "whose scores are large has to count for more.", 2, when=of.combined(of.averages)),
    WrongValues(
        "softmaxes-added", "Each device made a softmax of its own positions, and the results were added. Their weights then "
        "add up to more than one.", 2, when=of.combined(of.adds)),
    WrongValues(
        "own-maximum", "Each device subtracted its own maximum, and such terms cannot be added: bring them to one maximum "
        "first.", 2, when=of.combined(of.own_maximum)),
    WrongValues(
        "padding-takes-part", "Positions from `length` on took part. `length` counts positions of the whole cache, and a "
        "block begins at position axis_index('x') times the block's size.", 1, like=of.attend_with(masked="no")),
    WrongValues(
        "masked-to-zero", "The scores of the positions from `length` on became 0, and exp(0) is 1. Their exponentials have "
        "to be 0.", 1, like=of.attend_with(masked="zero")),
    WrongValues("scale-forgotten", "The scores are not divided by the root of D.", 1, like=of.attend_with(scaled=False)),
    WrongValues(
        "exp-overflows", "Some values are not numbers. Perhaps exp of a large score was infinite in float32: subtract the "
        "maximum of the row first.", 2,
        when=of.overflows),
    WrongValues(
        "one-maximum-for-all", "Rows with much smaller scores are not numbers. Perhaps one maximum was taken for all rows, "
        "and the exponentials of these are all 0: each row has a maximum of its own.", 2, when=of.one_for_all),
    WrongValues(
        "unfilled-maximum", "Some values are not numbers. Perhaps positions that are not filled took part in the maximum, "
        "and a score there is so large that all exponentials are 0: mask with -inf before you take the maximum.", 2,
        when=of.unfilled),
    WrongValues(
        "empty-block", "A device without a single filled position makes values that are no numbers. Perhaps its maximum is "
        "-inf, and -inf - (-inf) is not a number: subtract a maximum over all devices.", 3, when=of.empty),
    WrongCost(
        "scores-moved", "The scores of all positions, or as many other numbers, went to every device. A device needs a "
        "maximum and a sum of them.", 2,
        when=of.scores_move),
    WrongCost(
        "cache-moved", "Something as large as a device's keys was moved. Perhaps keys or values of the cache: what a "
        "device computes from its positions is much smaller.", 1,
        when=of.cache_moves),
    WrongCost(
        "parts-gathered", "Every device received the results of every other. They only have to be added up, and a psum "
        "moves fewer bytes.", 3, when=of.parts_gathered),
    promise_over_x("something was not summed over x.", 3),
)  # fmt: skip

QUESTION = Question(
    "16.4", "A softmax that nobody sees whole", difficulty=4, minutes=45,
    known_as="flash-decoding (Dao and others, 2023)",
    items=(
        ProgramItem("attend", {"V": 5.5, "S": 2, "H": 6.5}, oracle=of.attend, manual=True, misconceptions=ATTEND,
                    draw=of.draw, rtol=1e-3, atol=1e-3, names=of.steps,
                    tolerance="scores of about a hundred in float32, whose exponentials keep four digits",
                    cases=(of.case(LINE, 2, 4, 64, 16, "long"), of.case(WIDE, 3, 2, 48, 16, "long", large=True),
                           of.case(LINE, 3, 4, 64, 16, "short"))),
    ),
    hints=(
        "A softmax is a quotient of two sums over positions. Which parts of both can a device make from its own positions?",
        "Both sums are of exp(score - m), and any m gives the same quotient if it is the same on all devices. Which m "
        "cannot overflow?",
        "m = pmax of the largest score; e = exp(score - m), 0 from `length` on; psum of e @ v and of e.sum(); divide at the "
        "end.",
    ),
    explanation="The numerator and the denominator of a softmax are sums over positions, so each device adds up its own, "
                "and two small sums travel instead of the cache. The maximum is there only to keep exp from overflowing. "
                "Subtract the same number everywhere and it cancels, so one pmax comes first.\n\nA device may also keep its "
                "own maximum, and multiply its sums by exp(own - largest) before they are added. Then the pmax is not "
                "needed before the products, and this is how a kernel runs through the blocks of one device. Both have to "
                "treat a device without filled positions with care. What moves depends on the batch and the heads, and not "
                "on the length of the cache.",
)  # fmt: skip
