"""Cases of the clinic: devices, meshes, specs, and where arrays lie."""

from __future__ import annotations

from shardlab_course.clinic.case import Case

CASES = (
    Case(
        name="silent-replication",
        exercise="1.2",
        page="practices.md#everything-is-on-every-device",
        thread="jax-ml/jax/issues/19893",
        asked=(
            "my weights are replicated",
            "sharded initialisation",
            "every device holds everything",
        ),
        program="""\
def init(key):
    return jax.random.normal(key, (1024, 512))

with jax.set_mesh(mesh):
    weights = jax.jit(init)(jax.random.key(0))
print(weights.sharding)
""",
    ),
    Case(
        name="uneven-blocks",
        exercise="1.4",
        page="practices.md#a-dimension-that-does-not-divide",
        thread="jax-ml/jax/issues/26946",
        asked=(
            "not divisible",
            "uneven sharding",
            "padding to the number of devices",
        ),
        program="""\
jax.device_put(x[:6], NamedSharding(mesh, P("data")))
""",
    ),
    Case(
        name="not-addressable",
        exercise="14.1",
        page="practices.md#process_allgather-adds-a-dimension",
        thread="jax-ml/jax/issues/22218",
        asked=(
            "cannot fetch or print an array of several hosts",
            "non-addressable devices",
        ),
        program="""\
import shardlab as sl

def read():
    import jax
    import numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P

    mesh = jax.make_mesh((4,), ("data",))
    rows = jax.make_array_from_callback((8,), NamedSharding(mesh, P("data")), lambda at: np.ones(8)[at])
    return np.asarray(rows).tolist()

print(sl.launch(read, processes=2, devices=2).processes[0].error["message"])
""",
    ),
    Case(
        name="context-mesh",
        exercise="6.2",
        page="practices.md#two-meshes-meet-under-set_mesh",
        thread="jax-ml/jax/issues/31793",
        asked=(
            "set_mesh changed and arrays did not",
            "device mismatch under set_mesh",
        ),
        program="""\
line = jax.make_mesh((8,), ("data",), axis_types=(AxisType.Explicit,))
with jax.set_mesh(typed):
    jnp.sin(jax.device_put(x, NamedSharding(line, P("data"))))
""",
    ),
    Case(
        name="incompatible-devices",
        exercise="1.3",
        page="practices.md#two-shardings-that-are-equivalent-but-not-equal",
        thread="Physical-Intelligence/openpi/issues/261",
        asked=("incompatible devices for jitted computation",),
        program="""\
jax.device_put(x, jax.devices()[0]) + jax.device_put(x, NamedSharding(mesh, P("data")))
""",
    ),
    Case(
        name="axis-of-no-mesh",
        exercise="1.4",
        page="practices.md#an-axis-that-the-mesh-does-not-have",
        thread="sgl-project/sglang-jax/issues/1370",
        asked=("resource axis is not found in mesh",),
        program="""\
jax.device_put(x, NamedSharding(mesh, P("batch")))
""",
    ),
    Case(
        name="ambiguous-product",
        exercise="6.2",
        page="practices.md#the-type-does-not-say-where-the-output-is",
        thread="jax-ml/jax/issues/31800",
        asked=(
            "contracting dimensions are sharded",
            "out_sharding is asked for",
        ),
        program="""\
a = jax.device_put(np.ones((8, 8)), NamedSharding(typed, P(None, "data")))
b = jax.device_put(np.ones((8, 8)), NamedSharding(typed, P("data", None)))
a @ b
""",
    ),
    Case(
        name="one-axis-twice",
        exercise="6.2",
        page="practices.md#the-type-does-not-say-where-the-output-is",
        thread="NVIDIA/TransformerEngine/pull/3272",
        asked=(
            "one mesh axis on two dimensions",
            "duplicate axis in a spec",
        ),
        program="""\
a = jax.device_put(np.ones((8, 8)), NamedSharding(typed, P("data", None)))
b = jax.device_put(np.ones((8, 8)), NamedSharding(typed, P(None, "data")))
a + b
""",
    ),
    Case(
        name="asserted-specs",
        exercise="6.2",
        page="practices.md#an-input-is-placed-differently-from-in_specs",
        thread="sgl-project/sglang-jax/pull/1286",
        asked=(
            "in_specs do not match",
            "worked before JAX 0.9",
        ),
        program="""\
rows = jax.device_put(x, NamedSharding(typed, P()))
jax.shard_map(jnp.sin, mesh=typed, in_specs=P("data"), out_specs=P("data"))(rows)
""",
    ),
    Case(
        name="no-mesh-around",
        exercise="6.6",
        page="practices.md#a-spec-without-a-mesh",
        thread="sgl-project/sglang-jax/issues/253",
        asked=(
            "requires a mesh in context",
            "mesh context is required",
        ),
        program="""\
jax.jit(lambda x: jax.lax.with_sharding_constraint(x, P("data")))(x)
""",
    ),
    Case(
        name="devices-too-late",
        exercise="0.1",
        page="practices.md#the-devices-are-asked-for-too-late",
        thread="jax-ml/jax/issues/6887",
        asked=(
            "only one device",
            "xla_force_host_platform_device_count has no effect",
        ),
        program="""\
jax.config.update("jax_num_cpu_devices", 4)
""",
    ),
)
