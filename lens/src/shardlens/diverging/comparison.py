"""Every named value of two programs compared, each with what its own inputs make of it; and the first that is wrong."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import jax.numpy as jnp
import numpy as np

from shardlens.diverging import sums
from shardlens.diverging.aligning import Alignment, align
from shardlens.diverging.instead import Found, Wrong, instead
from shardlens.diverging.marks import COTANGENT
from shardlens.diverging.numbers import FloatArray, comparable, scale_of
from shardlens.diverging.pairs import Pair, pairs
from shardlens.diverging.record import OUTPUT, SALTS, Key, NamedValues, Traced, unfold
from shardlens.diverging.relations import TERM, relate
from shardlens.diverging.tapping import Path
from shardlens.errors import LensError

MARGIN = 8
"""How many times what another rounding of the same operations does is still taken for rounding."""
TRIES = 3
"""Runs of the plain program with more and more of the parallel program's values in it."""
_NEAREST = 3
_NARROW = ("bfloat16", "float16", "float32")


@dataclasses.dataclass(frozen=True)
class First:
    """The first value that is wrong.

    Args:
        name: of the value.
        round: counted from 0, and `rounds` how many there are.
        devices: on which it is wrong, in words; empty where it is on all.
        instead: what it is in place of the plain value.
        lines: that name it, in the plain and in the parallel program.
    """

    name: str
    round: int
    rounds: int
    devices: str
    instead: str
    lines: tuple[str, str]

    def __str__(self) -> str:
        where = f", round {self.round + 1} of {self.rounds}" * (self.rounds > 1) + f", on {self.devices}" * bool(
            self.devices
        )
        lines = [f"{side:<9} {line}" for side, line in zip(("plain:", "parallel:"), self.lines) if line]
        return "\n".join([f"first: {self.name}{where}: {self.instead}", *lines])


@dataclasses.dataclass(frozen=True)
class _Row:
    """A value in both programs; errors are the largest of each row, `[rows]`."""

    pair: Pair
    aligned: Alignment
    whole: FloatArray
    in_all: FloatArray
    own: FloatArray
    tolerance: FloatArray
    unit: FloatArray

    @property
    def apart(self) -> FloatArray:
        """Rows that are not what their inputs make of them."""
        return self.own > self.tolerance

    def most(self) -> float:
        """The largest error of its own, in units of rounding."""
        return float((self.own / self.unit).max(initial=0))

    def cells(self, first: bool) -> tuple[str, ...]:
        """Its row of the table."""
        shape, rounds = self.whole.shape[1:], len(self.pair.plain.keys)
        tap = self.pair.plain.taps[0]
        sizes = [size * group for size, group in zip(shape, tap.sums)] if tap.sums else shape
        value = f"{rounds} x " * (rounds > 1) + f"{tap.dtype}[{','.join(map(str, sizes))}]"
        found = str(self.aligned.relation or "no relation found")
        words = [self.aligned.words, found if self.aligned.sizes or not self.aligned.relation else ""]
        related = ", ".join(filter(None, words))
        each = (self.in_all, self.own, self.tolerance)
        return (
            "->" if first else "",
            self.pair.name,
            value,
            related,
            *(_units(error, self.unit) for error in each),
        )


