"""Chapter 5, exercise 5.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch05.shared import EIGHTS, GRID, WIDE
from shardlab_judge.cases import axes
from shardlab_judge.items.expression import ExpressionItem
from shardlab_judge.items.placement import PlacementItem
from shardlab_judge.question import Misconception, Question, WrongProgram, WrongValues
from shardlens import Axes, Placement, Spec, place

WRONG_MATRIX, WRONG_CUBE, DATA_MODEL = (16, 24), (8, 4, 16), axes(data=4, model=2)


def _at(spec: Spec, shape: tuple[int, ...] = WRONG_MATRIX, **sizes: int) -> Placement:
    return place(shape, axes(**sizes), spec)


WORDS = (
    "The words on the right stand in the order of the devices, slowest first. The words on the left stand in the order of "
    "the dimensions."
)
COPIES = (
    "The place of a bare number decides which devices hold the same slice. In first place it is the slowest axis; in last "
    "place, neighbours hold the same slice."
)
GROUPS = (
    "The words of a repeated name cut its dimension in the order in which they are written. A word between two of these "
    "words is a mesh axis between their axes."
)
TUPLE = "In the tuple of the question the other axis stands first. The first axis is the slowest, in P and behind @."
DEFAULT = WrongProgram(
    "copies-by-default", "Without a star the numbers must multiply to the number of devices. Write copies as a bare number "
    "or star.",
    1, error="numbers-do-not-multiply")  # fmt: skip
NO_MESH = WrongProgram(
    "axes-without-mesh", "This expression is read without a mesh, so write numbers.", 1, error="mesh-missing")  # fmt: skip

EXPRESSIONS: dict[str, tuple[Misconception, ...]] = {
    "a": (WrongValues("words-in-order-of-dimensions", WORDS, 2, like=_at(("y", "x"), y=4, x=2)),
          WrongValues(
              "entries-taken-for-axes", "The first entry of P is for the first dimension: y, of size 4, cuts rows, and x "
              "cuts columns. Here the rows are cut into two.", 1, like=_at(("x", "y"), x=2, y=4)), NO_MESH),
    "b": (WrongValues("copies-in-the-wrong-place", COPIES, 2, like=_at(("y",), y=4, x=2)), DEFAULT, NO_MESH),
    "c": (WrongValues("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), x=2, z=2, y=2)),
          WrongValues("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), y=2, x=2, z=2)), NO_MESH),
    "d": (DEFAULT, NO_MESH),
    "e": (WrongValues("axes-in-mesh-order", TUPLE, 3, like=_at((("data", "model"),), data=4, model=2)),),
    "f": (WrongValues(
        "other-axis-named", "This expression cuts over 'data', but the spec names 'model'.", 1,
        like=_at((None, None, "data"), WRONG_CUBE, data=4, model=2)),
          WrongValues(
              "ellipsis-ignored", "The spec has None twice before 'model': the last dimension is cut, not the first.", 1,
              like=_at(("model",), WRONG_CUBE, data=4, model=2))),
}  # fmt: skip
SPECS: dict[str, tuple[Misconception, ...]] = {
    "g": (WrongValues("copies-in-the-wrong-place", COPIES, 2, like=_at((None, "y"), y=4, x=2)),
          WrongValues(
              "words-in-order-of-dimensions", "Here the rows are cut. c is the second dimension, because it is second on "
              "the left. The order on the right is the order of the mesh.", 1, like=_at(("y",), x=2, y=4))),
    "h": (WrongValues(
        "star-takes-what-is-left", "All stars share one ratio. Here two stars share 8 / 2 = 4, so the ratio is 2: r2* is 4 "
                                   "and c* is 2.", 2,
        like=_at(("x", "y"), x=2, y=4)),),
    "i": (WrongValues("repeated-words-joined", GROUPS, 2, like=_at((("x", "z"), "y"), x=2, z=2, y=2)),
          WrongValues(
              "axes-in-another-order", "The words of r cut in their order, the slower axis first. Here the faster axis is "
              "first in the tuple.", 2, like=_at((("z", "x"), "y"), x=2, y=2, z=2))),
    "j": (WrongValues(
        "ellipsis-ignored", "'...' stands for the dimensions before d. So d is the last dimension, not the first.", 1,
        like=_at(("y",), WRONG_CUBE, x=4, y=2)),
          WrongValues("copies-in-the-wrong-place", COPIES, 2, like=_at((None, None, "y"), WRONG_CUBE, y=2, x=4))),
    "k": (WrongValues(
        "axes-split-up", "Both axes stand behind b. They cut one dimension, which is an inner tuple in P.", 1,
        like=_at(("data", "model"), (16, 4, 6), data=4, model=2)),
          WrongValues("axes-in-mesh-order", TUPLE, 3, like=_at((("model", "data"),), (16, 4, 6), data=4, model=2))),
    "l": (WrongValues("copies-in-the-wrong-place", COPIES, 2, like=_at((None, "y"), y=2, x=4)),),
}  # fmt: skip

MATRIX, CUBE = (16, 24), (8, 4, 16)


def text(name: str, shape: tuple[int, ...], mesh: Axes, spec: Spec, on: Axes | None = None) -> ExpressionItem:
    """A spec to be written as an expression; with `on`, over the axes of that mesh."""
    return ExpressionItem(name, {"S": 0.75}, target=place(shape, mesh, spec), axes=on, misconceptions=EXPRESSIONS[name])


def sharding(name: str, shape: tuple[int, ...], mesh: Axes, spec: Spec) -> PlacementItem:
    """An expression to be written as a mesh and a spec."""
    return PlacementItem(name, {"S": 0.75}, target=place(shape, mesh, spec), misconceptions=SPECS[name])


QUESTION = Question(
    "5.1", "Both ways", difficulty=2, minutes=30, variable="translations",
    items=(
        text("a", MATRIX, GRID, ("y", "x")), text("b", MATRIX, GRID, ("y",)), text("c", MATRIX, EIGHTS, (("x", "z"), "y")),
        text("d", MATRIX, GRID, ()), text("e", MATRIX, WIDE, (("model", "data"),), WIDE),
        text("f", CUBE, WIDE, (None, None, "model"), WIDE),
        sharding("g", MATRIX, GRID, (None, "y")), sharding("h", MATRIX, axes(x=4, y=2), ("x", "y")),
        sharding("i", MATRIX, EIGHTS, (("x", "z"), "y")), sharding("j", CUBE, axes(x=4, y=2), (None, None, "y")),
        sharding("k", (16, 4, 6), WIDE, (("data", "model"),)), sharding("l", MATRIX, axes(x=4, y=2), (None, "y")),
    ),
    hints=(
        "Write the mesh axes in a row, slowest first. Which dimension does each of them cut, and which cuts none?",
        "That row is the right side. Write the name of a dimension with the size of the axis, or a bare number if the "
        "axis makes copies. For a dimension that nothing cuts, write its name alone.",
        "For a: the first axis has size 2 and cuts the second dimension; the next has size 4 and cuts the first. For h "
        "and l, first find the ratio of the stars.",
    ),
    explanation="The right side of an expression is the mesh, read from slow to fast. Each word says what its axis does: a "
                "name cuts that dimension, a bare number makes copies. So the order on the right is the order in the mesh, "
                "and P says which axis cuts which dimension. P('y') on a 2 by 4 mesh is `2 r4 c`, not `r4 2 c`: with copies "
                "last, devices 0 and 1 would hold the same slice.\n\nA repeated name is a tuple in P, with the axes in the "
                "order of the mesh. For another order, name the axes of a mesh with @. Stars share one ratio: divide the "
                "devices by all numbers, and take the root, which must be whole. So `r2* c*` on 8 devices is `r4 c2`.",
)  # fmt: skip
