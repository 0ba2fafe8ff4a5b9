"""Chapter 6, exercise 6.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex01 import oracle as of
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

TYPES = (
    WrongValues(
        "axes-stay-in-place",
        "Axes belong to dimensions, not to places: transposed, rows still lie over x, wherever they stand.",
        1, like=lambda got: got["a"] == "float32[16@x,8@y]"),
    WrongValues(
        "result-guessed",
        "Both dimensions that are summed lie over y: the terms have to be added, and JAX has no rule for where the "
        "sum should lie. It raises.", 2, like=lambda got: got["h"] not in ("error", None)),
    WrongValues(
        "none-against-axis-clashes",
        "None against an axis is no conflict: the whole operand is sliced for nothing. Two different axes in one "
        "dimension, or one axis in two dimensions, are an error.", 2, like=lambda got: got["f"] == "error"),
    WrongValues(
        "sum-replicates", "A sum over rows takes away the dimension over x, and nothing else: what is left stays over y.",
        1, like=lambda got: got["b"] == "float32[16]"),
    WrongValues(
        "reshape-forgets",
        "Merged dimensions carry their axes, the slower first, and d's slower one has y; a split hands the axis to "
        "the first part if it divides.",
        3, like=lambda got: got["d"] in ("float32[128]", "error") or got["e"] in
        ("float32[8@x,4,4@y]", "float32[8@x,4,4]", "error")),
    WrongValues(
        "whole-sum-doubted",
        "U is whole, so in the dimension that is summed only one operand has an axis: what is missing can be had, "
        "and JAX has a rule for the result. It raises where it has none.", 2, like=lambda got: got["i"] == "error"),
)  # fmt: skip

QUESTION = Question(
    "6.1", "Read the type before it exists", difficulty=2, minutes=20,
    items=(
        ValueItem("types", {"P": 2.5}, predicted=True, spelling=of.spelt, words=("error",),
                  pattern=of.TYPE, misconceptions=TYPES, key={
            "a": "float32[16@y,8@x]", "b": "float32[16@y]", "c": "float32[8@x,1,16@y]", "d": "float32[128@y]",
            "e": "float32[8@x,4@y,4]", "f": "float32[8@x,16@y]", "g": "float32[8@x,12@y]", "h": "error",
            "i": "float32[8@x,12]", "j": "float32[8,16@y]",
        }),
    ),
    hints=(
        "Follow each dimension: where does it go, and which axis does it carry along? Dimensions that are new carry none.",
        "Where operands meet: whole against sharded is sharded. Sharded alike stays so. Summed on both sides over one axis: "
        "nobody can know what you want.",
        "d: turned, the dimension over y is the slower one. e: columns become 4 and 4; the first takes the axis. i: where "
        "they are summed only one operand is sharded, so nothing is ambiguous.",
    ),
    explanation="An axis travels with its dimension: transposed it stands elsewhere, summed away it is gone, and a "
                "new dimension has none. Where two operands meet element by element, a whole dimension adapts to a sharded "
                "one, since slicing what one holds is free; so f is cut both ways. Merged dimensions carry their axes, the "
                "slower first (with an axis on the faster one only, JAX asks: 6.2), and a split gives the axis to "
                "the first part.\n\nOnly h has no answer: each device can make a term of X @ V, and whether the sum "
                "shall be whole, cut or left open is a decision about communication. JAX leaves it to you. In i "
                "nobody asks, although terms are added up at these sizes too, by an all-reduce: U is whole, and "
                "for that JAX has a rule of where the result lies. So a line that passes may still move data. All of "
                "this is decided while tracing, before anything is compiled: jax.eval_shape finds the same types.",
)  # fmt: skip
