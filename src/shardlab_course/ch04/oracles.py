"""Chapter 4's oracles: slow, by definition instead of by rule; with drawn cases and recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_course.shared.products import product, same, shape
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

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


def matmul_case(mesh: Axes, size: tuple[int, int, int], left: Spec, right: Spec, out: Spec | None = None) -> Case:
    """A case with A of I x J and B of J x K, for `size` (I, J, K)."""
    i, j, k = size
    return Case(mesh, (Input((i, j), left), Input((j, k), right)), (out,))


def drawing(left: Spec, right: Spec, out: Spec | None, fits: Callable[[int, int, int], bool],
            meshes: tuple[Axes, ...]) -> Callable[[random.Random], Case]:  # fmt: skip
    """A function that draws a case with sizes that are multiples of 8 and for which `fits(I, J, K)` holds."""

    def draw(rng: random.Random) -> Case:
        mesh = rng.choice(meshes)
        while True:
            i, j, k = (8 * rng.randint(1, 9) for _ in range(3))
            if fits(i, j, k):
                return matmul_case(mesh, (i, j, k), left, right, out)

    return draw


def costs(i: int, j: int, k: int, n: int) -> dict[str, list[int]]:
    """Bytes moved and FLOPs of one device for A[I, J_X]·B[J, K] in float32, counted on arrays of these shapes."""
    a, c = (np.empty(shape, np.float32) for shape in ((i, j), (i, k)))
    return {"gather": [a.nbytes, 2 * a.size * k], "reduce": [c.nbytes + c.nbytes, 2 * a[:, : j // n].size * k]}


def seconds(i: int, j: int, k: int, n: int, peak: float, bandwidth: float,
            join: Callable[[tuple[float, float]], float] = max) -> dict[str, float]:  # fmt: skip
    """Time of each way, when moving and multiplying overlap perfectly."""
    return {way: join((moved / bandwidth, work / peak)) for way, (moved, work) in costs(i, j, k, n).items()}


def costs_with(*, bytes: int = 4, reductions: int = 2, flops: int = 2, split: bool = False, shard: bool = False,
               devices: bool = False) -> Callable[..., Any]:  # fmt: skip
    """The formulas with one of them wrong.

    Args:
        bytes: an element's.
        reductions: how often an all-reduce moves its array.
        flops: of one term of the product.
        split: whether the gather's work is divided by the devices; `shard`: its bytes; `devices`: all bytes multiplied.
    """

    def costs(i: int, j: int, k: int, n: int) -> dict[str, list[float]]:
        work, moved = flops * i * j * k, bytes * (n if devices else 1)
        gather = [moved * i * j / (n if shard else 1), work / (n if split else 1)]
        return {"gather": gather, "reduce": [moved * reductions * i * k, work / n]}

    return costs


def draw_machine(rng: random.Random) -> tuple[int | float, ...]:
    """Sizes, peak FLOPs a second, and bandwidth in bytes a second."""
    return (*draw_sizes(rng), 10.0 ** rng.randint(9, 15), 10.0 ** rng.randint(8, 11))


def draw_sizes(rng: random.Random) -> tuple[int, int, int, int]:
    """I, J, K and a number of devices that divides J."""
    n = rng.choice((2, 4, 8))
    return rng.randint(1, 99), n * rng.randint(1, 99), rng.randint(1, 99), n


def right(o: Observed) -> bool:
    """Whether the values are those of the product, wherever they lie."""
    return same(o, product(*o.inputs))


def partial(at: Mapping[str, int], a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One device's term of the sum; of a whole B it takes the rows that go with its columns of A."""
    width = a.shape[1]
    term: np.ndarray = a @ (b if len(b) == width else b[at["x"] * width :][:width])
    return term


def gathers(o: Observed, operand: int) -> bool:
    """Whether an all-gather brings one operand of the product together."""
    size = o.inputs[operand].nbytes
    return any(c.kind == "all-gather" and c.payload_bytes == size for c in o.collectives)


def gathers_both(o: Observed) -> bool:
    """Whether each operand is brought together along the axes of some all-gather, both by others."""
    found = [[k for k, c in enumerate(o.collectives) if _brings(o, c, operand)] for operand in (0, 1)]
    return any(a != b for a, b in itertools.product(*found))


