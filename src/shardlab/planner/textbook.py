"""The textbook's ways of making a product of two sharded arrays: what each sends and computes on one device.

Each mesh axis is a case, by what it cuts in the left and in the right array:

1. no summed dimension: nothing is sent;
2. a summed dimension of one array only, or of both in different ways: one array is gathered, or the other is cut alike (a
   slice where it is whole, an all-to-all where the axis cuts another of its dimensions), which makes it the third case;
3. the same summed dimension of both: the devices hold terms of sums, `{U:axis}`; an all-reduce adds them up, or a
   reduce-scatter where the output is asked to be cut by that axis;
4. a dimension of each that stays: one of the arrays is gathered.

Source: scaling-book, Part 3 (Sharded Matrices and How to Multiply Them), 'Computation With Sharded Arrays', and of slicing
its questions 4 and 9.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import os
from collections.abc import Collection, Iterator

from shardlab.planner.layouts import Layout, Names, parts
from shardlab.programs.reading.collectives import Collective, price, total_bytes

HLO_TYPES = {"float32": "f32", "bfloat16": "bf16", "float16": "f16", "float64": "f64", "int32": "s32", "int8": "s8"}


@dataclasses.dataclass(frozen=True)
class Product:
    """Two arrays that are multiplied.

    Args:
        left, right: with their placements.
        kept: dimensions of the output.
        asked: the placement asked of the output; `None` to leave it where it comes out.
        labels: what the three arrays are called.
    """

    left: Layout
    right: Layout
    kept: Names
    asked: Layout | None
    labels: tuple[str, str, str]

    @property
    def sizes(self) -> dict[str, int]:
        """The size of each dimension."""
        return dict(zip((*self.left.names, *self.right.names), (*self.left.shape, *self.right.shape)))

    @property
    def output(self) -> Layout:
        """The output, whole on every device."""
        shape, cuts = tuple(self.sizes[name] for name in self.kept), ((),) * len(self.kept)
        return dataclasses.replace(self.left, names=self.kept, shape=shape, cuts=cuts)

    @property
    def summed(self) -> Names:
        """Dimensions over which the product sums."""
        return tuple(n for n in self.left.names if n in self.right.names and n not in self.kept)

    @property
    def cases(self) -> tuple[int, ...]:
        """Which of the four cases occur, each mesh axis by itself."""
        return tuple(sorted({self._case(axis) for axis, _ in self.left.axes} - {0})) or (1,)

    def _case(self, axis: str) -> int:
        one, other = self.left.dimension(axis), self.right.dimension(axis)
        if one in self.summed or other in self.summed:
            return 3 if one == other and self.left.by_name[one] == self.right.by_name[one] else 2
        return 4 if one and other and one != other else 1 if one or other else 0


@dataclasses.dataclass(frozen=True)
class Way:
    """One way of making a product, on one device.

    Args:
        product: what is made.
        sliced: labels of arrays of which devices cut their own parts, which sends nothing.
        collectives: what is sent, in order.
        flops: multiplications and additions.
        output: where the output comes to lie.
        terms: the same before sums were made, `{U:axis}`; `None` where there are none.
    """

    product: Product
    sliced: Names
    collectives: tuple[Collective, ...]
    flops: float
    output: Layout
    terms: Layout | None

    @functools.cached_property
    def cost(self) -> tuple[int, int, float]:
        """Bytes that one device moves (see `shardlab.programs.reading.collectives.price`), collectives, and FLOPs."""
        return price(self.collectives), len(self.collectives), self.flops

    @property
    def payload_bytes(self) -> int:
        """Bytes of all collectives' outputs on one device."""
        return total_bytes(self.collectives)

    def __str__(self) -> str:
        made = self.product.labels[2]
        sent = [
            (c.name, f"{c.kind} {c.name} {c.dtype}[{','.join(map(str, c.shape))}] over {', '.join(c.axes)}")
            for c in self.collectives
        ]
        before, after = ([text for name, text in sent if (name == made) == last] for last in (False, True))
        return ", ".join([*before, *(f"slice {label}" for label in self.sliced), *after]) or "nothing"


@functools.lru_cache(maxsize=65536)
def ways(product: Product) -> tuple[Way, ...]:
    """The textbook's ways, each sending no more than it needs.

    A way frees each dimension of some of the mesh axes that cut it, fastest first. It is left out where another way frees
    less and slices the same summed dimensions.
    """
    sides = (product.left, product.right)
    own, n = (*product.left.cuts, *product.right.cuts), len(product.left.cuts)
    found: list[Way] = []
    seen: list[tuple[tuple[Names, ...], list[tuple[str, Names]]]] = []
    for kept in itertools.product(*([cut[:k] for k in range(len(cut), -1, -1)] for cut in own)):
        freed = [dataclasses.replace(side, cuts=cuts) for side, cuts in zip(sides, (kept[:n], kept[n:]))]
        matched = _matched(product, *freed)
        # What is freed of an axis and cut by it again could have stayed.
        if matched is None or any(_cut_again(*cuts) for cuts in zip(own, kept, (*matched[0].cuts, *matched[1].cuts))):
            continue
        pairs = [(had.by_name, has.by_name) for had, has in zip(freed, matched)]
        slices = [(name, has[name]) for name in product.summed for had, has in pairs if had[name] != has[name]]
        if not any(slices == same and all(map(_begins, less, kept)) for less, same in seen):
            seen.append((kept, slices))
            found.extend(_ways(product, *matched))
    return tuple(sorted(found, key=lambda way: way.cost))


