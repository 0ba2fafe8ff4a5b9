"""Chapter 13's cases: meshes, and the arrays that are transformed, solved and factored on them."""

from __future__ import annotations

import random
from collections.abc import Sequence

import numpy as np

from shardlab_judge.cases import Case, Input, axes
from shardlens import Axes, Spec

LINE, WIDE, TALL = axes(x=8), axes(x=4, y=2), axes(x=2, y=4)
ROWS: Spec = ("x",)
COLUMNS: Spec = (None, "x")


def signals(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a batch of signals, cut over all axes."""
    names = tuple(name for name, _ in mesh)
    return Case(mesh, (Input((rows, columns), (names,), "complex64"),))


def plane(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a plane cut into rows, whose transform shall be cut into columns."""
    return Case(mesh, (Input((rows, columns), ROWS, "complex64"),), (COLUMNS,))


def cube(mesh: Axes, *shape: int) -> Case:
    """A case with a cube of pencils, whose transform shall be cut over its last two dimensions."""
    return Case(mesh, (Input(shape, ("x", "y"), "complex64"),), ((None, "x", "y"),))


def field(mesh: Axes, rows: int, columns: int) -> Case:
    """A case with a density cut into rows, and the potential like it."""
    return Case(mesh, (Input((rows, columns), ROWS),), (ROWS,))


def definite(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """A symmetric, positive definite matrix, with eigenvalues between 1 and about 5."""
    root = rng.standard_normal(shape)
    return np.asarray(root @ root.T / len(root) + np.eye(len(root)))


def triangular(rng: np.random.Generator, shape: tuple[int, ...], before: Sequence[np.ndarray]) -> np.ndarray:
    """The lower factor of such a matrix."""
    return np.asarray(np.linalg.cholesky(definite(rng, shape, before)))


def factored(mesh: Axes, n: int) -> Case:
    """A case with a lower factor in blocks of rows, and a right-hand side like it."""
    return Case(mesh, (Input((n, n), ROWS, values=triangular), Input((n,), ROWS)), (ROWS,), lapack=True)


def system(mesh: Axes, n: int) -> Case:
    """A case with a positive definite matrix in blocks of rows, and a right-hand side like it."""
    return Case(mesh, (Input((n, n), ROWS, values=definite), Input((n,), ROWS)), (ROWS,))


def matrix(mesh: Axes, n: int) -> Case:
    """A case with a positive definite matrix in blocks of rows, and its factor like it."""
    return Case(mesh, (Input((n, n), ROWS, values=definite),), (ROWS,), lapack=True)


def stack(mesh: Axes, number: int, n: int) -> Case:
    """A case with many small systems, cut over their number."""
    return Case(mesh, (Input((number, n, n), ROWS), Input((number, n), ROWS)), (ROWS,), lapack=True)


def draw_signals(rng: random.Random) -> Case:
    """A mesh, and a batch that its devices share."""
    return signals(rng.choice((LINE, WIDE, TALL)), 8 * rng.randint(1, 3), rng.randint(5, 20))


def draw_plane(rng: random.Random) -> Case:
    """A mesh, and a plane that its axis x cuts both ways."""
    return plane(rng.choice((LINE, WIDE)), 8 * rng.randint(1, 2), 8 * rng.randint(3, 4))


def draw_cube(rng: random.Random) -> Case:
    """A mesh, and a cube that both axes may cut in every dimension."""
    return cube(rng.choice((WIDE, TALL)), 4 * rng.randint(1, 2), 4 * rng.randint(3, 4), 4 * rng.randint(1, 3))


def draw_field(rng: random.Random) -> Case:
    """A mesh, and a plane that its axis x cuts both ways."""
    return field(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 3), 8 * rng.randint(4, 5))


def draw_system(rng: random.Random) -> Case:
    """A mesh and a size."""
    return system(rng.choice((LINE, WIDE, TALL)), 8 * rng.randint(5, 8))


def draw_matrix(rng: random.Random) -> Case:
    """A mesh and a size."""
    return matrix(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 5))


def draw_factored(rng: random.Random) -> Case:
    """A mesh and a size."""
    return factored(rng.choice((LINE, WIDE)), 8 * rng.randint(3, 6))


def draw_stack(rng: random.Random) -> Case:
    """A mesh, and systems that its axis x shares."""
    return stack(rng.choice((LINE, WIDE)), 8 * rng.randint(2, 3), rng.randint(3, 6))
