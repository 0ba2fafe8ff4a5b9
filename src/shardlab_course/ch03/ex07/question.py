"""Chapter 3, exercise 3.7: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from typing import Any

from shardlab_course.ch03.ex07 import oracle as of
from shardlab_course.ch03.shared import LINE, WIDE, drawing_rows, gathers, rows_case
from shardlab_course.shared import products
from shardlab_course.shared.kinds import ERRORS, KINDS
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongValues

OUTCOME = (
    WrongValues(
        "out-shardings-free", "out_shardings is a request, and the program pays for it. It takes an all-to-all to turn rows "
        "into columns, and an all-gather to have everything on every device (b and c).", 1,
        like=lambda got: not got["b"] or not got["c"]),
    WrongValues(
        "slicing-moves", "Every device has the whole array and keeps its rows, so nothing moves (d).", 1,
        like=lambda got: isinstance(got["d"], list) and got["d"]),
    WrongValues(
        "in-shardings-move", "in_shardings does not recut a committed array, which is one that you have placed. It is a "
        "promise, and a broken promise is an error (e).", 2, like=lambda got: isinstance(got["e"], list)),
    WrongValues(
        "numpy-in-the-program", "A NumPy array is cut on its way to the devices, before the program starts. In the program "
        "there is nothing to move (f).", 2, like=lambda got: isinstance(got["f"], list) and got["f"]),
    WrongValues(
        "requests-refused", "Only a broken promise is refused: an argument that is already placed, but not cut as "
        "in_shardings says (e).", 2, like=lambda got: any(isinstance(got[key], str) for key in "abcdf")),
)  # fmt: skip
SHARES = (
    WrongValues(
        "other-dimension", "Here each row adds up to 1. Each column has to: take the softmax along axis=0.", 1,
        like=lambda x: of.softmax_rows(x.T).T),
    WrongValues(
        "other-dimension", "On each device the rows of a block add up to 1. Each column has to: take the softmax along "
        "axis=0.", 1, when=of.rows_of_blocks_add_up),
    WrongValues(
        "local-softmax", "Each device divided by the sum of its own rows only.", 1, local=lambda at, x: of.softmax_rows(x)),
    WrongCost(
        "out-shardings-free", "Something was computed across the cut rows, with an all-reduce. A constraint or "
        "out_shardings says where an array lies, not how it is made. Turn x first, and compute everything from the turned "
        "x.", 1,
        when=lambda o: "all-to-all" in o.kinds and any(
            c.kind == "all-reduce" and c.payload_bytes % (o.inputs[0].itemsize * o.inputs[0].shape[1]) == 0
            for c in o.collectives)),
    WrongCost(
        "gathers-everything", "An array as large as x went to every device. That costs far more than turning x.", 2,
        when=lambda o: gathers(o, of=0)),
    WrongCost(
        "never-turned", "The rows of the output are cut, and the question asks for whole columns.", 1,
        when=lambda o: products.same(o, of.softmax_rows(o.inputs[0]))
        and o.placements[0].shard_shape[0] < o.placements[0].shape[0]),
)  # fmt: skip

OUTCOMES: dict[str, Any] = {
    "a": frozenset(), "b": frozenset({"all-to-all"}), "c": frozenset({"all-gather"}), "d": frozenset(), "e": "ValueError",
    "f": frozenset(),
}  # fmt: skip

QUESTION = Question(
    "3.7", "What jit promises at its border", difficulty=3, minutes=35,
    items=(
        ValueItem("outcome", {"P": 4}, predicted=True, key=OUTCOMES, members=KINDS, pattern=ERRORS,
                  misconceptions=OUTCOME),
        ProgramItem("shares", {"V": 1.5, "S": 1.5, "H": 3}, oracle=of.softmax_rows, misconceptions=SHARES,
                    cases=(rows_case(LINE, 64, 24, (None, "x")), rows_case(WIDE, 24, 40, (None, "x"))),
                    draw=drawing_rows((None, "x"))),
    ),
    hints=(
        "For each request: does every device already hold what it has to hold in the end? If not, what brings it there?",
        "shares: what has to cross devices if you sum columns first, and what if you turn first? After the turn, what does "
        "a device know about its columns?",
        "Ask for columns with with_sharding_constraint, before the softmax. Inside jit, on an Auto mesh, device_put "
        "constrains nothing (for a TPU or a GPU, unless it names another memory).",
    ),
    explanation="out_shardings is part of the program, and the program pays for it. XLA does some work directly in the "
                "output's sharding, and adds collectives for other work. in_shardings is a promise about how committed "
                "arguments, those that somebody placed, are cut. A broken promise is a ValueError. For other arguments "
                "(NumPy arrays, and arrays that JAX placed itself) it is a plan: JAX silently places them that way before "
                "the program starts.\n\nWhen columns were asked for at the end, XLA still took the softmax over cut "
                "columns, with two all-reduces, and moved the result. If you turn x first, each device has whole columns: "
                "one all-to-all and nothing else. You say that with a constraint in the middle.",
)  # fmt: skip
