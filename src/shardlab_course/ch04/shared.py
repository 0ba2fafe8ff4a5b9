"""Chapter 4, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_course.shared import products
from shardlab_course.shared.products import product, same, shape
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, WrongCost, WrongProgram, WrongValues
from shardlens import Axes, Spec


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


def summed_over(o: Observed) -> set[str]:
    """The mesh axes over which anything is summed."""
    return {axis for c in o.collectives if c.kind in ("all-reduce", "reduce-scatter") for axis in c.axes}


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


def summed_early(o: Observed) -> bool:
    """Whether the blocks of A, and those of B, were summed before they were multiplied."""
    a, b = o.inputs
    n = dict(o.case.axes)["x"]
    return same(o, product(np.sum(np.split(a, n, axis=1), axis=0), np.sum(np.split(b, n, axis=0), axis=0)))


def times(o: Observed) -> bool:
    """Whether every value is n times the right one, for n devices along some mesh axis."""
    return any(same(o, n * product(*o.inputs)) for _, n in o.case.axes if n > 1)


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


PROMISE = WrongProgram(
    "promise-not-proved", "out_specs promises equal copies, but the type still varies over an axis. Name that axis in "
    "out_specs, gather with to='invarying', or sum the partial products.",
    2, error="can't be statically inferred")  # fmt: skip
PARTIAL = WrongValues(
    "partial-sum-returned",
    "Each device returns the product of the columns and rows that it holds, one term of the sum; nothing adds the terms up. "
    "JAX checks this only with check_vma=True, and only where out_specs promises copies.", 1,
    local=partial)  # fmt: skip
DIAGONAL = WrongValues(
    "diagonal-blocks", "Device i multiplied its rows of A with its columns of B: that is block (i, i) of C, and no device "
    "has the others.", 1, when=diagonal)  # fmt: skip
ONE_AXIS = WrongProgram(
    "axis-for-both-dimensions", "A spec names one axis for both dimensions. As out_specs it would mean only the blocks "
    "(i, i) of C, and no device would hold the others.", 1, error="DuplicateSpecError")  # fmt: skip
LEFT = WrongProgram(
    "left-to-the-compiler",
    "Something is left to the compiler. XLA chooses what moves for `A @ B` outside shard_map, for constraints, and for "
    "in_specs that differ from the operands' own specs. In this exercise you are the compiler.", 1,
    when=lambda o: not o.manual)  # fmt: skip
NEEDLESS = WrongCost(
    "communicates-for-nothing", "Every device already holds all it needs for its block of C, so no byte has to move.",
    1, when=lambda o: bool(o.collectives))  # fmt: skip
BOTH = WrongCost(
    "gathers-both", "Parts of both operands are gathered, and you pay for each. The product can be made for less.", 2,
    when=gathers_both)  # fmt: skip
TWICE = WrongValues(
    "reduces-whole-products",
    "The product is n times too large, where n is the number of devices along an axis. Perhaps all of them held the same "
    "product, and these were summed.",
    2, when=times)  # fmt: skip
BLOCKS = WrongProgram(
    "blocks-do-not-fit",
    "The block of A has too few columns for all rows of B. Gather A's columns over x first (axis=1 and tiled=True, or the "
    "blocks are stacked in a new dimension), or take fewer rows of B.", 1,
    error=products.misfit("short"))  # fmt: skip
CUT_ROWS = WrongProgram(
    "rows-do-not-fit",
    "The block of B has too few rows for all columns of A. Cut the columns of A as well (P(None, 'x')), or gather B's rows "
    "first (axis=0 and tiled=True).", 1, error=products.misfit("cut"))  # fmt: skip
SWAPPED = WrongProgram(
    "operands-swapped", "That is B times A. In A @ B the rows of the first operand meet the columns of the second.", 1,
    error=products.misfit("swapped"))  # fmt: skip
EARLY = WrongValues(
    "sums-before-the-product",
    "The operands are summed, then multiplied. A product of sums has terms that do not belong to A @ B: multiply the blocks "
    "first, and sum the products.", 1, when=summed_early)  # fmt: skip
DEALT_OUT = WrongCost(
    "sum-dealt-out", "Each device has only a part of C, and here every device needs all of it. Perhaps the sum was dealt "
    "out: psum_scatter leaves each device a part of it, and psum all of it.", 2,
    when=lambda o: scattered(o, 0) or scattered(o, 1))  # fmt: skip
UNTILED = WrongValues(
    "gathered-then-reshaped", "A's blocks of columns were stacked, and the stack was read row by row as if it were A. "
    "Perhaps all_gather had no tiled=True, and a reshape followed. With axis=1, tiled=True puts the blocks side by side.",
    3, when=stacked_gather)  # fmt: skip
STARTS = WrongValues(
    "index-for-start", "Device d began at row d of B. Its rows begin at d times the number of columns of A that it holds.",
    2,
    when=short_starts)  # fmt: skip
FIRST_ROWS = WrongValues(
    "same-rows-everywhere",
    "Every device used the first rows of B. Device d needs the rows that go with its columns of A.",
    2, local=lambda at, a, b: a @ b[: a.shape[1]], when=first_rows)  # fmt: skip

WIDE, TALL, LINE = axes(x=4, y=2), axes(x=2, y=4), axes(x=8)
ROWS: Spec = ("x", None)
COLUMNS: Spec = (None, "x")
Y_COLUMNS: Spec = (None, "y")
WHOLE: Spec = ()

Situations = tuple[tuple[Axes, tuple[int, int, int]], ...]
PLANES: Situations = ((WIDE, (8, 12, 6)), (TALL, (6, 10, 16)))


def program(name: str, left: Spec, right: Spec, out: Spec | None, situations: Situations,
            misconceptions: tuple[Misconception, ...], fits: Callable[[int, int, int], bool], *, v: float = 1.25,
            h: float = 1.25, drawn: int = 1, manual: bool = False) -> ProgramItem:  # fmt: skip
    """A product of A with spec `left` and B with spec `right`, in these meshes and sizes (I, J, K), and in drawn ones."""
    points = {"V": v, "S": v, "H": h} if out is not None else {"V": v, "H": h}
    meshes = tuple(dict(situations))
    cases = tuple(matmul_case(mesh, size, left, right, out) for mesh, size in situations)
    draw = drawing(left, right, out, fits, meshes)
    if manual:
        misconceptions = (LEFT, *misconceptions)
    oracle = products.product
    return ProgramItem(
        name, points, misconceptions=misconceptions, oracle=oracle, cases=cases, draw=draw, drawn=drawn, manual=manual
    )
