"""Chapter 13, exercise 13.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import math
import random

import numpy as np

from shardlab_course.ch13.shared import LINE, ROWS, WIDE, holds, inverse, right, transformed, twice, whole, wide
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def field(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a density cut into rows, and the potential like it."""
    return Case(mesh, (Input((rows, columns), ROWS),), (ROWS,))


def draw_field(rng: random.Random) -> Case:
    """A mesh, and a plane that its axis x cuts both ways."""
    return field(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 3), 8 * rng.randint(4, 5))


def frequencies(n: int) -> np.ndarray:
    """Wavenumbers of n points at distance 1, in the order of the transform."""
    return np.array([2 * np.pi * (i if i < (n + 1) // 2 else i - n) / n for i in range(n)])


def potential(density: np.ndarray) -> np.ndarray:
    """The field whose Laplacian is the density without its mean; its own mean is zero."""
    return solved(density, *map(frequencies, density.shape))


def solved(density: np.ndarray, k0: np.ndarray, k1: np.ndarray) -> np.ndarray:
    """The field for these wavenumbers, without the one that is zero."""
    return _field(transformed(0, 1)(density), k0, k1)


def _field(spectrum: np.ndarray, k0: np.ndarray, k1: np.ndarray) -> np.ndarray:
    squares = k0[:, None] ** 2 + k1[None, :] ** 2
    squares[squares == 0] = math.inf
    return inverse(-spectrum / squares).real


def transformed_twice(o: Observed) -> bool:
    """Whether it is the field of a density whose rows were transformed nowhere, and its columns twice."""
    spectrum = twice(o)
    return holds(o, _field(spectrum, *map(frequencies, spectrum.shape)))


def steps(density: np.ndarray) -> dict[str, np.ndarray]:
    """What is computed on the way to the field, by name; of the wavenumbers only those that cut no dimension."""
    field = potential(density)
    return {
        "the transform of each row": transformed(1)(density), "the spectrum": transformed(0, 1)(density),
        "the field's spectrum": transformed(0, 1)(field),
        "the field's spectrum, transformed back along 0": transformed(1)(field), "the field": field,
    }  # fmt: skip


def flipped(density: np.ndarray) -> np.ndarray:
    """The field with its sign lost."""
    return -potential(density)


def without_pi(density: np.ndarray) -> np.ndarray:
    """The field for frequencies instead of wavenumbers."""
    return potential(density) * (2 * np.pi) ** 2


def another_mean(o: Observed) -> bool:
    """Whether the field has a mean: it is right but for that, or its mean is all that float32 has left of it."""
    field, mean = whole(o), whole(o).mean()
    spread = np.abs(field - mean).max()
    right_but_for_it = np.allclose(field - mean, potential(next(wide(o))), rtol=1e-3, atol=1e-3)
    return bool(abs(mean) > 1e-2 and (right_but_for_it or spread < 1e-3 * abs(mean)))


def is_complex(o: Observed) -> bool:
    """Whether the field is right and has an imaginary part, which is rounding."""
    return str(o.placements[0].dtype).startswith("complex") and right(o, potential)


def zeroed_everywhere(o: Observed) -> bool:
    """Whether each device zeroed the first entry of its own block of the spectrum."""
    density = next(wide(o))
    k0, k1 = map(frequencies, density.shape)
    squares = k0[:, None] ** 2 + k1[None, :] ** 2
    squares[0, :: density.shape[1] // dict(o.case.axes)["x"]] = math.inf
    return holds(o, inverse(-transformed(0, 1)(density) / squares).real)


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
    return any(holds(o, solved(density, frequencies(rows), k)) for k in (narrow, spread))
