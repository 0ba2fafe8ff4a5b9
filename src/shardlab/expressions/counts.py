"""The numbers of an expression against the number of devices, in exact integers, and the nearest numbers that work."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

from shardlab.expressions.pattern import Element, Pattern
from shardlab.expressions.quote import Fault, either, number

Right = tuple[Element, ...]
ORDINALS = {2: "square", 3: "cube"}


def root(n: int, degree: int) -> int | None:
    """The whole number whose `degree`-th power is `n`, if there is one.

    Example:
        >>> root(4096, 3), root(8, 2)
        (16, None)
    """
    low = _floor_root(n, degree)
    return low if low**degree == n else None


def sizes(right: Sequence[Element], devices: int) -> tuple[int, ...] | None:
    """The size of the mesh axis that each element stands for; `None` when they do not make up all devices."""
    bases = [element.count or 1 for element in right]
    stars = sum(element.star for element in right)
    product = math.prod(bases)
    if not stars:
        return tuple(bases) if product == devices else None
    ratio = None if devices % product else root(devices // product, stars)
    return None if ratio is None else tuple(n * ratio if e.star else n for n, e in zip(bases, right))


def parts(right: Sequence[Element], counts: Sequence[int]) -> dict[str, int]:
    """How many parts each named dimension is cut into."""
    cut: dict[str, int] = {}
    for element, count in zip(right, counts, strict=True):
        if element.name is not None:
            cut[element.name] = cut.get(element.name, 1) * count
    return cut


def fault(pattern: Pattern, devices: int, extents: dict[str, int]) -> Fault:
    """Why the numbers of `pattern` do not make up `devices`, and what would.

    Args:
        extents: sizes of the named dimensions, as far as they are known.
    """
    reference, what = _reason(pattern.right, devices)
    spans = tuple(element.span for element in pattern.right if element.counted)
    return Fault(reference, what, f"write {either(nearest(pattern, devices, extents))}.", spans)


def nearest(pattern: Pattern, devices: int, extents: Mapping[str, int]) -> tuple[str, ...]:
    """The one or two expressions nearest to `pattern` that use all devices and divide the dimensions, in quotes."""
    found: dict[str, float] = {}
    for distance in (1, 2):
        for cost, right in _edits(pattern.right, devices, distance):
            counts = sizes(right, devices)
            if counts and all(extents.get(name, 0) % n == 0 for name, n in parts(right, counts).items()):
                text = f'"{pattern.write(right)}"'
                found[text] = min(cost, found.get(text, cost))
        if found:
            break
    bare = tuple(dataclasses.replace(e, count=None, star=False) for e in pattern.right if e.name or e.ellipsis)
    fallback = f'"{pattern.write((Element(star=True), *dict.fromkeys(bare)))}"'
    return tuple(sorted(found, key=found.__getitem__)[:2]) or (fallback,)


def _reason(right: Right, devices: int) -> tuple[str, str]:
    """Id and arithmetic of what is wrong."""
    fixed = [e.count for e in right if e.count is not None and not e.star]
    bases = [e.count or 1 for e in right if e.star]
    there, left = f"there {'is' if devices == 1 else 'are'} {_devices(devices)}", devices // math.prod(fixed)
    if not bases:
        given = f"the numbers give {_product(fixed)} parts" if fixed else "there is no number on the right"
        return "numbers-do-not-multiply", f"{given}, and {there}"
    if devices % math.prod(fixed):
        given = f"the numbers without a star give {_product(fixed)}"
        return "numbers-do-not-divide", f"{given}, which does not divide {_devices(devices)}"
    if left % math.prod(bases):
        given = f"the starred numbers give {_product(bases)}"
        free = f"the {left} of {devices} devices that are left for them" if left < devices else _devices(devices)
        return "numbers-do-not-divide", f"{given}, which does not divide {free}"
    return "no-whole-root", _rootless(len(bases), left // math.prod(bases), devices)


def _rootless(stars: int, share: int, devices: int) -> str:
    how = _devices(devices) if share == devices else f"{devices} devices / {devices // share} = {share}"
    name = ORDINALS.get(stars, f"{stars}-th power")
    low = _floor_root(share, stars)
    powers = " and ".join(f"{' * '.join([str(base)] * stars)} = {base**stars}" for base in (low, low + 1))
    nearest_powers = f" (the nearest are {powers})" if stars <= 3 else ""
    return f"{stars} stars share {how}, which is not the {name} of a whole number{nearest_powers}"


def _edits(right: Right, devices: int, distance: int) -> Iterator[tuple[float, Right]]:
    """Right sides `distance` changes away from `right`, each with what the change costs. None where there are too many."""
    divisors = [d for d in range(1, min(devices, 4096) + 1) if devices % d == 0]
    places = [i for i, e in enumerate(right) if not e.ellipsis]
    # All changes are tried, and their number grows with the power of the distance: an error message must not take seconds.
    if len(places) > (12 if distance == 1 else 6):
        return
    options = {i: list(_changes(right[i], divisors)) for i in places}
    for chosen in itertools.combinations(places, distance):
        for changes in itertools.product(*(options[i] for i in chosen)):
            edited = list(right)
            for i, (_, element) in zip(chosen, changes):
                edited[i] = element
            yield sum(cost for cost, _ in changes), tuple(e for e in edited if e.name or e.ellipsis or e.counted)
    if distance == 1:
        yield 1.0, (Element(star=True), *right)
        if any(e.star for e in right):
            yield from ((1.0 + 0.1 * k, (Element(count=d), *right)) for k, d in enumerate(divisors) if d > 1)


def _changes(element: Element, divisors: Sequence[int]) -> Iterator[tuple[float, Element]]:
    """The same element with another number, or with or without a star."""
    old = element.count or 1
    for d in divisors:
        if d != old:
            count = None if d == 1 and (element.name or element.star) else d
            # Only their order matters: the fewer doublings away a number is, the likelier it was meant.
            yield 1.05 + 0.1 * abs(math.log2(d / old)), dataclasses.replace(element, count=count)
    if element.counted or element.name:
        count = element.count or (1 if element.name is None else None)
        yield 1.2, dataclasses.replace(element, star=not element.star, count=count)


def _floor_root(n: int, degree: int) -> int:
    """The largest whole number whose `degree`-th power is at most `n`, by bisection: floats round."""
    low, high = 1, 1 << (n.bit_length() // degree + 1)
    while low + 1 < high:
        middle = (low + high) // 2
        low, high = (middle, high) if middle**degree <= n else (low, middle)
    return low


def _product(numbers: Sequence[int]) -> str:
    if len(numbers) < 2:
        return number(math.prod(numbers))
    written = " * ".join(map(str, numbers)) if len(numbers) <= 6 else f"{numbers[0]} * ... * {numbers[-1]}"
    return f"{written} = {number(math.prod(numbers))}"


def _devices(n: int) -> str:
    return f"{n} device{'s' * (n != 1)}"
