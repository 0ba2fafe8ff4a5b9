"""Which of an exercise's named values a program with wrong outputs still computes, and what it has of the next one instead.

The judge brings out what a program computes on its way, from its StableHLO: in each `jax.shard_map`, and in each round of
a loop. Names do not survive an export, so a value is known by its numbers: on all devices together it is the named one,
cut, copied, or the terms of a sum.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import jax
import numpy as np

from shardlab_judge.cases import Observed
from shardlab_judge.inputs import wide
from shardlab_judge.measuring import Inside, values_inside
from shardlab_judge.question import Misconception
from shardlens import Axes, blocks_of, stablehlo

IDS = frozenset({"first-wrong-stage", "wrong-after-the-stages"})
"""What it names."""
TERMS, WHOLE, COPY, ADDED = "term of a sum", "whole", "copy", "when added up"
"""In what is said of blocks: each device has a term; there are none; each device has all; terms of something else."""
EVERYWHERE = "the same on every device"
Blocks = tuple[Axes, np.ndarray]
"""`[axes..., block...]`, and these axes."""


def likely(
    names: Callable[..., Mapping[str, np.ndarray]], module: bytes, observed: Observed, rights: Iterable[np.ndarray] = ()
) -> Misconception | None:
    """The last named value that the program has, and the next one, which it does not have.

    Args:
        names: the values, by name, in the order in which they are computed.
        rights: the right outputs: one of them may come before the last named value, and be the only wrong one.
    """
    try:
        seen = blocks_in(values_inside(module, observed.case, observed.inputs))
    except (stablehlo.Refused, jax.errors.JaxRuntimeError):
        return None
    wanted = {name: np.asarray(value) for name, value in names(*map(wide, observed.inputs)).items()}
    last, relation = next(((name, found) for name in reversed(wanted) if (found := has(seen, wanted[name]))), ("", ""))
    before = _told(last, relation) if last else ""
    rest = [*wanted][[*wanted].index(last) + 1 :] if last else [*wanted]
    lost = _lost(seen, wanted, last)
    if not rest and not lost:
        missed = [right for right, shards in zip(rights, observed.values) if _differs(shards, right)]
        absent = (name for name, value in wanted.items() if _among(value, missed) and not has(seen, value))
        if name := next(absent, ""):
            return Misconception("first-wrong-stage", f"{before}. No value that your program uses is `{name}`.")
        return Misconception("wrong-after-the-stages", f"{before}. The mistake comes after this value.")
    first = lost or rest[0]
    earlier = [wanted[name] for name in wanted if name not in rest and name != lost]
    words = _instead(seen, wanted[first], earlier).replace("the plain value", "it")
    if not before and not words:
        return None  # nothing is known of where it goes wrong
    missing = f"No value that your program uses is `{first}`" + f": one is {words}" * bool(words)
    return Misconception("first-wrong-stage", f"{before}. {missing}." if before else f"{missing}.")


def has(seen: Iterable[Blocks], right: np.ndarray) -> str:
    """What some value of a program is of this one, in words: itself rather than terms of it; empty where none is.

    Of a value that is in no `jax.shard_map` the devices' blocks are not known, and it is `WHOLE`.
    """
    rtol = 1e-4 if right.size > 1 else 2e-5  # many single numbers are near one another
    terms = ""
    for axes, blocks in seen:
        if relation := blocks_of(right, blocks, axes, rtol, simple=False).relation:
            if TERMS not in relation:
                return relation if axes else WHOLE
            terms = terms or relation
    return terms


def _lost(seen: Iterable[Blocks], wanted: Mapping[str, np.ndarray], last: str) -> str:
    """The value before the last right one, if that one ends a round, and an earlier round had the value."""
    until = [*wanted].index(last) + 1 if last else 0
    names, follow = [*wanted][:until], [*wanted][until : until + 1]
    if len(names) < 2 or _round(last) in ("", *map(_round, follow)) or has(seen, wanted[names[-2]]):
        return ""
    kind = names[-2].removesuffix(_round(names[-2]))
    had = (name for name in names if name.removesuffix(_round(name)).endswith(kind) and has(seen, wanted[name]))
    return names[-2] if any(had) else ""


def _round(name: str) -> str:
    """The end of a name, such as " in step 2 of 5"; empty where it has none."""
    return "".join(re.findall(r" in \w+ \d+ of \d+$", name))


def _differs(shards: Iterable[Any], right: np.ndarray) -> bool:
    """Whether some device holds other numbers than these in their place."""
    if any(b.ndim != right.ndim for _, _, b in shards):
        return True
    return any(b.shape != right[i].shape or not np.allclose(b, right[i], 1e-3, 1e-6) for _, i, b in shards)


def _among(value: np.ndarray, some: Iterable[np.ndarray]) -> bool:
    return any(value.shape == one.shape and np.allclose(value, one) for one in some)


def _instead(seen: Iterable[Blocks], right: np.ndarray, earlier: Iterable[np.ndarray]) -> str:
    """What some value is in place of this one.

    A single number is some multiple of many others; and of a multiple of an earlier value, that one is, and rightly.
    """
    if right.size == 1 or any(blocks_of(right, value, ()).instead for value in earlier):
        return ""
    of_a_sum = ""
    for words in (blocks_of(right, blocks, axes).instead for axes, blocks in seen):
        if words and ADDED not in words:
            return words
        of_a_sum = of_a_sum or words
    return of_a_sum


def blocks_in(values: Iterable[Inside]) -> list[Blocks]:
    """All devices' blocks of each value, of a loop's in each round."""
    return [(value.axes, blocks) for value in values for blocks in _blocks(value)]


def _blocks(value: Inside) -> Iterator[np.ndarray]:
    """The value of each round; and of a pipeline, which computes part `m` on device `s` in round `s + m`, all parts."""
    yield from value.rounds
    count = len(value.rounds)
    for at, (_, stages) in enumerate(value.axes):
        if 1 < stages <= count:
            tick = np.arange(stages)[:, None] + np.arange(count - stages + 1)
            by_stage = np.moveaxis(value.rounds, 1 + at, 0)
            for ticks in (tick, count - 1 - tick):  # a backward pass begins with the last
                parts = by_stage[np.arange(stages)[:, None], ticks]
                yield np.moveaxis(np.moveaxis(parts, 1, len(value.axes)), 0, at)


def _told(name: str, relation: str) -> str:
    if TERMS in relation:
        return f"The terms of `{name}` are right ({relation}), but no value of your program is their sum"
    return f"`{name}` is right" + f" ({relation.replace(COPY, EVERYWHERE)})" * (relation != WHOLE)
