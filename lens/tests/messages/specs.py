"""Meshes, specs and shardings: what JAX says while they are made, and where arrays are put on them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.experimental import mesh_utils
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from messages.setting import AUTO, EXPLICIT, auto, line, on, says, square, typed, typed_line, x


@says("axis-types-of-another-kind")
def axis_types_as_text() -> Any:
    jax.make_mesh((4, 2), ("data", "model"), axis_types=("auto", "auto"))


@says("axis-types-count")
def one_axis_type_of_two() -> Any:
    jax.make_mesh((4, 2), ("data", "model"), axis_types=(AUTO,))


@says("mesh-names-count")
def mesh_of_one_dimension_with_two_names() -> Any:
    Mesh(np.array(jax.devices()), ("data", "model"), axis_types=(AUTO, AUTO))


@says("mesh-name-none")
def mesh_axis_without_a_name() -> Any:
    Mesh(np.array(jax.devices()), (None,), axis_types=(AUTO,))


@says("mesh-names-count")
def make_mesh_with_fewer_names() -> Any:
    jax.make_mesh((4, 2), ("data",), axis_types=(AUTO,))


@says("too-large-a-mesh")
def mesh_of_sixteen() -> Any:
    jax.make_mesh((16,), ("data",), axis_types=(AUTO,))


@says("mesh-shape-of-another-kind")
def mesh_shape_of_words() -> Any:
    jax.make_mesh(("four", 2), ("data", "model"), axis_types=(AUTO, AUTO))


@says("device-mesh-size")
def device_mesh_of_six() -> Any:
    mesh_utils.create_device_mesh((3, 2))


@says("granules")
def hybrid_mesh_of_one_slice() -> Any:
    mesh_utils.create_hybrid_device_mesh((2, 2), (2, 1), process_is_granule=True)


@says("granules")
def hybrid_mesh_without_slices() -> Any:
    mesh_utils.create_hybrid_device_mesh((2, 2), (2, 1))


@says("not-a-mesh")
def set_mesh_of_a_tuple() -> Any:
    jax.set_mesh((4, 2))


@says("not-a-mesh")
def set_abstract_mesh() -> Any:
    jax.set_mesh(auto.abstract_mesh)


@says("set-mesh-inside")
def set_mesh_under_jit() -> Any:
    def f(a: Any) -> Any:
        with jax.set_mesh(auto):
            return a + 1

    jax.jit(f)(x)


@says("get-mesh-inside")
def get_mesh_under_jit() -> Any:
    jax.jit(lambda a: a * jax.sharding.get_mesh().size)(x)


@says("abstract-mesh-has-no-devices")
def devices_of_an_abstract_mesh() -> Any:
    return auto.abstract_mesh.devices


@says("abstract-mesh-has-no-devices")
def device_set_of_an_abstract_sharding() -> Any:
    return NamedSharding(auto.abstract_mesh, P("data")).device_set


@says("abstract-mesh-size")
def abstract_mesh_of_another_size() -> Any:
    with jax.sharding.use_abstract_mesh(auto.abstract_mesh):
        with jax.sharding.use_abstract_mesh(AbstractMesh((3,), ("data",), axis_types=(AUTO,))):
            pass


@says("axis-of-no-mesh")
def spec_of_another_mesh() -> Any:
    NamedSharding(auto, P("batch"))


@says("axis-twice")
def one_axis_on_two_dimensions() -> Any:
    NamedSharding(auto, P("data", "data"))


@says("specs-too-long")
def spec_of_three_for_a_matrix() -> Any:
    on(x, "data", None, None)


@says("specs-too-long")
def spec_of_three_for_an_argument() -> Any:
    jax.jit(jnp.sin, in_shardings=NamedSharding(auto, P("data", None, None)))(x)


@says("uneven-blocks")
def six_rows_on_four() -> Any:
    on(x[:6], "data")


@says("uneven-blocks")
def six_rows_of_an_argument() -> Any:
    jax.jit(jnp.sin, in_shardings=NamedSharding(auto, P("data")))(x[:6])


@says("uneven-blocks")
def six_rows_of_an_output() -> Any:
    jax.jit(jnp.sin, out_shardings=NamedSharding(auto, P("data")))(x[:6])


@says("output-not-on-mesh")
def six_rows_of_a_constraint() -> Any:
    jax.jit(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(auto, P("data"))))(x[:6])


@says("uneven-blocks")
def zeros_of_six_rows() -> Any:
    jnp.zeros((6, 4), device=NamedSharding(auto, P("data")))


@says("uneven-blocks")
def struct_of_six_rows() -> Any:
    jax.eval_shape(jnp.sin, jax.ShapeDtypeStruct((6, 4), "float32", sharding=NamedSharding(typed, P("data"))))


@says("unconstrained-on-explicit")
def unconstrained_on_explicit_axes() -> Any:
    NamedSharding(typed, P(P.UNCONSTRAINED, "data"))


@says("unreduced-axis-unknown")
def unreduced_axis_of_no_mesh() -> Any:
    NamedSharding(typed, P(unreduced={"batch"}))


@says("unreduced-axis-unknown")
def reduced_axis_of_no_mesh() -> Any:
    NamedSharding(typed, P(reduced={"batch"}))


@says("unreduced-needs-explicit")
def unreduced_on_auto_axes() -> Any:
    NamedSharding(auto, P(unreduced={"data"}))


@says("unreduced-needs-explicit")
def reduced_on_auto_axes() -> Any:
    NamedSharding(auto, P(reduced={"data"}))


@says("unreduced-not-a-set")
def unreduced_as_text() -> Any:
    P(None, unreduced="data")


@says("unreduced-not-a-set")
def reduced_as_text() -> Any:
    P(None, reduced="data")


@says("unreduced-not-a-set")
def unreduced_none() -> Any:
    P(None, unreduced={None})


@says("unreduced-not-a-set")
def reduced_none() -> Any:
    P(None, reduced={None})


@says("unreduced-overlaps")
def unreduced_axis_that_cuts() -> Any:
    P("data", unreduced={"data"})


@says("unreduced-overlaps")
def reduced_axis_that_cuts() -> Any:
    P("data", reduced={"data"})


@says("unreduced-overlaps")
def unreduced_and_reduced() -> Any:
    P(None, unreduced={"data"}, reduced={"data"})


@says("spec-taken-apart")
def index_of_an_unreduced_spec() -> Any:
    return P("model", unreduced={"data"})[0]


@says("spec-taken-apart")
def star_of_an_unreduced_spec() -> Any:
    return [*P("model", unreduced={"data"})]


@says("spec-taken-apart")
def unreduced_spec_and_a_tuple() -> Any:
    return P("model", unreduced={"data"}) + ("data",)


@says("put-on-no-sharding")
def put_on_a_mesh() -> Any:
    jax.device_put(x, auto)


@says("put-on-no-sharding")
def put_on_text() -> Any:
    jax.device_put(x, "data")


@says("no-mesh-around")
def put_on_a_spec_without_a_mesh() -> Any:
    jax.device_put(x, P("data"))


@says("no-mesh-around")
def constraint_by_a_spec_without_a_mesh() -> Any:
    jax.jit(lambda a: jax.lax.with_sharding_constraint(a, P("data")))(x)


@says("no-mesh-around")
def out_shardings_by_a_spec_without_a_mesh() -> Any:
    jax.jit(jnp.sin, out_shardings=P("data"))(x)


@says("no-mesh-around")
def in_shardings_by_a_spec_without_a_mesh() -> Any:
    jax.jit(jnp.sin, in_shardings=P("data"))(x)


@says("no-mesh-around")
def zeros_by_a_spec_without_a_mesh() -> Any:
    jnp.zeros((8, 4), out_sharding=P("data"))


@says("no-mesh-around")
def reshard_by_a_spec_without_a_mesh() -> Any:
    jax.reshard(x, P("data"))


@says("no-mesh-around")
def struct_by_a_spec_without_a_mesh() -> Any:
    return jax.ShapeDtypeStruct((8, 4), "float32", sharding=P("data")).sharding


@says("no-mesh-around")
def explicit_axes_without_a_mesh() -> Any:
    jax.sharding.explicit_axes(jnp.sin, in_sharding=P("data"))(x)


@says("sharding-of-another-kind")
def struct_by_text() -> Any:
    jax.ShapeDtypeStruct((8, 4), "float32", sharding="data")


@says("sharding-of-another-kind")
def out_sharding_as_text() -> Any:
    with jax.set_mesh(typed):
        jnp.zeros((8, 4), out_sharding="data")


@says("sharding-of-another-kind")
def constraint_as_text() -> Any:
    jax.lax.with_sharding_constraint(x, "data")


@says("sharding-of-another-kind")
def in_shardings_as_text() -> Any:
    jax.jit(jnp.sin, in_shardings="data")


@says("sharding-of-another-kind")
def reshard_to_nothing() -> Any:
    jax.reshard(x, None)


@says("device-and-sharding")
def zeros_by_device_and_out_sharding() -> Any:
    with jax.set_mesh(typed):
        jnp.zeros((8, 4), device=jax.devices()[0], out_sharding=P("data"))


@says("put-aliased-and-donated")
def put_aliased_and_donated() -> Any:
    jax.device_put(jnp.ones(4), jax.devices()[1], may_alias=True, donate=True)


@says("incompatible-devices")
def one_device_and_eight() -> Any:
    jax.device_put(x, jax.devices()[0]) + on(x, "data")


@says("incompatible-devices")
def other_order_of_devices() -> Any:
    other = Mesh(np.array(jax.devices()[::-1]), ("i",), axis_types=(AUTO,))
    jax.jit(jnp.add)(on(x, "i", mesh=line), on(x, "i", mesh=other))


@says("incompatible-devices")
def constraint_on_half_of_the_devices() -> Any:
    half = Mesh(np.array(jax.devices()[:4]), ("i",), axis_types=(AUTO,))
    jax.jit(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(half, P("i"))))(on(x, "data"))


@says("incompatible-devices")
def context_of_eight_and_one_device() -> Any:
    with jax.set_mesh(auto):
        jax.jit(jnp.sin)(jax.device_put(x, jax.devices()[0]))


@says("context-mesh")
def explicit_array_of_another_mesh() -> Any:
    with jax.set_mesh(typed):
        jnp.sin(on(x, "i", mesh=typed_line))


@says("context-mesh")
def zeros_on_another_mesh_than_the_context() -> Any:
    with jax.set_mesh(typed):
        jax.jit(lambda: jnp.zeros((8, 4), out_sharding=NamedSharding(typed_line, P("i"))))()


@says("context-mesh")
def shard_map_over_another_mesh_than_the_context() -> Any:
    with jax.set_mesh(typed):
        jax.shard_map(jnp.sin, mesh=typed_line, in_specs=P("i"), out_specs=P("i"))(x)


@says("constraint-on-explicit")
def constraint_by_an_auto_mesh_under_an_explicit_one() -> Any:
    with jax.set_mesh(typed):
        jax.jit(lambda a: jax.lax.with_sharding_constraint(a, NamedSharding(auto, P("data"))))(x)


@says("two-meshes")
def two_explicit_meshes_in_a_sum() -> Any:
    jnp.add(on(square, "data", mesh=typed), on(square, "i", mesh=typed_line))


@says("two-meshes")
def two_explicit_meshes_in_a_product() -> Any:
    jnp.matmul(on(square, "data", mesh=typed), on(square, "i", mesh=typed_line))


@says("memory-kind-unknown")
def memory_that_is_not_there() -> Any:
    on(x).sharding.with_memory_kind("vmem")


@says("shards-do-not-fit")
def arrays_of_another_shape() -> Any:
    parts = [jax.device_put(x, d) for d in jax.devices()]
    jax.make_array_from_single_device_arrays((8, 4), NamedSharding(line, P("i")), parts)


@says("shards-do-not-fit")
def fewer_arrays_than_devices() -> Any:
    parts = [jax.device_put(x[:1], d) for d in jax.devices()[:4]]
    jax.make_array_from_single_device_arrays((8, 4), NamedSharding(line, P("i")), parts)


@says("shards-do-not-fit")
def arrays_on_one_device() -> Any:
    parts = [jax.device_put(x[:1], jax.devices()[0]) for _ in range(8)]
    jax.make_array_from_single_device_arrays((8, 4), NamedSharding(line, P("i")), parts)


@says("shards-do-not-fit")
def arrays_that_are_sharded() -> Any:
    jax.make_array_from_single_device_arrays((8, 4), NamedSharding(line, P("i")), [on(x, "i", mesh=line)] * 8)


@says("shards-do-not-fit")
def arrays_in_a_dict() -> Any:
    jax.make_array_from_single_device_arrays((8, 4), NamedSharding(line, P("i")), {"a": x})


@says("shards-do-not-fit")
def callback_of_another_shape() -> Any:
    jax.make_array_from_callback((8, 4), NamedSharding(line, P("i")), lambda at: x)


@says("sharding-of-another-kind")
def callback_without_a_sharding() -> Any:
    jax.make_array_from_callback((8, 4), "data", lambda at: x[at])


@says("local-data-shape")
def local_data_of_another_shape() -> Any:
    jax.make_array_from_process_local_data(NamedSharding(line, P("i")), x, (16, 4))


@says("packed-across-devices")
def dlpack_of_a_sharded_array() -> Any:
    on(x, "data").__dlpack__()


@says("packed-across-devices")
def dlpack_device_of_a_sharded_array() -> Any:
    on(x, "data").__dlpack_device__()


@says("packed-across-devices")
def pointer_of_a_sharded_array() -> Any:
    on(x, "data").unsafe_buffer_pointer()


@says("gone-attribute")
def device_buffers() -> Any:
    return on(x, "data").device_buffers


@says("gone-attribute")
def device_buffer() -> Any:
    return jnp.ones(3).device_buffer


@says("drawn-in-two-dimensions")
def drawing_of_a_cube() -> Any:
    jax.debug.visualize_array_sharding(jnp.ones((2, 2, 2)))


@says("reshard-on-auto")
def explicit_after_auto() -> Any:
    both = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AUTO, EXPLICIT))
    jax.jit(lambda a: jax.reshard(a, NamedSharding(both, P(("data", "model")))))(x)


@says("output-not-on-mesh")
def array_of_a_mesh_with_other_sizes() -> Any:
    with jax.set_mesh(jax.make_mesh((2, 4), ("data", "model"), axis_types=(AUTO, AUTO))):
        jax.jit(lambda a: a + 1)(on(square, "data", "model"))
