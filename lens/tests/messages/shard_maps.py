"""`jax.shard_map`: its arguments, its specs, what is promised of its outputs, and what may stand in its body."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
from jax import P, lax
from jax.sharding import NamedSharding

from messages.setting import AUTO, EXPLICIT, auto, mapped, on, says, square, typed, typed_line, x


@says("old-shard-map")
def check_rep() -> Any:
    mapped(jnp.sin, check_rep=False)(x)


@says("old-shard-map")
def auto_axes_by_name() -> Any:
    mapped(jnp.sin, auto={"model"})(x)


@says("old-shard-map")
def mesh_by_position() -> Any:
    jax.shard_map(jnp.sin, auto, P("data"), P("data"))(x)


@says("called-not-given")
def shard_map_of_a_value() -> Any:
    mapped(jnp.sin(x))(x)


@says("no-mesh-around")
def shard_map_without_a_mesh() -> Any:
    jax.shard_map(jnp.sin, in_specs=P("data"), out_specs=P("data"))(x)


@says("not-a-mesh")
def shard_map_over_a_number() -> Any:
    mapped(jnp.sin, mesh=8)(x)


@says("mesh-names-count")
def shard_map_over_an_empty_mesh() -> Any:
    mapped(jnp.sin, mesh=jax.sharding.Mesh((), ()))(x)


@says("axis-names-not-a-set")
def axis_names_in_a_list() -> Any:
    mapped(jnp.sin, axis_names=["data"])(x)


@says("axis-of-no-mesh")
def axis_names_of_no_mesh() -> Any:
    mapped(jnp.sin, axis_names={"batch"})(x)


@says("axis-of-no-specs")
def in_specs_of_no_mesh() -> Any:
    mapped(jnp.sin, P("batch"))(x)


@says("axis-of-no-specs")
def out_specs_of_no_mesh() -> Any:
    mapped(jnp.sin, P("data"), P("batch"))(x)


@says("axis-of-no-specs")
def in_specs_of_an_automatic_axis() -> Any:
    mapped(jnp.sin, P("data", "model"), P("data"), axis_names={"data"})(x)


@says("specs-of-another-kind")
def in_specs_as_text() -> Any:
    mapped(jnp.sin, "data")(x)


@says("specs-of-another-kind")
def out_specs_as_a_sharding() -> Any:
    mapped(jnp.sin, P("data"), NamedSharding(auto, P("data")))(x)


@says("specs-none")
def out_specs_none() -> Any:
    mapped(jnp.sin, P("data"), None)(x)


@says("count-of-specs")
def one_in_spec_of_two() -> Any:
    mapped(jnp.add, (P("data"),))(x, x)


@says("count-of-specs")
def two_out_specs_of_one() -> Any:
    mapped(jnp.sin, P("data"), (P("data"), P("data")))(x)


@says("count-of-specs")
def in_specs_of_a_dict_without_a_key() -> Any:
    mapped(lambda d: d["a"], ({"b": P("data")},))({"a": x})


@says("specs-too-long")
def in_spec_of_three_for_a_matrix() -> Any:
    mapped(jnp.sin, P("data", None, None))(x)


@says("specs-too-long")
def out_spec_for_a_number() -> Any:
    mapped(jnp.sum)(x)


@says("uneven-blocks")
def six_rows_of_in_specs() -> Any:
    mapped(jnp.sin)(x[:6])


@says("promised-copies")
def forgotten_sum() -> Any:
    mapped(jnp.sum, P("data"), P())(x)


@says("promised-copies")
def forgotten_sum_of_two_axes() -> Any:
    mapped(lambda a: lax.psum(a.sum(), "data"), P("data", "model"), P())(x)


@says("promised-copies")
def forgotten_sum_under_jit() -> Any:
    jax.jit(mapped(jnp.sum, P("data"), P()))(x)


@says("varying-carry")
def carry_that_begins_equal() -> Any:
    def total(a: Any) -> Any:
        return lax.scan(lambda sum_, row: (sum_ + row, None), jnp.zeros(4), a)[0][None]

    mapped(total)(x)


@says("varying-carry")
def carry_of_a_while_loop() -> Any:
    def total(a: Any) -> Any:
        return lax.while_loop(lambda c: c[0] < 2, lambda c: (c[0] + 1, c[1] + a.sum()), (0, 0.0))[1][None]

    mapped(total)(x)


@says("varying-carry")
def carry_of_a_fori_loop() -> Any:
    mapped(lambda a: lax.fori_loop(0, 2, lambda _, c: c + a.sum(), 0.0)[None])(x)


@says("varying-branches")
def branches_that_vary_differently() -> Any:
    mapped(lambda a: lax.cond(a.sum() > 0, lambda: a, lambda: jnp.zeros((2, 4))))(x)


@says("varying-branches")
def branches_of_a_switch() -> Any:
    mapped(lambda a: lax.switch(lax.axis_index("data"), [lambda: a, lambda: jnp.ones((2, 4))]))(x)


@says("asserted-specs")
def in_specs_of_another_placement() -> Any:
    mapped(jnp.sin, mesh=typed)(on(x, mesh=typed))


@says("other-mesh-of-input")
def abstract_mesh_and_numpy() -> Any:
    mapped(jnp.sin, mesh=auto.abstract_mesh)(x)


@says("asserted-specs")
def abstract_mesh_of_another_shape() -> Any:
    mapped(jnp.sin, P("i"), P("i"), mesh=typed_line.abstract_mesh)(on(x, "data"))


@says("unreduced-in-specs")
def unreduced_in_spec_on_auto_axes() -> Any:
    mapped(jnp.sin, P(unreduced={"data"}))(x)


@says("unreduced-in-specs")
def reduced_in_spec_on_auto_axes() -> Any:
    mapped(jnp.sin, P(reduced={"data"}))(x)


@says("unreduced-in-specs")
def unreduced_in_spec_partly_manual() -> Any:
    mapped(jnp.sin, P(unreduced={"data"}), mesh=typed, axis_names={"data"})(x)


@says("unreduced-in-specs")
def unreduced_in_spec_of_a_whole_array() -> Any:
    mapped(jnp.sin, P(unreduced={"data"}), mesh=typed)(on(x, mesh=typed))


@says("unreduced-in-specs")
def unreduced_out_spec_of_a_whole_array() -> Any:
    jax.jit(mapped(jnp.sin, P(), P(unreduced={"data"}), mesh=typed))(on(x, mesh=typed))


@says("closed-over-explicit")
def closed_over_an_explicit_array() -> Any:
    other = on(x, "data", mesh=typed)
    mapped(lambda a: a + other, mesh=typed)(on(x, "data", mesh=typed))


@says("put-inside")
def put_on_a_device_inside() -> Any:
    mapped(lambda a: jax.device_put(a, jax.devices()[0]))(x)


@says("constraint-inside-shard-map")
def constraint_on_manual_axes() -> Any:
    mapped(lambda a: lax.with_sharding_constraint(a, NamedSharding(auto, P("data"))))(x)


@says("constraint-inside-shard-map")
def constraint_on_manual_axes_under_jit() -> Any:
    jax.jit(mapped(lambda a: lax.with_sharding_constraint(a, NamedSharding(auto, P("data")))))(x)


@says("constraint-inside-shard-map")
def constraint_by_a_spec_on_manual_axes() -> Any:
    jax.jit(mapped(lambda a: lax.with_sharding_constraint(a, P("data"))))(x)


@says("constraint-inside-shard-map")
def constraint_on_the_manual_axis_of_two() -> Any:
    jax.jit(mapped(lambda a: lax.with_sharding_constraint(a, P("data")), axis_names={"data"}))(x)


@says("constraint-inside-shard-map")
def reshard_on_manual_axes() -> Any:
    jax.jit(mapped(lambda a: jax.reshard(a, P("data")), mesh=typed))(on(x, "data", mesh=typed))


@says("constraint-inside-shard-map")
def zeros_on_manual_axes() -> Any:
    jax.jit(mapped(lambda a: a + jnp.zeros((2, 4), out_sharding=P("data")), mesh=typed))(on(x, "data", mesh=typed))


@says("uneven-blocks")
def jit_shardings_on_manual_axes() -> Any:
    jax.jit(mapped(lambda a: jax.jit(jnp.sin, out_shardings=NamedSharding(auto, P("data")))(a)))(x)


@says("closed-over-explicit")
def whole_array_inside() -> Any:
    whole = on(x, "data", mesh=typed)
    jax.jit(lambda a: mapped(lambda b: b + jnp.sin(whole)[:2], mesh=typed)(a))(whole)


@says("shard-map-in-shard-map")
def shard_map_in_shard_map_over_the_whole_mesh() -> Any:
    mapped(lambda a: mapped(jnp.sin)(a))(x)


@says("verifier-errors", newer="axis-of-no-specs")
def shard_map_in_shard_map_over_one_axis() -> Any:
    jax.jit(mapped(lambda a: jax.shard_map(jnp.sin, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})(a)))(
        jnp.ones((16, 4))
    )


@says("axis-named-otherwise")
def sum_over_an_axis_of_another_name() -> Any:
    mapped(lambda a: lax.psum(a, "batch"))(x)


@says("axis-named-otherwise")
def sum_over_an_axis_that_is_automatic() -> Any:
    jax.jit(mapped(lambda a: lax.psum(a, "model"), axis_names={"data"}))(x)


@says("nan-on-one-device")
def nan_on_one_device() -> Any:
    valid = jnp.arange(8) < 5
    with jax.debug_nans(True):
        mapped(lambda rows, v: lax.pmean((rows * v[:, None]).sum(0) / v.sum(), "data"), outs=P())(x, valid)


@says("nan-on-one-device")
def infinity_on_one_device() -> Any:
    with jax.debug_infs(True):
        mapped(lambda a: 1 / (a * 0))(x)


@says("spmd-axis-name-in-specs")
def spmd_axis_name_that_is_mapped() -> Any:
    jax.vmap(mapped(jnp.sin), spmd_axis_name="data")(jnp.ones((4, 8, 4)))


@says("spmd-axis-name-in-specs")
def spmd_axis_name_of_a_constraint() -> Any:
    put = NamedSharding(auto, P("data"))
    jax.jit(jax.vmap(lambda a: lax.with_sharding_constraint(a, put), spmd_axis_name="data"))(jnp.ones((4, 8, 4)))


@says("axis-of-no-specs")
def explicit_axis_that_is_mapped() -> Any:
    jax.jit(jax.vmap(mapped(jnp.sin, mesh=typed)))(on(jnp.ones((4, 8, 4)), "data", mesh=typed))


@says("spmd-axis-name-and-explicit")
def spmd_axis_name_and_an_explicit_axis() -> Any:
    jax.vmap(jnp.sin, spmd_axis_name="model")(on(x, "data", mesh=typed))


@says("vmapped-shardings-differ")
def vmap_over_two_placements() -> Any:
    jax.vmap(jnp.add)(on(x, "data", mesh=typed), on(x, "model", mesh=typed))


@says("vmapped-shardings-differ")
def vmap_over_an_axis_that_cuts_the_rest() -> Any:
    jax.vmap(jnp.dot, in_axes=(0, None))(on(square, "data", mesh=typed), on(square, "data", mesh=typed))


@says("asserted-specs")
def eager_and_partly_manual() -> Any:
    both = jax.make_mesh((4, 2), ("data", "model"), axis_types=(EXPLICIT, EXPLICIT))
    jax.shard_map(jnp.sin, mesh=both, in_specs=P("data"), out_specs=P("data"), axis_names={"data"})(x)


@says("smap-axes")
def smap_over_a_list() -> Any:
    with jax.set_mesh(auto):
        jax.smap(jnp.sin, in_axes=[0], out_axes=0, axis_name="data")(x)


@says("smap-axes")
def smap_over_text() -> Any:
    with jax.set_mesh(auto):
        jax.smap(jnp.sin, in_axes="data", out_axes=0, axis_name="data")(x)


@says("smap-axes")
def smap_to_text() -> Any:
    with jax.set_mesh(auto):
        jax.smap(jnp.sin, in_axes=0, out_axes="data", axis_name="data")(x)


@says("smap-axes")
def smap_over_two_names() -> Any:
    with jax.set_mesh(auto):
        jax.smap(jnp.sin, in_axes=0, out_axes=0, axis_name=["data", "model"])(x)


@says("kernel-needs-shard-map")
def kernel_over_automatic_axes() -> Any:
    from jax.experimental import pallas as pl

    def twice(block: Any, out: Any) -> None:
        out[...] = 2 * block[...]

    def kernel(a: Any) -> Any:
        return pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))(a)

    jax.jit(kernel).trace(on(jnp.ones((32, 1024)), "data")).lower(lowering_platforms=("tpu",))


@says("kernel-needs-shard-map")
def kernel_over_explicit_axes() -> Any:
    from jax.experimental import pallas as pl

    def twice(block: Any, out: Any) -> None:
        out[...] = 2 * block[...]

    def kernel(a: Any) -> Any:
        return pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))(a)

    jax.jit(kernel).lower(on(jnp.ones((32, 1024)), "data", mesh=typed))


@says("kernel-needs-interpret")
def kernel_on_the_cpu() -> Any:
    from jax.experimental import pallas as pl

    def twice(block: Any, out: Any) -> None:
        out[...] = 2 * block[...]

    jax.jit(lambda a: pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct(a.shape, a.dtype))(a))(x)


@says("kernel-varies")
def kernel_without_a_varying_type() -> Any:
    from jax.experimental import pallas as pl

    def twice(block: Any, out: Any) -> None:
        out[...] = 2 * block[...]

    kernel = pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct((2, 4), jnp.float32), interpret=True)
    jax.jit(mapped(kernel))(x)


@says("manual-to-auto")
def manual_to_auto() -> Any:
    both = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AUTO, AUTO))
    jax.jit(mapped(lambda a: jax.sharding.auto_axes(jnp.sin, axes="data", out_sharding=P())(a), mesh=both))(x)


@says("cotangent-varies")
def derivative_of_what_varies_by_a_constant() -> Any:
    mapped(lambda a: jax.vjp(jnp.sum, a)[1](jnp.float32(1.0))[0])(x)
