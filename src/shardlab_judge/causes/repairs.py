"""The one operation of a program that makes its values wrong: with another one in its place they are right.

What is said is tried: the program is changed in one place, compiled, and run on the same inputs.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

from shardlab_judge.cases import Observed
from shardlab_judge.measuring import with_one_change
from shardlab_judge.question import Misconception
from shardlens import stablehlo

IDS = frozenset({"one-operation-other"})
"""What it names."""
TRIALS = 32
OPERATIONS = 5_000
"""So many changes are tried, and fewer of a long program: no more than this many operations are compiled."""


def likely(module: bytes, observed: Observed, is_right: Callable[[Observed], bool]) -> Misconception | None:
    """The first change of one operation after which the program is right.

    Args:
        is_right: whether a program's outputs are right.
    """
    if not _may_be_changed(observed):
        return None
    size = sum(count for _, count in observed.operations)
    trials = with_one_change(module, observed.case, observed.inputs)
    try:
        for words, made in itertools.islice(trials, min(TRIALS, OPERATIONS // max(1, size))):
            if is_right(made):
                return Misconception("one-operation-other", f"All values would be right if {words}.")
    except stablehlo.Refused:
        return None
    return None


def _may_be_changed(observed: Observed) -> bool:
    """Whether changed programs end: how often loops run does not depend on values, nor does what devices wait for."""
    branches = {"case", "if", "stablehlo.case", "stablehlo.if"} & {name for name, _ in observed.operations}
    return observed.flops is not None and not (branches and observed.collectives)
