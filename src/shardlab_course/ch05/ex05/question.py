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
        "order-in-numbers", "Numbers cut the devices in their order, and a repeated name takes its words in that order: "
        "b needs a mesh.", 2, like=lambda said: said["b"] == "numbers"),
    WrongValues(
        "devices-in-numbers", "Numbers are for all devices in the order of jax.devices(); c and d have another order, or "
        "fewer. The mesh knows, the expression only names its axes.",
        2, like=lambda said: "numbers" in (said["c"], said["d"])),
    WrongValues(
        "mesh-cannot-be-given", "A mesh may be given, with any order of devices and with fewer of them, and an expression "
        "names its axes, in any order (b, c, d).", 2, like=lambda said: "nothing" in (said["b"], said["c"], said["d"])),
    WrongValues(
        "sums-as-copies", "A partial sum (e) is no copy: an expression says who holds which slice, and not that slices "
        "still have to be added.", 1, like=lambda said: said["e"] in ("numbers", "axes")),
    WrongValues(
        "one-device-in-numbers", "An array made without further words (f) lies on one device, and numbers take all of them.",
        3, like=lambda said: said["f"] == "numbers"),
    WrongValues(
        "one-device-is-no-mesh", "A mesh may be given with one device, and then an expression says where f lies.", 3,
        like=lambda said: said["f"] == "nothing"),
    WrongValues(
        "copies-cannot-be-said", "A bare number says copies (g and h).", 1,
        like=lambda said: any(said[letter] in ("axes", "nothing") for letter in "gh")),
    WrongValues(
        "groups-cannot-be-said", "A name may be repeated: r2 c2 r2 (i).", 3,
        like=lambda said: said["i"] in ("axes", "nothing")),
    WrongValues(
        "grid-needs-a-mesh", "All devices, in their order, one axis for each dimension: r2 c4 makes that mesh (a).", 1,
        like=lambda said: said["a"] in ("axes", "nothing")),
)  # fmt: skip
BACKWARDS = (
    WrongValues(
        "order-left-to-devices", "Block 0 is on device 0. The order of the devices belongs to the mesh: give it one that "
        "starts with device 7.", 2, like=place((16, 4), axes(x=8), ("x",))),
    WrongProgram(
        "still-a-text", "It is an expression, still a text: sl.make_sharding makes a sharding of it, on a mesh.", 3,
        error="str has no sharding"),
)  # fmt: skip

SAYABLE = {"a": "numbers", "b": "axes", "c": "axes", "d": "axes", "e": "nothing", "f": "axes", "g": "numbers",
           "h": "numbers", "i": "numbers"}  # fmt: skip

QUESTION = Question(
    "5.5", "What expressions cannot say", difficulty=2, minutes=15, optional=True,
    items=(
        ValueItem("said", {"P": 2}, predicted=True, key=SAYABLE, words=("numbers", "axes", "nothing"),
                  misconceptions=WRONG_SAYABLE),
        PlacementItem("backwards", {"S": 0.5}, target=place((16, 4), LINE, ("x",), range(7, -1, -1)),
                      misconceptions=BACKWARDS),
    ),
    hints=(
        "Numbers cut all devices, in the order of jax.devices(), into equal groups. Which of the nine are not made like "
        "that?",
        "A mesh may have fewer devices, or another order, and @ names its axes. A mesh may even have one device. But "
        "neither numbers nor axes say that slices are terms of a sum.",
        "For the placement: build the mesh from the reversed list of devices, then an expression that cuts the rows over "
        "its one axis.",
    ),
    explanation="An expression says how dimensions go with mesh axes. Which devices make up the mesh, and in which "
                "order, is said by the mesh; numbers alone take all of them as they come. So a permuted or smaller "
                "mesh needs @ and the mesh beside it, and so does a tuple whose axes are not in the mesh's order. "
                "An array on one device names no mesh, and sl.expression says so; on a mesh of that device it has an "
                "expression. One thing has none at all: a partial sum is not a placement. The slices are all there, and "
                "still have to be added by some computation.",
)  # fmt: skip
