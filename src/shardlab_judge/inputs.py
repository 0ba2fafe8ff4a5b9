"""The arrays that programs are run on: drawn from a seed, and the same for the same seed."""

from __future__ import annotations

import functools
import math
import random
from typing import Any

import numpy as np

from shardlab_judge.cases import Case, Input


@functools.lru_cache(maxsize=64)
def hidden_inputs(case: Case, seed: int | None) -> tuple[np.ndarray, ...]:
    """Random arrays for a case, normal or whole numbers below 100; the same for the same seed, and not to be written to."""
    # By the case's key, so that a case has the same inputs wherever it stands; NumPy's generators take no text as a seed.
    rng = np.random.default_rng(random.Random(f"{seed}/{case.key}").getrandbits(64))
    arrays: list[np.ndarray] = []
    for given in case.inputs:
        drawn = _drawn(rng, given) if given.values is None else given.values(rng, given.shape, arrays)
        arrays.append(np.asarray(drawn).astype(given.dtype))  # a single number is drawn as a scalar
    for x in arrays:
        x.flags.writeable = False
    return tuple(arrays)


def other_numbers(inputs: tuple[np.ndarray, ...], seed: int | None) -> tuple[np.ndarray, ...]:
    """These inputs with every whole number replaced by another one below 100, as another random seed is.

    Again and again, it takes a hundred times to come back to the first ones.
    """
    shift = random.Random(f"{seed}/again").choice([n for n in range(1, 100) if math.gcd(n, 100) == 1])
    return tuple((x + shift) % 100 if np.issubdtype(x.dtype, np.integer) else x for x in inputs)


def kind_of(dtype: Any) -> str:
    """NumPy's letter for the kind of a dtype; bfloat16, which NumPy does not know itself, is a float. Else nothing."""
    try:
        return "f" if str(dtype).startswith(("bfloat", "float")) else np.dtype(dtype).kind
    except TypeError:  # JAX's keys, and whatever a process may have written
        return ""


def wide(x: np.ndarray) -> np.ndarray:
    """The same in double precision where it has floats or complex numbers."""
    double = {"f": np.float64, "c": np.complex128}.get(kind_of(x.dtype))
    return x if double is None else x.astype(double)


def _drawn(rng: np.random.Generator, given: Input) -> np.ndarray:
    drawn: np.ndarray
    kind = kind_of(given.dtype)
    if kind == "c":
        real, imaginary = rng.standard_normal((2, *given.shape))
        drawn = real + 1j * imaginary + given.shift
    elif kind == "f":
        drawn = rng.standard_normal(given.shape) + given.shift
    else:
        drawn = rng.integers(0, 100, given.shape) + int(given.shift)
    return drawn
