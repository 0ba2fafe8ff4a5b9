"""Eight CPU devices and strict promotion for every test, set before JAX makes its first array."""

import os
import re
import signal

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest

# A shell without job control has what it starts in the background ignore Ctrl-C, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`-k 4.2` means exercise 4.2: a test that only holds a longer number around it, as 14.2 does, is deselected."""
    asked = "|".join(map(re.escape, re.findall(r"\d+\.\d+", config.getoption("keyword"))))
    whole = re.compile(rf"(?<![\d.])({asked})(?!\.?\d)")
    longer = {item for item in items if asked and re.search(asked, item.nodeid) and not whole.search(item.nodeid)}
    if longer:
        config.hook.pytest_deselected(items=[*longer])
        items[:] = [item for item in items if item not in longer]


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(2026)
