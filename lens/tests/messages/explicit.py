"""Explicit axes: operations whose types leave open, or forbid, where the output lies."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding

from messages.setting import auto, on, says, square, typed, x


def rows() -> Any:
    return on(square, "data", mesh=typed)


def columns() -> Any:
    return on(square, None, "data", mesh=typed)


@says("ambiguous-product")
def product_along_a_cut() -> Any:
    return columns() @ rows()


@says("ambiguous-product")
def einsum_along_a_cut() -> Any:
    return jnp.einsum("ij,jk->ik", columns(), rows())


@says("ambiguous-product")
def product_along_two_cuts() -> Any:
    return columns() @ on(square, "model", mesh=typed)


@says("one-axis-twice")
def product_of_two_cut_alike() -> Any:
    return rows() @ columns()


@says("one-axis-twice")
def sum_of_rows_and_columns() -> Any:
    return rows() + columns()


@says("broadcast-specs-differ")
def sum_of_two_cuts() -> Any:
    return rows() + on(square, "model", mesh=typed)


@says("ambiguous-index")
def rows_by_a_list() -> Any:
    return rows()[jnp.array([1, 0, 3])]


@says("ambiguous-index")
def rows_added_to_by_a_list() -> Any:
    return rows().at[on(jnp.array([1, 0, 3, 2]), "data", mesh=typed)].add(on(square[:4], "data", mesh=typed))


@says("ambiguous-index")
def slice_of_a_cut_dimension() -> Any:
    return rows()[:3]


@says("slice-does-not-divide")
def traced_slice_of_a_cut_dimension() -> Any:
    return jax.jit(lambda a, n: lax.dynamic_slice_in_dim(a, n, 3))(rows(), 2)


@says("traced-slice")
def index_of_a_cut_dimension() -> Any:
    return jax.jit(lambda a, n: a.at[n : n + 1].get(mode="fill"))(rows(), 1)


@says("update-specs-differ")
def update_of_another_placement() -> Any:
    return lax.dynamic_update_slice(rows(), on(square[:4], "model", mesh=typed), (0, 0))


@says("operands-specs-differ")
def concatenated_otherwise() -> Any:
    return jnp.concatenate([rows(), columns()])


@says("operands-specs-differ")
def stacked_otherwise() -> Any:
    return jnp.stack([rows(), columns()])


@says("operands-specs-differ")
def selected_otherwise() -> Any:
    return lax.select(rows() > 0, rows(), columns())


@says("operands-specs-differ")
def condition_placed_otherwise() -> Any:
    return lax.select(columns() > 0, rows(), rows())


@says("needs-a-whole-dimension")
def sorted_along_a_cut() -> Any:
    return jnp.sort(rows(), axis=0)


@says("needs-a-whole-dimension")
def largest_along_a_cut() -> Any:
    return lax.top_k(columns(), 2)


@says("needs-a-whole-dimension")
def running_sum_along_a_cut() -> Any:
    return jnp.cumsum(rows(), axis=0)


@says("needs-a-whole-dimension")
def running_sum_of_all() -> Any:
    return jnp.cumsum(rows())


@says("one-axis-twice")
def factorized_in_pieces() -> Any:
    return jnp.linalg.cholesky(rows())


@says("needs-a-whole-dimension")
def scanned_along_a_cut() -> Any:
    return lax.scan(lambda c, row: (c, row), 0.0, rows())


@says("needs-a-whole-dimension")
def mapped_along_a_cut() -> Any:
    return lax.map(jnp.sin, rows())


@says("needs-a-whole-dimension")
def unstacked_along_a_cut() -> Any:
    return jnp.unstack(rows())


@says("needs-a-whole-dimension")
def tiled_along_a_cut() -> Any:
    return jnp.tile(rows(), (2, 1))


@says("ambiguous-reshape")
def reshape_that_splits_a_cut() -> Any:
    return rows().reshape(2, 4, 8)


@says("ambiguous-reshape")
def reshape_that_merges_a_cut() -> Any:
    return columns().reshape(64)


@says("needs-a-whole-dimension")
def operation_without_a_rule() -> Any:
    return jnp.linalg.eigvals(on(square, "data", mesh=typed))


@says("out-sharding-required")
def ragged_product_of_a_cut() -> Any:
    return lax.ragged_dot(rows(), on(jnp.ones((2, 8, 8)), mesh=typed), on(jnp.array([4, 4]), mesh=typed))


@says("constraint-on-explicit")
def constraint_on_explicit_axes() -> Any:
    return jax.jit(lambda a: lax.with_sharding_constraint(a, NamedSharding(typed, P("model"))))(rows())


@says("constraint-on-explicit")
def eager_constraint_on_explicit_axes() -> Any:
    return lax.with_sharding_constraint(rows(), NamedSharding(typed, P("model")))


@says("reshard-on-auto")
def reshard_on_auto_axes() -> Any:
    return jax.reshard(on(x, "data"), NamedSharding(auto, P("model")))


@says("reshard-on-auto")
def zeros_on_auto_axes() -> Any:
    with jax.set_mesh(auto):
        return jnp.zeros((8, 4), out_sharding=P("data"))


@says("unreduced-operation")
def sine_of_partial_sums() -> Any:
    with jax.set_mesh(typed):
        return jax.jit(lambda a, b: jnp.sin(jnp.matmul(a, b, out_sharding=P(unreduced={"data"}))))(columns(), rows())


@says("unreduced-operation")
def sum_of_partial_sums_and_a_whole() -> Any:
    with jax.set_mesh(typed):
        return jax.jit(lambda a, b: jnp.matmul(a, b, out_sharding=P(unreduced={"data"})) + 1.0 * b)(
            columns(), on(square, "data", mesh=typed)
        )


@says("unreduced-operation")
def partial_sums_of_partial_sums() -> Any:
    with jax.set_mesh(typed):
        return jax.jit(lambda a, b: jnp.matmul(jnp.matmul(a, b, out_sharding=P(unreduced={"data"})), b))(columns(), rows())


@says("unreduced-operation")
def product_of_partial_sums() -> Any:
    def f(a: Any, b: Any) -> Any:
        part = jnp.matmul(a, b, out_sharding=P(unreduced={"data"}))
        return part * part

    with jax.set_mesh(typed):
        return jax.jit(f)(columns(), rows())


@says("unreduced-operation")
def partial_sums_with_other_cuts() -> Any:
    with jax.set_mesh(typed):
        return jax.jit(lambda a, b: jnp.matmul(a, b, out_sharding=P(unreduced={"model"})))(columns(), rows())


@says("uneven-blocks")
def zeros_that_do_not_divide() -> Any:
    with jax.set_mesh(typed):
        return jnp.zeros((6, 4), out_sharding=P("data"))


@says("sharding-length")
def out_sharding_shorter_than_the_array() -> Any:
    with jax.set_mesh(typed):
        return jnp.zeros((8, 4), out_sharding=P("data", None, "model"))


@says("out-sharding-missing")
def explicit_axes_without_in_sharding() -> Any:
    with jax.set_mesh(auto):
        return jax.jit(jax.sharding.explicit_axes(jnp.sin))(x)


@says("out-sharding-missing")
def auto_axes_without_out_sharding() -> Any:
    with jax.set_mesh(typed):
        return jax.jit(jax.sharding.auto_axes(jnp.sin))(rows())


@says("counted-otherwise")
def bincount_over_a_cut() -> Any:
    with jax.set_mesh(typed):
        return jnp.bincount(on(jnp.arange(8) % 3, "data", mesh=typed), length=8, out_sharding=P("data"))
