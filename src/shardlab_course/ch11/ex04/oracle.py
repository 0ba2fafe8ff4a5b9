"""Chapter 11, exercise 11.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from shardlab_judge.cases import Case, Observed
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.verdict import Finding


def written(case: Case) -> Mapping[str, tuple[int, int]]:
    """How often operations stand in a program that gathers each weight again, and makes no product again.

    The first layer's weight is not needed backwards: its input has no gradient. A barrier must keep XLA from merging.
    """
    depth = len(case.inputs) - 2
    return {
        "all_gather": (2 * depth - 1, 2 * depth),
        "dot_general": (2 * depth, 3 * depth - 1),
        "optimization_barrier": (1, 8 * depth),
    }


def other_numbers(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """Operations that stand in the exported program, before XLA merges what is equal, too often or not often enough."""
    counts = dict(o.operations)
    for name, (least, most) in written(o.case).items():
        found = counts.get(f"stablehlo.{name}", 0)
        if not least <= found <= most:
            what = "Before XLA compiles it, your program contains some operation too often or too seldom."
            expected = f"{least} to {most} {name}" if least < most else f"{least} {name}"
            yield Finding(item.name, "J", what, expected=expected, got=str(found))
