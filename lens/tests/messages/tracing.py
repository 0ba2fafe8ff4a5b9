"""Traced values, gradients, loops and shapes: what JAX says of code that would be right in NumPy."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import core

from messages.setting import auto, mapped, on, says, x

KEPT: list[Any] = []


@says("numpy-inside")
def numpy_of_a_traced_array() -> Any:
    return jax.jit(np.linalg.norm)(x)


@says("python-branch")
def branch_on_a_traced_value() -> Any:
    return jax.jit(lambda a: a if a.sum() > 0 else -a)(x)


@says("traced-index")
def range_of_a_traced_value() -> Any:
    return jax.jit(lambda n: [0 for _ in range(n)])(3)


@says("traced-slice")
def block_by_the_device() -> Any:
    return mapped(lambda a: a[lax.axis_index("data") :])(x)


@says("traced-slice")
def slice_to_a_traced_end() -> Any:
    return jax.jit(lambda a, n: a[:n])(x, 3)


@says("no-whole-index")
def slice_by_a_fraction() -> Any:
    return jnp.asarray(x)[: 8 / 2]


@says("boolean-index")
def picked_by_a_condition() -> Any:
    return jax.jit(lambda a: a[a > 0])(x)


@says("needs-a-value")
def float_of_a_traced_value() -> Any:
    return jax.jit(lambda a: float(a.sum()))(x)


@says("needs-a-value")
def shape_by_a_traced_value() -> Any:
    return jax.jit(lambda n: jnp.zeros(n))(3)


@says("needs-a-value")
def size_of_nonzero() -> Any:
    return jax.jit(jnp.nonzero)(x)


@says("tracer-asked-where")
def sharding_of_a_traced_array() -> Any:
    return jax.jit(lambda a: a.sharding.spec)(x)


@says("tracer-asked-where")
def device_of_a_traced_array() -> Any:
    return jax.jit(lambda a: a.device)(x)


@says("tracer-asked-where")
def devices_of_a_traced_array() -> Any:
    return jax.jit(lambda a: a.devices())(x)


@says("tracer-asked-where")
def shards_of_a_traced_array() -> Any:
    return jax.jit(lambda a: a.addressable_shards[0].data)(x)


@says("tracer-asked-where")
def replication_of_a_traced_array() -> Any:
    return jax.jit(lambda a: a if a.is_fully_replicated else -a)(x)


@says("kept-from-elsewhere")
def kept_from_a_call() -> Any:
    jax.jit(KEPT.append)(x)
    return KEPT.pop() + 1


@says("assigned")
def assigned_in_place() -> Any:
    jnp.asarray(x)[0] = 1


@says("gradient-of-many")
def gradient_of_a_matrix() -> Any:
    return jax.grad(jnp.sin)(x)


@says("gradient-of-integers")
def gradient_with_respect_to_integers() -> Any:
    return jax.grad(lambda a: (a * 2.0).sum())(np.arange(3))


@says("gradient-of-a-while-loop")
def gradient_through_a_while_loop() -> Any:
    return jax.grad(lambda a: lax.while_loop(lambda c: c < 9, lambda c: c * 2, a))(1.0)


@says("shapes-do-not-fit")
def product_of_two_shapes() -> Any:
    return jnp.dot(x, x)


@says("shapes-do-not-fit")
def sum_of_two_shapes() -> Any:
    return jnp.add(x, x[:3])


@says("shapes-do-not-fit")
def reshape_to_another_size() -> Any:
    return jnp.reshape(x, (7, 5))


@says("shapes-do-not-fit")
def concatenated_sizes() -> Any:
    return jnp.concatenate([x, x.T])


@says("shapes-do-not-fit")
def einsum_of_two_sizes() -> Any:
    return jnp.einsum("ij,jk->ik", x, x)


@says("carry-changes-type")
def carry_of_another_shape() -> Any:
    return lax.fori_loop(0, 3, lambda i, c: c[None], jnp.zeros(3))


@says("branches-change-type")
def branches_of_two_dtypes() -> Any:
    return lax.cond(True, lambda: 1.0, lambda: 1)


@says("scan-of-two-lengths")
def scan_over_two_lengths() -> Any:
    return lax.scan(lambda c, r: (c, None), 0.0, (x, x[:3]))


@says("function-returned")
def function_in_place_of_its_value() -> Any:
    return jax.jit(lambda a: jnp.sin)(x)


@says("not-jax-returned")
def text_in_place_of_an_array() -> Any:
    return jax.jit(lambda a: "sum")(x)


@says("not-a-key")
def old_kind_of_seed() -> Any:
    return jax.random.normal(3, (2,))


@says("out-of-bounds-axis")
def sum_over_a_missing_dimension() -> Any:
    return jnp.sum(x, axis=2)


@says("too-many-indices")
def three_indices_of_a_matrix() -> Any:
    return jnp.asarray(x)[0, 0, 0]


@says("nan-found")
def nan_under_debug_nans() -> Any:
    with jax.debug_nans(True):
        return jax.jit(jnp.log)(-1.0)


@says("transfer-forbidden")
def transfer_under_a_guard() -> Any:
    with jax.transfer_guard("disallow"):
        return on(jnp.asarray(x), "data") + np.ones(4, np.float32)


@says("kept-from-elsewhere")
def leaked_and_checked() -> Any:
    with jax.checking_leaks():
        jax.jit(KEPT.append)(x)


@says("trees-differ")
def tree_of_another_structure() -> Any:
    return jax.tree.map(lambda a, b: a + b, {"a": 1}, {"b": 1})


@says("trees-differ")
def tree_of_another_length() -> Any:
    return jax.tree.map(lambda a, b: a + b, [1, 2], [1, 2, 3])


@says("with-mesh")
def mesh_of_the_old_kind() -> Any:
    with auto:
        return jax.jit(jnp.sin)(x)


def own() -> Any:
    """An operation that runs, and has no other rule."""
    made = core.Primitive("doubled")
    made.def_abstract_eval(lambda aval: aval)
    made.def_impl(lambda x: 2 * x)
    return made


@says("rule-missing")
def an_operation_without_a_batching_rule() -> Any:
    jax.vmap(own().bind)(x)


@says("rule-missing")
def an_operation_without_a_gradient() -> Any:
    jax.grad(lambda x: own().bind(x).sum())(x)


@says("rule-missing")
def an_operation_that_is_not_lowered() -> Any:
    jax.jit(own().bind)(x)


@says("rule-missing")
def an_operation_that_does_not_run() -> Any:
    core.Primitive("doubled").bind(x)


@says("shapes-do-not-fit")
def choice_between_two_shapes() -> Any:
    return jnp.where(x > 0, x, x[:3])
