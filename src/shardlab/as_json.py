"""What Python, NumPy and JAX hold, as JSON."""

from __future__ import annotations

import decimal
import fractions
import math
from collections.abc import Callable, Mapping
from typing import Any

import jax
import numpy as np


def as_json(value: Any, described: Callable[[jax.Array], Any] | None = None) -> Any:
    """`value` as JSON can hold it: arrays, tuples, specs become lists, sets sorted lists, NumPy scalars and fractions
    numbers, `...` null.

    Args:
        described: what stands for a JAX array, as `{"array": ...}`, in place of its elements.
    Raises:
        TypeError: `value` holds something else, a number that is not finite, or a dict that looks like a described array.
    """
    if value is ... or value is None:
        return None
    if isinstance(value, bool | int | str):
        return value
    if described and isinstance(value, jax.Array):
        return {"array": described(value)}
    if isinstance(value, np.generic | np.ndarray | jax.Array):
        return as_json(np.asarray(value).tolist())
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a finite number")
        return value
    if isinstance(value, fractions.Fraction | decimal.Decimal):
        return as_json(float(value))
    if isinstance(value, list | tuple | jax.P):
        return [as_json(v, described) for v in value]
    if isinstance(value, set | frozenset):
        # By their texts, for numbers and names in one set have no order.
        return sorted(map(as_json, value), key=str)
    if isinstance(value, Mapping):
        if described and "array" in value:
            raise TypeError("a dict with the key 'array' cannot be returned; use another key")
        return {str(k): as_json(v, described) for k, v in value.items()}
    raise TypeError(f"{type(value).__name__} is not a number, a string, a list or a dict of these")
