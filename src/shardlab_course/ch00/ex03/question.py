"""Chapter 0, exercise 0.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch00.ex03 import oracle as of
from shardlab_course.ch00.shared import operations
from shardlab_judge.cases import Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues
from shardlens import place


def moved(observed: Observed, kind: str) -> int:
    """Payload bytes of the collectives of this kind."""
    return sum(c.payload_bytes for c in observed.collectives if c.kind == kind)


def gathers(observed: Observed, nbytes: int) -> bool:
    """Whether one all-gather brings so many bytes together."""
    return any(c.kind == "all-gather" and c.payload_bytes == nbytes for c in observed.collectives)


def gathered(observed: Observed, argument: int) -> bool:
    """Whether as many bytes are gathered as this argument has; sizes are such that no other array has as many."""
    return gathers(observed, observed.inputs[argument].nbytes)


def product_gathered(observed: Observed) -> bool:
    """Whether as many bytes are gathered as the product has."""
    a, b = observed.inputs
    return gathers(observed, a.itemsize * len(a) * b.shape[1])


def turned(observed: Observed) -> bool:
    """Whether the first argument goes from rows to columns."""
    devices = dict(observed.case.axes)["x"]
    return moved(observed, "all-to-all") * devices == observed.inputs[0].nbytes


def in_columns(observed: Observed) -> bool:
    """Whether the product lies in columns over x."""
    a, b = observed.inputs
    return observed.placements[0].same_as(place((len(a), b.shape[1]), observed.case.axes, (None, "x")))


def whole_work(observed: Observed) -> bool:
    """Whether every device does the FLOPs of the whole product."""
    a, b = observed.inputs
    return (observed.flops or 0) >= operations(a.shape[0], a.shape[1], b.shape[1])


PRODUCT = (
    WrongCost(
        "cut-the-other-way", "C lies in columns over x, but rows were asked for. The first entry of a spec is for the "
                             "rows.", 3,
        when=in_columns),
    WrongCost(
        "b-cut-and-gathered", "B already lies whole on every device. Here it was cut, and then gathered again.", 3,
        when=lambda o: gathered(o, 1)),
    WrongCost(
        "a-turned-into-columns", "A lies in rows, and rows of C are made from rows of A. Cutting A into columns sends "
        "most of it to other devices.", 3, when=turned),
    WrongCost(
        "gathers-to-be-safe", "All rows of A are sent to every device, and every device does all the work. Perhaps all "
        "rows of C are asked for on every device.", 2, when=lambda o: gathered(o, 0) and whole_work(o)),
    WrongCost(
        "gathers-and-cuts", "All rows of A are sent to every device. Perhaps each device then uses only the rows that it "
                            "had before.", 3,
        when=lambda o: gathered(o, 0) and o.kinds == {"all-gather"}),
    WrongCost(
        "product-gathered", "Each device makes its rows of C, and then all of C is sent to every device. Only rows were "
        "asked for.", 3, when=product_gathered),
)  # fmt: skip

REPORT = (
    WrongValues(
        "values-blamed", "The report says nothing about values, and what it does not mention is right.", 1,
        like=lambda said: said["values"] == "no"),
    WrongValues(
        "expected-for-got", "That number is what was asked for: it stands under `expected`. What happened stands under "
        "`got` or `yours`.", 1,
        like=lambda said: said["moved"] == 0 or said["copies"] == 1),
    WrongValues(
        "flops-not-divided", "`times` compares two numbers of the report. Divide the FLOPs under `got` by the FLOPs under "
                             "`expected`.",
        1, like=lambda said: said["times"] in (8192, 65536, 65536 - 8192)),
)  # fmt: skip

MESH_8, MESH_42, MESH_24 = of.MESHES

QUESTION = Question(
    "0.3", "Read a report, and mend", difficulty=1, minutes=10,
    items=(
        ProgramItem("product", {"V": 0.5, "S": 0.5, "H": 0.5, "F": 0.5}, oracle=of.product, draw=of.draw_rows,
                    misconceptions=PRODUCT,
                    cases=(of.rows_case(MESH_8, 64, 32, 16), of.rows_case(MESH_42, 16, 24, 8))),
        ValueItem("report", {"V": 1}, misconceptions=REPORT, words=("yes", "no"),
                  key={"values": "yes", "copies": 8, "moved": 8192, "times": 8, "hint": 2}),
    ),
    hints=(
        "Each block of the report names in brackets what differs. What no block mentions is right. `expected` is what was "
        "asked for, and `got` is what happened.",
        "The values are right, and all of A was sent to every device to get them. Which line asks for that? What happens "
        "without it?",
        "A row of C needs one row of A and all of B. The device that makes the row has both already, so there is nothing to "
        "arrange: multiply.",
    ),
    explanation="`careful` asked for all of A on every device. So all rows were sent to every device, 8,192 bytes for each "
                "device, and nothing was left to divide: each device made all of C with eight times the FLOPs, and there "
                "were eight copies of C. No value was wrong, so no test of values can find it. The checker runs the "
                "program that XLA compiled, and reads it. It compares four things: the values on every device, who holds "
                "what, what was sent, and the FLOPs or bytes of each device. Without the constraint, each device "
                "multiplies the rows that it holds with its own copy of B, and nothing moves.",
)  # fmt: skip
