"""Chapter 7, exercise 7.8: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch07.ex08 import oracle as of
from shardlab_course.ch07.shared import LINE, MESHES, PROMISE, WIDE, drawing, each, same, shape
from shardlab_course.shared.kinds import KINDS, compilers
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongCost, WrongProgram, WrongValues

WRONG_KINDS = (
    WrongValues(
        "rows-are-independent-so-free",
        "Rows are independent, and you know it. XLA for CPU does not: it partitions operations for which it has a rule, and "
        "gathers the operands of all others. (XLA for TPU has a rule for the two best values of short rows.)", 1,
        like=lambda got: not got),
    WrongValues(
        "thinks-of-sums", "Nothing is added up. XLA for CPU brings all rows to every device.", 1,
        like=lambda got: "all-reduce" in got),
)  # fmt: skip
TRAVEL = WrongProgram(
    "custom-partitioning-stays-home",
    "custom_partitioning calls your Python while XLA compiles, so such a program cannot be exported, and so it cannot be "
    "graded. shard_map says the same in the program itself.", 1, error="host_callback")  # fmt: skip
BY_ROW = (
    TRAVEL,
    WrongCost(
        "compiler-does-not-know",
        "On the whole array XLA for CPU sends all rows to every device. In shard_map, with in_specs that match how the rows "
        "are cut, each device takes its own.", 1, when=lambda o: not o.manual and "all-gather" in o.kinds),
    WrongValues(
        "best-of-columns", "You took the best of each column, in dimension 0.", 1, when=of.down_columns),
    WrongValues(
        "three-or-one", "Return two for each row.",
                        1, when=lambda o: shape(o)[0] == len(o.inputs[0]) and shape(o)[1] != of.BEST),
)  # fmt: skip
BY_COLUMN = (
    TRAVEL, PROMISE,
    WrongValues(
        "local-index-as-global",
        "The best scores are right. A column found in a block counts from the block's start: add axis_index times the "
        "block's width.", 2, when=of.local_columns),
    WrongValues(
        "column-among-candidates",
        "The best scores are right. top_k of the gathered candidates gives the number of the candidate, 0 to 2n - 1. Look "
        "up that candidate's own column.", 2, when=of.places_of_candidates),
    WrongValues(
        "place-by-place",
        "pmax compares the best values with each other, and the second best with each other. The best two of a row may be "
        "on one device.", 1,
        when=of.place_by_place),
    WrongCost(
        "padded-and-summed",
        "An all-reduce moves everything. Perhaps candidates were padded to full length and added up. The price of an "
        "all-reduce is twice that of a gather.", 2,
        when=lambda o: o.kinds == {"all-reduce"} and same(o, of.best(o.inputs[0])[0])
        and all(c.payload_bytes < o.inputs[0].nbytes for c in o.collectives)),
    WrongValues(
        "best-of-each-device",
        "Each device returned the best of its own columns. The best of all are among them, but nobody compared.", 1,
        when=lambda o: each(o, lambda d: of.candidates(o)[d])),
    WrongCost(
        "scores-gathered",
        "All scores were gathered. A score that is not among the best two of its device cannot be among the best two of "
        "all.",
        2, when=lambda o: any(c.kind == "all-gather" and c.payload_bytes == o.inputs[0].nbytes for c in o.collectives)),
)  # fmt: skip

QUESTION = Question(
    "7.8", "What a compiler does not know", difficulty=4, minutes=40,
    items=(
        ValueItem("kinds", {"P": 1}, predicted=True, key=frozenset({"all-gather"}), members=KINDS,
                  misconceptions=WRONG_KINDS),
        compilers(0.5, "CPU", "GPU"),
        ProgramItem("best", {"V": 1.5, "S": 1.5, "H": 1.5}, oracle=of.best, misconceptions=BY_ROW,
                    cases=(of.SCORES(LINE, 16, 24), of.SCORES(WIDE, 12, 40)), draw=drawing(of.SCORES, MESHES, 8, 8)),
        ProgramItem("best_of_columns", {"V": 2.25, "S": 1.5, "H": 2.25}, oracle=of.best, misconceptions=BY_COLUMN,
                    cases=(of.scores_by_column_case(LINE, 6, 128), of.scores_by_column_case(WIDE, 10, 96)),
                    draw=drawing(of.scores_by_column_case, MESHES, 2, 64)),
    ),
    hints=(
        "By rows: does any device need another device's rows? By columns: which scores of a device can be among the best "
        "two of the whole row?",
        "By columns: each device sends its own best two and their columns, counted from the start of the row. Then every "
        "device chooses among the 2n candidates.",
        "all_gather values and columns with axis=1, tiled=True, to='invarying'. top_k of the values says which; "
        "jnp.take_along_axis looks up their columns. A block starts at axis_index times its width.",
    ),
    explanation="Choosing experts for tokens means top_k of every row. If the array is cut by rows, nothing has to move. "
                "XLA for CPU has no rule that cuts top_k, and gathers all scores. XLA for TPU moves nothing where a row has "
                "64 scores, and gathers rows of 96 or more (for eight values it moves nothing with longer rows either). "
                "With shard_map the question does not arise: inside it there is nothing left to partition.\n\nIf the array "
                "is cut by columns, something must move, but only candidates: the best two of a row are among each device's "
                "best two. 2n values and 2n columns replace a whole row. A column found in a block has a local number; "
                "axis_index times the width makes it global. custom_partitioning can teach XLA the same rule. It then works "
                "for callers who know nothing about meshes, but such programs cannot be exported.",
)  # fmt: skip
