"""Chapter 10, exercise 10.8: its oracle, drawn cases, and recognisers of wrong answers."""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any

import numpy as np

from shardlab_course.ch10.shared import LINE, PLANE, ROWS
from shardlab_judge.cases import Case, Input
from shardlens import Axes


def noise(key: Any, shape: tuple[int, ...]) -> np.ndarray:
    """Normal numbers of this key and shape, made on one device."""
    import jax

    return np.asarray(jax.random.normal(jax.random.wrap_key_data(jax.numpy.asarray(key, np.uint32)), shape))


def folded(key: Any, number: int) -> Any:
    """The key with a number folded in."""
    import jax

    wrapped = jax.random.wrap_key_data(jax.numpy.asarray(key, np.uint32))
    return np.asarray(jax.random.key_data(jax.random.fold_in(wrapped, number)))


def noisy(key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """The array with noise of its whole shape."""
    return np.asarray(x + noise(key, x.shape))


def noisy_blocks(at: Mapping[str, int], key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One device's block with noise of the block's shape from the key as it is."""
    return np.asarray(x + noise(key, x.shape))


def noisy_folded(at: Mapping[str, int], key: np.ndarray, x: np.ndarray) -> np.ndarray:
    """One device's block with noise of its own key."""
    return np.asarray(x + noise(folded(key, at["data"]), x.shape))


def random_rows(mesh: Axes, rows: int, width: int) -> Case:
    """A key's two words, and an array with rows over data."""
    return Case(mesh, (Input((2,), (), "uint32"), Input((rows, width), ROWS)), (ROWS,))


def draw_random_rows(rng: random.Random) -> Case:
    """Rows that 8 divides."""
    return random_rows(rng.choice((LINE, PLANE)), 8 * rng.randint(2, 4), rng.randint(3, 9))