def _begins(longer: Names, shorter: Names) -> bool:
    return longer[: len(shorter)] == shorter


def _cut_again(own: Names, kept: Names, cut: Names) -> bool:
    return kept != own and _begins(cut, own[: len(kept) + 1])


def _matched(product: Product, left: Layout, right: Layout) -> tuple[Layout, Layout] | None:
    """Both arrays with copies sliced as the other array, or the output that is asked for, needs them.

    Returns:
        `None` where the devices still cannot multiply what they hold.
    """
    for name in (n for n in left.names if n in right.names):
        finer = max(left.by_name[name], right.by_name[name], key=len)
        if not all(_begins(finer, side.by_name[name]) for side in (left, right)):
            return None
        left, right = left.cut(name, finer), right.cut(name, finer)
    for name, wanted in product.asked.by_name.items() if product.asked else ():
        cuts = left.by_name | right.by_name
        taken = set(itertools.chain.from_iterable(cuts.values()))
        finer = _finer(cuts[name], wanted, set(wanted) - taken)
        left, right = left.cut(name, finer), right.cut(name, finer)
    axes = list(itertools.chain.from_iterable((left.by_name | right.by_name).values()))
    return (left, right) if len(axes) == len(set(axes)) else None


def _finer(own: Names, wanted: Names, free: Collection[str]) -> Names:
    """A cut with the axes that follow in `wanted`, up to the first that is not free."""
    return own + tuple(itertools.takewhile(free.__contains__, wanted[len(own) :])) if _begins(wanted, own) else own


def _ways(product: Product, left: Layout, right: Layout) -> Iterator[Way]:
    """The ways that multiply arrays placed so: sums scattered where that is asked for, and sums whole on every device."""
    pairs = list(zip(product.labels, (product.left, product.right), (left, right)))
    before = [move for pair in pairs for move in _moves(*pair)]
    sliced = tuple(label for label, had, has in pairs if not set(has.used) <= set(had.used))
    cuts = left.by_name | right.by_name
    flops = 2.0 * math.prod(n // parts(cuts[name], left.axes) for name, n in product.sizes.items())
    output = product.output.placed(cuts)
    terms = dataclasses.replace(output, partial=tuple(axis for name in product.summed for axis in cuts[name]))
    final = product.asked or output
    scattered = output.placed({n: _finer(c, final.by_name[n], terms.partial) for n, c in output.by_name.items()})
    for summed in dict.fromkeys((scattered, output)):
        after = [*_sums(product, terms, summed), *_moves(product.labels[2], summed, final)]
        yield Way(product, sliced, (*before, *after), flops, final, terms if terms.partial else None)


def _sums(product: Product, terms: Layout, summed: Layout) -> Iterator[Collective]:
    over = [axis for axis in terms.partial if axis in summed.used]
    if over:
        yield _collective("reduce-scatter", product.labels[2], terms, summed, over)
    if rest := [axis for axis in terms.partial if axis not in over]:
        yield _collective("all-reduce", product.labels[2], summed, summed, rest)


def _moves(label: str, had: Layout, has: Layout) -> Iterator[Collective]:
    """From one placement to another: an all-to-all where a dimension takes over another's cut; the rest by an all-gather."""
    for name, wanted in has.by_name.items():
        giver = next((n for n, cut in had.by_name.items() if cut and cut == wanted and not has.by_name[n]), None)
        if giver and not had.by_name[name]:
            after = had.cut(giver, ()).cut(name, wanted)
            yield _collective("all-to-all", label, had, after, wanted)
            had = after
    # Blocks that stay together are those of the axes that both cuts begin with.
    kept = (tuple(os.path.commonprefix(pair)) for pair in zip(had.cuts, has.cuts))
    after = dataclasses.replace(had, cuts=tuple(kept))
    if after != had:
        yield _collective("all-gather", label, had, after, set(had.used) - set(after.used))


def _collective(kind: str, array: str, had: Layout, has: Layout, axes: Collection[str]) -> Collective:
    """The collective that turns one placement of an array into another."""
    over, dtype = tuple(axis for axis, _ in had.axes if axis in axes), HLO_TYPES.get(had.dtype, had.dtype)
    return Collective(kind, has.shard_shape, dtype, has.nbytes, had.nbytes, over, parts(over, had.axes), name=array)
