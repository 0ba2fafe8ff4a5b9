"""Chapter 12, exercise 12.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shardlab_course.ch12.shared import ROWS, in_time, least, product, right, runs
from shardlab_course.shared.rings import devices
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.question import Item
from shardlab_judge.verdict import Finding
from shardlens import Axes


def scores(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Each token's query with every token: a local product, and one with what was gathered."""
    return product(product(X, W), X.T)


def scores_transposed(X: np.ndarray, W: np.ndarray) -> np.ndarray:
    """The same with queries in the columns."""
    return scores(X, W).T


def scores_case(mesh: Axes, t: int, d: int) -> Case:
    """Tokens cut, the weight on every device."""
    return Case(mesh, (Input((t, d), ROWS), Input((d, d))), (ROWS,))


def scores_hidden(item: Item, o: Observed) -> Iterator[Finding]:
    """The same for `scores`, whose gathering has the queries beside it."""
    yield from in_time(item, o, least(o), 0.5 * queries(o), queries(o) / o.inputs[0].nbytes)


def gathers_products(o: Observed) -> bool:
    """Whether a collective waits for a product, and has none beside it."""
    return any(run.before and not run.beside for run in runs(o))


def queries(o: Observed) -> float:
    """FLOPs of one device in the product that needs nobody else."""
    t, d = o.inputs[0].shape
    return 2 * t / devices(o) * d * d


def after_gathering(o: Observed) -> bool:
    """Whether the scores are right, and all of the arithmetic waits for what moves."""
    return right(o, scores) and bool(o.collectives) and all(run.after > 0.99 * least(o) for run in runs(o))
