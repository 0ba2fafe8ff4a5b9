"""Cases of the clinic: devices, meshes, specs, and where arrays lie."""

from __future__ import annotations

from shardlab_course.clinic.case import Case

CASES = (
    Case(
        name="silent-replication",
        title="An array is whole on every device",
        patterns=(
            r"\A(NamedSharding\(mesh=.*, spec=P\(\), memory_kind=\w+\))\Z",
            r"\A┌─+┐[│ ]*(CPU|GPU|TPU) \d+(,\d+)+[│ ]*└─+┘\Z",
        ),
        cause="Nobody said where it is to lie: a mesh in the context asks for nothing, so what is made under jit is"
        " replicated.",
        mend="Say it where the array is made: jax.jit(init, out_shardings=...). No device then holds all of it, not"
        " even at the start.",
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
        name="uneven-sizes",
        title="A dimension does not divide by the mesh axis that it is sharded over",
        patterns=(
            r"array axis \d+ is partitioned \d+ times, but (does not evenly divide )?the dimension size (is )?\d+",
            r"argument arrays with axis sizes that are not evenly divisible by the corresponding mesh axis sizes",
        ),
        cause="Every device gets a block of one and the same shape.",
        mend="Pad the array to a multiple, take another axis, or leave that dimension whole.",
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
        title="An array lies on devices of other processes too",
        patterns=(r"spans non-addressable \(non process local\) devices", r"is not fully addressable"),
        cause="Each process reaches only its own devices, and np.asarray or print asks for all shards.",
        mend="Read x.addressable_shards, make the value replicated under jit, or bring all of it to all processes:"
        " multihost_utils.process_allgather(x, tiled=True).",
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
        title="An array is on another mesh than the one in the context",
        patterns=(r"context mesh AbstractMesh\(.*?\) should match the aval mesh",),
        cause="jax.set_mesh names one mesh, and the array was placed on another one with explicit axes.",
        mend="Make one mesh in one place, and place every array on it; a move from mesh to mesh is jax.device_put"
        " outside of jit.",
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
        title="Two arguments lie on other devices, or on the same in another order",
        patterns=(r"Received incompatible devices for jitted computation",),
        cause="One program runs on one list of devices. What you have placed JAX does not move.",
        mend="Make one mesh in one place, and jax.device_put both arguments on it. A value that was never placed fits"
        " everywhere.",
        exercise="1.3",
        page="practices.md#two-shardings-that-are-the-same-and-not-equal",
        thread="Physical-Intelligence/openpi/issues/261",
        asked=("incompatible devices for jitted computation",),
        program="""\
jax.device_put(x, jax.devices()[0]) + jax.device_put(x, NamedSharding(mesh, P("data")))
""",
    ),
    Case(
        name="unknown-axis",
        title="A spec names an axis that the mesh does not have",
        patterns=(
            r"Resource axis: \w+ of .*? is not found in mesh",
            r"(in|out)_specs argument must refer to an axis marked as manual",
        ),
        cause="A spec names axes of the mesh, not dimensions of the array.",
        mend="Write a name that mesh.axis_names has, at the place of the dimension.",
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
        title="On explicit axes a product or a gather may be sharded in more than one way",
        patterns=(
            r"Contracting dimensions are sharded and it is ambiguous how the output should be sharded",
            r"as out sharding could not be resolved unambiguously",
        ),
        cause="The types of the operands leave open where the output lies, and JAX does not choose.",
        mend='Say it: jnp.einsum(..., out_sharding=P("data", None)), or .at[...].get(out_sharding=...) for indexing.',
        exercise="6.2",
        page="practices.md#the-type-does-not-say-where-the-output-lies",
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
        title="One mesh axis would shard two dimensions",
        patterns=(
            r"produces an illegally sharded result",
            r"can map every mesh axis to at most one positional dimension",
        ),
        cause="Each axis of the mesh cuts one dimension; here the operands, or a spec, ask for two.",
        mend="jax.reshard one operand so that the axis is free, or cut the second dimension over another axis.",
        exercise="6.2",
        page="practices.md#the-type-does-not-say-where-the-output-lies",
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
        title="An input of shard_map lies elsewhere than in_specs says",
        patterns=(r"in_specs passed to shard_map: .*? does not match the specs of the input",),
        cause="On explicit axes in_specs is an assertion; nothing is moved.",
        mend="jax.reshard the argument first, or leave in_specs out.",
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
        name="no-context-mesh",
        title="A spec is given without a mesh",
        patterns=(
            r"requires a non-empty mesh in context if you are passing",
            r"Using PartitionSpec when you are not under a mesh context",
        ),
        cause="A PartitionSpec names axes, and there is no mesh that has them.",
        mend="Go under `with jax.set_mesh(mesh):`, or give NamedSharding(mesh, spec).",
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
        title="The number of devices is set after JAX has started",
        patterns=(r"jax_num_cpu_devices config should be updated before backends are initialized",),
        cause="JAX starts its devices when it is first used, and they stay as they are.",
        mend="Restart the kernel, and run sl.setup(8) before anything else uses JAX.",
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
