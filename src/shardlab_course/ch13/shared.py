"""Chapter 13, what several exercises use: cases, oracles, recognisers and misconceptions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Observed, axes
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.question import Misconception, WrongCost, WrongProgram, WrongValues
from shardlab_judge.verdict import Finding
from shardlens import Spec

LINE, WIDE, TALL = axes(x=8), axes(x=4, y=2), axes(x=2, y=4)
ROWS: Spec = ("x",)


def definite(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A symmetric, positive definite matrix, with eigenvalues between 1 and about 5."""
    root = rng.standard_normal(shape)
    return np.asarray(root @ root.T / len(root) + np.eye(len(root)))


def share(case: Case) -> int:
    """Twice the bytes that one device has of the first input."""
    return 2 * 4 * math.prod(case.inputs[0].shape) // dict(case.axes)["x"]


def too_wide(item: ProgramItem, o: Observed) -> Iterator[Finding]:
    """An array inside the program that is larger than `share`."""
    if o.largest > share(o.case):
        what, most = "On the way your program holds an array that is too large for one device.", share(o.case)
        yield Finding(item.name, "M", what, expected=f"no array above {most:,} B on a device", got=f"one of {o.largest:,} B")


STEPS = 6


def transformed(*dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function that returns the Fourier transform along these dimensions, one matrix product each."""

    def transform(x: np.ndarray) -> np.ndarray:
        for dimension in dimensions:
            n = x.shape[dimension]
            waves = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
            x = np.moveaxis(np.tensordot(waves, x, (1, dimension)), 0, dimension)
        return x

    return transform


def transforms(*dimensions: int) -> Callable[[np.ndarray], dict[str, np.ndarray]]:
    """A function that returns what is computed on the way to such a transform, by name: one dimension after another."""

    def steps(x: np.ndarray) -> dict[str, np.ndarray]:
        done = [dimensions[: n + 1] for n in range(len(dimensions))]
        return {f"the transform along {' and '.join(map(str, each))}": transformed(*each)(x) for each in done}

    return steps


def own_transform(*dimensions: int) -> Callable[[Mapping[str, int], np.ndarray], np.ndarray]:
    """A function that returns what a device makes of its block alone."""
    return lambda at, block: transformed(*dimensions)(block)


def in_pieces(x: np.ndarray, pieces: Mapping[int, int]) -> np.ndarray:
    """The transform along these dimensions where each is cut into so many pieces, and every piece is taken for the whole."""
    for dimension, n in pieces.items():
        x = np.concatenate([transformed(dimension)(part) for part in np.split(x, n, dimension)], dimension)
    return x


def twice(o: Observed) -> np.ndarray:
    """The spectrum if dimension 0 is transformed in the pieces into which rows are cut, and then whole, and 1 is not."""
    return transformed(0)(in_pieces(next(wide(o)), {0: dict(o.case.axes)["x"]}))


TWICE = (
    "Dimension 0 was transformed twice: in pieces, while the rows were cut, and again when it was whole. Dimension 1 is "
    "whole at the beginning, so transform it there."
)


def cut_transform(o: Observed) -> bool:
    """Whether every dimension was transformed, and one at least while it was cut along a mesh axis."""
    x, sizes = next(wide(o)), sorted({1, *(n for _, n in o.case.axes)})
    ways = itertools.product(sizes, repeat=x.ndim)
    fitting = (way for way in ways if max(way) > 1 and all(m % n == 0 for m, n in zip(x.shape, way)))
    return any(holds(o, in_pieces(x, dict(enumerate(way)))) for way in fitting)


def inverse(x: np.ndarray) -> np.ndarray:
    """The inverse transform along every dimension, by conjugation."""
    return np.conj(transformed(*range(x.ndim))(np.conj(x))) / x.size


def iterated(*, steps: int = STEPS, own: int = 1, narrow: int = 1, steepest: bool = False) -> Callable[..., np.ndarray]:
    """A function that returns some approximation of conjugate gradients.

    With a mistake: sums over a device's own entries (`own` devices), products with its own columns (`narrow` devices), or no
    memory of earlier directions.
    """

    def iterate(matrix: np.ndarray, b: np.ndarray) -> np.ndarray:
        size = len(b)
        kept = matrix * np.kron(np.eye(narrow), np.ones((size // narrow, size // narrow)))

        def dot(u: np.ndarray, v: np.ndarray) -> np.ndarray:
            return np.repeat((u * v).reshape(own, -1).sum(1), size // own)

        x, r, p = np.zeros(size), b, b
        for _ in range(steps):
            q = kept @ p
            along = dot(r, r) / dot(p, q)
            x, before, r = x + along * p, dot(r, r), r - along * q
            p = r if steepest else r + dot(r, r) / before * p
        return x

    return iterate


def rounds(o: Observed) -> int:
    """The number of rounds after which the approximation is this one, at most 15; 0 where it is none."""
    x, (matrix, b) = whole(o), wide(o)
    far = [np.abs(x - iterated(steps=steps)(matrix, b)).max() for steps in range(1, 16)]
    return int(np.argmin(far)) + 1 if min(far) < 1e-4 else 0


def count(o: Observed, kind: str, least: int = 0) -> int:
    """How often a kind of collective runs that carries at least so many bytes."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == kind and c.payload_bytes >= least)


def largest(o: Observed, kind: str) -> int:
    """Bytes of the largest collective of this kind."""
    return max((c.payload_bytes for c in o.collectives if c.kind == kind), default=0)


def gathers(o: Observed) -> bool:
    """Whether a device gets the whole of the first input."""
    # Of a complex transform of real numbers JAX may gather the real ones.
    return largest(o, "all-gather") >= o.inputs[0].nbytes


def right(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether every device holds its part of what the oracle says."""
    wanted = np.asarray(oracle(*wide(o)))
    return o.placements[0].shape == wanted.shape and holds(o, wanted)


def lies(o: Observed, *spec: Any) -> bool:
    """Whether the output's spec is this one, apart from `None` at its end."""
    return _stripped(o.placements[0].spec or ()) == _stripped(spec)


def _stripped(spec: Any) -> tuple[Any, ...]:
    entries = list(spec)
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def wide(o: Observed) -> Iterator[np.ndarray]:
    """The inputs in double precision."""
    return (x.astype(complex if np.iscomplexobj(x) else float) for x in o.inputs)


def holds(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its part of this array."""
    return all(np.allclose(block, wanted[index], rtol=1e-3, atol=1e-3) for _, index, block in o.shards[0])


def whole(o: Observed) -> np.ndarray:
    """The first output, put together from the devices' blocks."""
    whole = np.zeros(o.placements[0].shape, o.shards[0][0][2].dtype)
    for _, index, block in o.shards[0]:
        whole[index] = block
    return whole


def says(name: str, wrong: Any) -> Any:
    """A predicate: the answer to one part is this wrong one."""
    return lambda got: isinstance(got, Mapping) and got.get(name) == wrong


def if_right(oracle: Callable[..., np.ndarray], when: Callable[[Observed], bool]) -> Callable[[Observed], bool]:
    """The predicate, for programs with right values: what a wrong one moves is not what makes it wrong."""
    return lambda o: when(o) and right(o, oracle)


INVERSE = WrongValues(
    "inverse-transform",
    "This is the inverse transform: its waves have the other sign, and it divides by the number of points.",
    1, like=inverse)  # fmt: skip


def all_of_it(oracle: Callable[..., np.ndarray]) -> Misconception:
    """Of a program that gathers its input whole, and is right."""
    return WrongCost(
        "gathers-everything",
        "The whole array was brought to every device. One all-to-all exchanges only what has to change devices, and moves "
        "one block.",
        1,
        when=if_right(oracle, gathers),
    )


PLANE, CUBE = transformed(0, 1), transformed(0, 1, 2)
SWAPPED = WrongProgram(
    "split-and-concat-swapped",
    "split_axis is the dimension that the exchange cuts: it was whole before. concat_axis is the one that becomes "
    "whole.", 2, error="all_to_all split_axis .* has to be divisible")  # fmt: skip
CUT = WrongValues(
    "cut-dimension-transformed", "A dimension was transformed while it was cut: the device treated its piece as the whole.",
    1,
    when=cut_transform)  # fmt: skip
UNTILED = WrongProgram(
    "not-tiled",
    "Without tiled=True the dimension split_axis must have one entry for each device, and it disappears. With tiled=True "
    "it is cut into pieces.", 2, error="all_to_all requires the size of the mapped axis")  # fmt: skip

TRANSFORM = "float32 transforms, whose sums are taken in another order"
