"""The kinds of collectives that exercises ask for, as HLO spells them, and the compilers that exercises compare."""

from __future__ import annotations

from shardlab_judge.items.value import ValueItem

KINDS = ("all-gather", "all-reduce", "all-to-all", "collective-permute", "reduce-scatter")
OR_NONE = (*KINDS, "none")
ERRORS = (r"[A-Za-z]\w*(Error|Exception)", "ValueError")
"""What the name of an exception looks like, and one of them."""


def compilers(points: float, *right: str) -> ValueItem:
    """The item `compilers` of a prediction: which of the three compilers do what the text asks for; claims show it."""
    return ValueItem("compilers", {"P": points}, key=frozenset(right), predicted=True, members=("CPU", "TPU", "GPU"))
