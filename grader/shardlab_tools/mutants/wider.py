"""Cases, values and arguments that a question may never draw."""

from __future__ import annotations

import dataclasses
import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input
from shardlab_judge.inputs import hidden_inputs

Values = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def tied(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Few different values."""
    return rng.integers(-1, 3, shape).astype(float)


def equal(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """One value everywhere."""
    return np.full(shape, 0.75)


def large(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Rows that differ much."""
    return rng.standard_normal(shape) * 60


def tiny(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Values near zero."""
    return rng.standard_normal(shape) * 1e-3


VALUES: tuple[Values, ...] = (tied, equal, large, tiny)


def inputs(case: Case, values: Values) -> tuple[np.ndarray, ...]:
    """A case's numbers, with these for every array whose values are drawn plainly; nothing if there is none."""
    rng = np.random.default_rng(7)
    plain = [i.values is None and np.issubdtype(np.dtype(i.dtype), np.floating) for i in case.inputs]
    found = zip(plain, case.inputs, hidden_inputs(case, 7))
    made = tuple(values(rng, i.shape).astype(i.dtype) if changed else x for changed, i, x in found)
    return made if any(plain) else ()


def cases(case: Case) -> Iterator[Case]:
    """The case with one of its sizes doubled or trebled, and with the sizes of its mesh axes exchanged."""
    names, sizes = zip(*case.axes)
    for other in sorted(set(itertools.permutations(sizes)) - {sizes}):
        yield dataclasses.replace(case, axes=tuple(zip(names, other)))
    for size in sorted({size for i in case.inputs for size in i.shape}):
        for new in (2 * size, 3 * size):
            yield dataclasses.replace(case, inputs=tuple(_resized(i, size, new) for i in case.inputs))


MOST, LEAST = 100, 1e-3
"""Times a number: a count of devices that is as large as an array's bytes keeps a right answer walking for ever, too, and
a link of two bytes a year is no link."""


def calls(given: list[tuple[Any, ...]], most: int = 40) -> Iterator[tuple[Any, ...]]:
    """Arguments with one number changed: by one, to another of them, to a multiple of one: exact fits, and ties.

    What one of the numbers divides in all that is given, it divides afterwards.
    """
    rng = random.Random(0)
    divided = _divided(given)
    for arguments in rng.sample(given, min(most, len(given))):
        numbers = list(_numbers(arguments))
        others = [n for _, n in numbers]
        for path, value in rng.sample(numbers, min(6, len(numbers))):
            near = [value + 1, value - 1, value * 2, rng.choice(others), rng.choice(others) * rng.randint(1, 4)]
            for new in near:
                if LEAST * value <= new <= MOST * value and new > 0 and type(new) is type(value) and new != value:
                    changed = _with(arguments, path, new)
                    if divided <= _divided([changed]):
                        yield changed


def _resized(given: Input, size: int, new: int) -> Input:
    return dataclasses.replace(given, shape=tuple(new if s == size else s for s in given.shape))


def _divided(given: list[tuple[Any, ...]]) -> set[tuple[Any, Any]]:
    """Pairs of places whose first number is, in all of these, a multiple of the second, which is never 1."""
    each = [{path: n for path, n in _numbers(arguments) if isinstance(n, int)} for arguments in given]
    return {
        (a, b) for a in each[0] for b in each[0]
        if a != b and all(a in one and b in one and one[b] > 1 and one[a] % one[b] == 0 for one in each)
    }  # fmt: skip


def _numbers(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(value, list | tuple):
        for i, part in enumerate(value):
            yield from _numbers(part, (*path, i))
    elif isinstance(value, dict):
        for name, part in value.items():
            yield from _numbers(part, (*path, name))
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield path, value


def _with(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    if not path:
        return new
    first, *rest = path
    if isinstance(value, dict):
        return {**value, first: _with(value[first], tuple(rest), new)}
    parts = [_with(part, tuple(rest), new) if i == first else part for i, part in enumerate(value)]
    return type(value)(parts)
