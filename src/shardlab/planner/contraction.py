"""What `"b x, x y -> b y"` says: which dimensions each array has, which are summed, and in which order chains multiply."""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

from shardlab.expressions.pattern import is_name
from shardlab.expressions.quote import Fault, Span, sharding_error, shown
from shardlab.planner.layouts import Names

EXAMPLE = '"b x, x y -> b y"'
_WORD = re.compile(r"[^\s,]+")


@dataclasses.dataclass(frozen=True)
class Contraction:
    """Arrays multiplied from left to right, and what comes out.

    Args:
        text: as it was written.
        operands: dimensions of each array.
        output: dimensions of the product.
        spans: where each dimension of each array, and of the product at last, stands in the text.
    """

    text: str = dataclasses.field(compare=False)
    operands: tuple[Names, ...]
    output: Names
    spans: tuple[tuple[Span, ...], ...] = dataclasses.field(compare=False, repr=False)

    @property
    def products(self) -> tuple[tuple[Names, Names, Names], ...]:
        """Left, right and output dimensions of each product of two arrays, in the order in which a chain makes them."""
        made, left = [], self.operands[0]
        for i, right in enumerate(self.operands[1:], 1):
            last = i == len(self.operands) - 1
            later = {*self.output, *itertools.chain.from_iterable(self.operands[i + 1 :])}
            out = self.output if last else tuple(n for n in dict.fromkeys((*left, *right)) if n in later)
            made.append((left, right, out))
            left = out
        return tuple(made)

    def sizes(self, shapes: Sequence[Sequence[int]]) -> dict[str, int]:
        """The size of each dimension.

        Raises:
            ShardingError: shapes are missing or too many, have another rank, or give one dimension two sizes.
        """
        if len(shapes) != len(self.operands):
            what = f"{len(self.operands)} arrays are multiplied, and shapes are given for {len(shapes)}"
            raise sharding_error(self.text, [Fault("shapes-do-not-fit", what, "pass one shape for each array.")])
        found: dict[str, int] = {}
        faults = [fault for i, shape in enumerate(shapes) for fault in self._misfits(i, shape, found)]
        if faults:
            raise sharding_error(self.text, faults, "shapes " + ", ".join(str(tuple(shape)) for shape in shapes))
        return found

    def _misfits(self, i: int, shape: Sequence[int], found: dict[str, int]) -> Iterator[Fault]:
        names, spans = self.operands[i], self.spans[i]
        if len(shape) != len(names):
            what = f"array {i + 1} has {len(names)} names, and its shape {tuple(shape)} has {len(shape)} dimensions"
            yield Fault("rank-does-not-fit", what, "give one name to each dimension.", spans)
            return
        for name, n, span in zip(names, shape, spans):
            if found.setdefault(name, n) != n:
                what = f"dimension {shown(name)} is {found[name]} and {n}"
                yield Fault("sizes-differ", what, "pass shapes that agree, or use two names.", (span,))


def contraction(text: str) -> Contraction:
    """What a contraction's text says.

    Raises:
        ShardingError: the text cannot be read; all faults at once.
    Example:
        >>> contraction("b x, x y, y z -> b z").products[0]
        (('b', 'x'), ('x', 'y'), ('b', 'y'))
    """
    if not isinstance(text, str):
        kind = type(text).__name__
        fault = Fault("not-text", f"a contraction is text, not {kind}", f"write it like {EXAMPLE}.")
        raise sharding_error(f"<{kind}>", [fault])
    arrows = [found.span() for found in re.finditer("->", text)]
    if len(arrows) != 1:
        what = f"a contraction has one '->', and this has {len(arrows) or 'none'}"
        raise sharding_error(text, [Fault("contraction-arrow", what, f"write it like {EXAMPLE}.", tuple(arrows[1:]))])
    start, stop = arrows[0]
    pieces = [*_pieces(text[:start], 0), (text[stop:], stop)]
    words = [[(m[0], (m.start() + at, m.end() + at)) for m in _WORD.finditer(piece)] for piece, at in pieces]
    if faults := list(_faults(words, text, arrows[0])):
        raise sharding_error(text, faults)
    names = [tuple(word for word, _ in group) for group in words]
    return Contraction(text, tuple(names[:-1]), names[-1], tuple(tuple(span for _, span in group) for group in words))


Words = Sequence[Sequence[tuple[str, Span]]]


def _pieces(text: str, at: int) -> Iterator[tuple[str, int]]:
    for piece in text.split(","):
        yield piece, at
        at += len(piece) + 1


def _faults(words: Words, text: str, arrow: Span) -> Iterator[Fault]:
    *operands, output = words
    places: dict[str, list[Span]] = {}
    for word, span in itertools.chain.from_iterable(operands):
        places.setdefault(word, []).append(span)
    for word, span in itertools.chain.from_iterable(words):
        if not is_name(word):
            mend = "name dimensions with letters and '_'; how they are sharded stands in the expressions that follow."
            yield Fault("word-unreadable", f"{shown(word)} is no name of a dimension", mend, (span,))
    if (comma := text.find(",", arrow[1])) >= 0:
        mend = "write the dimensions of one array after '->'."
        yield Fault("contraction-output", "there is a ',' after '->'", mend, ((comma, comma + 1),))
    if len(operands) < 2:
        mend = f"separate arrays with ',', like {EXAMPLE}."
        yield Fault("contraction-operands", "there is one array to multiply", mend, (arrow,))
    for name, span in (pair for group in words for i, pair in enumerate(group) if pair[0] in dict(group[:i])):
        mend = "give each dimension of an array a name of its own."
        yield Fault("dimension-twice", f"dimension {shown(name)} stands twice in one array", mend, (span,))
    for name, span in output:
        if name not in places:
            mend = "write the dimensions of the product, all of which stand on the left."
            yield Fault("dimension-unknown", f"there is no dimension {shown(name)} on the left", mend, (span,))
    for name, spans in places.items():
        if len(spans) == 1 and name not in dict(output):
            mend = f"add {shown(name)} after '->', or to the array that it is summed with."
            yield Fault("dimension-alone", f"dimension {shown(name)} stands in one array only", mend, tuple(spans))
