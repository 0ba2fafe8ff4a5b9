"""Chapter 7, exercise 7.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import functools

import numpy as np

from shardlab_course.ch07.shared import case, same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes, Spec

BEST = 2


def best(scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The two largest entries of each row, and their columns."""
    columns = np.argsort(-scores, axis=1, kind="stable")[:, :BEST]
    return np.take_along_axis(scores, columns, 1), columns


def scores_case(mesh: Axes, rows: int, columns: int, spec: Spec, out: Spec) -> Case:
    """Scores of tokens (rows) for experts (columns)."""
    return case(mesh, Input((rows, columns), spec), outputs=[out, out])


def scores_by_column_case(mesh: Axes, rows: int, columns: int) -> Case:
    """Scores whose columns are cut; in half of the rows one device holds both of the best."""
    return case(mesh, Input((rows, columns), (None, "x"), values=neighbours), outputs=[(), ()])


def neighbours(rng: np.random.Generator, shape: tuple[int, ...], _: object) -> np.ndarray:
    """In every second row the two largest lie side by side, in an even column and the one after it."""
    scores = rng.standard_normal(shape)
    for row in scores[::2]:
        column = 2 * rng.integers(shape[1] // 2)
        row[column : column + 2] = rng.permutation([5, 6]) + rng.random(2) / 2
    return np.asarray(scores)


SCORES = functools.partial(scores_case, spec=("x", None), out=("x", None))


def local_columns(o: Observed) -> bool:
    """Whether the values are right, and columns are counted from the start of a block."""
    values, columns = best(o.inputs[0])
    width = o.inputs[0].shape[1] // dict(o.case.axes)["x"]
    return same(o, values) and same(o, columns % width, 1)


def down_columns(o: Observed) -> bool:
    """Whether the largest of each column are there, of whole columns or of each device's rows."""
    scores = o.inputs[0]
    blocks = np.split(scores, dict(o.case.axes)["x"])
    found = [best(scores.T)[0], best(scores.T)[0].T, np.concatenate([best(rows.T)[0].T for rows in blocks])]
    return any(same(o, largest) for largest in found)


def candidates(o: Observed) -> list[np.ndarray]:
    """The best of each device's columns, best first."""
    return [best(block)[0] for block in np.split(o.inputs[0], dict(o.case.axes)["x"], axis=1)]


def places_of_candidates(o: Observed) -> bool:
    """Whether the values are right, and columns are counted among all devices' candidates."""
    values, places = best(np.concatenate(candidates(o), 1))
    return same(o, values) and same(o, places, 1)


def place_by_place(o: Observed) -> bool:
    """Whether all devices' best were compared with each other, and all second best."""
    return same(o, np.max(candidates(o), axis=0))
