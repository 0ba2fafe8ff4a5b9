"""Chapter 15, exercise 15.5: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch15.ex05 import misconceptions as wrong
from shardlab_course.ch15.ex05 import oracle as of
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question

POINTS = {"V": 1, "S": 1, "H": 2}

QUESTION = Question(
    "15.5", "Six cases", difficulty=4, minutes=160,
    items=(
        ValueItem("case_1", {"V": 4}, key={"cause": "unplaced-state", "number": 172_032}, misconceptions=wrong.CASE_1,
                  words=tuple(wrong.CAUSES)),
        ValueItem("case_2", {"V": 4}, key={"cause": "cut-goes-to-loop", "number": 15_360}, misconceptions=wrong.CASE_2,
                  words=tuple(wrong.CAUSES)),
        ValueItem("case_3", {"V": 4}, key={"cause": "sum-in-loop", "number": 9_200}, misconceptions=wrong.CASE_3,
                  words=tuple(wrong.CAUSES)),
        ValueItem("case_4", {"V": 4}, key={"cause": "too-few-summed", "number": 2}, misconceptions=wrong.CASE_4,
                  words=tuple(wrong.CAUSES)),
        ValueItem("case_5", {"V": 4}, key={"cause": "table-gathered", "number": 1_024}, misconceptions=wrong.CASE_5,
                  words=tuple(wrong.CAUSES)),
        ValueItem("case_6", {"V": 4}, key={"cause": "widened-first", "number": 15_360}, misconceptions=wrong.CASE_6,
                  words=tuple(wrong.CAUSES)),
        ProgramItem("mended_1", {"V": 1, "S": 3}, oracle=of.zeros, misconceptions=wrong.MENDED_1,
                    cases=(of.moments(of.LINE, 32, 12, 16), of.moments(of.PLANE, 24, 10, 8)), draw=of.draw_moments),
        ProgramItem("mended_2", POINTS, oracle=of.predictions, misconceptions=wrong.MENDED_2,
                    cases=(of.sliced(of.LINE, 96, 12, 5), of.sliced(of.PLANE, 64, 9, 6)), draw=of.draw_sliced),
        ProgramItem("mended_3", POINTS, oracle=of.counts, misconceptions=wrong.MENDED_3,
                    cases=(of.counted(of.LINE, 12, 24), of.counted(of.PLANE, 9, 16)), draw=of.draw_counted),
        ProgramItem("mended_4", POINTS, oracle=of.slope, misconceptions=wrong.MENDED_4, rtol=1e-4, atol=1e-4,
                    slack=of.another_sum, slack_reason="XLA may sum over one mesh axis after the other",
                    cases=(of.normed(of.TALL, 4, 16, 12), of.normed(of.PLANE, 8, 10, 7)), draw=of.draw_normed),
        ProgramItem("mended_5", POINTS, oracle=of.rows, misconceptions=wrong.MENDED_5,
                    slack=of.pairs, slack_reason="an id may travel as a pair of row and column",
                    cases=(of.looked_up(of.LINE, 256, 16, 24), of.looked_up(of.PLANE, 160, 24, 40)), draw=of.draw_looked_up),
        ProgramItem("mended_6", POINTS, oracle=of.rescaled, misconceptions=wrong.MENDED_6, rtol=1e-4, atol=1e-2,
                    tolerance="float32 sums of products with whole numbers below 100, in another order",
                    cases=(of.quantised(of.LINE, 64, 72, 80), of.quantised(of.PLANE, 48, 64, 100)), draw=of.draw_quantised),
    ),
    hints=(
        "For each case, write down what has to move and what has to be held. What the evidence shows beyond that is the "
        "mistake; in case 4 look also for what is missing.",
        "Payload is printed for one run; the column 'times' says how often it runs. For memory, compare each argument's "
        "bytes with those of its full shape.",
        "1: constrain, or zeros in shard_map. 2: reshape to (-1, 4, D) and swap. 3: carry pcast zeros, psum after. 4: both "
        "axes. 5: jnp.take. 6: with_sharding_constraint on q before astype.",
    ),
    explanation="A constant has no operands to get a cut from. Zeros that are returned unchanged have no other use that "
                "could give them a cut, so moments made this way under jit are whole. A reshape that splits a dimension "
                "leaves the cut on the major part. If a loop walks over that part, each round's slice is on few devices. A "
                "replicated carry must be whole after each round, and XLA for CPU sums in each; XLA for TPU sees that each "
                "round only adds, and sums once, after the loop.\n\nThe gradient of a scale shared by all tokens sums over "
                "every axis that cuts them. Padding hid that, because only the first block had tokens. A product with "
                "one_hot reads the whole table, an index reads rows. In case 6 XLA for CPU sends the weights as floats (XLA "
                "for TPU as bfloat16, twice the stored bytes): ask for the stored numbers on every device, and then widen "
                "them. On one device none of these mistakes changes a value, and on many devices only one does.",
)  # fmt: skip
