"""What a sharding expression parses to, and the mistakes that show when its two sides are compared."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterator, Sequence

from shardlab.expressions.quote import Fault, Span, shown

MIXED = "name mesh axes with '@' and leave numbers out (an axis has its size), or write numbers alone."


@dataclasses.dataclass(frozen=True)
class Element:
    """One word of an expression.

    Args:
        name: the dimension; `None` for copies (a bare number or star) and for `...`.
        count: the number, where one is written.
        star: whether the number is multiplied by the ratio that all stars share.
        axes: mesh axes written after `@`, in order.
        ellipsis: whether this is `...`.
        span: where the word stands in the text.
    """

    name: str | None = None
    count: int | None = None
    star: bool = False
    axes: tuple[str, ...] = ()
    ellipsis: bool = False
    span: Span = dataclasses.field(default=(0, 0), compare=False)

    @property
    def counted(self) -> bool:
        """Whether a number or a star is written."""
        return self.count is not None or self.star

    def __str__(self) -> str:
        axes = f"@({' '.join(self.axes)})" if len(self.axes) > 1 else "".join(f"@{axis}" for axis in self.axes)
        return "..." if self.ellipsis else f"{self.name or ''}{self.count or ''}{'*' * self.star}{axes}"


@dataclasses.dataclass(frozen=True)
class Pattern:
    """What an expression says: its words on the left and on the right, in order."""

    text: str = dataclasses.field(compare=False)
    left: tuple[Element, ...]
    right: tuple[Element, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """The dimensions that have names."""
        return tuple(element.name for element in self.left if element.name is not None)

    @property
    def elided(self) -> int | None:
        """How many names stand before `...`; `None` without it."""
        return next((i for i, element in enumerate(self.left) if element.ellipsis), None)

    @property
    def counted(self) -> bool:
        """Whether a number or a star is written."""
        return any(element.counted for element in self.right)

    @property
    def named(self) -> bool:
        """Whether mesh axes are named."""
        return any(element.axes for element in self.right)

    def __str__(self) -> str:
        return self.write(self.right)

    def write(self, right: Sequence[Element]) -> str:
        """The expression with this left side and another right side."""
        return f"{' '.join(map(str, self.left))} -> {' '.join(map(str, right))}"


def letters(word: str) -> int:
    """How many characters at the start of `word` are letters or `_`."""
    return next((i for i, c in enumerate(word) if c != "_" and unicodedata.category(c)[0] != "L"), len(word))


def is_name(word: str) -> bool:
    """Whether `word` can name a dimension: letters and `_`."""
    return bool(word) and letters(word) == len(word)


def is_axis(word: str) -> bool:
    """Whether `word` can stand after `@`: like a name, with digits 0-9 allowed after the first letter."""
    return letters(word) > 0 and is_name("".join(c for c in word if c not in "0123456789"))


def faults(left: Sequence[Element], right: Sequence[Element], arrow: Span) -> list[Fault]:
    """All mistakes of two sides whose words can be read, each on its own."""
    if not left or not right:
        return list(_empty_sides(left, right, arrow))
    return [*_ellipses(left, right), *_left_names(left, right), *_right_names(left, right), *_mixtures(right)]


def _empty_sides(left: Sequence[Element], right: Sequence[Element], arrow: Span) -> Iterator[Fault]:
    if not left:
        mend = "name the dimensions, or write '...' for all (or none) of them."
        yield Fault("side-empty", "there is nothing before '->'", mend, (arrow,))
    if not right:
        mend = 'repeat the dimensions with their numbers, like "a b -> a4 b2".'
        yield Fault("side-empty", "there is nothing after '->'", mend, (arrow,))


def _ellipses(left: Sequence[Element], right: Sequence[Element]) -> Iterator[Fault]:
    places = {side: tuple(e.span for e in words if e.ellipsis) for side, words in (("left", left), ("right", right))}
    for side, spans in places.items():
        if len(spans) > 1:
            what = f"'...' appears {len(spans)} times on the {side}"
            yield Fault("ellipsis-twice", what, "write '...' once on each side.", spans[1:])
        if spans and not all(places.values()):
            mend = "write '...' on both sides, or name every dimension."
            yield Fault("ellipsis-on-one-side", f"'...' appears on the {side} only", mend, spans)


def _left_names(left: Sequence[Element], right: Sequence[Element]) -> Iterator[Fault]:
    placed, seen = {e.name for e in right}, set[str]()
    axis = next((e.axes[0] for e in right if e.axes), None)
    for e in left:
        if e.name is None:
            continue
        if e.name in seen:
            what = f"dimension {shown(e.name)} appears twice on the left"
            yield Fault("dimension-twice", what, "give each dimension a name of its own.", (e.span,))
        elif e.name not in placed:
            cut = f"{shown(f'{e.name}@{axis}')} to shard it" if axis else f"{shown(e.name + '2')} to cut it in 2"
            mend = f"write {shown(e.name)} there to leave it unsharded, or {cut}."
            yield Fault("dimension-missing", f"dimension {shown(e.name)} is missing on the right", mend, (e.span,))
        seen.add(e.name)


def _right_names(left: Sequence[Element], right: Sequence[Element]) -> Iterator[Fault]:
    known = {e.name for e in left}
    for e in right:
        if e.name is not None and e.name not in known:
            copies = f"write {shown(str(e)[len(e.name) :])} to hold copies, or " if e.counted else ""
            mend = f"{copies}name {shown(e.name)} on the left, too."
            yield Fault("dimension-unknown", f"there is no dimension {shown(e.name)} on the left", mend, (e.span,))


def _mixtures(right: Sequence[Element]) -> Iterator[Fault]:
    counted = tuple(e.span for e in right if e.counted)
    if counted and any(e.axes for e in right):
        yield Fault("numbers-with-axes", "numbers or stars are mixed with mesh axes", MIXED, counted)
