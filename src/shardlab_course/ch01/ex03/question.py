"""Chapter 1, exercise 1.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_judge.cases import axes
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.value import Believed, ValueItem, why
from shardlab_judge.question import Question, WrongProgram, WrongValues
from shardlens import place

MECHANISM = why(
    "What decides whether a device changes its rows?",
    a=Believed(
        "How the array is cut: the parts that the two specs cut in different ways have to move.",
        "other-blocks",
        "Both specs cut the same eight blocks, as the list shows. Only the holders differ.",
    ),
    b="The number that its two coordinates make: the tuple says which of them is the leading digit.",
    c=Believed(
        "Which axis leads: devices along it change their rows, and devices along the other axis keep theirs.",
        "one-axis-stays",
        "A step along x leads from device 0 to device 2, and a step along y to device 1. Both change their rows, as the "
        "list shows.",
    ),
)

HOSTS = axes(host=2, chip=4)
SAME = "The two specs cut the same blocks but give them to different devices: the first axis of a tuple is the slowest."
STOP = "A block has two rows. Its stop is the first row that it does not contain, as in range."

QUESTION = Question(
    id="1.3",
    title="P(('x', 'y')) or P(('y', 'x'))",
    items=(
        ValueItem("rows_xy", {"P": 1}, key=[2, 4], length=2, predicted=True, misconceptions=(
            WrongValues("last-axis-slowest", SAME, 2, like=[8, 10]),
            WrongValues(
                "one-axis-for-tuple", "Both axes cut, so there are eight blocks of two rows each.", 1,
                like=lambda rows: rows[1] - rows[0] in (4, 8)),
            WrongValues("stop-included", STOP, 1, like=[2, 3]),
        )),
        ValueItem("rows_yx", {"P": 1}, key=[8, 10], length=2, predicted=True, misconceptions=(
            WrongValues("order-does-not-matter", SAME, 2, like=[2, 4]),
            WrongValues(
                "wrong-size-first", "If y is the slowest axis, a step along y skips as many blocks as x has devices. That "
                                    "is 4, not 2.", 3,
                like=[4, 6]),
            WrongValues("stop-included", STOP, 1, like=[8, 9]),
        )),
        ValueItem("moved", {"P": 0.5}, key=6, predicted=True, misconceptions=(
            WrongValues("order-does-not-matter", SAME, 2, like=0),
            WrongValues(
                "nobody-stays", "The order makes no difference where both coordinates are zero, or where both have their "
                "largest value. There are such devices here.", 3,
                like=lambda count: count in (7, 8)),
        )),
        MECHANISM,
        PlacementItem("alternating", {"S": 3}, target=place((16, 4), HOSTS, (("chip", "host"),)), misconceptions=(
            WrongValues(
                "order-does-not-matter", "Host 0 gets the first eight rows and host 1 the rest, as with 'host' first in the "
                "tuple. Here they have to alternate.", 2, like=place((16, 4), HOSTS, (("host", "chip"),))),
            WrongValues(
                "tuple-unpacked", "Two entries cut two dimensions. If both axes are in one tuple, a row stays whole.", 2,
                like=place((16, 4), HOSTS, ("chip", "host"))),
            WrongProgram(
                "spec-without-mesh", "A spec has no devices. Put it on the mesh: NamedSharding(mesh, spec).", 1,
                error="P has no sharding"),
            WrongValues(
                "axis-forgotten", "The spec does not name 'host', so both hosts hold the same rows.", 1,
                like=place((16, 4), HOSTS, ("chip",))),
        )),
    ),  # fmt: skip
    difficulty=2,
    minutes=18,
    hints=(
        "Write the block numbers 0 to 7 beside the devices. Which mesh coordinate changes when you go from block 0 to "
        "block 1?",
        "You read a tuple like a number with several digits: the first axis is the leading digit, and the last axis "
        "changes fastest.",
        "The number of the block under (a, b) is the coordinate on a times the size of b, plus the coordinate on b. To "
        "alternate between hosts, 'host' must be the fastest axis.",
    ),
    explanation="A tuple of axes is a number whose digits have different bases. On the 4 by 2 mesh, P(('x', 'y')) gives a "
    "device the block 2x + y, and P(('y', 'x')) the block 4y + x. Device 1 is at x=0, y=1, so it holds block 1 (rows 2:4) "
    "under the first and block 4 (rows 8:10) under the second. The two numbers are equal only if x = 3y, on devices 0 and "
    "7. To go from one sharding to the other, the remaining six devices must receive rows, and that takes a collective. "
    "Neither order is better by itself. But use one order, and put data that will be combined on devices near each other.",
)  # fmt: skip
