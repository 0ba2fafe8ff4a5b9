"""Chapter 4, exercise 4.1: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Entry = str | list[str] | None
LENGTH = 4


def case_of(subscripts: str, left: Sequence[Entry], right: Sequence[Entry]) -> int:
    """The case of an einsum, found by looking at what each of a few simulated devices could compute.

    Every dimension has `LENGTH` indices and every mesh axis two devices.
    4: together the devices cannot reach all entries of the output; else 2: somewhere the operands hold different indices
    of a contracted dimension; else 3: they hold the same, but not all; else 1.
    """
    first, second, out = subscripts.replace("->", ",").split(",")
    a, b = dict(zip(first, left)), dict(zip(second, right))
    used = sorted({axis for entry in (*left, *right) for axis in _axes(entry)})
    reached: set[tuple[int, ...]] = set()
    differ = partial = False
    for place in itertools.product((0, 1), repeat=len(used)):
        at = dict(zip(used, place))
        held_a = {letter: _held(entry, at) for letter, entry in a.items()}
        held_b = {letter: _held(entry, at) for letter, entry in b.items()}
        reached |= set(itertools.product(*(held_a.get(i, held_b.get(i, set())) for i in out)))
        for j in (held_a.keys() & held_b.keys()) - set(out):
            differ |= held_a[j] != held_b[j]
            partial |= len(held_a[j]) < LENGTH
    if len(reached) < LENGTH ** len(out):
        return 4
    return 2 if differ else 3 if partial else 1


def _axes(entry: Entry) -> list[str]:
    return [] if entry is None else [entry] if isinstance(entry, str) else entry


def _held(entry: Entry, at: Mapping[str, int]) -> set[int]:
    """The indices that the device at these coordinates holds: halves of halves, slowest axis first."""
    start, length = 0, LENGTH
    for axis in _axes(entry):
        length //= 2
        start += at[axis] * length
    return set(range(start, start + length))


def draw_einsum(rng: random.Random) -> tuple[str, list[Entry], list[Entry]]:
    """Subscripts and two specs; a batch letter is sharded alike in both operands, as `classify` is promised."""
    names = rng.sample("abcdefghijklmnop", 7)
    batch, summed = names[: rng.randint(0, 1)], names[1 : rng.randint(1, 3)]
    rows, columns = names[3 : rng.randint(4, 5)], names[5 : rng.randint(6, 7)]
    free = {"left": _shuffled(rng, "xyz"), "right": _shuffled(rng, "xyz")}
    left: dict[str, Entry] = {}
    right: dict[str, Entry] = {}
    for letter in batch + summed:
        left[letter] = _draw_entry(rng, free["left"])
        alike = letter in batch or rng.random() < 0.6
        fits = set(_axes(left[letter])) <= set(free["right"])
        right[letter] = left[letter] if alike and fits else _draw_entry(rng, free["right"])
        free["right"] = [axis for axis in free["right"] if axis not in _axes(right[letter])]
    left |= {letter: _draw_entry(rng, free["left"]) for letter in rows}
    right |= {letter: _draw_entry(rng, free["right"]) for letter in columns}
    first, second, out = (_shuffled(rng, part) for part in (left, right, [*batch, *rows, *columns]))
    text = f"{''.join(first)},{''.join(second)}->{''.join(out)}"
    return text, [left[letter] for letter in first], [right[letter] for letter in second]


def _shuffled(rng: random.Random, items: Any) -> list[str]:
    return rng.sample(list(items), len(items))


def _draw_entry(rng: random.Random, free: list[str]) -> Entry:
    """None, one axis, or seldom two, taken out of `free`."""
    count = min(rng.choice((0, 0, 1, 1, 2)), len(free))
    taken = [free.pop() for _ in range(count)]
    return None if not taken else taken[0] if count == 1 else taken


def mistaken(*, clash: str = "kept", first: str = "clash", batch: bool = False, named: bool = True, ordered: bool = True,
             letters: slice = slice(None)) -> Callable[..., int]:  # fmt: skip
    """A classifier that decides by rules, with one of them wrong.

    Args:
        clash: which letters may clash: `"kept"` (right), `"any"`, or `"whole"` (entries compared whole).
        first: `"clash"` (right), or `"contraction"` to ask for the clash last.
        batch: whether letters that stay in the output count as contracted.
        named: whether the axes of contracted letters are compared, or only whether there are any.
        ordered: whether their order is compared too.
        letters: which contracted letters are looked at.
    """

    def classify(subscripts: str, left: Sequence[Entry], right: Sequence[Entry]) -> int:
        one, two, out = subscripts.replace("->", ",").split(",")
        a, b = dict(zip(one, left)), dict(zip(two, right))
        summed = [j for j in a if j in b and (batch or j not in out)]
        pairs = [(_axes(a[j]), _axes(b[j])) for j in summed[letters]]
        case = 1 if not any(p or q for p, q in pairs) else 3
        seen: Callable[..., Any] = (tuple if ordered else set) if named else bool
        if any(seen(p) != seen(q) for p, q in pairs):
            case = 2
        if first == "contraction" and case != 1:
            return case
        return 4 if any(_clashes(a, b, out, clash)) else case

    return classify


def _clashes(a: Mapping[str, Entry], b: Mapping[str, Entry], out: str, which: str) -> Iterator[bool]:
    for i, k in itertools.product(a, b):
        if i != k and (which == "any" or (i in out and k in out)):
            yield (a[i] == b[k] is not None) if which == "whole" else bool(set(_axes(a[i])) & set(_axes(b[k])))
