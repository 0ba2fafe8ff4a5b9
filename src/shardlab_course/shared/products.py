"""The matrix product by definition, and whether an output is one: chapters 4 and 6 judge products by it."""

from __future__ import annotations

import numpy as np

from shardlab_judge.cases import Observed


def product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The matrix product, as the sum of one outer product for each contracted index."""
    total = np.zeros((a.shape[0], b.shape[1]))
    for j in range(a.shape[1]):
        total += np.outer(a[:, j], b[j])
    return total


def shape(o: Observed) -> tuple[int, ...]:
    """Shape of the output; empty when there is not one output."""
    return o.placements[0].shape if len(o.placements) == 1 else ()


def same(o: Observed, wanted: np.ndarray) -> bool:
    """Whether every device holds its slice of `wanted`."""
    return shape(o) == wanted.shape and all(
        block.shape == wanted[index].shape and np.allclose(block, wanted[index], rtol=1e-4, atol=1e-4)
        for _, index, block in o.shards[0]
    )
