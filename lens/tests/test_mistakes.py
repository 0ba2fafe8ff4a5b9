"""Programs that compile and do not do what was meant: `inspect` says so."""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import shardlens as lens

STEP = "step changes [0].bias.value and 2 more arrays in place, but jax.jit does not see it: the update is not compiled."


def add(a: Any, b: Any) -> Any:
    """Two arrays of the arguments' shape."""
    return a + 1, b * 2


DONATIONS = {
    "twice": ((0,), True, True),
    "the second": ((1,), True, True),
    "both": ((0, 1), True, True),
    "not donated": ((), True, False),
    "two arrays": ((0,), False, False),
}


@pytest.mark.parametrize("name", DONATIONS)
def test_a_buffer_donated_twice(name: str, rng: np.random.Generator) -> None:
    """One array in two arguments, of which one is donated, is said; descriptions are no buffers."""
    places, same, said = DONATIONS[name]
    f = jax.jit(add, donate_argnums=places)
    x = jnp.asarray(rng.normal(size=(3, 5)), "float32")
    found = [told for told in lens.inspect(f, x, x if same else x + 1).warnings if "are one array" in told]
    wanted = "argument [0] and argument [1] are one array, and it is donated: running the program fails."
    assert found == ([f"{wanted} Give each an array of its own."] if said else [])
    held = functools.partial(f, x)
    assert [told for told in lens.inspect(held, x if same else x + 1).warnings if "are one array" in told] == found
    shape = jax.ShapeDtypeStruct((3, 5), "float32")
    assert not [told for told in lens.inspect(f, shape, shape).warnings if "are one array" in told]


def test_an_update_in_place_that_is_lost() -> None:
    """A Flax NNX step that returns the loss alone trains nothing under `jax.jit`; `nnx.jit` and returned state do."""
    import optax
    from flax import nnx

    model = nnx.Linear(8, 4, rngs=nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, optax.sgd(0.1), wrt=nnx.Param)

    def step(model: Any, optimizer: Any, x: Any) -> Any:
        loss, grads = nnx.value_and_grad(lambda model: (model(x) ** 2).mean())(model)
        optimizer.update(model, grads)
        return loss

    def returned(model: Any, optimizer: Any, x: Any) -> Any:
        return step(model, optimizer, x), model, optimizer

    x = jnp.ones((2, 8))
    for f, said in ((jax.jit(step), True), (step, True), (nnx.jit(step), False), (jax.jit(returned), False)):
        found = [told for told in lens.inspect(f, model, optimizer, x).warnings if "in place" in told]
        assert found == ([f"{STEP} Use nnx.jit, or return what has changed."] if said else [])

    def trained(mode: str, both: Any, x: Any) -> Any:
        return step(*both, x) if mode == "train" else both[0](x)

    static, both = jax.jit(trained, static_argnums=0), (model, optimizer)
    for f, args in ((functools.partial(jax.jit(step), *both), (x,)), (static, ("train", both, x))):
        assert [told for told in lens.inspect(f, *args).warnings if "and 2 more arrays in place" in told]
    assert not [told for told in lens.inspect(static, "try", both, x).warnings if "in place" in told]
