"""Exercise 7.1's oracle against the real `jax.shard_map`, and the drawn calls of chapter 7."""

from __future__ import annotations

import math
import random

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh

from shardlab_course.ch07.ex01 import oracle as emulation
from shardlab_course.ch07.ex01 import question
from shardlab_course.ch07.ex04 import oracle as normalization

BODIES = {**emulation.BODIES, "outer": jnp.outer}


def spec_of(entries) -> jax.P:
    return jax.P(*(tuple(entry) if isinstance(entry, list) else entry for entry in entries))


def mapped(body, sizes, in_specs, out_spec, arrays) -> np.ndarray:
    """What `jax.shard_map` makes of it; unchecked, because it is the first of several copies that is wanted."""
    devices = np.array(jax.devices()[: math.prod(sizes.values())]).reshape(*sizes.values())
    mesh = Mesh(devices, tuple(sizes), axis_types=(AxisType.Auto,) * len(sizes))
    f = jax.shard_map(
        BODIES[body], mesh=mesh, in_specs=tuple(map(spec_of, in_specs)), out_specs=spec_of(out_spec), check_vma=False
    )
    return np.asarray(f(*map(np.asarray, arrays)))


@pytest.mark.thorough(after=1)
@pytest.mark.parametrize("seed", [None, *range(12)])
def test_the_oracle_is_shard_map(seed: int | None) -> None:
    """Public calls and drawn ones."""
    calls = question.EMULATIONS if seed is None else [emulation.draw_emulation(random.Random(seed))]
    for call in calls:
        assert np.array_equal(mapped(*call), emulation.emulated(*call)), call


def test_attempts_are_told_apart() -> None:
    """The right ones are right by a wide margin, and the wrong ones wrong by one, whatever tolerance a student chooses."""
    rng = random.Random(1)
    for kind in normalization.ATTEMPTS:
        for _ in range(20):
            x, y = normalization.attempt(kind, rng)
            distance = np.abs(np.asarray(y) - normalization.normalized(np.asarray(x))).max()
            assert distance < 1e-5 if kind == "right" else distance > 0.04, kind