class Comparison:
    """The rows of the table, what was not compared, and the first that differs.

    Args:
        plain: a program that can be run again, or values that it had.
        theirs: the parallel program's values.
        arguments: of both programs, by name, `[1, ...]`.
    """

    @np.errstate(invalid="ignore", over="ignore")  # of infinities `largest` says what differs
    def __init__(self, plain: Traced | NamedValues, theirs: NamedValues, arguments: Mapping[str, FloatArray]) -> None:
        self.plain, self.theirs, self.arguments = plain, theirs, arguments
        base = plain.recorded(plain.run(), ()) if isinstance(plain, Traced) else plain
        self.pairs, told = pairs(base, theirs)
        if not self.pairs:
            mend = "name values in both programs with jax.ad_checkpoint.checkpoint_name, and return the same outputs."
            raise LensError("nothing-in-common", "the programs have no value to compare.", where=" ".join(told), mend=mend)
        self.aligned = [self._align(pair, base) for pair in self.pairs]
        if by_sums := {pair.name: groups for pair in self.pairs if (groups := pair.plain.taps[0].sums)}:
            infinite = [p.name for p in self.pairs if p.name in by_sums and not np.isfinite(p.plain.values(base)).all()]
            told.append(sums.told(by_sums, infinite))
        own = self._with_their_values(plain, base) if isinstance(plain, Traced) else base
        self._rows = [row for pair, held in zip(self.pairs, self.aligned) if (row := self._row(pair, held, base, own))]
        kept = {id(row.pair) for row in self._rows}
        self.notes = [*told, *(f"{p.name}: {a.words}" for p, a in zip(self.pairs, self.aligned) if id(p) not in kept)]
        self.first = self._first(base)

    @property
    def rows(self) -> Iterator[tuple[str, ...]]:
        """Cells, in the plain program's order."""
        for row in self._rows:
            yield row.cells(bool(self.first and row.pair.name == self.first.name))

    @property
    def classes(self) -> Iterator[tuple[str, ...]]:
        """For each class of values its name, how many there are, how many part, the first of these, the largest error."""
        groups: dict[str, list[_Row]] = {}
        for row in self._rows:
            groups.setdefault(class_of(row.pair.name, self.arguments), []).append(row)
        for name, rows in groups.items():
            apart = [row for row in rows if row.apart.any()]
            first = min(apart, key=lambda row: row.pair.plain.keys[0]).pair.name if apart else "-"
            yield name, str(len(rows)), str(len(apart)), first, _most(max(map(_Row.most, rows)))

    def _align(self, pair: Pair, among: NamedValues) -> Alignment:
        return align(pair, pair.plain.values(among), pair.parallel.values(self.theirs))

    def _with_their_values(self, plain: Traced, base: NamedValues) -> NamedValues:
        """Values of the plain program where each is computed from the parallel program's values before it."""
        for _ in range(TRIES):
            given = self._given(plain, base)
            values = plain.run(given)
            own = plain.recorded(values, ())
            again = [self._align(p, own) if a.relation is None else a for p, a in zip(self.pairs, self.aligned)]
            more = any(new.relation and not old.relation for new, old in zip(again, self.aligned))
            self.aligned = again
            if not more:
                break
        return plain.recorded(values, [plain.run(given, salt) for salt in SALTS])

    def _given(self, plain: Traced, base: NamedValues) -> dict[Path, Any]:
        given = plain.nothing_given()
        for pair, held in zip(self.pairs, self.aligned):
            if held.relation and not pair.plain.sizes:
                value, put = held.injected(pair.plain.values(base).shape)
                parts = zip(pair.plain.numbers, pair.plain.parted(value), pair.plain.parted(put))
                for number, part, rounds in parts:
                    site = plain.sites[number] if number < len(plain.sites) else None
                    if site and site.path in given:
                        given[site.path] = jnp.asarray(unfold(site, rounds)), jnp.asarray(unfold(site, part), site.dtype)
        return given

    def _row(self, pair: Pair, held: Alignment, base: NamedValues, own: NamedValues) -> _Row | None:
        if not len(held.rounds):
            return None
        mine, ours = (held.arrange(pair.plain.values(among)) for among in (own, base))
        relation = held.relation or next(iter(held.allowed), None)
        every = tuple(range(1, 1 + len(held.sizes)))
        errors = [
            relation.error(whole, held.blocks).max(axis=every, initial=0) if relation else np.full(len(mine), np.inf)
            for whole in (ours, mine)
        ]
        scale, terms = scale_of(mine, 1), scale_of(held.blocks, 1)
        eps = _eps(pair.plain.taps[0].dtype)
        count = np.prod([size for size, role in zip(held.sizes.values(), relation.roles) if role == TERM]) if relation else 1
        spread = pair.plain.ordered([own.taps[n].spread for n in pair.plain.numbers])[list(held.rounds)]
        tolerance = MARGIN * spread + eps * (2 * scale + (terms * np.sqrt(count) if count > 1 else 0))
        branches = [side.ordered([tap.ran for tap in side.taps]) for side in (pair.plain, pair.parallel)]
        other = (
            branches[0] != branches[1] if len(branches[0]) == len(branches[1]) == len(mine) else np.zeros(len(mine), bool)
        )
        return _Row(
            pair,
            held,
            mine,
            errors[0],
            np.where(other, np.inf, errors[1]),
            tolerance,
            (eps or 1) * np.where(scale > 0, scale, 1),
        )

    def _no_derivative(self, base: NamedValues) -> Iterator[tuple[Key, First]]:
        """Values of which the plain program has a derivative and the parallel one, which has others, has none."""
        theirs = {tap.name: tap for tap in self.theirs.taps}
        if any(name.startswith(COTANGENT) for name in theirs):
            for tap in base.taps:
                of = theirs.get(tap.name.removeprefix(COTANGENT))
                if tap.name not in theirs and tap.name.startswith(COTANGENT) and of and tap.values.any():
                    said = First(tap.name, 0, len(tap.keys), "", "no value: no derivative passes here", (tap.line, of.line))
                    yield min(tap.keys), said

    def _first(self, base: NamedValues) -> First | None:
        wrong = [
            (row.pair.plain.keys[row.aligned.rounds[int(n)]], i, int(n))
            for i, row in enumerate(self._rows)
            for n in np.flatnonzero(row.apart)
        ]
        missing = min(self._no_derivative(base), default=None, key=lambda each: each[0])
        if not wrong or missing and missing[0] < min(wrong)[0]:
            return missing[1] if missing else None
        _, number, n = min(wrong)
        row = self._rows[number]
        found = self._instead(row, n)
        if not found.known and (term := self._not_added(row)):
            row, words = term
            found, n = Found(words, True, ""), 0
        elif not found.known and (before := self._before(row)):
            found = dataclasses.replace(found, words=f"{found.words}; computed from {before}")
        lines = (row.pair.plain.line, row.pair.parallel.line)
        rounds = int(row.aligned.rounds[n]), len(row.pair.plain.keys)
        return First(row.pair.name, *rounds, found.devices, found.words, lines)

    def _instead(self, row: _Row, n: int) -> Found:
        held, at = row.aligned, slice(n, n + 1)
        if np.isinf(row.own[n]) and np.isfinite(row.whole[n]).all() and np.isfinite(held.blocks[at]).all() and held.allowed:
            return Found("present in only one program: a cond took another branch", True, "")
        allowed = (
            [held.relation, *(each for each in held.allowed if each != held.relation)] if held.relation else held.allowed
        )
        before = row.whole[n - 1 : n] if n else None
        narrow = {name: _rounding(name) for name in _NARROW if _eps(name) > _eps(row.pair.plain.taps[0].dtype)}
        return instead(
            Wrong(
                row.whole[at],
                before,
                held.blocks[at],
                held.sizes,
                allowed,
                self._others(row, n),
                float(row.tolerance[n]),
                narrow,
            )
        )

    def _others(self, row: _Row, n: int) -> dict[str, FloatArray]:
        """Values that may have been added by mistake: those before it, the nearest first, and arguments."""
        here = row.pair.plain.keys[row.aligned.rounds[n]]
        earlier = [other for other in self._rows if other.pair.plain.keys[0] < here and other is not row]
        found = {other.pair.name: other.whole[min(n, len(other.whole) - 1)][None] for other in reversed(earlier)}
        return found | dict(self.arguments)

    def _before(self, row: _Row) -> str:
        """The named values that it is computed from, with what their blocks are."""
        of_tap = {n: other for other in self._rows for n in other.pair.parallel.numbers}
        nearest = [of_tap.get(n) for tap in row.pair.parallel.taps for n in tap.before]
        related = [other for other in nearest if other and other is not row and other.aligned.sizes]
        return ", ".join(dict.fromkeys(f"{other.pair.name} ({other.aligned.relation})" for other in related[:_NEAREST]))

    def _not_added(self, row: _Row) -> tuple[_Row, str] | None:
        """The value just before that is a term of a sum, if nothing sums it on the way."""
        of_tap = {n: other for other in self._rows for n in other.pair.parallel.numbers}
        for tap in row.pair.parallel.taps:
            if tap.blocks and (returned := relate(row.whole, tap.blocks[1], tap.blocks[0])[0]):
                return row, f"on each device: {returned}, which is not what its out_specs say"
            for number, summed in tap.before.items():
                other = of_tap.get(number)
                relation = other.aligned.relation if other else None
                if other is None or relation is None or other is row:
                    continue
                left = [axis for axis, role in zip(relation.sizes, relation.roles) if role == TERM and axis not in summed]
                at = [1 + [*relation.sizes].index(axis) for axis in left]
                if left and all(np.ptp(other.aligned.blocks, axis=n).max(initial=0) == 0 for n in at):
                    return other, f"1/{np.prod([relation.sizes[axis] for axis in left])} times the plain value"
                if left:
                    return other, f"a term of a sum over {', '.join(left)}, which nothing adds before {row.pair.name}"
        return None


