"""Chapter 3, exercise 3.7: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import numpy as np


def softmax_rows(x: np.ndarray) -> np.ndarray:
    """Softmax along the first dimension, one column after another."""
    return np.stack([np.exp(c - c.max()) / np.exp(c - c.max()).sum() for c in x.T], axis=1)
