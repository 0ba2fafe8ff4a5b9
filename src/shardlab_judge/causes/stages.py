"""Which of an exercise's named values a program with wrong outputs still computes, and what it has of the next one instead.

The judge brings out what a program computes on its way, from its StableHLO. Names do not survive an export, so a value is
known by its numbers: on all devices together it is the named one, cut, copied, or the terms of a sum.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax
import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.inputs import wide
from shardlab_judge.measuring import values_inside
from shardlab_judge.question import Misconception
from shardlens import blocks_of, stablehlo

IDS = frozenset({"first-wrong-stage", "wrong-after-the-stages"})
"""What it names."""
TERMS = "term of a sum"
"""In what is said of blocks: each device has a term."""


def likely(names: Callable[..., Mapping[str, np.ndarray]], module: bytes, observed: Observed) -> Misconception | None:
    """The last named value that the program has, and the next one, which it does not have."""
    try:
        axes, values = values_inside(module, observed.case, observed.inputs)
    except (stablehlo.Refused, jax.errors.JaxRuntimeError):
        return None
    wanted = {name: np.asarray(value) for name, value in names(*map(wide, observed.inputs)).items()}
    found = {name: [blocks_of(right, each, axes) for each in values] for name, right in wanted.items()}
    relations = {name: _nearest([each.relation for each in of if each.relation]) for name, of in found.items()}
    right = [name for name in wanted if relations[name]]
    before = _told(right[-1], relations[right[-1]]) if right else ""
    rest = [*wanted][[*wanted].index(right[-1]) + 1 :] if right else [*wanted]
    if not rest:
        return Misconception("wrong-after-the-stages", f"{before}. The mistake comes after this value.")
    words = next((each.instead for each in found[rest[0]] if each.instead), "").replace("the plain value", "it")
    if not before and not words:
        return None  # nothing is known of where it goes wrong
    missing = f"No value of your program is `{rest[0]}`" + f": one is {words}" * bool(words)
    return Misconception("first-wrong-stage", f"{before}. {missing}." if before else f"{missing}.")


def _nearest(relations: list[str]) -> str:
    """What the program has of a value: itself rather than terms of it."""
    return next((each for each in relations if TERMS not in each), next(iter(relations), ""))


def _told(name: str, relation: str) -> str:
    if TERMS in relation:
        return f"The terms of `{name}` are right ({relation}), but no value of your program is their sum"
    return f"`{name}` is right ({relation})"
