"""Chapter 12, exercise 12.2: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from shardlab_course.ch12.shared import COLUMNS, ROWS, hop_flops, in_time, products, travels
from shardlab_course.shared.rings import devices, only_permutes
from shardlab_judge.cases import Case, Input, Observed
from shardlab_judge.question import Item
from shardlab_judge.verdict import Finding
from shardlens import Axes


def scatter_case(mesh: Axes, t: int, f: int, d: int) -> Case:
    """The contracted dimension cut in both, tokens in the output."""
    return Case(mesh, (Input((t, f), COLUMNS), Input((f, d), ROWS)), (ROWS,))


def terms(o: Observed) -> np.ndarray:
    """For device j and chunk c what j has to add to the sum of c: the product of its block, row chunk by row chunk."""
    X, W = o.inputs
    n = devices(o)
    parts = zip(np.split(X, n, axis=1), np.split(W, n))
    return np.array([np.split(x @ w, n) for x, w in parts])


def tally(o: Observed) -> list[np.ndarray]:
    """For each device how often each term, of device j and chunk c, is in what it holds; empty where nobody can tell."""
    made = terms(o)
    n = devices(o)
    columns = made.reshape(n * n, -1).T
    found = []
    for _, _, block in o.shards[0]:
        if block.shape != made.shape[2:] or len(columns) < n * n:
            return []
        counts = np.round(np.linalg.lstsq(columns, block.ravel())[0])
        if not np.allclose(columns @ counts, block.ravel(), atol=1e-3):
            return []
        found.append(counts.reshape(n, n))
    return found


def mixed(o: Observed) -> bool:
    """Whether some sum has terms of different chunks."""
    return any(np.count_nonzero(np.any(counts != 0, axis=0)) > 1 for counts in tally(o))


def miscounted(o: Observed, by: int) -> bool:
    """Whether each sum is of one chunk, takes no term off, and has terms too many (by > 0) or too few."""
    found = tally(o)
    n = devices(o)
    return bool(found) and not mixed(o) and all(counts.min() >= 0 and (counts.sum() - n) * by > 0 for counts in found)


def inputs_travel(o: Observed) -> bool:
    """Whether a program of permutes sends blocks of its arguments on."""
    return only_permutes(o) and (travels(o, 0) or travels(o, 1))


def sums_hidden(item: Item, o: Observed) -> Iterator[Finding]:
    """The same where sums travel and not chunks."""
    yield from in_time(item, o, products(o), 1.6 * hop_flops(o), hop_flops(o) / max(1, o.shards[0][0][2].nbytes))
