"""Chapter 6, exercise 6.6: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_course.shared.products import same
from shardlab_judge.cases import Case, Input, Observed
from shardlens import Axes


def layer(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One unit after another: the logistic function of a weighted sum and a bias."""
    return np.array([1 / (1 + np.exp(-(sum(x * column) + bias))) for column, bias in zip(w.T, b)])


def layer_case(mesh: Axes, j: int, k: int, *, explicit: bool) -> Case:
    """x and the rows of W over x, the bias whole; the output whole."""
    return Case(mesh, (Input((j,), ("x",)), Input((j, k), ("x", None)), Input((k,))), ((),), explicit=explicit)


def local_layer(_: object, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    """One device's part of the sum, treated as the sum."""
    return layer(x, w, b)


def bias_each_time(o: Observed) -> bool:
    """Whether the bias was in every term of the sum."""
    x, w, b = o.inputs
    return same(o, 1 / (1 + np.exp(-(x @ w + dict(o.case.axes)["x"] * b))))


def mean_of_terms(o: Observed) -> bool:
    """Whether the sum over devices was divided by their number."""
    x, w, b = o.inputs
    return same(o, 1 / (1 + np.exp(-(x @ w / dict(o.case.axes)["x"] + b))))


def curved_terms(o: Observed) -> bool:
    """Whether the logistic function was taken of each term, before the sum."""
    x, w, b = o.inputs
    n = dict(o.case.axes)["x"]
    terms = [p @ q for p, q in zip(np.split(x, n), np.split(w, n))]
    return any(same(o, sum(1 / (1 + np.exp(-(t + bias))) for t in terms) + late) for bias, late in ((b, 0), (0, b)))
