"""Chapter 13's oracles: transforms and solvers on global arrays; with recognisers of wrong answers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from shardlab_course.ch13.checks import share
from shardlab_judge.cases import Observed

STEPS = 6
DAMPING = 16.0


def transformed(*dimensions: int) -> Callable[[np.ndarray], np.ndarray]:
    """A function that returns the Fourier transform along these dimensions, one matrix product each."""

    def transform(x: np.ndarray) -> np.ndarray:
        for dimension in dimensions:
            n = x.shape[dimension]
            waves = np.exp(-2j * np.pi * np.outer(np.arange(n), np.arange(n)) / n)
            x = np.moveaxis(np.tensordot(waves, x, (1, dimension)), 0, dimension)
        return x

    return transform


def own_transform(*dimensions: int) -> Callable[[Mapping[str, int], np.ndarray], np.ndarray]:
    """A function that returns what a device makes of its block alone."""
    return lambda at, block: transformed(*dimensions)(block)


def in_pieces(x: np.ndarray, pieces: Mapping[int, int]) -> np.ndarray:
    """The transform along these dimensions where each is cut into so many pieces, and every piece is taken for the whole."""
    for dimension, n in pieces.items():
        x = np.concatenate([transformed(dimension)(part) for part in np.split(x, n, dimension)], dimension)
    return x


def cut_transform(o: Observed) -> bool:
    """Whether every dimension was transformed, and one at least while it was cut along a mesh axis."""
    x, sizes = next(_wide(o)), sorted({1, *(n for _, n in o.case.axes)})
    ways = itertools.product(sizes, repeat=x.ndim)
    fitting = (way for way in ways if max(way) > 1 and all(m % n == 0 for m, n in zip(x.shape, way)))
    return any(_is(o, in_pieces(x, dict(enumerate(way)))) for way in fitting)


def rows_again(o: Observed) -> bool:
    """Whether rows were transformed before the exchange, and pieces of rows after it."""
    rows = transformed(1)(next(_wide(o)))
    return _is(o, in_pieces(rows, {1: dict(o.case.axes)["x"]}))


def inverse(x: np.ndarray) -> np.ndarray:
    """The inverse transform along every dimension, by conjugation."""
    return np.conj(transformed(*range(x.ndim))(np.conj(x))) / x.size


def frequencies(n: int) -> np.ndarray:
    """Wavenumbers of n points at distance 1, in the order of the transform."""
    return np.array([2 * np.pi * (i if i < (n + 1) // 2 else i - n) / n for i in range(n)])


def potential(density: np.ndarray) -> np.ndarray:
    """The field whose Laplacian is the density without its mean; its own mean is zero."""
    return solved(density, *map(frequencies, density.shape))


def solved(density: np.ndarray, k0: np.ndarray, k1: np.ndarray) -> np.ndarray:
    """The field for these wavenumbers, without the one that is zero."""
    squares = k0[:, None] ** 2 + k1[None, :] ** 2
    squares[squares == 0] = math.inf
    return inverse(-transformed(0, 1)(density) / squares).real


def flipped(density: np.ndarray) -> np.ndarray:
    """The field with its sign lost."""
    return -potential(density)


def without_pi(density: np.ndarray) -> np.ndarray:
    """The field for frequencies instead of wavenumbers."""
    return potential(density) * (2 * np.pi) ** 2


def another_mean(o: Observed) -> bool:
    """Whether the field has a mean: it is right but for that, or its mean is all that float32 has left of it."""
    field, mean = _whole(o), _whole(o).mean()
    spread = np.abs(field - mean).max()
    right_but_for_it = np.allclose(field - mean, potential(next(_wide(o))), rtol=1e-3, atol=1e-3)
    return bool(abs(mean) > 1e-2 and (right_but_for_it or spread < 1e-3 * abs(mean)))


def is_complex(o: Observed) -> bool:
    """Whether the field is right and has an imaginary part, which is rounding."""
    return str(o.placements[0].dtype).startswith("complex") and right(o, potential)


def zeroed_everywhere(o: Observed) -> bool:
    """Whether each device zeroed the first entry of its own block of the spectrum."""
    density = next(_wide(o))
    k0, k1 = map(frequencies, density.shape)
    squares = k0[:, None] ** 2 + k1[None, :] ** 2
    squares[0, :: density.shape[1] // dict(o.case.axes)["x"]] = math.inf
    return _is(o, inverse(-transformed(0, 1)(density) / squares).real)


def without_negative(density: np.ndarray) -> np.ndarray:
    """The field for wavenumbers that go on where negative ones begin."""
    return solved(density, *(2 * np.pi * np.arange(n) / n for n in density.shape))


def by_differences(density: np.ndarray) -> np.ndarray:
    """The field of the five-point stencil instead of the derivative."""
    k0, k1 = (2 * np.sin(frequencies(n) / 2) for n in density.shape)
    return solved(density, k0, k1)


def numbered_locally(o: Observed) -> bool:
    """Whether every device took its columns' wavenumbers to be those of an array as narrow as its block."""
    density, n = o.inputs[0].astype(float), dict(o.case.axes)["x"]
    rows, columns = density.shape
    narrow = np.tile(frequencies(columns // n), n)
    spread = np.tile(frequencies(columns)[: columns // n], n)
    return any(_is(o, solved(density, frequencies(rows), k)) for k in (narrow, spread))


def conjugate_gradients(matrix: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The sixth approximation, from zero."""
    return iterated()(matrix, b)


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


def lonely_sums(o: Observed) -> bool:
    """Whether each device summed over its own entries only."""
    return _is(o, iterated(own=dict(o.case.axes)["x"])(*_wide(o)))


def lonely_products(o: Observed) -> bool:
    """Whether each device multiplied with its own entries only."""
    return _is(o, iterated(narrow=dict(o.case.axes)["x"])(*_wide(o)))


def rounds(o: Observed) -> int:
    """The number of rounds after which the approximation is this one, at most 15; 0 where it is none."""
    x, (matrix, b) = _whole(o), _wide(o)
    far = [np.abs(x - iterated(steps=steps)(matrix, b)).max() for steps in range(1, 16)]
    return int(np.argmin(far)) + 1 if min(far) < 1e-4 else 0


def lower(matrix: np.ndarray) -> np.ndarray:
    """The Cholesky factor, entry after entry."""
    factor = np.zeros_like(matrix)
    for i, j in itertools.product(range(len(matrix)), repeat=2):
        if j <= i:
            rest = matrix[i, j] - factor[i, :j] @ factor[j, :j]
            factor[i, j] = math.sqrt(rest) if i == j else rest / factor[j, j]
    return factor


def upper(matrix: np.ndarray) -> np.ndarray:
    """The factor's transpose."""
    return lower(matrix).T


def gathers_panels_twice(o: Observed) -> bool:
    """Whether two gathers of a panel's size run for each panel."""
    panel, n = share(o.case) // 2, dict(o.case.axes)["x"]
    return sum(c.executions or 0 for c in o.collectives if c.kind == "all-gather" and c.payload_bytes >= panel) >= 2 * n


def without_update(matrix: np.ndarray, devices: int) -> np.ndarray:
    """What devices with a block of rows each make where no panel is taken off the rest of the matrix."""
    matrix, k = matrix.copy(), len(matrix) // devices
    for start in range(0, len(matrix), k):
        columns = slice(start, start + k)
        panel = np.linalg.solve(lower(matrix[columns, columns]), matrix[:, columns].T).T
        panel[:start] = 0
        matrix[:, columns] = panel
    return matrix


def not_updated(o: Observed) -> bool:
    """Whether every panel was made from the given matrix."""
    return _is(o, without_update(o.inputs[0].astype(float), dict(o.case.axes)["x"]))


def upper_kept(o: Observed) -> bool:
    """Whether the factor is right, and something stands above its diagonal."""
    whole = _whole(o)
    right = np.allclose(np.tril(whole), lower(o.inputs[0].astype(float)), atol=1e-4)
    return bool(right and np.abs(np.triu(whole, 1)).max() > 1e-3)  # no more than rounding is a right zero


def own_factor(at: Mapping[str, int], block: np.ndarray) -> np.ndarray:
    """A device's own diagonal block factored, in its place."""
    k, n = block.shape
    found, mine = np.zeros((k, n)), slice(at["x"] * k, (at["x"] + 1) * k)
    found[:, mine] = lower(block[:, mine])
    return found


def substituted(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of the system whose matrix is the factor times its transpose."""
    return solved_up(factor, solved_down(factor, b))


def solved_down(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution for the factor alone."""
    return np.asarray(np.linalg.solve(factor, b))


def solved_up(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution for its transpose alone."""
    return np.asarray(np.linalg.solve(factor.T, b))


def down_twice(factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution where the second system has the factor once more."""
    return solved_down(factor, solved_down(factor, b))


def own_blocks(at: Mapping[str, int], factor: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What a device finds with its own diagonal block alone."""
    mine = slice(at["x"] * len(b), (at["x"] + 1) * len(b))
    return substituted(factor[:, mine], b)


def own_term_summed(o: Observed) -> bool:
    """Whether on the way up a device's own block of y was summed with the others' terms."""
    factor, b = _wide(o)
    x, k = solved_down(factor, b), len(b) // dict(o.case.axes)["x"]
    for start in reversed(range(0, len(b), k)):
        columns = slice(start, start + k)
        x[columns] = solved_up(factor[columns, columns], x[columns] - factor[:, columns].T @ x)
    return _is(o, x)


def whole_vectors(o: Observed) -> bool:
    """Whether a whole vector arrives in each round of one way at least."""
    rounds = (c.executions or 0 for c in o.collectives if c.payload_bytes >= o.inputs[1].nbytes)
    return sum(rounds) >= dict(o.case.axes)["x"]


def systems(matrices: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solution of every system, after its matrix got `DAMPING` on the diagonal."""
    return np.stack([np.linalg.solve(m + DAMPING * np.eye(len(m)), v) for m, v in zip(matrices, b)])


def damped_everywhere(o: Observed) -> bool:
    """Whether the matrices got it in every entry; by what is left of the systems, for these are ill-conditioned."""
    matrices, b = _wide(o)
    x, wrong = _whole(o), matrices + DAMPING
    left, size = np.einsum("sij,sj->si", wrong, x) - b, np.einsum("sij,sj->si", np.abs(wrong), np.abs(x))
    return bool(np.all(np.abs(left) <= 1e-4 * size))


def undamped(matrices: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The solutions without that."""
    return np.stack([np.linalg.solve(m, v) for m, v in zip(matrices, b)])


def count(o: Observed, kind: str) -> int:
    """How often a kind of collective runs."""
    return sum(c.executions or 0 for c in o.collectives if c.kind == kind)


def loops(o: Observed) -> int:
    """How many rounds the loop makes, whatever they compute: as many as a collective in it, and six if some are unrolled."""
    return max([STEPS, *(c.executions or 0 for c in o.collectives)])


def numbers_summed(o: Observed) -> int:
    """How many float32 numbers all all-reduces give a device, all rounds counted."""
    return sum(c.payload_bytes * (c.executions or 0) for c in o.collectives if c.kind == "all-reduce") // 4


def largest(o: Observed, kind: str) -> int:
    """Bytes of the largest collective of this kind."""
    return max((c.payload_bytes for c in o.collectives if c.kind == kind), default=0)


def gathers(o: Observed) -> bool:
    """Whether a device gets the whole of the first input."""
    # Of a complex transform of real numbers JAX may gather the real ones.
    return largest(o, "all-gather") >= o.inputs[0].nbytes


def across_the_mesh(o: Observed) -> bool:
    """Whether an all-to-all joins all devices of a mesh with two axes."""
    return any(c.kind == "all-to-all" and c.group_size == math.prod(n for _, n in o.case.axes) for c in o.collectives)


def right(o: Observed, oracle: Callable[..., np.ndarray]) -> bool:
    """Whether every device holds its part of what the oracle says."""
    wanted = np.asarray(oracle(*_wide(o)))
    return o.placements[0].shape == wanted.shape and _is(o, wanted)


def piled(o: Observed) -> bool:
    """Whether the output is too long, and too narrow, by the same factor."""
    (n, m), n_out, n_x = o.inputs[0].shape, o.placements[0].shape, dict(o.case.axes)["x"]
    return n_out == (n * n_x, m // n_x)


def put_together_otherwise(o: Observed) -> bool:
    """Whether the output has as many entries as the input, and another shape of as many dimensions."""
    given, made = o.inputs[0].shape, o.placements[0].shape
    return made != given and len(made) == len(given) and math.prod(made) == math.prod(given)


def lies(o: Observed, *spec: Any) -> bool:
    """Whether the output's spec is this one, apart from `None` at its end."""
    return _stripped(o.placements[0].spec or ()) == _stripped(spec)


def _stripped(spec: Any) -> tuple[Any, ...]:
    entries = list(spec)
    while entries and entries[-1] is None:
        entries.pop()
    return tuple(entries)


def _wide(o: Observed) -> Iterator[np.ndarray]:
    return (x.astype(complex if np.iscomplexobj(x) else float) for x in o.inputs)


def _is(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its part of this array."""
    return all(np.allclose(block, wanted[index], rtol=1e-3, atol=1e-3) for _, index, block in o.shards[0])


def _whole(o: Observed) -> np.ndarray:
    whole = np.zeros(o.placements[0].shape, o.shards[0][0][2].dtype)
    for _, index, block in o.shards[0]:
        whole[index] = block
    return whole
