"""What Python says of slips that are no matter of JAX's."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from messages.setting import auto, mapped, says, x


@says("not-defined")
def a_name_that_is_misspelt() -> Any:
    return produkt(x)  # noqa: F821


@says("not-installed")
def a_module_that_is_not_there() -> Any:
    importlib.import_module("shardmap")


@says("no-such-name")
def a_function_that_is_not_there() -> Any:
    return lax.allgather(x, "data")


@says("list-as-a-key")
def a_list_as_a_key() -> Any:
    return {["data", "model"]: 8}


@says("list-as-a-key")
def an_array_in_a_set() -> Any:
    return {jnp.asarray(x)}


@says("list-as-a-key")
def a_list_in_a_set() -> Any:
    return set([["data"], "model"])  # noqa: C405


@says("without-end")
def a_function_without_an_end() -> Any:
    return a_function_without_an_end()


@says("left")
def an_exit() -> Any:
    sys.exit(3)


@says("not-written-yet")
def a_function_that_is_not_written() -> Any:
    raise NotImplementedError


@says("nothing-there")
def a_sum_with_none() -> Any:
    return None + x


@says("nothing-there")
def an_attribute_of_none() -> Any:
    return print().shape


@says("of-another-type")
def an_index_of_a_mesh() -> Any:
    return auto["data"]


@says("of-another-type")
def a_sum_of_a_text() -> Any:
    return "x" + 1


@says("called-no-function")
def an_array_that_is_called() -> Any:
    return jnp.asarray(x)(x)


@says("unpacked-otherwise")
def three_names_for_two() -> Any:
    a, b, c = x.shape
    return a, b, c


@says("no-such-key")
def an_axis_of_no_mesh() -> Any:
    return auto.shape["batch"]


@says("other-arguments")
def a_body_with_one_argument_for_two() -> Any:
    return mapped(lambda a: a, (jax.P("data"), jax.P("data")))(x, x)


@says("counted-too-far")
def an_index_behind_the_end() -> Any:
    return [1, 2][2]


@says("counted-too-far")
def an_index_behind_the_end_of_an_array() -> Any:
    return np.ones(4)[5]


@says("gone")
def a_class_of_earlier_years() -> Any:
    from jax.sharding import PositionalSharding

    return PositionalSharding(jax.devices())


@says("gone")
def a_module_of_earlier_years() -> Any:
    importlib.import_module("jax.experimental.maps")


@says("dtype-truncated")
def sixty_four_bits() -> Any:
    return jnp.ones(3, jnp.float64)


@says("wrong-factor")
def a_sum_in_place_of_a_mean() -> Any:
    summed = mapped(lambda a: lax.psum(a.mean(0), "data"), outs=jax.P())(x)
    np.testing.assert_allclose(summed, x.mean(0), rtol=1e-5)


@says("experimental-shard-map")
def the_module_of_shard_map() -> Any:
    from jax.experimental.shard_map import shard_map

    shard_map(jnp.sin, auto, jax.P("data"), jax.P("data"))(x)
    raise DeprecationWarning("jax.experimental.shard_map is deprecated")


@says("pjit")
def the_module_of_pjit() -> Any:
    from jax.experimental.pjit import pjit

    pjit(jnp.sin, in_axis_resources=None, out_axis_resources=None)
