"""Chapter 16, exercise 16.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex08 import oracle as of
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import LEFT, promise_over_x
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question, WrongCost, WrongValues

SUM = (
    LEFT,
    WrongValues(
        "sum-wraps", "A sum beyond 127 came back as a negative number. Add in int32, and give the sums a scale of their own "
        "before they become int8 again.", 2, when=of.wrapped),
    WrongValues(
        "own-scales", "Each device divided by a scale of its own, and the sum was multiplied by the scale of the device "
        "that added. Numbers can be added as int8 only if all have the same scale.", 2, when=of.own_scales),
    WrongValues(
        "scale-missing", "The sum was not multiplied back by a scale. There are two: one of the parts, and one of the sums.",
        3, when=of.scale_missing),
    WrongValues(
        "scale-fixed", "Much smaller or larger numbers do not give sums that are smaller or larger by the same factor. "
        "Perhaps a scale is fixed: compute each scale from the largest magnitude.", 3, when=of.scale_fixed, breaks=True),
    WrongValues(
        "cut-off", "Numbers were cut off or rounded down. Round to the nearest before you convert to int8.", 3,
        when=of.truncated),
    WrongValues(
        "range-divided", "The scale is so large that int8 holds the sum of all devices. Then the error of each part grows "
        "with the number of devices, and each device adds one part.", 1, like=of.coarse),
    WrongCost(
        "parts-gathered", "Every device received the int8 parts of all others. On many devices these are more bytes than an "
        "all-reduce in float32.", 1, when=of.gathered),
    WrongCost(
        "wide-numbers-sent", "Numbers of more than one byte were sent, and not only scales.", 1,
        when=of.floats_move),
    promise_over_x("a scale is that of one device, or a gather lacks to='invarying'.", 3),
)  # fmt: skip

QUESTION = Question(
    "16.8", "An all-reduce of one byte a number", difficulty=4, minutes=30, optional=True,
    known_as="a quantised all-reduce, as in EQuARX (Ahmed and others, 2025)",
    items=(
        ProgramItem("sum_int8", {"V": 4, "S": 1.5, "H": 4.5}, oracle=of.total, manual=True, misconceptions=SUM,
                    draw=of.draw, rtol=0.0, atol=of.most, tolerance="the number of devices times the scale",
                    slack=of.scales, slack_reason="a scale of each device may be sent in place of one for all",
                    cases=(of.case(LINE, 256, of.SMALL), of.case(WIDE, 192, of.HUGE))),
    ),
    hints=(
        "An all-reduce is a reduce-scatter and an all-gather. In which of the two are numbers added, and who could add them "
        "in int32?",
        "An all_to_all brings each device the same chunk of all parts, still in int8. The device adds them in int32 and "
        "multiplies by the scale. The floats that it gets need a scale of their own.",
        "scale = pmax(abs(part).max()) / 127; round, int8, reshape(n, -1), all_to_all; sum in int32 times scale; then once "
        "more scale, round, int8, and all_gather(..., tiled=True, to='invarying').",
    ),
    explanation="The reduction of an all-reduce is part of the collective, and it adds in the dtype that is sent. So here "
                "the sum is taken out of the collective. An all-to-all moves int8 and adds nothing. Each device adds its "
                "chunk in int32, where nothing can overflow, and an all-gather moves the int8 result. Each of the two moves "
                "one byte for each number.\n\nThe error has two parts. Each of the n numbers in a sum is wrong by at most "
                "half a scale, so the sum is wrong by at most n/2 scales. The sums are at most n times as large as the "
                "parts, so their scale is at most n times the first one, and rounding them adds at most n/2 scales again. "
                "In practice roundings cancel and the sums are smaller. One large number makes the scale coarse for all "
                "others, so real systems use one scale for each block of some hundred numbers.",
)  # fmt: skip
