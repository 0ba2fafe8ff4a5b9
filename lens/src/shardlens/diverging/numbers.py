"""Arrays as NumPy compares them: every kind of number as one that can be subtracted. No JAX here."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[Any]


def comparable(value: Any) -> FloatArray:
    """A NumPy array that can be subtracted: narrow floating point as float32, whole numbers as float64."""
    array = np.asarray(value)
    if array.dtype.kind in "fc" and array.dtype.itemsize > 2:
        return array
    return array.astype(np.float64 if array.dtype.kind in "biu" else np.float32)


def scale_of(x: FloatArray, keep: int = 0) -> FloatArray:
    """The largest magnitude over all but the first `keep` dimensions, of numbers: not of NaN, infinity or a mask's value.

    Example:
        >>> float(scale_of(np.array([-3, 2, -np.inf, np.nan])))
        3.0
    """
    each, axes = np.abs(x), tuple(range(keep, x.ndim))
    found: FloatArray = np.where(each < np.finfo(x.dtype).max / 2, each, 0).max(axis=axes, initial=0)
    return found.astype(np.float64)


def largest(a: FloatArray, b: FloatArray, keep: int) -> FloatArray:
    """The largest difference over all but the first `keep` dimensions; infinite where one side alone is not finite."""
    with np.errstate(invalid="ignore", over="ignore"):
        difference = np.abs(a - b)
    wrong = ~np.isfinite(difference)
    if wrong.any():
        both = np.broadcast_arrays(a, b)
        same = (both[0] == both[1]) | (np.isnan(both[0]) & np.isnan(both[1]))
        difference = np.where(wrong, np.where(same, 0, np.inf), difference)
    found: FloatArray = difference.max(axis=tuple(range(keep, difference.ndim)), initial=0)
    return found
