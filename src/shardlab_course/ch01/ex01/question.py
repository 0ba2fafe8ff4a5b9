"""Chapter 1, exercise 1.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import math
from collections.abc import Sequence

from shardlab_judge.cases import axes
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.question import Misconception, Question, WrongValues
from shardlens import Axes, Placement, Spec, place

Shape = tuple[int, ...]
Order = Sequence[int] | None
"""Device ids in mesh order; 0, 1, 2, ... unless given."""

PAGE, BOX = (16, 16), (4, 6, 8)
LINE, HALF = axes(x=8), axes(x=4)
GRID, TALL, SQUARE = axes(x=2, y=4), axes(x=4, y=2), axes(x=2, y=2)
CUBE = axes(x=2, y=2, z=2)
WOVEN = (0, 4, 1, 5, 2, 6, 3, 7)

TUPLE_ORDER = "The blocks are right, but other devices hold them. In a tuple of mesh axes the first one is the slowest."
TURNED = "The cuts are right, but the devices come in another order. Look where device 1 lies in the picture."
TRANSPOSED = "The entries of a spec stand for the array's dimensions in order: first the rows, then the columns."
UNPACKED = (
    "Your spec has two entries and cuts two dimensions. A tuple in its own parentheses is one entry and cuts one dimension."
)
COPIES = "A mesh axis that the spec does not name makes copies: every device of the mesh holds something."
OTHERS = "The blocks lie on other devices. A mesh takes its devices from the list that it is given, in that order."
SORTED = ("The cuts are right, but the devices come in another order. Look at which device lies right below device 0 in "
    "the picture.")  # fmt: skip
FEWER = "Only four devices take part; the picture has eight."
CUT = "An axis that the spec names cuts. For copies, omit it."
ALONE = "The array lies on one device alone. You have to ask for copies: P() on the mesh of all eight."
REVERSED = "The cuts are right, but the blocks begin at the other end: the picture starts with another device."


def near(id: str, cause: str, mesh: Axes, spec: Spec, order: Order = None, shape: Shape = PAGE) -> Misconception:
    """A near miss: the wrong mesh and spec, and what to say of them."""
    return WrongValues(id, cause, 2, like=_placed(mesh, spec, order, shape))


def backwards(mesh: Axes, spec: Spec, shape: Shape = PAGE, order: Order = None) -> Misconception:
    """The right cuts on the devices in the opposite order."""
    devices = range(math.prod(size for _, size in mesh)) if order is None else order
    return near("devices-reversed", REVERSED, mesh, spec, tuple(reversed(devices)), shape)


def _placed(mesh: Axes, spec: Spec, order: Order = None, shape: Shape = PAGE) -> Placement:
    return place(shape, mesh, spec, order)


def _picture(name: str, target: Placement, *misconceptions: Misconception) -> PlacementItem:
    return PlacementItem(name, {"S": 1}, target=target, misconceptions=misconceptions)


PICTURES = (
    _picture(
        "A", _placed(LINE, (None, "x")),
        near("spec-transposed", TRANSPOSED, LINE, ("x",)),
        near("tuple-order", TUPLE_ORDER, GRID, (None, ("y", "x"))),
        near("tuple-order", TUPLE_ORDER, TALL, (None, ("y", "x"))),
        near("half-the-devices", FEWER, HALF, (None, "x")),
        near("half-the-devices", FEWER, HALF, (None, "x"), (0, 2, 4, 6)),
        backwards(LINE, (None, "x")),
    ),
    _picture(
        "B", _placed(GRID, ("x", "y")),
        near("spec-transposed", TRANSPOSED, GRID, ("y", "x")),
        near("mesh-turned", TURNED, TALL, ("y", "x")),
        near("mesh-turned", "Your sharding cuts the rows into four parts, and the columns into two.", TALL, ("x", "y")),
        near("axis-forgotten", COPIES, GRID, ("x",)),
        near("axis-forgotten", COPIES, GRID, (None, "y")),
        backwards(GRID, ("x", "y")),
    ),
    _picture(
        "C", _placed(GRID, ("y", "x")),
        near("spec-transposed", TRANSPOSED, GRID, ("x", "y")),
        near("mesh-turned", TURNED, TALL, ("x", "y")),
        near("tuple-order", TUPLE_ORDER, CUBE, (("z", "y"), "x")),
        near("mesh-turned", "Your sharding cuts the rows into two parts, and the columns into four.", TALL, ("y", "x")),
        near("axis-forgotten", COPIES, GRID, ("y",)),
        near("axis-forgotten", COPIES, GRID, (None, "x")),
        backwards(GRID, ("y", "x")),
    ),
    _picture(
        "D", _placed(LINE, ()),
        near("one-device-only", ALONE, axes(x=1), ()),
        near("cut-not-copied", CUT, LINE, ("x",)),
        near("cut-not-copied", CUT, LINE, (None, "x")),
        near("cut-not-copied", CUT, GRID, ("x", "y")),
        near("cut-not-copied", CUT, GRID, ("y", "x")),
        near("cut-not-copied", CUT, GRID, ("x",)),
        near("half-the-devices", FEWER, HALF, ()),
    ),
    _picture(
        "E", _placed(GRID, (("x", "y"),)),
        near("tuple-order", TUPLE_ORDER, GRID, (("y", "x"),)),
        near("tuple-unpacked", UNPACKED, GRID, ("x", "y")),
        near("axis-forgotten", COPIES, GRID, ("x",)),
        near("spec-transposed", TRANSPOSED, LINE, (None, "x")),
        backwards(GRID, (("x", "y"),)),
    ),
    _picture(
        "F", _placed(GRID, (("y", "x"),)),
        near("tuple-order", TUPLE_ORDER, GRID, (("x", "y"),)),
        near("mesh-turned", TURNED, TALL, (("y", "x"),)),
        near("tuple-unpacked", UNPACKED, GRID, ("y", "x")),
        near("axis-forgotten", COPIES, GRID, ("y",)),
        near("spec-transposed", TRANSPOSED, GRID, (None, ("y", "x"))),
        backwards(GRID, (("y", "x"),)),
    ),
    _picture(
        "G", _placed(CUBE, ("x", None, "z"), shape=BOX),
        near("other-axis", "The right dimensions are cut, but the copies go along another mesh axis. Compare which devices "
                           "share a block.",
             CUBE, ("x", None, "y"), shape=BOX),
        near("none-skipped", "Entries count dimensions from the left. A dimension that stays whole needs its None.",
             CUBE, ("x", "z"), shape=BOX),
        near("cut-not-copied", CUT, CUBE, ("x", "y", "z"), shape=BOX),
        near("spec-transposed", "The first dimension is cut over the slowest axis, and the last one over the fastest.",
             CUBE, ("z", None, "x"), shape=BOX),
        near("axis-forgotten", COPIES, CUBE, ("x",), shape=BOX),
        backwards(CUBE, ("x", None, "z"), BOX),
    ),
    _picture(
        "H", _placed(SQUARE, ("x", "y"), (0, 2, 4, 6)),
        near("other-devices", OTHERS, SQUARE, ("x", "y")),
        near("copies-on-idle", COPIES, CUBE, ("x", "y")),
        near("spec-transposed", TRANSPOSED, SQUARE, ("y", "x"), (0, 2, 4, 6)),
        backwards(SQUARE, ("x", "y"), order=(0, 2, 4, 6)),
    ),
    _picture(
        "I", _placed(HALF, ("x",), (7, 6, 5, 4)),
        near("devices-sorted", "The devices are right, but the picture runs from 7 down to 4.", HALF, ("x",), (4, 5, 6, 7)),
        near("other-devices", OTHERS, HALF, ("x",)),
        near("other-devices", OTHERS, HALF, ("x",), (3, 2, 1, 0)),
    ),
    _picture(
        "J", _placed(GRID, ("y", "x"), WOVEN),
        near("devices-sorted", SORTED, GRID, ("y", "x")),
        near("spec-transposed", TRANSPOSED, GRID, ("x", "y"), WOVEN),
        near("tuple-order", TUPLE_ORDER, CUBE, (("x", "z"), "y")),
        near("devices-sorted", SORTED, TALL, ("x", "y")),
        backwards(GRID, ("y", "x"), order=WOVEN),
    ),
)  # fmt: skip

QUESTION = Question(
    id="1.1",
    title="Ten pictures",
    items=PICTURES,
    variable="pictures",
    difficulty=3,
    minutes=30,
    hints=(
        "Before you write, read three things off the picture: which devices take part, into how many parts each dimension "
        "is cut, and how many devices share a block.",
        "Follow the numbers. Along the last mesh axis they go up by 1. A step of 4 in the other direction means 2 by 4. "
        "Steps of 2 mean three axes, or other devices.",
        "D names no axis. E and F put both axes of 2 by 4 into one tuple. G needs a 2 by 2 by 2 mesh. H and I need "
        "mesh_of with a list; J is easiest with one.",
    ),
    explanation="A picture says which device holds which slice, and nothing else, so many answers are right. A can be cut "
    "over one axis of 8, or over ('x', 'y') of a 2 by 4 mesh. For J, most people write the devices in the order 0, 4, 1, "
    "5, 2, 6, 3, 7. A plain 2 by 2 by 2 mesh with P(('z', 'x'), 'y') gives the same slices, because the order of axes in a "
    "tuple can shuffle the devices. The check compares the index maps, device by device.\n\nIt does not use ==. "
    "For A and for J, == says that the two shardings differ. Nor does it use is_equivalent_to, which says the same for J. "
    "Something does differ there: JAX refuses to add two arrays if their meshes list the devices in different orders.",
)
