"""Chapter 3, exercise 3.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from typing import Any

from shardlab_judge.cases import Observed
from shardlab_judge.items.layout import Situation
from shardlens import Axes, Spec


def chain(A: Any, B: Any, C: Any, D: Any) -> Any:
    """The product of exercise 3.5."""
    return A @ B @ C @ D


def chain_sizes(mesh: Axes, i: int, j: int, k: int, m: int) -> Situation:
    """A[i, j], B[j, k], C[k, j], D[j, m]."""
    return Situation((("A", (i, j)), ("B", (j, k)), ("C", (k, j)), ("D", (j, m))), mesh)


def specs(o: Observed) -> list[Spec]:
    """What each argument was given."""
    return [given.spec for given in o.case.inputs]
