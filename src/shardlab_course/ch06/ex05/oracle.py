"""Chapter 6, exercise 6.5: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np

from shardlab_judge.cases import Observed


def mlp(x: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """Two layers, one row after another."""
    return np.stack([np.maximum(row @ up, 0) @ down for row in x])


def all_rows_worked_on(o: Observed) -> bool:
    """Whether each device multiplied more than its own rows by its part of the weights."""
    (rows, width), units = o.inputs[0].shape, o.inputs[1].shape[1]
    return (o.flops or 0) > 1.25 * 4 * rows * width * units / 8
