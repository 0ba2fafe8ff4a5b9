"""What the devices' blocks are of a whole value: cut, copied, or terms of a sum, found by trying. No JAX here."""

from __future__ import annotations

import dataclasses
import itertools
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from shardlens.diverging.numbers import FloatArray, largest, scale_of

COPY, TERM = "copy", "term"
NEARLY = 0.1
"""Blocks are taken for those of a value if no element differs by more than this part of the value's largest."""


@dataclasses.dataclass(frozen=True)
class Relation:
    """For each mesh axis what the blocks along it are.

    Args:
        sizes: devices along each axis.
        roles: "copy", "term", or the dimension of the whole value that the axis cuts.
        dropped: dimensions that a block does not have at all, of which each device has one index.
        order: the axes in the order in which they cut, the outermost first.
    """

    sizes: Mapping[str, int]
    roles: tuple[str | int, ...]
    dropped: tuple[int, ...] = ()
    order: tuple[int, ...] = ()

    def __str__(self) -> str:
        def words(role: str | int) -> str:
            return "copy" if role == COPY else "term of a sum" if role == TERM else f"cut along {role}"

        by_role: dict[str | int, list[str]] = {}
        for axis in (*self.order, *(a for a in range(len(self.roles)) if a not in self.order)):
            by_role.setdefault(self.roles[axis], []).append([*self.sizes][axis])
        said = [f"{words(role)} over {', '.join(axes)}" for role, axes in by_role.items() if role != COPY]
        return "; ".join(said) or COPY

    def blocks(self, whole: FloatArray) -> FloatArray:
        """What each device should have, `[rounds, axes..., block...]`; terms are summed, and their axes have size 1.

        Args:
            whole: `[rounds, ...]`.
        """
        split, places, rest = [whole.shape[0]], {}, []
        for dimension, size in enumerate(whole.shape[1:]):
            for axis in (a for a in self.order if self.roles[a] == dimension):
                places[axis] = len(split)
                split.append(self._size(axis))
                size //= self._size(axis)
            if dimension not in self.dropped:
                rest.append(len(split))
                split.append(size)
        moved = whole.reshape(split).transpose([0, *(places[a] for a in sorted(places)), *rest])
        return np.expand_dims(moved, tuple(1 + a for a in range(len(self.roles)) if a not in places))

    def whole(self, blocks: FloatArray, shape: Sequence[int]) -> FloatArray:
        """The value of which these are the blocks, `[rounds, *shape]`; of copies the first."""
        summed = self.summed(blocks)
        for axis, role in enumerate(self.roles):
            summed = summed.take([0], axis=1 + axis) if role == COPY else summed
        numbers = np.arange(math.prod(shape)).reshape(1, *shape)
        found = np.empty((summed.shape[0], numbers.size), summed.dtype)
        found[:, self.blocks(numbers).reshape(-1)] = summed.reshape(summed.shape[0], -1)
        return found.reshape(summed.shape[0], *shape)

    def summed(self, blocks: FloatArray) -> FloatArray:
        """The blocks with terms added up, their axes of size 1."""
        terms = tuple(1 + axis for axis, role in enumerate(self.roles) if role == TERM)
        return blocks.sum(axis=terms, keepdims=True) if terms else blocks

    def error(self, whole: FloatArray, blocks: FloatArray) -> FloatArray:
        """The largest difference of each device's block in each round, `[rounds, axes...]`."""
        difference = largest(self.summed(blocks), self.blocks(whole), 1 + len(self.roles))
        return np.broadcast_to(difference, blocks.shape[: 1 + len(self.roles)])

    def _size(self, axis: int) -> int:
        return [*self.sizes.values()][axis]


def possible(shape: Sequence[int], block: Sequence[int], sizes: Mapping[str, int]) -> Iterator[Relation]:
    """The relations that such blocks can have to a value of that shape; copies come before cuts, cuts before terms.

    Example:
        >>> [str(each) for each in possible((8, 4), (2, 4), {"x": 4})]
        ['cut along 0 over x']
    """
    each = [(COPY,) if size == 1 else (COPY, *range(len(shape)), TERM) for size in sizes.values()]
    counts = [*sizes.values()]
    for roles in itertools.product(*each):
        cutting = [axis for axis, role in enumerate(roles) if isinstance(role, int)]
        cut = [math.prod(counts[a] for a in cutting if roles[a] == d) for d in range(len(shape))]
        full = [d for d in range(len(shape)) if cut[d] == shape[d] and cut[d] > 1]
        for dropped in itertools.combinations(full, len(shape) - len(block)) if len(block) <= len(shape) else ():
            left = [size / parts for d, (size, parts) in enumerate(zip(shape, cut)) if d not in dropped]
            if left == [*block]:
                shared = any(roles[a] == roles[b] for a, b in itertools.combinations(cutting, 2))
                for order in itertools.permutations(cutting) if shared else [tuple(cutting)]:
                    yield Relation(sizes, roles, dropped, tuple(order))


def relate(whole: FloatArray, blocks: FloatArray, sizes: Mapping[str, int]) -> tuple[Relation | None, list[Relation], int]:
    """The relation that holds for the most rounds from the first on, all that the shapes allow, and how many rounds.

    Args:
        whole: `[rounds, ...]`.
        blocks: `[rounds, axes..., ...]`.
        sizes: of the mesh axes; none for a value that is whole itself.
    """
    allowed = [*possible(whole.shape[1:], blocks.shape[1 + len(sizes) :], sizes)]
    scale = scale_of(whole, 1)
    best, longest, least = None, 0, np.inf
    for each in allowed:
        error = each.error(whole, blocks).max(axis=tuple(range(1, 1 + len(sizes))), initial=0)
        right = np.append(error <= NEARLY * scale, False)
        rounds = int(right.argmin())
        total = float(error[:rounds].sum())
        if (rounds, -total) > (longest, -least):
            best, longest, least = each, rounds, total
    return best, allowed, longest
