"""Chapter 6, exercise 6.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np


def column_sums(x: np.ndarray) -> np.ndarray:
    """Rows added up, one after another."""
    total = np.zeros(x.shape[1])
    for row in x:
        total = total + row
    return total
