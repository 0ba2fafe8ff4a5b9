"""Chapter 16, exercise 16.3: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch16.ex03 import oracle as of
from shardlab_course.ch16.shared import LINE, WIDE
from shardlab_course.shared.manual import LEFT
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Check, Question, WrongCost, WrongValues

BEYOND = (
    WrongValues("beyond-is-dropped", "A scatter, as in `.at[...].set`, drops what lies beyond the end. "
                "dynamic_update_slice moves the slice back until it fits.", 1, like="drops"),
    WrongValues("beyond-raises", "A traced position has no value yet when JAX traces the program, so JAX cannot raise an "
                "error about it.", 1,
                like="raises"),
    WrongValues("beyond-wraps", "No position is counted from the start again. The slice is moved back until it fits.", 1,
                like="wraps"),
)  # fmt: skip
APPEND = (
    WrongCost(
        "second-cache", "The old cache was not given away, so the program keeps it and needs memory for a second one.", 3,
        letters="M", when=lambda o: o.reused == 0 and not o.donated),
    LEFT,
    WrongValues(
        "counted-from-the-end", "The position within a block was negative on some devices, and a negative index counts from "
        "the end of the block.", 2, when=of.counted_from_the_end, breaks=True),
    WrongValues(
        "same-place-in-every-block", "Each device wrote at the position modulo its block. Only one of them has the "
        "position.", 1, local=of.modulo),
    WrongValues(
        "global-position-in-a-block", "Each device wrote at the last place of its block. Perhaps the position in the whole "
        "cache was used as the position in a block.", 1,
        local=of.as_it_is),
    WrongValues("added-to-the-old", "The new vectors were added to what lay there. They replace it.", 1, like=of.added),
    WrongValues(
        "every-device-writes", "Every device wrote the new vectors. A start that lies outside of a block is moved inside, "
        "so a device without this position has to write back what was there.", 2, when=of.every_block_written),
    WrongValues(
        "edge-of-a-block", "The position asked for here is right, but a block's first or last place, or the one behind it, "
        "is not. A block of m positions has the places 0 to m - 1.", 2, when=of.only_at_edges, breaks=True),
    WrongCost(
        "communicates-for-nothing", "Something moved. The device that has the position also has the new vectors, so no "
        "byte has to move.", 2, when=lambda o: o.price > 0),
)  # fmt: skip

QUESTION = Question(
    "16.3", "Write where it belongs", difficulty=3, minutes=30,
    items=(
        ValueItem("beyond", {"P": 0.5}, predicted=True, key="clamps", words=("clamps", "drops", "raises", "wraps"),
                  misconceptions=BEYOND),
        ProgramItem("append", {"V": 3, "S": 1, "H": 2, "M": 2.5}, oracle=of.append, manual=True, misconceptions=APPEND,
                    checks=(Check("V", of.wrong_at_an_edge),), draw=of.draw,
                    cases=(of.case(LINE, 3, 64, 6), of.case(WIDE, 2, 40, 5))),
    ),
    hints=(
        "Which device has position `at`, and at which place of its own block? What must the other devices do?",
        "In shard_map, at - axis_index('x') * block is the place in the block, if it lies between 0 and the block's length. "
        "Every other device writes back what is there.",
        "own = at - index * m; i = clip(own, 0, m - 1); write where(own == i, new, k[:, i]) at i. Then jax.jit with "
        "static_argnums=0 and donate_argnums=1.",
    ),
    explanation="One device has the position, and the new vectors are on all devices, so nothing has to move. The other "
                "devices run the same program and must leave their blocks alone. They compute a place that lies outside of "
                "their block, and no error is raised: a place beyond the end is moved inside or dropped, and a negative one "
                "counts from the end. So each device writes at a place that is surely inside, either the new vectors or the "
                "old ones.\n\nThe donated cache lets XLA write into its memory. Without donation the program makes a new "
                "cache, copies all of the old one into it for the sake of one position, and needs room for both.",
)  # fmt: skip
