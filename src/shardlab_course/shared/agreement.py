"""Whether several outputs are what an oracle says, in double precision: for the gradients of chapters 10 and 15."""

from __future__ import annotations

import numpy as np

from shardlab_judge.cases import Observed

Arrays = tuple[np.ndarray, ...]


def agrees(o: Observed, wanted: Arrays, close: float = 1e-4) -> bool:
    """Whether every device holds its slices of `wanted`."""
    return len(o.shards) == len(wanted) and all(
        block.shape == right[index].shape and np.allclose(block, right[index], rtol=close, atol=close)
        for shards, right in zip(o.shards, wanted)
        for _, index, block in shards
    )


def wide(o: Observed) -> Arrays:
    """The inputs in double precision."""
    return tuple(a.astype(np.float64) for a in o.inputs)
