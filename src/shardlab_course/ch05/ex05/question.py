"""Chapter 5, exercise 5.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch05.shared import LINE
from shardlab_judge.cases import axes
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongProgram, WrongValues
from shardlens import place

WRONG_SAYABLE = (
    WrongValues(
        "order-in-numbers", "Numbers cut the devices in their order, and a repeated name takes its words in that order. So "
        "b needs a mesh.", 2, like=lambda said: said["b"] == "numbers"),
    WrongValues(
        "devices-in-numbers", "Numbers are for all devices, in the order of jax.devices(). c has another order, and d has "
        "fewer devices. The mesh says that, and the expression only names its axes.",
        2, like=lambda said: "numbers" in (said["c"], said["d"])),
    WrongValues(
        "mesh-cannot-be-given", "You may give a mesh of any devices in any order. An expression then names its axes, in any "
        "order (b, c, d).", 2, like=lambda said: "nothing" in (said["b"], said["c"], said["d"])),
    WrongValues(
        "sums-as-copies", "A partial sum (e) is not a copy. An expression says which device holds which slice, and cannot "
        "say that slices still have to be added.", 1, like=lambda said: said["e"] in ("numbers", "axes")),
    WrongValues(
        "one-device-in-numbers", "An array that is made without a placement (f) lies on one device. Numbers take all "
        "devices.",
        3, like=lambda said: said["f"] == "numbers"),
    WrongValues(
        "one-device-is-no-mesh", "You may give a mesh with one device. Then an expression says where f lies.", 3,
        like=lambda said: said["f"] == "nothing"),
    WrongValues(
        "copies-cannot-be-said", "A bare number makes copies (g and h).", 1,
        like=lambda said: any(said[letter] in ("axes", "nothing") for letter in "gh")),
    WrongValues(
        "groups-cannot-be-said", "A name may be repeated: r2 c2 r2 (i).", 3,
        like=lambda said: said["i"] in ("axes", "nothing")),
    WrongValues(
        "grid-needs-a-mesh", "r2 c4 makes this mesh: all devices in their order, and one axis for each dimension (a).", 1,
        like=lambda said: said["a"] in ("axes", "nothing")),
)  # fmt: skip
BACKWARDS = (
    WrongValues(
        "order-left-to-devices", "Block 0 is on device 0. The order of the devices belongs to the mesh, so make a mesh that "
        "starts with device 7.", 2, like=place((16, 4), axes(x=8), ("x",))),
    WrongProgram(
        "still-a-text", "This is still text. sl.make_sharding turns it into a sharding on a mesh.", 3,
        error="str has no sharding"),
)  # fmt: skip

SAYABLE = {"a": "numbers", "b": "axes", "c": "axes", "d": "axes", "e": "nothing", "f": "axes", "g": "numbers",
           "h": "numbers", "i": "numbers"}  # fmt: skip

QUESTION = Question(
    "5.5", "What expressions cannot say", difficulty=2, minutes=15, optional=True,
    items=(
        ValueItem("said", {"P": 3.5}, predicted=True, key=SAYABLE, words=("numbers", "axes", "nothing"),
                  misconceptions=WRONG_SAYABLE),
        PlacementItem("backwards", {"S": 1}, target=place((16, 4), LINE, ("x",), range(7, -1, -1)),
                      misconceptions=BACKWARDS),
    ),
    hints=(
        "Numbers cut all devices, in the order of jax.devices(), into equal groups. Which of the nine are made in another "
        "way?",
        "A mesh may have fewer devices, or another order, and @ names its axes. A mesh may even have one device. But "
        "neither numbers nor axes can say that slices are terms of a sum.",
        "For the placement, build a mesh from the reversed list of devices. Then write an expression that cuts the rows "
        "over its one axis.",
    ),
    explanation="An expression says which mesh axes cut which dimensions. The mesh says which devices there are, and in "
                "which order; numbers alone take all devices in their order. So another order or fewer devices need a "
                "mesh and an @. So does a tuple whose axes are not in the mesh's order. An array on one device names no "
                "mesh, and sl.expression says so; on a mesh of that device it has an expression. Only a partial sum has "
                "no expression at all, because it is not a placement. All its slices are there, and they still have to be "
                "added by some computation.",
)  # fmt: skip
