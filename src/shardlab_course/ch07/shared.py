"""Chapter 7, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input, Observed, axes
from shardlab_judge.question import WrongCost, WrongProgram
from shardlens import Axes, Spec

LINE, WIDE = axes(x=8), axes(x=4, y=2)


def same(o: Observed, wanted: Any, output: int = 0) -> bool:
    """Whether every device holds its slice of `wanted`."""
    right = np.asarray(wanted)
    return o.placements[output].shape == right.shape and all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=1e-4, atol=1e-4)
        for _, index, block in o.shards[output]
    )


def shape(o: Observed) -> tuple[int, ...]:
    """Shape of the first output."""
    return o.placements[0].shape


def case(mesh: Axes, *inputs: Input, outputs: Sequence[Spec], lapack: bool = False) -> Case:
    """A case; `outputs` has a spec for each."""
    return Case(mesh, inputs, tuple(outputs), lapack=lapack)


def drawing(make: Callable[..., Case], meshes: Sequence[Axes], *multiples: int, most: int = 5) -> Callable[[Any], Case]:
    """A function that draws a case: a mesh, and for each size a multiple."""

    def draw(rng: random.Random) -> Case:
        return make(rng.choice(meshes), *(n * rng.randint(2, most) for n in multiples))

    return draw


def devices(o: Observed, axis: str = "x") -> int:
    """How many lie along a mesh axis."""
    return dict(o.case.axes)[axis]


def each(o: Observed, made: Callable[[int], np.ndarray]) -> bool:
    """Whether every device holds what is made for its place along x."""
    return all(
        block.shape == made(place).shape and np.allclose(block, made(place), rtol=1e-4, atol=1e-4)
        for place, block in by_place(o)
    )


def by_place(o: Observed) -> Iterator[tuple[int, np.ndarray]]:
    """Each device's block, with the device's place along x."""
    names, sizes = zip(*o.case.axes)
    for device, _, block in o.shards[0]:
        yield int(np.unravel_index(device, sizes)[names.index("x")]), block


def gathers(o: Observed, whole: bool) -> bool:
    """Whether something is gathered: as much as the blocks have together, or only what they were reduced to."""
    block = o.inputs[0].nbytes // math.prod(size for _, size in o.case.axes)
    gathered = [c for c in o.collectives if c.kind == "all-gather"]
    return any((c.payload_bytes >= block * math.prod(devices(o, axis) for axis in c.axes)) == whole for c in gathered)


def whole_blocks(o: Observed) -> bool:
    """Whether an all-reduce adds up as many bytes as a block has."""
    block = o.inputs[0].nbytes // math.prod(size for _, size in o.case.axes)
    return any(c.kind == "all-reduce" and c.payload_bytes >= block for c in o.collectives)


PROMISE = WrongProgram(
    "promise-not-proved",
    "out_specs promise equal copies over an axis over which the output's type still varies. Sum over that axis, gather "
    "with to='invarying', or name the axis in out_specs.", 2, error="can't be statically inferred")  # fmt: skip
GATHERS = WrongCost(
    "gathers-everything", "Whole blocks are brought together, where a few numbers from each device would do.", 2,
    when=lambda o: gathers(o, whole=True))  # fmt: skip
PARTS = WrongCost(
    "results-gathered",
    "Every device gathers a part from each. Perhaps these are the devices' results: n numbers arrive, where a sum or a "
    "maximum would be one number. Then reduce the results instead.",
    2,
    when=lambda o: gathers(o, whole=False))  # fmt: skip

MESHES = (LINE, WIDE)
