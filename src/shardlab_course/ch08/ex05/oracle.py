"""Chapter 8, exercise 8.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import itertools

import numpy as np

from shardlab_course.shared.rings import Made, devices, each, whole
from shardlab_course.shared.sent import sent
from shardlab_judge.cases import Observed

WEIGHTS = (1.0, -3.0, 2.0)
"""Of the row above, the row itself, and the row below, in the stencil."""


def stencil(x: np.ndarray) -> np.ndarray:
    """Each row from itself and its neighbours; beyond the ends there are zeros."""
    return filtered(x, np.zeros_like(x[0]), np.zeros_like(x[0]))


def filtered(x: np.ndarray, above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """The stencil on rows between a row above and a row below."""
    rows = [above, *x, below]
    return np.stack([sum(w * row for w, row in zip(WEIGHTS, rows[i : i + 3])) for i in range(len(x))])


def brings_together(o: Observed) -> bool:
    """Whether at least a row of each device is gathered or summed over all devices."""
    return sent(o, "all-gather", "all-reduce") >= devices(o) * o.inputs[0][0].nbytes


def mixed_up(o: Observed) -> bool:
    """Whether the rows beside each block come from the wrong neighbour, or are the wrong ones of the right neighbour."""
    parts = np.split(o.inputs[0], devices(o))

    def made(above: tuple[int, int], below: tuple[int, int], closed: bool) -> Made:
        return lambda d: filtered(*(parts[d], *(_edge(parts, d + way, row, closed) for way, row in (above, below))))

    edges = tuple(itertools.product((-1, 1), (-1, 0)))
    ways = set(itertools.product(edges, edges)) - {((-1, -1), (1, 0))}
    return any(each(o, made(*way, closed)) for way in ways for closed in (True, False))


def _edge(parts: list[np.ndarray], device: int, row: int, closed: bool) -> np.ndarray:
    edge: np.ndarray = parts[device % len(parts)][row]
    return edge if closed or 0 <= device < len(parts) else np.zeros_like(edge)


def one_sided(o: Observed) -> bool:
    """Whether only the rows above came from beside, or only those below, and zeros stand for the others."""
    parts, zeros = np.split(o.inputs[0], devices(o)), np.zeros_like(o.inputs[0][0])

    def made(side: int) -> Made:
        def block(d: int) -> np.ndarray:
            edge = _edge(parts, d - side, -1 if side == 1 else 0, closed=False)
            return filtered(parts[d], *((edge, zeros) if side == 1 else (zeros, edge)))

        return block

    return any(each(o, made(side)) for side in (1, -1))


def lonely(o: Observed) -> bool:
    """Whether every block was filtered as if it were the whole array."""
    parts = np.split(o.inputs[0], devices(o))
    return each(o, lambda d: stencil(parts[d]))


def wrapped(o: Observed) -> bool:
    """Whether a row from the other end was taken beyond one end, or beyond both."""
    x, zeros = o.inputs[0], np.zeros_like(o.inputs[0][0])
    return any(whole(o, filtered(x, *ends)) for ends in ((x[-1], x[0]), (x[-1], zeros), (zeros, x[0])))
