"""Sharding expressions as text: `"batch d -> batch4 d2"` becomes a pattern that knows where each word stands.

    expression  = left "->" right          words are separated by spaces
    left        = name, at most one "..."
    right       = name, name2, name*, name2*, 2, 2*, *, name@axis, name@(axis axis), "..."

A name is made of letters and `_`; numbers are written with the digits 0-9. What the words ask of an array and of devices is
the part of `shardlab.expressions.resolution`.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable

from shardlab.expressions.pattern import MIXED, Element, Pattern, faults, is_axis, is_name, letters
from shardlab.expressions.quote import Fault, Span, sharding_error, shown

_RIGHT_WORD = re.compile(r"[^\s(]*\([^()]*\)\S*|\S+")
_LEFT_WORD = re.compile(r"\S+")
_COUNT = re.compile(r"([1-9][0-9]*)?(\*)?")
_AXES = re.compile(r"@(?:([^\s()@*]+)|\(\s*([^()@*]*?)\s*\))")
_LONGEST_COUNT = 18
_FORMS = "write name, name2, name*, name2*, 2, 2*, *, name@axis, name@(axis axis) or '...', with spaces between."
_EXAMPLE = 'like "a b -> a4 b2".'


def parse(text: str) -> Pattern:
    """The pattern of a sharding expression.

    Raises:
        ShardingError: the text is no expression; all faults at once, each with its place.
    Example:
        >>> str(parse("a  b->2  a4* b").right[1])
        'a4*'
    """
    if isinstance(text, str):
        return _parse(text)
    kind = type(text).__name__
    fault = Fault("not-text", f"a sharding expression is text, not {kind}", f"write it {_EXAMPLE}")
    raise sharding_error(f"<{kind}>", [fault])


@functools.lru_cache(maxsize=4096)
def _parse(text: str) -> Pattern:
    arrows = [(found.start(), found.end()) for found in re.finditer("->", text)]
    if len(arrows) != 1:
        raise sharding_error(text, [_arrow_fault(text, arrows)])
    start, stop = arrows[0]
    words = [
        *_read(_LEFT_WORD, text[:start], 0, _left_element),
        *_read(_RIGHT_WORD, text[stop:], stop, _right_element),
    ]
    left = tuple(word for word in words if isinstance(word, Element) and word.span[1] <= start)
    right = tuple(word for word in words if isinstance(word, Element) and word.span[0] >= stop)
    found = [word for word in words if isinstance(word, Fault)] or faults(left, right, arrows[0])
    if found:
        raise sharding_error(text, found)
    return Pattern(text, left, right)


def _read(
    words: re.Pattern[str], text: str, offset: int, element: Callable[[str, Span], Element | Fault]
) -> list[Element | Fault]:
    return [element(found[0], (found.start() + offset, found.end() + offset)) for found in words.finditer(text)]


def _left_element(word: str, span: Span) -> Element | Fault:
    if is_name(word):
        return Element(word, span=span)
    read = _right_element(word, span)
    if isinstance(read, Fault) or read.ellipsis:
        return read
    name = f"write {shown(read.name)} on the left" if read.name else "name only dimensions on the left"
    what = f"{shown(word)} is on the left, where dimensions only have names"
    return Fault("number-on-left", what, f"{name}, and numbers, stars and mesh axes on the right.", (span,))


def _right_element(word: str, span: Span) -> Element | Fault:
    if word == "...":
        return Element(ellipsis=True, span=span)
    name = word[: letters(word)] or None
    rest = word[len(name or "") :]
    counted = _COUNT.fullmatch(rest)
    if counted and len(counted[1] or "") <= _LONGEST_COUNT:
        return Element(name, int(counted[1]) if counted[1] else None, bool(counted[2]), span=span)
    if name and (named := _AXES.fullmatch(rest)):
        axes = tuple((named[1] or named[2] or "").split())
        if axes and all(map(is_axis, axes)):
            return Element(name, axes=axes, span=span)
    return _word_fault(word, name, rest, span)


def _word_fault(word: str, name: str | None, rest: str, span: Span) -> Fault:
    """Why a word cannot be read."""
    foreign = [i for i, c in enumerate(word) if not c.isascii() and c.isnumeric() and not is_name(c)]
    number = rest[: len(rest) - len(rest.lstrip("0123456789").lstrip("*"))]
    after = rest[len(number) :]
    if foreign:
        spans = tuple((span[0] + i, span[0] + i + 1) for i in foreign)
        what = f"{shown(word[foreign[0]])} is not one of the digits 0-9"
        return Fault("digit-not-ascii", what, "write numbers with the digits 0123456789.", spans)
    if number.startswith("0"):
        mend = "write a number of at least 1, without leading zeros."
        return Fault("number-starts-with-zero", f"the number in {shown(word)} starts with 0", mend, (span,))
    if len(number) > _LONGEST_COUNT:
        what = f"{shown(word)} asks for more parts than there are devices anywhere"
        return Fault("number-too-large", what, "write how many parts this axis has, or a star.", (span,))
    if name and number and after.startswith("@"):
        return Fault("numbers-with-axes", "numbers or stars are mixed with mesh axes", MIXED, (span,))
    if name is None and number and is_name(after):
        mend = f"write {shown(after + number)} to cut the dimension, or {shown(f'{number} {after}')} for copies."
        return Fault("number-before-name", f"{shown(word)} has its number or star before the name", mend, (span,))
    return Fault("word-unreadable", f"{shown(word)} is not an element of an expression", _FORMS, (span,))


def _arrow_fault(text: str, arrows: list[Span]) -> Fault:
    if arrows:
        mend = "write one '->': dimensions before it, their placement after it."
        return Fault("arrow-twice", f"'->' appears {len(arrows)} times", mend, tuple(arrows[1:]))
    end = len(text.rstrip())
    mend = f"write the dimensions, '->', and their placement, {_EXAMPLE}"
    return Fault("arrow-missing", "there is no '->'", mend, ((end, end),))
