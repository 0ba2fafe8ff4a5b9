"""An output's blocks: what they make together, and whether they are an array's."""

from __future__ import annotations

import numpy as np

Blocks = list[tuple[int, tuple[slice, ...], np.ndarray]]


def assembled(blocks: Blocks) -> np.ndarray:
    """The global output that the blocks make."""
    shape = tuple(max(index[d].stop for _, index, _ in blocks) for d in range(blocks[0][2].ndim))
    whole = np.zeros(shape, blocks[0][2].dtype)
    for _, index, block in blocks:
        whole[index] = block
    return whole


def fits(blocks: Blocks, right: np.ndarray) -> bool:
    """Whether together they have its shape."""
    return blocks[0][2].ndim == right.ndim and assembled(blocks).shape == right.shape


def held(blocks: Blocks, right: np.ndarray) -> bool:
    """Whether every device holds its part of this array."""
    return fits(blocks, right) and all(close(block, right[index]) for _, index, block in blocks)


def close(block: np.ndarray, right: np.ndarray) -> bool:
    """Whether two arrays are the same up to the rounding of float32 sums."""
    return bool(np.allclose(block, right, rtol=1e-4, atol=1e-5))


def but(shape: tuple[int, ...], dimension: int) -> tuple[int, ...]:
    """The lengths of all other dimensions."""
    return shape[:dimension] + shape[dimension + 1 :]
