"""Which round of a parallel program computes what the plain one does in a round: the same, or a pipeline's. No JAX here."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence

import numpy as np

from shardlens.diverging.marks import COTANGENT
from shardlens.diverging.numbers import FloatArray, scale_of
from shardlens.diverging.pairs import Pair
from shardlens.diverging.relations import Relation, possible, relate


@dataclasses.dataclass(frozen=True)
class Alignment:
    """Rows of a plain value with the blocks that belong to them.

    Args:
        arrange: the plain value, `[rounds, ...]`, as rows.
        rounds: of each row, the round of the plain program.
        blocks: `[rows, axes..., block...]`.
        sizes: of the mesh axes that the blocks have.
        allowed: the relations that their shapes allow.
        relation: the best of them; `None` where none holds in the first row.
        right: rows for which it holds, from the first on.
        words: what rounds hold, where these are not the plain program's.
    """

    arrange: Callable[[FloatArray], FloatArray]
    rounds: Sequence[int]
    blocks: FloatArray
    sizes: Mapping[str, int]
    allowed: Sequence[Relation]
    relation: Relation | None
    right: int
    words: str

    def injected(self, shape: Sequence[int]) -> tuple[FloatArray, FloatArray]:
        """The parallel program's value as the plain one has it, and the rounds in which it can take its place."""
        assert self.relation is not None
        positions = self.arrange(np.arange(int(np.prod(shape))).reshape(shape))
        value = np.zeros(shape, self.blocks.dtype)
        value.reshape(-1)[positions.reshape(-1)] = self.relation.whole(self.blocks, positions.shape[1:]).reshape(-1)
        put = np.ones(shape[0], bool)
        put[list(self.rounds[self.right :])] = False
        return value, put


def align(pair: Pair, whole: FloatArray, blocks: FloatArray) -> Alignment:
    """The alignment that holds for the most rows."""
    return max(_alignments(pair, whole, blocks), key=lambda each: each.right)


def _alignments(pair: Pair, whole: FloatArray, blocks: FloatArray) -> Iterator[Alignment]:
    sizes, rounds = pair.parallel.sizes, len(whole)
    if pair.plain.sizes:
        yield from _of_two(pair, whole, blocks)
    elif rounds == len(blocks):
        yield _related(lambda value: value, [*range(rounds)], whole, blocks, sizes, "")
    else:
        for axis in sizes:
            yield from _pipeline(axis, whole, blocks, sizes, pair.name.startswith(COTANGENT))
        yield _related(lambda value: value[:0], [], whole, blocks[:0], sizes, f"{len(blocks)} rounds against {rounds}")


def _related(
    arrange: Callable[[FloatArray], FloatArray],
    rounds: Sequence[int],
    whole: FloatArray,
    blocks: FloatArray,
    sizes: Mapping[str, int],
    words: str,
) -> Alignment:
    relation, allowed, right = relate(arrange(whole), blocks, sizes)
    return Alignment(arrange, rounds, blocks, sizes, allowed, relation, right, words)


def _of_two(pair: Pair, whole: FloatArray, blocks: FloatArray) -> Iterator[Alignment]:
    """Both programs have blocks: the same ones, or those of a value that both can be cuts, copies or terms of."""
    rounds = [*range(len(whole))]
    if len(whole) != len(blocks):
        return
    if whole.shape == blocks.shape:
        yield _related(lambda value: value, rounds, whole, blocks, {}, "the same on each device")
    sizes = pair.plain.sizes
    block = whole.shape[1 + len(sizes) :]
    for cuts in itertools.product((1, *sizes.values(), int(np.prod([*sizes.values()]))), repeat=len(block)):
        shape = tuple(n * size for n, size in zip(cuts, block))
        for each in possible(shape, block, sizes):
            read = functools.partial(each.whole, shape=shape)
            held = _related(read, rounds, whole, blocks, pair.parallel.sizes, f"{each} in one")
            if each.error(each.whole(whole, shape), whole).max(initial=0) <= 1e-3 * scale_of(whole):
                yield held


def _pipeline(
    axis: str, whole: FloatArray, blocks: FloatArray, sizes: Mapping[str, int], backward: bool
) -> Iterator[Alignment]:
    """Device `s` of an axis computes part `m` of a batch in round `s + m`; a backward pass begins with the last."""
    stages, at = sizes[axis], 1 + [*sizes].index(axis)
    parts = len(blocks) - stages + 1
    if parts < 1:
        return
    rest = {name: size for name, size in sizes.items() if name != axis}
    s, m = (grid.reshape(-1) for grid in np.meshgrid(range(stages), range(parts), indexing="ij"))
    rows = np.moveaxis(blocks, at, 1)[s + m, stages - 1 - s if backward else s]
    order = s * parts + (parts - 1 - m if backward else m)
    words = f"part m on device s of {axis} in round s + m"
    for arrange, rounds in _parts(whole, stages, parts):
        yield _related(_composed(arrange, order), [rounds[n] for n in order], whole, rows, rest, words)


def _composed(arrange: Callable[[FloatArray], FloatArray], order: FloatArray) -> Callable[[FloatArray], FloatArray]:
    return lambda value: arrange(value)[order]


def _parts(whole: FloatArray, stages: int, parts: int) -> Iterator[tuple[Callable[[FloatArray], FloatArray], list[int]]]:
    """Ways to see a plain value as parts of a batch in each stage, stage by stage."""
    rounds = len(whole)
    if rounds == stages:
        for dimension, size in enumerate(whole.shape[1:], 1):
            if size % parts == 0:

                def cut(value: FloatArray, dimension: int = dimension) -> FloatArray:
                    shape = [*value.shape[:dimension], parts, value.shape[dimension] // parts, *value.shape[dimension + 1 :]]
                    moved = np.moveaxis(value.reshape(shape), dimension, 1)
                    return moved.reshape(stages * parts, *moved.shape[2:])

                yield cut, [r for r in range(stages) for _ in range(parts)]
    if rounds == stages * parts and parts > 1:
        yield lambda value: value, [*range(rounds)]
        order = np.arange(rounds).reshape(parts, stages).T.reshape(-1)
        yield lambda value: value[order], [*order.tolist()]