def _brings(o: Observed, collective: Any, operand: int) -> bool:
    """Whether an all-gather makes as much of this operand as a device has when its own axes cut it no more."""
    axes = {axis for entry in o.case.inputs[operand].spec for axis in ((entry,) if isinstance(entry, str) else entry or ())}
    left = math.prod(dict(o.case.axes)[axis] for axis in axes - set(collective.axes))
    gathered = collective.kind == "all-gather" and (not axes or bool(axes & set(collective.axes)))
    return gathered and collective.payload_bytes * left == o.inputs[operand].nbytes


def gathers_only(o: Observed, operand: int) -> bool:
    """Whether this operand is brought together, the other one is not, and the product is turned afterwards."""
    return gathers(o, operand) and not gathers(o, 1 - operand) and len(o.collectives) > 1


def left_is_cheaper(o: Observed) -> bool:
    """Whether A is smaller than B and a device's part of the product together, which would be turned."""
    a, b = o.inputs
    return bool(a.nbytes < b.nbytes + a.itemsize * len(a) * b.shape[1] // dict(o.case.axes)["x"])


def summed_over(o: Observed) -> set[str]:
    """The mesh axes over which anything is summed."""
    return {axis for c in o.collectives if c.kind in ("all-reduce", "reduce-scatter") for axis in c.axes}


def deep(o: Observed) -> bool:
    """Whether A is more expensive to gather than C is to reduce."""
    (_, j), (_, k) = (x.shape for x in o.inputs)
    return bool(j > 2 * k)


def stacked_gather(o: Observed) -> bool:
    """Whether A's blocks of columns were laid one behind another, and read as if they were A."""
    a, b = o.inputs
    blocks = np.stack(np.split(a, dict(o.case.axes)["x"], axis=1))
    return same(o, product(blocks.reshape(a.shape), b))


def short_starts(o: Observed) -> bool:
    """Whether the device at d multiplied its columns of A with as many rows of B, from row d on."""
    a, b = o.inputs
    blocks = np.split(a, dict(o.case.axes)["x"], axis=1)
    return same(o, np.sum([product(block, b[d : d + block.shape[1]]) for d, block in enumerate(blocks)], axis=0))


def times(o: Observed, factor: Callable[[int], float]) -> bool:
    """Whether every value is `factor(n)` times the right one, for n devices along some mesh axis."""
    counts = {n for _, n in o.case.axes if n > 1}
    return any(same(o, factor(n) * product(*o.inputs)) for n in counts)


def diagonal(o: Observed) -> bool:
    """Whether nothing but the diagonal blocks is right: stacked along one dimension, or with zeros beside them."""
    a, b = o.inputs
    whole = product(a, b)
    i, k, n = *whole.shape, dict(o.case.axes)["x"]
    blocks = [whole[d * i // n : (d + 1) * i // n, d * k // n : (d + 1) * k // n] for d in range(n)]
    spread = np.zeros_like(whole)
    for d, block in enumerate(blocks):
        spread[d * i // n : (d + 1) * i // n, d * k // n : (d + 1) * k // n] = block
    return any(same(o, wrong) for wrong in (np.concatenate(blocks, 0), np.concatenate(blocks, 1), spread))


def first_rows(o: Observed) -> bool:
    """Whether every block of A was multiplied with the first rows of B, and the products summed."""
    a, b = o.inputs
    width = a.shape[1] // dict(o.case.axes)["x"]
    return same(o, product(np.sum(np.split(a, a.shape[1] // width, axis=1), axis=0), b[:width]))


def scattered(o: Observed, dimension: int) -> bool:
    """Whether the product is right and split along this dimension."""
    return right(o) and o.placements[0].shard_shape[dimension] < shape(o)[dimension]


def stacked(o: Observed) -> bool:
    """Whether the output is all devices' partial products, one below another."""
    a, b = o.inputs
    terms = zip(np.split(a, n := dict(o.case.axes)["x"], axis=1), np.split(b, n))
    return same(o, np.concatenate([product(*term) for term in terms]))
