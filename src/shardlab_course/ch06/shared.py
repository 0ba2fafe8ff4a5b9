"""Chapter 6, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from shardlab_course.shared.products import product, same, shape
from shardlab_course.shared.sent import sends_a_part
from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, WrongCost, WrongProgram
from shardlens import Axes, Spec, place

Sizes = tuple[int, ...]


def product_case(mesh: Axes, size: Sizes, left: Spec, right: Spec, out: Spec | None, *, terms: bool = False,
                 pairs: int = 1) -> Case:  # fmt: skip
    """`pairs` of A, I x J, and B, J x K, on Explicit axes."""
    i, j, k = size
    inputs = (Input((i, j), left), Input((j, k), right)) * pairs
    return Case(mesh, inputs, (out,), explicit=True, terms=(("x",),) if terms else ())


def summed_products(*arrays: np.ndarray) -> np.ndarray:
    """A B + C D + ..."""
    first, *others = (product(a, b) for a, b in zip(arrays[::2], arrays[1::2]))
    for other in others:
        first = first + other
    return first


def eights(rng: random.Random, count: int) -> Sizes:
    """Sizes that 8 divides, all different."""
    return tuple(8 * n for n in rng.sample(range(1, 9), count))


def weight_gathered(o: Observed) -> bool:
    """Whether an argument other than the first is brought together."""
    sizes = {x.nbytes for x in o.inputs[1:] if x.ndim == 2}
    return any(c.kind == "all-gather" and c.payload_bytes in sizes for c in o.collectives)


def right(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether every device holds its slice of what the oracle says."""
    return same(o, oracle(*o.inputs))


def lies(o: Observed, *specs: Spec) -> bool:
    """Whether the output is placed as one of these specs says."""
    return any(o.placements[0].same_as(place(shape(o), o.case.axes, spec)) for spec in specs)


def moved(o: Observed, kind: str) -> int:
    """Payload bytes of the collectives of this kind."""
    return sum(c.payload_bytes for c in o.collectives if c.kind == kind)


AMBIGUOUS = WrongProgram(
    "no-out-sharding",
    "The dimension that is summed is sharded in both operands. JAX asks whether the sum should be whole, or how it should "
    "be cut.", 1, error="Contracting dimensions are sharded")  # fmt: skip
GATHERED_TERMS = WrongCost(
    "gathers-before-the-product", "Operands were gathered before the product. That moves more than adding up the terms "
    "does.", 2, when=lambda o: o.kinds == {"all-gather"} and sends_a_part(o, "all-gather"))  # fmt: skip

WIDE, TALL, LINE = axes(x=4, y=2), axes(x=2, y=4), axes(x=8)
ROWS: Spec = ("x", None)
COLUMNS: Spec = (None, "x")
WHOLE: Spec = ()


def program(name: str, oracle: Callable[..., Any], make: Callable[..., Case], sizes: tuple[Sizes, Sizes],
            misconceptions: tuple[Misconception, ...], meshes: tuple[Axes, Axes] = (WIDE, TALL), *,
            points: Mapping[str, float] = {"V": 1.25, "S": 1.25, "H": 1.25}, **options: Any) -> ProgramItem:  # fmt: skip
    """A program on two meshes, with `make(mesh, *sizes)` for each case, and for a drawn one."""

    def draw(rng: random.Random) -> Case:
        return make(rng.choice(meshes), *eights(rng, len(sizes[0])))

    cases = tuple(make(mesh, *size) for mesh, size in zip(meshes, sizes))
    return ProgramItem(name, points, misconceptions=misconceptions, oracle=oracle, cases=cases, draw=draw, **options)


def dot(left: Spec, right: Spec, out: Spec | None, **options: Any) -> Callable[..., Case]:
    """Cases with A, I x J, and B, J x K, on Explicit axes."""
    return lambda mesh, i, j, k: product_case(mesh, (i, j, k), left, right, out, **options)


def explicit(mesh: Axes, out: Spec, *inputs: Input) -> Case:
    """A case on Explicit axes."""
    return Case(mesh, inputs, (out,), explicit=True)
