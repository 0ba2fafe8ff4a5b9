"""Eight CPU devices and strict promotion for every test, set before JAX makes its first array."""

import os
import pathlib
import re
import signal

os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest

import asked
from sizes import pytest_itemcollected as pytest_itemcollected

# A shell without job control has what it starts in the background ignore Ctrl-C, and Python leaves it so.
signal.signal(signal.SIGINT, signal.default_int_handler)
jax.config.update("jax_num_cpu_devices", 8)
jax.config.update("jax_numpy_dtype_promotion", "strict")
jax.config.update("jax_numpy_rank_promotion", "raise")

TABLE = re.compile(r"\b(?:QUESTIONS|asked)\b")


def pytest_addoption(parser: pytest.Parser) -> None:
    """What a run is asked for, where it is not everything."""
    group = parser.getgroup("shardlab")
    group.addoption("--question", action="append", default=[], metavar="4.2", help="make the tests of this exercise alone")
    group.addoption("--chapter", action="append", default=[], type=int, metavar="4", help="make those of this chapter alone")


def pytest_configure(config: pytest.Config) -> None:
    """Modules that are imported from here on make no other tests."""
    asked.narrow(config.getoption("question"), config.getoption("chapter"), config.getoption("keyword"))


def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Of tests of exercises only modules are imported that name them, or go through a table of all."""
    named = asked.named(config.getoption("keyword"))
    if not named or collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    text = collection_path.read_text()
    return None if TABLE.search(text) or any(id in text for id in named) else True


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`-k 4.2` means exercise 4.2: a test that only holds a longer number around it, as 14.2 does, is deselected."""
    named = "|".join(map(re.escape, re.findall(r"\d+\.\d+", config.getoption("keyword"))))
    whole = re.compile(rf"(?<![\d.])({named})(?!\.?\d)")
    longer = {item for item in items if named and re.search(named, item.nodeid) and not whole.search(item.nodeid)}
    if longer:
        config.hook.pytest_deselected(items=[*longer])
        items[:] = [item for item in items if item not in longer]


@pytest.fixture
def rng() -> np.random.Generator:
    """Random numbers, the same in every run."""
    return np.random.default_rng(2026)
