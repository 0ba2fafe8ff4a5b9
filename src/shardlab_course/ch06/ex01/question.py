"""Chapter 6, exercise 6.1: its declaration, and the misconceptions that it knows."""

from __future__ import annotations

from shardlab_course.ch06.ex01 import oracle as of
from shardlab_judge.items.value import ValueItem
from shardlab_judge.question import Question, WrongValues

TYPES = (
    WrongValues(
        "axes-stay-in-place",
        "An axis belongs to a dimension and not to a position in the spec. After the transpose, rows still lie over x, "
        "although they are the second dimension.",
        1, like=lambda got: got["a"] == "float32[16@x,8@y]"),
    WrongValues(
        "result-guessed",
        "The dimension that is summed lies over y in both operands. So terms have to be added, and JAX has no rule for "
        "where their sum should lie. It raises an error.", 2, like=lambda got: got["h"] not in ("error", None)),
    WrongValues(
        "none-against-axis-clashes",
        "A whole dimension against a sharded one is not a conflict: each device slices the whole operand, which moves "
        "nothing. Two different axes in one dimension are an error, and so is one axis in two dimensions.",
        2, like=lambda got: got["f"] == "error"),
    WrongValues(
        "sum-replicates",
        "A sum over rows takes away the dimension over x, and nothing else. The other dimension stays over y.",
        1, like=lambda got: got["b"] == "float32[16]"),
    WrongValues(
        "reshape-forgets",
        "A merged dimension has the axes of both, the slower dimension's first, and in d the slower one lies over y. A "
        "split gives the axis to the first part, if that part can be divided.",
        3, like=lambda got: got["d"] in ("float32[128]", "error") or got["e"] in
        ("float32[8@x,4,4@y]", "float32[8@x,4,4]", "error")),
    WrongValues(
        "whole-sum-doubted",
        "U is whole, so only X has an axis in the dimension that is summed. JAX has a rule for the type of this product, "
        "and raises only where it has none.", 2, like=lambda got: got["i"] == "error"),
)  # fmt: skip

QUESTION = Question(
    "6.1", "Read the type before it exists", difficulty=2, minutes=20,
    items=(
        ValueItem("types", {"P": 5.5}, predicted=True, spelling=of.spelt, words=("error",),
                  pattern=of.TYPE, misconceptions=TYPES, key={
            "a": "float32[16@y,8@x]", "b": "float32[16@y]", "c": "float32[8@x,1,16@y]", "d": "float32[128@y]",
            "e": "float32[8@x,4@y,4]", "f": "float32[8@x,16@y]", "g": "float32[8@x,12@y]", "h": "error",
            "i": "float32[8@x,12]", "j": "float32[8,16@y]",
        }),
    ),
    hints=(
        "Follow each dimension: where does it go, and which axis does it carry along? A new dimension carries none.",
        "Where operands meet, a whole dimension adapts to a sharded one, and equal shardings stay. If both operands have "
        "the same axis in the dimension that is summed, JAX cannot know what you want.",
        "d: after the transpose, the dimension over y is the slower one. e: columns become 4 and 4, and the first takes the "
        "axis. i: only one operand is sharded in the dimension that is summed, so nothing is ambiguous.",
    ),
    explanation="An axis travels with its dimension. A transpose moves both, a sum takes both away, and a new dimension has "
                "no axis. Where two operands meet element by element, a whole dimension adapts to a sharded one, because a "
                "slice of what a device holds is free. So f is cut in both dimensions. A merged dimension has the axes of "
                "both, the slower dimension's first. (If only the faster has an axis, JAX asks: see 6.2.) A split gives the "
                "axis to the first part.\n\nOnly h has no answer. Each device can make a term of X @ V, and whether their "
                "sum should be whole, cut or left open is a decision about communication. JAX leaves it to you. In i JAX "
                "does not ask, because U is whole and JAX has a rule for the type of the product. Something moves all the "
                "same. For this product XLA adds terms by an all-reduce; with U of 24 columns it gathers X instead. JAX "
                "finds all these types while it traces, and jax.eval_shape finds the same ones.",
)  # fmt: skip
