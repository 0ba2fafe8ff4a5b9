"""Eight CPU devices and strict promotion for every test, set before JAX makes its first array."""

import os

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest

jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

collect_ignore = ["answers"]


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(2026)
