"""Other situations for a program: another mesh, or larger arrays."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Literal

from shardlab_judge.cases import Case
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Question
from shardlens import Axes, Spec

Kind = Literal["given", "mesh", "size"]
DEVICES = (8, 4)
"""Of the meshes that take the place of the given one."""
TIMES = (2, 3)
"""By which a dimension grows."""


@dataclasses.dataclass(frozen=True)
class Change:
    """A case, and in words how it differs from the first public one; `given` is that case itself."""

    kind: Kind
    case: Case
    what: str = ""


def programs(question: Question) -> list[ProgramItem]:
    """The functions of an exercise that are compiled."""
    return [item for item in question.items if isinstance(item, ProgramItem)]


def changes(item: ProgramItem) -> tuple[Change, ...]:
    """The first public case, and those that come of it by one change and in which its arrays can still be cut."""
    given = item.cases[0]
    found = [*_meshes(given), *_sizes(given)]
    return (Change("given", given), *(one for one in found if _can_be_cut(one.case)))


def mesh_text(axes: Axes) -> str:
    """A mesh as messages write it: `(x=2, y=4)`."""
    return f"({', '.join(f'{name}={size}' for name, size in axes)})"


def _meshes(given: Case) -> Iterator[Change]:
    names = [name for name, _ in given.axes]
    for count in DEVICES:
        for sizes in itertools.product(range(2, count + 1), repeat=len(names)):
            axes = tuple(zip(names, sizes))
            if math.prod(sizes) == count and axes != given.axes:
                what = f"on a mesh {mesh_text(axes)} in place of {mesh_text(given.axes)}, with the same arrays"
                yield Change("mesh", dataclasses.replace(given, axes=axes), what)


def _sizes(given: Case) -> Iterator[Change]:
    """Equal dimensions grow together, as those do that a product sums over."""
    for size in sorted({size for array in given.inputs for size in array.shape if size > 1}):
        for times in TIMES:
            inputs = tuple(dataclasses.replace(a, shape=_grown(a.shape, size, times)) for a in given.inputs)
            larger = f"with {size * times} in place of {size} wherever that is a dimension of an array"
            what = f"{larger}, on the same mesh {mesh_text(given.axes)}"
            yield Change("size", dataclasses.replace(given, inputs=inputs), what)


def _grown(shape: Sequence[int], size: int, times: int) -> tuple[int, ...]:
    return tuple(times * n if n == size else n for n in shape)


def _can_be_cut(case: Case) -> bool:
    sizes = dict(case.axes)
    return all(n % _parts(entry, sizes) == 0 for array in case.inputs for n, entry in zip(array.shape, array.spec))


def _parts(entry: Spec | str | None | tuple[str, ...], sizes: dict[str, int]) -> int:
    names = () if entry is None else (entry,) if isinstance(entry, str) else entry
    return math.prod(sizes[str(name)] for name in names)