def _eps(dtype: str) -> float:
    inexact = jnp.issubdtype(jnp.dtype(dtype), jnp.inexact)
    return float(jnp.finfo(dtype).eps) if inexact else 0.0  # type: ignore[no-untyped-call]


def _rounding(dtype: str) -> Any:
    return lambda value: comparable(value.astype(jnp.dtype(dtype))).astype(value.dtype)


def _units(error: FloatArray, unit: FloatArray) -> str:
    """The largest of several errors in units of rounding."""
    return _most(float((error / unit).max(initial=0)))


def _most(error: float) -> str:
    return f"{error:,.1f}" if error < 100 else f"{error:.1e}" if np.isfinite(error) else "inf"


def class_of(name: str, arguments: Iterable[str]) -> str:
    """The class of a value: a gradient, an activation, an output, or what an argument has become.

    Example:
        >>> class_of("cotangent of layer3/scores", ()), class_of("layer3/scores", ())
        ('gradients of layer*', 'activations layer*')
        >>> class_of("output[0]['w']", ["argument params['w']"]), class_of("output[1]", ())
        ('params afterwards', 'outputs')
    """
    if not re.match(rf"{OUTPUT}(\[|\.|$)", name):
        of = name.removeprefix(COTANGENT)
        first = re.sub(r"\d+$", "*", re.split(r"[/.\[]", of)[0])
        return f"{'activations' if of == name else 'gradients of'} {first}"
    for argument in arguments:
        found = re.fullmatch(r"argument (\w+)(.+)", argument)
        if found and name.endswith(found[2]):
            return f"{found[1]} afterwards"
    return "outputs"
