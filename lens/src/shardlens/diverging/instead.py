"""What a wrong value is in place of the right one, where that can be said in a few words. No JAX here."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlens.diverging.numbers import FloatArray, largest, scale_of
from shardlens.diverging.relations import Relation

_SHIFTS = (1, -1, 2, -2)
_FEW = 4
_MOST = 4
"""Devices that are named one by one."""


@dataclasses.dataclass(frozen=True)
class Wrong:
    """One round of a value that is not the plain one.

    Args:
        whole: the plain value, `[1, ...]`, and that of the round before, or `None`.
        blocks: `[1, axes..., ...]`.
        sizes: of the mesh axes.
        allowed: the relations to try, the likeliest first.
        others: values that it may hold in addition, by name: `[1, ...]`.
        tolerance: what rounding explains.
        narrower: for dtypes that round more, a function that rounds to each.
    """

    whole: FloatArray
    previous: FloatArray | None
    blocks: FloatArray
    sizes: Mapping[str, int]
    allowed: Sequence[Relation]
    others: Mapping[str, FloatArray]
    tolerance: float
    narrower: Mapping[str, Callable[[FloatArray], FloatArray]]


@dataclasses.dataclass(frozen=True)
class Found:
    """What a value is instead, whether that is more than a description, and on which devices, in words."""

    words: str
    known: bool
    devices: str


def instead(wrong: Wrong) -> Found:
    """What the value is, in words: the first reading that fits all devices that are wrong."""
    if not np.isfinite(wrong.blocks).all() and np.isfinite(wrong.whole).all():
        bad = ~np.isfinite(wrong.blocks[0]).all(axis=tuple(range(len(wrong.sizes), wrong.blocks.ndim - 1)))
        return Found("not finite", True, devices(bad, wrong.sizes))
    readings = [_Reading(wrong, relation) for relation in wrong.allowed]
    if not readings:
        return Found(_shapes(wrong), True, "")
    readings.sort(key=lambda reading: reading.wrong.mean())
    for reading in (each for each in readings if each.bad.any()):
        if words := next(reading.words(), ""):
            return Found(words, True, devices(reading.wrong, wrong.sizes))
    least = readings[0]
    if not least.bad.any():
        return Found(f"{least.relation}, and otherwise right", True, "")
    return Found(least.described, False, devices(least.wrong, wrong.sizes))


def devices(wrong: FloatArray, sizes: Mapping[str, int]) -> str:
    """Places on the mesh in words; empty where it is everywhere.

    Example:
        >>> devices(np.array([[False, True], [False, True]]), {"x": 2, "y": 2})
        'y=1'
    """
    if wrong.all() or not sizes:
        return ""
    for axis, name in enumerate(sizes):
        others = tuple(a for a in range(wrong.ndim) if a != axis)
        along = wrong.any(axis=others)
        if np.array_equal(wrong, np.broadcast_to(np.expand_dims(along, others), wrong.shape)):
            return f"{name}={','.join(map(str, np.flatnonzero(along)))}"
    places = ["(" + ", ".join(f"{name}={n}" for name, n in zip(sizes, at)) + ")" for at in np.argwhere(wrong)]
    return " ".join(places[:_MOST]) + f" and {len(places) - _MOST} more" * (len(places) > _MOST)


class _Reading:
    """The blocks by one relation: what each device has and should have, and which are wrong."""

    def __init__(self, asked: Wrong, relation: Relation) -> None:
        self.asked, self.relation = asked, relation
        count = len(asked.sizes)
        summed = relation.summed(asked.blocks)
        self.lead = np.broadcast_shapes(relation.blocks(asked.whole).shape[1 : 1 + count], summed.shape[1 : 1 + count])
        self.got, self.due = self._flat(summed), self._flat(relation.blocks(asked.whole))
        self.errors = largest(self.got, self.due, 1)
        self.bad = self.errors > asked.tolerance
        self.wrong = np.broadcast_to(self.bad.reshape(self.lead), tuple(asked.sizes.values()) or ())
        worst = self.errors.max(initial=0)
        self.near = max(4 * asked.tolerance, 1e-3 * float(scale_of(self.due)))
        self.near = min(self.near, 0.2 * worst)

    def _flat(self, blocks: FloatArray) -> FloatArray:
        block = blocks.shape[1 + len(self.asked.sizes) :]
        return np.broadcast_to(blocks[0], (*self.lead, *block)).reshape(-1, *block)

    def fits(self, other: FloatArray) -> bool:
        """Whether all devices that are wrong have this instead, block by block."""
        return bool((largest(self.got, other, 1)[self.bad] <= self.near).all())

    def words(self) -> Iterator[str]:
        """Each way in which the wrong devices have something that has a name."""
        got, due = self.got[self.bad], self.due[self.bad]
        if not got.any() and due.any():
            yield "zero"
        yield from self._another()
        factor = fitted(got, due)
        # A number alone is a multiple of any other.
        if (
            factor
            and number(factor) != "1"
            and abs(factor) * scale_of(due) > _FEW * self.near  # next to nothing fits everywhere
            and self.fits(self.due * factor)
            and (self.due[0].size >= _FEW or _whole(factor))
        ):
            yield f"{number(factor)} times the plain value"
        yield from self._round_before()
        yield from self._rounded()
        yield from self._moved()
        yield from self._added()

    def _another(self) -> Iterator[str]:
        """The block of another device."""
        count = len(self.got)
        if count < 2 or all(largest(self.due[:1], self.due, 1) <= self.near):
            return
        if self.got[0].size * count * count > 1e8:
            return
        held = [largest(mine[None], self.due, 1) <= self.near for mine in self.got]
        if not all(held[i].any() for i in np.flatnonzero(self.bad)):
            return
        places = [np.array(np.unravel_index(i, self.lead)) for i in range(count)]
        for axis, name in enumerate(self.asked.sizes):
            size = self.lead[axis]
            for shift in sorted(range(1, size), key=lambda s: min(s, size - s)):
                moved = [_index(p, axis, shift, self.lead) for p in places]
                if all(held[i][moved[i]] for i in np.flatnonzero(self.bad)):
                    shift = shift if shift <= size // 2 else shift - size
                    yield f"the block of the device at {name}{shift:+d}"
        i = int(np.flatnonzero(self.bad)[0])
        at = ", ".join(f"{name}={n}" for name, n in zip(self.asked.sizes, places[int(held[i].argmax())]))
        yield f"another device's block: the first of these devices has the block of {at}"

    def _round_before(self) -> Iterator[str]:
        previous = self.asked.previous
        if previous is not None and self.fits(self._flat(self.relation.blocks(previous))):
            yield "stale: the value of the round before"

    def _rounded(self) -> Iterator[str]:
        for dtype, rounded in self.asked.narrower.items():
            exact = largest(self.got, rounded(self.got), 1).max(initial=0)
            step = largest(self.due, rounded(self.due), 1).max(initial=0)
            if exact == 0 and self.errors.max() <= 4 * step + self.asked.tolerance:
                yield f"rounded to {dtype}"

    def _moved(self) -> Iterator[str]:
        """Turned, or shifted along a dimension; what a shift leaves at the edge is not compared."""
        count = self.due.ndim - 1
        for turned in itertools.islice(itertools.permutations(range(count)), 1, 24):
            other = self.due.transpose(0, *(1 + d for d in turned))
            if other.shape == self.due.shape and self.fits(other):
                yield f"transposed, as {turned}"
        for dimension, shift in itertools.product(range(count), _SHIFTS):
            if self.due.shape[1 + dimension] > 2 * abs(shift):
                inner = [slice(None)] * (1 + count)
                inner[1 + dimension] = slice(max(shift, 0), min(shift, 0) or None)
                ours, other = self.got[tuple(inner)], np.roll(self.due, shift, 1 + dimension)[tuple(inner)]
                if (largest(ours, other, 1)[self.bad] <= self.near).all():
                    yield f"shifted by {shift:+d} along dimension {dimension}"

    def _added(self) -> Iterator[str]:
        """The plain value with some multiple of a value that has a name."""
        for name, value in self.asked.others.items():
            try:
                other = self._flat(self.relation.blocks(np.broadcast_to(value, self.asked.whole.shape)))
            except ValueError:
                continue
            factor = fitted((self.got - self.due)[self.bad], other[self.bad])
            if factor and self.fits(self.due + factor * other) and self.due[0].size >= _FEW:
                yield f"the plain value {'plus' if factor > 0 else 'minus'} {number(abs(factor))} times {name}"

    @property
    def described(self) -> str:
        """How much of it differs."""
        each = largest(self.got, self.due, self.got.ndim)[self.bad]
        return (
            f"no simple change of the plain value; {int((each > self.asked.tolerance).sum())} of {each.size} elements differ"
        )


def fitted(got: FloatArray, due: FloatArray) -> float:
    """The factor that brings one array nearest the other, by their finite elements; 0 where there is none."""
    both = np.isfinite(got) & np.isfinite(due)
    got, due = got[both], due[both]
    below = float(np.vdot(due, due).real)
    return float(np.vdot(due, got).real) / below if below and np.isfinite(below) else 0.0


def _whole(factor: float) -> bool:
    return any(abs(each - round(each)) < 1e-3 and abs(each) < 65 for each in (factor, 1 / factor))


def number(factor: float) -> str:
    """A factor, as a fraction of small numbers where it is near one.

    Example:
        >>> number(2.0000001), number(0.125), number(-1.0), number(0.3519)
        ('2', '1/8', '-1', '0.3519')
    """
    for below in range(1, 65):
        if abs(factor * below - round(factor * below)) < 1e-3 * min(abs(factor * below), 1) and (
            below == 1 or abs(factor) < 1
        ):
            return f"{round(factor * below)}" if below == 1 else f"{round(factor * below)}/{below}"
    return f"{factor:.4g}"


def _index(place: Any, axis: int, shift: int, lead: Sequence[int]) -> int:
    moved = place.copy()
    moved[axis] = (moved[axis] + shift) % lead[axis]
    return int(np.ravel_multi_index(moved, lead))


def _shapes(asked: Wrong) -> str:
    block, whole = asked.blocks.shape[1 + len(asked.sizes) :], asked.whole.shape[1:]
    where = " on each device" if asked.sizes else ""
    return f"of shape {block}{where}, which is not a cut of {whole} over {dict(asked.sizes)}"
