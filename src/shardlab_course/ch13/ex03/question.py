"""Chapter 13, exercise 13.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch13.ex03 import oracle as of
from shardlab_course.ch13.shared import (
    CUBE,
    CUT,
    INVERSE,
    SWAPPED,
    TALL,
    TRANSFORM,
    UNTILED,
    WIDE,
    all_of_it,
    count,
    if_right,
    lies,
    says,
    transformed,
    transforms,
)
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

GROUPS = (
    WrongValues(
        "counts-the-mesh",
        "Each exchange happens within one mesh axis: only the devices that share a dimension's pieces exchange anything.",
        1, like=lambda got: 8 in (got.get("first"), got.get("second"))),
    WrongValues(
        "first-and-second-swapped",
        "Which dimension becomes whole first? The one that is cut over y, two devices; axis x comes second.",
        1, like=lambda got: (got.get("first"), got.get("second")) == (4, 2)),
    WrongValues(
        "slab-is-one-dimension",
        "A slab is at least one plane thick, so there are at most as many slabs as planes. There can be as many pencils "
        "as a plane has points.", 2, like=lambda got: got.get("slabs") != 16 or got.get("pencils") != 256),
    WrongValues(
        "bytes-of-the-cube", "An all-to-all gives back as many bytes as it takes: a device's block, and not the cube.",
        2, like=lambda got: got.get("bytes") in (32768, 65536)),
    WrongValues(
        "one-exchange", "These are the bytes of one exchange; the question is for both together.",
        1, like=says("bytes", 4096)),
    WrongValues(
        "own-part-left-out",
        "The part of its block that a device keeps is counted too: payload is all that comes out of a collective.",
        2, like=says("bytes", 5120)),
)  # fmt: skip
PENCIL = (
    all_of_it(CUBE), SWAPPED, UNTILED,
    WrongProgram(
        "across-the-whole-mesh",
        "Your exchange joins all devices at once. Each dimension is cut over one mesh axis, and only the devices along "
        "that axis have its pieces.", 1, when=of.across_the_mesh, barred=True),
    *(WrongValues(
        "one-dimension-left-out",
        f"Dimension {left} is not transformed; transform each of the three while it is whole.",
        1, like=transformed(*kept)) for left, kept in enumerate(((1, 2), (0, 2), (0, 1)))),
    CUT,
    WrongValues(
        "specs-of-the-input",
        "The dimensions are in another order, an exchange is missing, or out_specs does not describe how the blocks are "
        "arranged. After both exchanges dimension 0 is whole, 1 is cut over x and 2 over y.", 2,
        when=of.put_together_otherwise),
    WrongCost(
        "another-route",
        "The transform is P('y', None, 'x'), as after an exchange over x first; the exercise asks for P(None, 'x', 'y'), "
        "at the same price.", 2, when=if_right(CUBE, lambda o: lies(o, "y", None, "x"))),
    WrongCost(
        "goes-home",
        "There are more than two exchanges: the transform was brought back to the cube's sharding. The exercise asks for "
        "the sharding after two.", 2, when=if_right(CUBE, lambda o: count(o, "all-to-all") > 2 and lies(o, "x", "y"))),
    INVERSE,
)  # fmt: skip

QUESTION = Question(
    "13.3", "A cube in pencils", difficulty=4, minutes=50, optional=True,
    known_as="a pencil decomposition (Pekurovsky, 2012)",
    items=(
        ValueItem("pencils", {"P": 5.5}, predicted=True, misconceptions=GROUPS,
                  key={"first": 2, "second": 4, "bytes": 8192, "slabs": 16, "pencils": 256}),
        ProgramItem("pencil_fft", {"V": 3, "S": 3, "H": 4.5}, oracle=transformed(0, 1, 2), names=transforms(2, 1, 0),
                    misconceptions=PENCIL, rtol=1e-4,
                    atol=2e-3, tolerance=TRANSFORM,
                    cases=(of.cube(WIDE, 8, 12, 4), of.cube(TALL, 4, 8, 12)), draw=of.draw_cube),
    ),
    hints=(
        "P('x', 'y'): which dimension is whole? Which mesh axis cuts the next one, and which devices have the rest of it?",
        "An exchange over one mesh axis moves its cut from one dimension to another. First move axis y from dimension 1 to "
        "2, then axis x from 0 to 1.",
        "fft along 2; all_to_all over 'y', split 2, concat 1; fft along 1; all_to_all over 'x', split 1, concat 0; fft "
        "along 0.",
    ),
    explanation="Pencils cut two dimensions and leave one whole, so three transforms need two exchanges. Each exchange goes "
                "along one mesh axis: along y there are four groups of 2, along x two groups of 4. Each has a payload of "
                "one block, whatever the size of the groups. A slab needs only one exchange of the same size, but an n³ "
                "cube has n slabs and n² pencils, so slabs can use at most n devices. The order of exchanges decides the "
                "sharding of the transform. Some libraries choose an order in which dimensions come out transposed, so that "
                "each local transform runs along the last one. The inverse then undoes the transposition.",
)  # fmt: skip
