"""Eight CPU devices and strict promotion for every test, set before JAX makes its first array."""

import os
import signal

os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["SHARDLENS_CACHE"] = "off"

import jax
import numpy as np
import pytest

from sizes import pytest_itemcollected as pytest_itemcollected

# A shell without job control has what it starts in the background ignore Ctrl-C, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(2026)
