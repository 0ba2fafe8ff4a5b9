"""Chapter 3, exercise 3.4: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np


def running_total(x: np.ndarray) -> np.ndarray:
    """Each row the sum of all rows up to it."""
    total = np.zeros_like(x)
    for i in range(len(x)):
        total[i] = x[: i + 1].sum(0)
    return total


def blocks_apart(at: dict[str, int], x: np.ndarray) -> np.ndarray:
    """The running total of one device's rows."""
    return running_total(x)
