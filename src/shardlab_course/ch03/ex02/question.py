"""Chapter 3, exercise 3.2: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import random

from shardlab import listings
from shardlab_course.ch03.ex02 import oracle as of
from shardlab_course.shared import programs
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

OPERATIONS = WrongValues(
    "counts-operations", "An instruction may carry one number or a whole model: 8 gradients came in one "
    "all-reduce. Count bytes.", 1, like=of.counted(what="operations"))  # fmt: skip
COUNTS = (
    WrongValues("total-without-kinds", "Asked is a dict: bytes for each kind.", 1, like=of.counted(total=True)),
    OPERATIONS,
    WrongValues(
        "loop-counted-once", "A loop's body stands once in the text and runs known_trip_count times.", 2,
        like=of.counted(rounds="once")),
    WrongValues(
        "inner-rounds-only", "A loop in a loop: the numbers of rounds multiply.", 2, like=of.counted(rounds="inner")),
    WrongValues(
        "tuples-overlooked", "An output may be a tuple, `(f32[20,12]{1,0}, f32[20]{0}) all-reduce(...)`; these lines were "
        "not seen.", 1, like=of.counted(tuples="none")),
    WrongValues(
        "index-comments", "Long tuples are printed with comments such as /*index=5*/, whose `=` or `*` breaks the pattern; "
        "remove them first.", 2, like=of.counted(tuples="short")),
    WrongValues("first-of-tuple", "Of a tuple only the first array was counted.", 1, like=of.counted(tuples="first")),
    WrongValues(
        "four-bytes-always", "The type says how many bytes an element has: 2 for bf16, 1 for s8.", 2,
        like=of.counted(itemsize=4)),
    WrongValues("elements-not-bytes", "Elements were counted instead of bytes.", 1, like=of.counted(itemsize=1)),
    WrongValues(
        "start-and-done", "A -start and its -done are one collective, and the tuple of the -start names the operand as "
        "well. Skip one of the two lines.", 2, like=of.counted(pairs="both")),
    WrongValues(
        "pairs-overlooked", "A collective may be written as two instructions, -start and -done; these were not seen.", 2,
        like=of.counted(pairs="none")),
    WrongValues(
        "start-for-done", "The tuple of a -start names what goes in and counters as well; the -done has only what comes "
        "out.", 2, like=of.counted(pairs="start")),
    *(WrongValues(
        "tuples-overlooked", "Lines whose output is a tuple were not seen, and loops not multiplied.", 1,
        like=of.counted(tuples="none", rounds=rounds, pairs=pairs))
      for rounds in ("never", "once", "product") for pairs in ("done", "both")),
)  # fmt: skip

TEXTS = ("gather", "none", "combined", "loop", "nested", "exchange", "scatter", "largest", "half_tpu", "roll_tpu")

QUESTION = Question(
    "3.2", "Count bytes, not operations", difficulty=3, minutes=35, optional=True,
    items=(
        CallsItem("collective_bytes", {"V": 3}, oracle=of.bytes_by_kind, draw=programs.draw_text,
                  misconceptions=COUNTS,
                  calls=(*((listings.hlo(name),) for name in TEXTS), programs.draw_text(random.Random(0)))),
    ),
    hints=(
        "Begin with ENTRY, and go through its instructions. Three things can happen: it is a collective, it is a while, or "
        "it does not matter.",
        "An operation counts if it is one of KINDS, or one of them with -done; skip -start. Its bytes: for every pair of "
        "arrays(output), the size of the type times all dimensions.",
        "A function that takes a computation's name and a number of rounds, and goes through its instructions; at a `while` "
        "it calls itself with the body's name and the product of rounds. Begin with ENTRY.",
    ),
    explanation="The text is regular enough for a few patterns, and full of traps. An output may be a tuple: XLA joins "
                "what it can, so eight gradients leave in one all-reduce, and a count of operations cannot tell a bias "
                "from a model. Long tuples carry comments that contain an equals sign (`computations` takes them out). A "
                "loop's body is printed once and runs known_trip_count times, and loops nest. A -start may name what goes "
                "in as well; its -done has only the output, so counting the -done is the simplest right way. And a "
                "function that is called all_gather leaves its name everywhere without moving a byte. The grader's own "
                "reader also knows conditionals and the fusions of 3.1.",
)  # fmt: skip
