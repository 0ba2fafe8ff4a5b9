"""`jax.jit` and what surrounds it: arguments' shardings, donation, memories, layouts, export, callbacks, devices."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.experimental import multihost_utils
from jax.experimental.layout import Format, Layout
from jax.sharding import NamedSharding, SingleDeviceSharding

from messages.setting import auto, line, mapped, on, says, typed, x

ROWS, COLUMNS = NamedSharding(auto, P("data")), NamedSharding(auto, P(None, "data"))


@says("argument-lies-elsewhere")
def argument_of_another_placement() -> Any:
    jax.jit(jnp.sin, in_shardings=ROWS)(on(x, None, "data"))


@says("argument-lies-elsewhere")
def compiled_for_another_placement() -> Any:
    jax.jit(jnp.sin).lower(on(x, "data")).compile()(on(x, None, "data"))


@says("compiled-for-other-types")
def compiled_for_another_shape() -> Any:
    jax.jit(jnp.sin).lower(x).compile()(x[:4])


@says("compiled-for-other-types")
def compiled_for_another_dtype() -> Any:
    jax.jit(jnp.sin).lower(x).compile()(x.astype(np.int32))


@says("keyword-with-in-shardings")
def keyword_argument_and_in_shardings() -> Any:
    jax.jit(lambda a: a, in_shardings=ROWS)(a=x)


@says("count-of-shardings")
def two_in_shardings_of_one() -> Any:
    jax.jit(jnp.sin, in_shardings=(ROWS, ROWS))(x)


@says("count-of-shardings")
def two_out_shardings_of_one() -> Any:
    jax.jit(jnp.sin, out_shardings=(ROWS, ROWS))(x)


@says("jit-device-and-shardings")
def device_and_in_shardings() -> Any:
    jax.jit(jnp.sin, backend="cpu", in_shardings=ROWS)(x)


@says("jit-device-and-shardings")
def device_and_out_shardings() -> Any:
    jax.jit(jnp.sin, backend="cpu", out_shardings=ROWS)(x)


@says("jit-device-and-shardings")
def device_and_backend() -> Any:
    jax.jit(jnp.sin, backend="cpu", device=jax.devices()[0])(x)


@says("unused-donation")
def donated_into_another_placement() -> Any:
    jax.jit(lambda w: 2 * w, donate_argnums=0, out_shardings=NamedSharding(auto, P("model")))(on(x, "data"))


@says("deleted-array")
def donated_and_used() -> Any:
    w = on(x, "data")
    jax.jit(lambda w: w - 1, donate_argnums=0)(w)
    return w + 1


@says("deleted-array")
def donated_and_read() -> Any:
    w = on(x, "data")
    jax.jit(lambda w: w - 1, donate_argnums=0)(w)
    return np.asarray(w)


@says("deleted-array")
def deleted_and_given() -> Any:
    w = on(x, "data")
    w.delete()
    return jax.jit(jnp.sin)(w)


@says("donated-twice")
def donated_as_two_arguments() -> Any:
    w = jax.device_put(x, jax.devices()[0])
    return jax.block_until_ready(jax.jit(lambda a, b: (a + 1, b + 2), donate_argnums=(0, 1))(w, w))


@says("donated-and-static")
def donated_and_static() -> Any:
    jax.jit(lambda a, n: a * n, static_argnums=0, donate_argnums=0)(3, 2)


@says("donated-and-static")
def donated_and_static_by_name() -> Any:
    jax.jit(lambda a, n: a * n, static_argnames="a", donate_argnames="a")(a=3, n=2)


@says("no-such-argument")
def donated_argument_that_is_not_there() -> Any:
    jax.jit(lambda a: a, donate_argnums=3)(x)


@says("no-such-argument")
def static_argument_that_is_not_there() -> Any:
    jax.jit(lambda a: a, static_argnames="b")(x)


@says("static-not-hashable")
def static_array() -> Any:
    jax.jit(lambda a, n: a * n, static_argnums=1)(x, x)


@says("memories-differ")
def two_memories_in_a_sum() -> Any:
    host = jax.device_put(jnp.asarray(x), NamedSharding(auto, P("data"), memory_kind="pinned_host"))
    return jax.jit(lambda a, b: a + b)(host, on(x, "data"))


@says("memories-differ")
def argument_in_another_memory() -> Any:
    host = jax.device_put(jnp.asarray(x), NamedSharding(auto, P("data"), memory_kind="pinned_host"))
    return jax.jit(jnp.sin, in_shardings=ROWS)(host)


@says("layouts-differ")
def argument_of_another_layout() -> Any:
    other = Format(Layout(major_to_minor=(1, 0)), ROWS)
    return jax.jit(jnp.sin, in_shardings=other)(on(x, "data"))


@says("layout-does-not-fit")
def layout_of_three_for_a_matrix() -> Any:
    return jax.jit(jnp.sin, out_shardings=Format(Layout(major_to_minor=(2, 1, 0)), ROWS))(x)


@says("layout-without-format")
def layout_alone() -> Any:
    jax.jit(jnp.sin, in_shardings=Layout(major_to_minor=(1, 0)))


@says("layout-of-another-kind")
def layout_as_text() -> Any:
    Format("row", ROWS)


@says("layout-of-another-kind")
def format_with_text() -> Any:
    Format(Layout.AUTO, "data")


@says("layout-of-another-kind")
def layout_without_a_sharding() -> Any:
    Format(Layout(major_to_minor=(1, 0)), None)


@says("layout-of-another-kind")
def put_with_an_automatic_layout() -> Any:
    jax.device_put(x, Format(Layout.AUTO, ROWS))


@says("layout-of-another-kind")
def callback_with_an_automatic_layout() -> Any:
    jax.make_array_from_callback((8, 4), Format(Layout.AUTO, ROWS), lambda at: x[at])


@says("layout-of-another-kind")
def struct_with_an_automatic_layout() -> Any:
    jax.ShapeDtypeStruct((8, 4), "float32", sharding=Format(Layout.AUTO, ROWS))


@says("exported-for-other-devices")
def exported_for_eight_called_on_one() -> Any:
    exported = jax.export.export(jax.jit(jnp.sin))(jax.ShapeDtypeStruct((8, 4), "float32", sharding=ROWS))
    return jax.jit(exported.call)(jax.device_put(x, jax.devices()[0]))


@says("exported-for-other-platform")
def exported_for_tpu() -> Any:
    exported = jax.export.export(jax.jit(jnp.sin), platforms=["tpu"])(x)
    return exported.call(x)


@says("exported-for-other-types")
def exported_for_another_shape() -> Any:
    exported = jax.export.export(jax.jit(jnp.sin))(x)
    return exported.call(x[:4])


@says("abstract-mesh-lowered")
def abstract_mesh_alone() -> Any:
    like = jax.ShapeDtypeStruct((8, 4), "float32", sharding=NamedSharding(typed.abstract_mesh, P("data")))
    return jax.jit(jnp.sin).lower(like)


@says("abstract-mesh-lowered")
def context_of_an_abstract_mesh() -> Any:
    with jax.sharding.use_abstract_mesh(typed.abstract_mesh):
        return jax.jit(jnp.sin)(x)


@says("ordered-on-many-devices")
def ordered_callback_on_eight_devices() -> Any:
    def f(a: Any) -> Any:
        jax.debug.print("{}", a.sum(), ordered=True)
        return a + 1

    return jax.jit(f)(on(x, "data"))


@says("callback-partly-manual")
def callback_over_an_automatic_axis() -> Any:
    like = jax.ShapeDtypeStruct((2, 4), np.float32)

    def body(a: Any) -> Any:
        return jax.pure_callback(np.sin, like, a)

    return jax.jit(mapped(body, axis_names={"data"}))(on(x, "data"))


@says("callback-sharding")
def callback_with_a_sharding() -> Any:
    like = jax.ShapeDtypeStruct((8, 4), np.float32)
    return jax.jit(lambda a: jax.pure_callback(np.sin, like, a, sharding=ROWS))(on(x, "data"))


@says("callback-raised")
def callback_that_raises() -> Any:
    def bad(a: Any) -> Any:
        raise ValueError("the file is gone")

    return jax.block_until_ready(jax.jit(lambda a: jax.pure_callback(bad, jax.ShapeDtypeStruct((), np.float32), a))(1.0))


@says("callback-vmapped")
def callback_under_vmap() -> Any:
    like = jax.ShapeDtypeStruct((), np.float32)
    return jax.vmap(lambda a: jax.pure_callback(np.sin, like, a))(x[0])


@says("callback-differentiated")
def callback_under_grad() -> Any:
    like = jax.ShapeDtypeStruct((), np.float32)
    return jax.grad(lambda a: jax.pure_callback(np.sin, like, a))(1.0)


@says("not-an-array")
def numpy_argument_of_a_part_of_the_devices() -> Any:
    return jax.jit(jnp.sin, in_shardings=ROWS)(np.asarray(["a", "b"]))


@says("not-an-array")
def text_as_an_argument() -> Any:
    return jax.jit(lambda a: a)("rows")


@says("not-an-array")
def object_as_an_argument() -> Any:
    return jax.jit(lambda a: a)(object())


@says("not-an-array")
def text_put() -> Any:
    return jax.device_put({"a": object()}, ROWS)


@says("no-such-platform")
def devices_of_a_tpu() -> Any:
    return jax.devices("tpu")


@says("no-such-platform")
def devices_of_nothing() -> Any:
    return jax.devices("vpu")


@says("devices-too-late")
def number_of_devices_after_the_start() -> Any:
    jax.config.update("jax_num_cpu_devices", 4)


@says("initialize-too-late")
def initialized_after_the_start() -> Any:
    jax.distributed.initialize("localhost:12345", num_processes=1, process_id=0)


@says("initialize-arguments")
def initialized_without_a_number() -> Any:
    from jax._src.distributed import State

    State().initialize("localhost:12345", num_processes=None, process_id=0, cluster_detection_method="deactivate")


@says("initialize-arguments")
def initialized_without_an_id() -> Any:
    from jax._src.distributed import State

    State().initialize("localhost:12345", num_processes=2, process_id=None, cluster_detection_method="deactivate")


@says("initialize-arguments")
def initialized_with_too_large_an_id() -> Any:
    from jax._src.distributed import State

    State().initialize("localhost:12345", num_processes=2, process_id=2, cluster_detection_method="deactivate")


@says("initialize-arguments")
def initialized_with_text() -> Any:
    from jax._src.distributed import State

    State().initialize("localhost:12345", num_processes="2", process_id=0, cluster_detection_method="deactivate")


@says("initialize-arguments")
def initialized_without_an_address() -> Any:
    from jax._src.distributed import State

    State().initialize(None, num_processes=2, process_id=0, cluster_detection_method="deactivate")


@says("unknown-process")
def devices_of_process_nine() -> Any:
    return jax.local_devices(process_index=9)


@says("specs-none")
def host_local_without_a_spec() -> Any:
    return multihost_utils.host_local_array_to_global_array(x, auto, None)


@says("specs-none")
def global_without_a_spec() -> Any:
    return multihost_utils.global_array_to_host_local_array(on(x), auto, None)


@says("out-of-memory")
def larger_than_the_memory() -> Any:
    return jax.block_until_ready(jnp.ones((2**23, 2**20)))


@says("default-device")
def default_device_as_a_number() -> Any:
    with jax.default_device(3):
        return jnp.ones(3) + 1


@says("incompatible-devices")
def sharding_of_one_device_for_a_mesh() -> Any:
    return jax.jit(jnp.add, out_shardings=SingleDeviceSharding(jax.devices()[1]))(on(x, "i", mesh=line), 1.0)


@says("checkpoint-names")
def offloaded_to_nowhere() -> Any:
    policy = jax.checkpoint_policies.save_and_offload_only_these_names(
        names_which_can_be_saved=["a"], names_which_can_be_offloaded=["a"], offload_src="device", offload_dst="pinned_host"
    )
    return policy


@says("custom-partitioning-rule")
def partitioned_by_callbacks_alone() -> Any:
    from jax.experimental.custom_partitioning import custom_partitioning

    f = custom_partitioning(lambda a: a)
    f.def_partition(infer_sharding_from_operands=lambda *_: ROWS, partition=lambda *_: None)
    return jax.jit(f)(on(x, "data"))
