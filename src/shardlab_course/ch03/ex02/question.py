"""Chapter 3, exercise 3.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import random

from shardlab import listings
from shardlab_course.ch03.ex02 import oracle as of
from shardlab_course.shared import programs
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

OPERATIONS = WrongValues(
    "counts-operations", "One instruction may carry one number or a whole model: 8 gradients came in one all-reduce. Count "
    "bytes.", 1, like=of.counted(what="operations"))  # fmt: skip
COUNTS = (
    WrongValues("total-without-kinds", "The answer is a dict: bytes for each kind.", 1, like=of.counted(total=True)),
    OPERATIONS,
    WrongValues(
        "loop-counted-once", "The body of a loop is written once and runs known_trip_count times.", 2,
        like=of.counted(rounds="once")),
    WrongValues(
        "inner-rounds-only", "This is a loop in a loop. Multiply the numbers of rounds.",
        2, like=of.counted(rounds="inner")),
    WrongValues(
        "tuples-overlooked", "An output may be a tuple, `(f32[20,12]{1,0}, f32[20]{0}) all-reduce(...)`. These lines were "
        "not found.", 1, like=of.counted(tuples="none")),
    WrongValues(
        "index-comments", "Lines with long tuples did not count. They are printed with comments such as /*index=5*/. "
        "Perhaps their `=` or `*` breaks the pattern: remove them first.", 2, like=of.counted(tuples="short")),
    WrongValues("first-of-tuple", "Only the first array of a tuple was counted.", 1, like=of.counted(tuples="first")),
    WrongValues(
        "four-bytes-always", "The type says how many bytes an element has: 2 for bf16, 1 for s8.", 2,
        like=of.counted(itemsize=4)),
    WrongValues("elements-not-bytes", "Elements were counted instead of bytes.", 1, like=of.counted(itemsize=1)),
    WrongValues(
        "start-and-done", "A -start and its -done are one collective, and the tuple of the -start also names the operand. "
        "Skip one of the two lines.", 2, like=of.counted(pairs="both")),
    WrongValues(
        "pairs-overlooked", "A collective may be written as two instructions, -start and -done. These were not found.", 2,
        like=of.counted(pairs="none")),
    WrongValues(
        "start-for-done", "The tuple of a -start also names what goes in, and counters. The -done has only what comes out.",
        2, like=of.counted(pairs="start")),
    *(WrongValues(
        "tuples-overlooked", "Lines whose output is a tuple were not found, and loops were not multiplied.", 1,
        like=of.counted(tuples="none", rounds=rounds, pairs=pairs))
      for rounds in ("never", "once") for pairs in ("done", "both")),
)  # fmt: skip

TEXTS = ("gather", "none", "combined", "loop", "nested", "exchange", "scatter", "largest", "half_tpu", "roll_tpu")

QUESTION = Question(
    "3.2", "Count bytes, not operations", difficulty=3, minutes=35, optional=True,
    items=(
        CallsItem("collective_bytes", {"V": 10}, oracle=of.bytes_by_kind, draw=programs.draw_text,
                  misconceptions=COUNTS,
                  calls=(*((listings.hlo(name),) for name in TEXTS), programs.draw_text(random.Random(0)))),
    ),
    hints=(
        "Begin with ENTRY and go through its instructions. An instruction is a collective, or a while, or it does not "
        "matter.",
        "An operation counts if it is one of KINDS, or one of them with -done. Skip -start. For each pair in "
        "arrays(output), multiply the size of the type by all dimensions.",
        "Write a function that takes a computation's name and a number of rounds, and goes through its instructions. At a "
        "`while` it calls itself with the body's name and the product of rounds. Begin with ENTRY.",
    ),
    explanation="The text is regular enough for a few patterns, and full of traps. An output may be a tuple: XLA joins "
                "what it can, so eight gradients leave in one all-reduce, and a count of operations cannot tell a bias "
                "from a model. Long tuples carry comments that contain an equals sign (`computations` takes them out). "
                "The body of a loop is printed once and runs known_trip_count times, and loops nest. A -start may also "
                "name what goes in. Its -done has only the output, so it is simplest to count the -done. And a function "
                "that is called all_gather leaves its name everywhere without moving a byte. The grader's own reader also "
                "knows conditionals and the fusions of 3.1.",
)  # fmt: skip
