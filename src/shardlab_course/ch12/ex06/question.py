"""Chapter 12, exercise 12.6: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

import random

from shardlab import listings
from shardlab_course.ch12.ex06 import oracle as of
from shardlab_judge.items.calls import CallsItem
from shardlab_judge.question import Question, WrongValues

BETWEEN = (
    WrongValues(
        "done-ends-the-first", "Pairs overlap. A done names its start in its brackets.", 1,
        like=of.between_with(order="first")),
    WrongValues(
        "done-ends-the-last", "Pairs overlap, and are not nested. A done names its start in its brackets.", 1,
        like=of.between_with(order="last")),
    WrongValues(
        "every-fusion-counts", "Some fusions only add, or cut. Those of products have dot_general in their op_name.", 2,
        like=of.between_with(fusions=True)),
    WrongValues(
        "copies-counted", "copy-start and copy-done move data inside one chip; only permutes were asked for.", 2,
        like=of.between_with(copies=True)),
    WrongValues(
        "named-fusions-only", "The fusion of a product may have any name. Its op_name says what it computes.", 2,
        like=of.between_with(named=True)),
    WrongValues(
        "any-line-counts", "Other lines have dot_general in their op_name too. On a TPU products are fusions.", 2,
        like=of.between_with(anything=True)),
    WrongValues(
        "percent-in-names", "In the text % marks a name, and is not part of it.", 3,
        like=of.between_then(of.marked)),
    WrongValues(
        "zeros-left-out", "A start with nothing between it and its done counts too: with 0.", 2,
        like=of.between_then(of.positive)),
    WrongValues(
        "dones-as-keys", "Use the names of the starts as keys. They stand in the brackets of the dones.", 3,
        like=of.between_by_done),
    WrongValues(
        "counts-one-too-many", "Count only what stands between the start and its done.", 3,
        like=of.between_with(ends=1)),
)  # fmt: skip

QUESTION = Question(
    "12.6", "Read what XLA for TPU planned", difficulty=3, minutes=40,
    items=(
        CallsItem("between", {"V": 12}, oracle=of.between, draw=of.draw_text, misconceptions=BETWEEN,
                  calls=(*((listings.hlo(name),) for name in ("blocking_tpu", "ring_tpu", "mlp_tpu")),
                         of.draw_text(random.Random(6)))),
    ),
    hints=(
        "Go through the lines in order. Which permutes have begun and not ended? What stands in a done's brackets?",
        "Keep a dict from the name of each open start to the products seen so far; at a done, subtract.",
        "A start: `%(collective-permute-start\\S*) =`. A done: `collective-permute-done\\(%(\\S+?)\\)`. A product: ` "
        "fusion(` and `dot_general\"` in one line.",
    ),
    explanation="The text of a scheduled module is a timetable: is_scheduled=true says that lines stand in the order in "
                "which they begin. A start returns at once and its done waits, so whatever stands between them runs while "
                "data travel. Pairs overlap and are not nested like brackets, so a done needs the name of its start. A zero "
                "is a hop that nothing hides. It need not be a mistake, if the program has to wait for another hop anyway. "
                "The text does not say how long a hop takes: one product beside a hop hides it if the product takes longer.",
)  # fmt: skip
