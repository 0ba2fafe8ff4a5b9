"""Collectives: axes that are not there, groups, sizes that do not fit, and types that do not vary as they should."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import P, lax

from messages.setting import auto, mapped, on, says, typed, x


@says("unbound-axis")
def sum_outside() -> Any:
    lax.psum(x, "data")


@says("unbound-axis")
def sum_under_jit() -> Any:
    jax.jit(lambda a: lax.psum(a, "data"))(x)


@says("unbound-axis")
def index_outside() -> Any:
    lax.axis_index("data")


@says("unbound-axis")
def size_outside() -> Any:
    lax.axis_size("data")


@says("unbound-axis")
def gather_outside() -> Any:
    lax.all_gather(x, "data")


@says("outside-of-shard-map")
def permute_outside() -> Any:
    lax.ppermute(x, "data", [(0, 1)])


@says("unbound-axis")
def scatter_outside() -> Any:
    lax.psum_scatter(x, "data")


@says("unbound-axis")
def exchange_outside() -> Any:
    lax.all_to_all(x, "data", 0, 0)


@says("unbound-axis")
def maximum_outside() -> Any:
    lax.pmax(x, "data")


@says("outside-of-shard-map")
def cast_outside() -> Any:
    lax.pcast(x, "data", to="varying")


@says("sums-copies")
def sum_over_copies() -> Any:
    mapped(lambda a: lax.psum(a, ("data", "model")), outs=P())(x)


@says("promised-copies")
def gather_of_copies() -> Any:
    mapped(lambda a: lax.all_gather(a, "model", tiled=True))(x)


@says("promised-copies")
def permute_of_copies() -> Any:
    mapped(lambda a: lax.ppermute(a, "model", [(0, 1), (1, 0)]))(x)


@says("promised-copies")
def exchange_of_copies() -> Any:
    mapped(lambda a: lax.all_to_all(a, "model", 0, 0, tiled=True))(x)


@says("cast-of-what-varies")
def cast_of_what_varies() -> Any:
    mapped(lambda a: lax.pcast(a, "data", to="varying"))(x)


@says("cast-unknown")
def cast_to_another_word() -> Any:
    mapped(lambda a: lax.pcast(a, "data", to="replicated"))(x)


@says("not-a-permutation")
def two_to_one() -> Any:
    mapped(lambda a: lax.ppermute(a, "data", [(0, 1), (2, 1)]))(x)


@says("not-a-permutation")
def one_to_two() -> Any:
    mapped(lambda a: lax.ppermute(a, "data", [(0, 1), (0, 2)]))(x)


@says("counted-too-far")
def a_device_that_is_not_there() -> Any:
    jax.jit(mapped(lambda a: lax.ppermute(a, "data", [(0, 9)])))(x).block_until_ready()


@says("scattered-unevenly")
def scatter_of_two_over_four() -> Any:
    mapped(lambda a: lax.psum_scatter(a, "data"))(x)


@says("scattered-unevenly")
def tiled_scatter_of_two_over_four() -> Any:
    mapped(lambda a: lax.psum_scatter(a, "data", tiled=True))(x)


@says("scattered-unevenly")
def exchange_of_two_over_four() -> Any:
    mapped(lambda a: lax.all_to_all(a, "data", 0, 0))(x)


@says("scattered-unevenly")
def tiled_exchange_of_two_over_four() -> Any:
    mapped(lambda a: lax.all_to_all(a, "data", 0, 0, tiled=True))(x)


@says("groups-do-not-cover")
def groups_that_leave_one_out() -> Any:
    mapped(lambda a: lax.psum(a, "data", axis_index_groups=[[0, 1], [2]]), check_vma=False)(x)


@says("groups-over-two-axes")
def groups_over_two_axes() -> Any:
    mapped(lambda a: lax.psum(a, ("data", 0), axis_index_groups=[[0, 1], [2, 3]]), check_vma=False)(x)


@says("groups-over-two-axes")
def groups_of_a_maximum() -> Any:
    mapped(lambda a: lax.pmax(a, ("data", 0), axis_index_groups=[[0, 1], [2, 3]]), check_vma=False)(x)


@says("groups-under-vmap")
def groups_under_vmap() -> Any:
    jax.vmap(lambda a: lax.psum(a, "rows", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), axis_name="rows")(x)


@says("groups-under-vmap")
def groups_of_a_gather_under_vmap() -> Any:
    jax.vmap(lambda a: lax.all_gather(a, "rows", axis_index_groups=[[0, 1, 2, 3], [4, 5, 6, 7]]), axis_name="rows")(x)


@says("axis-of-an-array-sum")
def sum_over_a_dimension_and_an_axis() -> Any:
    mapped(lambda a: lax.psum(a, ("data", 0)), outs=P())(x)


@says("untiled-gather")
def product_with_a_stack() -> Any:
    mapped(lambda a, b: a @ lax.all_gather(b, "model", axis=1), (P("data"), P(None, "model")), P("data"))(x, x[:4])


@says("does-not-vary")
def vmap_under_the_name_of_the_mesh() -> Any:
    mapped(lambda a: jax.vmap(lambda b: lax.psum(b, "data"), axis_name="data")(a))(x)


@says("wrong-mapped-axis-size")
def vmap_over_two_sizes() -> Any:
    jax.vmap(jnp.add)(x, x[:4])


@says("wrong-mapped-axis-size")
def vmap_along_a_missing_dimension() -> Any:
    jax.vmap(jnp.sin, in_axes=3)(x)


@says("wrong-mapped-axes")
def vmap_over_text() -> Any:
    jax.vmap(jnp.sin, in_axes="data")(x)


@says("wrong-mapped-axes")
def vmap_to_text() -> Any:
    jax.vmap(jnp.sin, out_axes="data")(x)


@says("wrong-mapped-axes")
def vmap_of_too_many() -> Any:
    jax.vmap(jnp.sin, in_axes=(0, 0))(x)


@says("wrong-mapped-axes")
def vmap_of_nothing() -> Any:
    jax.vmap(jnp.sin, in_axes=None)(x)


@says("vmapped-output-kept")
def vmap_to_no_dimension() -> Any:
    jax.vmap(jnp.sin, out_axes=None)(x)


@says("unreduced-operation")
def unreduced_into_a_sum() -> Any:
    y = jax.jit(lambda a, b: jnp.matmul(a, b, out_sharding=P(unreduced={"data"})))
    with jax.set_mesh(typed):
        partial = y(on(x.T, None, "data", mesh=typed), on(x, "data", mesh=typed))
        jax.jit(jnp.sin)(partial)


@says("does-not-vary")
def cast_to_unreduced_of_copies() -> Any:
    jax.jit(mapped(lambda a: lax.pcast(a, "model", to="unreduced"), outs=P("data", unreduced={"model"}), mesh=typed))(
        on(x, "data", mesh=typed)
    )


@says("pmapped")
def pmap_over_uneven_rows() -> Any:
    jax.pmap(jnp.add)(x, x[:6])


@says("dimension-not-one")
def pmap_over_sixteen() -> Any:
    jax.pmap(jnp.sin)(jnp.ones((16, 4)))


@says("unbound-axis")
def axis_index_over_two() -> Any:
    with jax.set_mesh(auto):
        jax.jit(lambda: lax.axis_index("data"))()


@says("dimension-not-one")
def splits_to_the_last_dimension() -> Any:
    jax.jit(mapped(lambda a: lax.all_to_all(a, "model", 0, -1), outs=P(("data", "model"))))(x)
