"""Every example in a docstring of the laboratory, the judge and the course."""

import doctest
import importlib
import pkgutil

import jax
import numpy as np
import pytest

import shardlab
import shardlab_course
import shardlab_judge

MODULES = sorted(
    found.name
    for package in (shardlab, shardlab_judge, shardlab_course)
    for found in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
)
COMMON = {"jax": jax, "np": np, "sl": shardlab}


@pytest.mark.parametrize("name", MODULES)
def test_examples(name: str) -> None:
    """What a docstring shows is what Python prints."""
    assert doctest.testmod(importlib.import_module(name), extraglobs=COMMON).failed == 0
