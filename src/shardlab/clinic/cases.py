"""The cases of the clinic that are mistakes and surprises; what is old is in `old`."""

from __future__ import annotations

from shardlab.clinic.case import Case

CASES = (
    Case(
        name="full-rematerialization",
        title="The partitioner brings an array together whole",
        patterns=(r"[Ii]nvoluntary full rematerialization[^=]*",),
        cause="Two shardings meet, and XLA knows no way from one to the other but to replicate the array on every device.",
        mend="Change one of the two specs, or go by a sharding between them; sl.why(f, *args) names the lines where"
        " they were asked for.",
        exercise="3.3",
        page="practices.md#full-rematerialization",
        thread="jax-ml/jax/issues/18591",
        asked=(
            "involuntary full rematerialization",
            "which line is resharded",
        ),
        program="""\
over = jax.make_mesh((2, 4), ("x", "y"), axis_types=(AxisType.Auto,) * 2)

def place(array, *spec):
    return jax.lax.with_sharding_constraint(array, NamedSharding(over, P(*spec)))

@jax.jit
def turn(array):
    return place(jnp.sin(place(array, "y", None, "x")), None, ("x", "y"), None)

turn(np.ones((16, 16, 16), np.float32))
""",
    ),
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
        name="varying-carry",
        title="A loop's carry begins the same on all devices, and does not stay so",
        patterns=(
            r"body function carry input and carry output must have equal types.*so the manual axis types do not match",
            r"branches must have equal output types.*so the manual axis types do not match",
        ),
        cause="In shard_map the first carry is made of constants, equal on all devices; the body's result varies over a"
        " mesh axis.",
        mend='Give the first carry the same type: jax.lax.pcast(start, ("data",), to="varying"), or make it from the'
        " block: x[0] * 0.",
        exercise="8.1",
        page="practices.md#the-carry-of-a-loop-varies",
        thread="jax-ml/jax/issues/31080",
        asked=(
            "scan in shard_map",
            "varying manual axes do not match",
        ),
        program="""\
def total(block):
    return jax.lax.scan(lambda sum, row: (sum + row, None), jnp.zeros(4), block)[0][None]

jax.shard_map(total, mesh=mesh, in_specs=P("data"), out_specs=P("data"))(x)
""",
    ),
    Case(
        name="forgotten-sum",
        title="An output is said to be the same on all devices, and nothing makes it so",
        patterns=(r"out_specs which require replication which can't be statically inferred",),
        cause="out_specs leaves out a mesh axis over which the value varies: each device has its own part, and only one"
        " would be kept.",
        mend="Add the parts up (jax.lax.psum or pmean over that axis), or name the axis in out_specs. Leave check_vma on.",
        exercise="7.3",
        page="practices.md#the-sum-was-forgotten",
        thread="AI-Hypercomputer/accelerator-microbenchmarks/pull/25",
        asked=(
            "can't be statically inferred",
            "is check_vma=False safe",
        ),
        program="""\
jax.shard_map(jnp.sum, mesh=mesh, in_specs=P("data"), out_specs=P())(x)
""",
    ),
    Case(
        name="wrong-factor",
        title="Every element is wrong by one and the same factor, a number of devices",
        patterns=(
            r"Mismatched elements: [\d,]+ / [\d,]+ \(100%\).*Max relative difference[^:]*:"
            r" (1|3|7|15|31|63|127|255|0\.5|0\.75|0\.875|0\.9375)\.?(0000\d*)?(?!\d)",
        ),
        cause="A sum over devices stands where a mean belongs, or a gradient is summed a second time.",
        mend="Divide the loss before it is differentiated: jax.lax.pmean(loss, axis). In jax.shard_map do not psum the"
        " gradient of a replicated weight: it is summed already.",
        exercise="10.2",
        page="practices.md#the-gradient-is-eight-times-too-large",
        thread="jax-ml/jax/issues/3970",
        asked=(
            "gradient too large",
            "gradients wrong by a factor",
            "psum in the loss",
        ),
        program="""\
def loss(w, rows):
    return jax.lax.psum(jnp.mean((rows @ w) ** 2), "data")

mapped = jax.shard_map(loss, mesh=mesh, in_specs=(P(), P("data")), out_specs=P())
w = np.ones(4, np.float32)
right = jax.grad(lambda w: jnp.mean((x @ w) ** 2))(w)
np.testing.assert_allclose(jax.grad(mapped)(w, x), right, rtol=1e-5)
""",
    ),
    Case(
        name="unused-donation",
        title="An argument is donated, and its memory is not used again",
        patterns=(r"Some donated buffers were not usable: [^.]*", r"donated arguments? (is|are) not reused"),
        cause="An output takes the place of an argument only with the same shape, dtype and sharding, and there is no"
        " such output.",
        mend="Return the new value in the shape, dtype and sharding of the old (out_shardings), or do not donate."
        " JAX does not always say it; sl.inspect does.",
        exercise="11.6",
        page="practices.md#a-donation-that-does-nothing",
        thread="jax-ml/jax/issues/9675",
        asked=(
            "donation does nothing",
            "donate_argnums has no effect",
        ),
        program="""\
step = jax.jit(lambda w: 2 * w, donate_argnums=0, out_shardings=NamedSharding(mesh, P("model")))
step(jax.device_put(x, NamedSharding(mesh, P("data"))))
""",
    ),
    Case(
        name="deleted-array",
        title="An array is used after it was donated",
        patterns=(r"Array has been deleted with shape=\S+?\]", r"Buffer has been deleted or donated"),
        cause="donate_argnums gave its memory to an output of an earlier call.",
        mend="Go on with what the call returned (w = step(w)), or do not donate what is needed again.",
        exercise="11.6",
        page="practices.md#a-donation-that-does-nothing",
        thread="jax-ml/jax/issues/9237",
        asked=(
            "array has been deleted",
            "buffer was donated",
        ),
        program="""\
step = jax.jit(lambda w: w - 1, donate_argnums=0)
w = jax.device_put(x, NamedSharding(mesh, P("data")))
step(w)
print(w + 1)
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
        page="practices.md#nothing-to-gather-and-a-dimension-more",
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
        name="unbound-axis",
        title="A collective is called where its axis has no name",
        patterns=(r"[Uu]nbound axis name:? \w+",),
        cause="psum and its relatives name an axis of a shard_map around them, and there is none of this name.",
        mend="Call it inside jax.shard_map over a mesh with that axis. Under jit alone write the sum over the whole"
        " array: XLA communicates.",
        exercise="7.1",
        page="practices.md#a-collective-without-its-shard_map",
        thread="google/jaxopt/issues/436",
        asked=("unbound axis name",),
        program="""\
jax.jit(lambda x: jax.lax.psum(x, "data"))(x)
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
        page="practices.md#an-input-lies-elsewhere-than-in_specs-says",
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
    Case(
        name="hang",
        title="Some devices wait in a collective that the others never enter",
        patterns=(
            r"Expected \d+ threads to join the rendezvous, but (only \d+|not all) of them arrived",
            r"waiting for `[^`]*` for \d+ seconds and may be stuck",
        ),
        cause="All devices of an axis take part in its collectives. Here a branch that differs between devices, or"
        " processes, has one.",
        mend="Take the collective out of lax.cond and of `if jax.process_index()`: all call it, and jnp.where chooses"
        " afterwards.",
        exercise="14.2",
        page="practices.md#it-hangs",
        thread="jax-ml/jax/issues/38503",
        asked=(
            "it hangs",
            "deadlock in a collective",
            "stuck at a barrier",
        ),
        program="""\
def half(block):
    first = jax.lax.axis_index("data") < 2
    return jax.lax.cond(first, lambda b: jax.lax.psum(b, "data"), lambda b: b, block)

f = jax.shard_map(half, mesh=mesh, in_specs=P("data"), out_specs=P("data"), check_vma=False)
jax.jit(f)(x).block_until_ready()
""",
    ),
    Case(
        name="out-of-memory",
        title="An array does not fit on a device",
        patterns=(r"RESOURCE_EXHAUSTED: [^.]*", r"Ran out of memory in memory space \w+"),
        cause="What one device is to hold is larger than its memory; often a whole array that was meant to be sharded"
        " from the start.",
        mend="Make it sharded (jax.jit(init, out_shardings=...)), donate what is replaced, and ask the compiled program"
        " what it takes:"
        " sl.inspect(f, *args).memory.",
        exercise="11.1",
        page="practices.md#how-much-memory-does-it-take",
        thread="jax-ml/jax/issues/14075",
        asked=(
            "OOM",
            "out of memory",
            "more memory than calculated",
        ),
        program="""\
jnp.ones((2**23, 2**20)).block_until_ready()
""",
    ),
    Case(
        name="unasked-collective",
        title="The compiled program has a collective that nobody wrote",
        patterns=(
            r"(all-gather|all-reduce|all-to-all|reduce-scatter|collective-permute)(-start)?\([^)]*\),"
            r" (channel_id|replica_groups|source_target_pairs)=",
        ),
        cause="The operands' shardings do not fit the operation, or each other; the partitioner moves what is missing.",
        mend="sl.why(f, *args) names the line of your program that each collective serves, the two shardings that met"
        " there, and a constraint that makes it cheaper.",
        exercise="3.4",
        page="practices.md#an-all-gather-where-i-did-not-ask-for-one",
        thread="jax-ml/jax/issues/20381",
        asked=("all-gather where I did not ask for one", "which line communicates"),
        program="""\
def likeness(a, b):
    return jnp.tanh(a) @ b.T

rows = jax.device_put(x, NamedSharding(mesh, P("data")))
print(jax.jit(likeness).lower(rows, rows).compile().as_text())
""",
    ),
    Case(
        name="opaque-kernel",
        title="A kernel is called on arrays that are sharded",
        patterns=(r"kernels cannot be automatically partitioned", r"Custom emitter for CustomSPMDPartitioning not found"),
        cause="XLA sees a call, and not what is computed in it, so it cannot say which part each device needs.",
        mend="Call it in jax.shard_map, on blocks, with the collectives that it needs around it. Other opaque calls,"
        " LAPACK's among them, are not refused: their operands may be gathered.",
        exercise="13.6",
        page="practices.md#a-kernel-gets-whole-arrays",
        thread="marin-community/haliax/issues/72",
        asked=("pallas kernel is not sharded", "kernel gathers its inputs", "custom call gathers"),
        program="""\
from jax.experimental import pallas as pl

def twice(block, out):
    out[...] = 2 * block[...]

@jax.jit
def kernel(x):
    return pl.pallas_call(twice, out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype))(x)

rows = jax.device_put(np.ones((32, 1024), np.float32), NamedSharding(mesh, P("data")))
kernel.trace(rows).lower(lowering_platforms=("tpu",))
""",
    ),
    Case(
        name="nan-on-one-device",
        title="A value is not a number on some devices, and after a sum on all",
        patterns=(r"\(nan\) encountered in sharded computation",),
        cause="A block is divided by what it counted in itself, and one block has nothing to count; or a softmax or a"
        " maximum sees a block that is masked as a whole.",
        mend="Sum first and divide afterwards: psum the sum and the count, then one division. For a maximum, subtract the"
        " pmax of all blocks.",
        exercise="7.5",
        page="practices.md#nan-on-one-device",
        thread="allenai/OLMo-core/pull/452",
        asked=("nan on one device", "nan after psum", "loss is nan only when sharded"),
        program="""\
jax.config.update("jax_debug_nans", True)

def mean(rows, valid):
    own = (rows * valid[:, None]).sum(0) / valid.sum()
    return jax.lax.pmean(own, "data")

jax.shard_map(mean, mesh=mesh, in_specs=P("data"), out_specs=P())(x, np.arange(8) < 5)
""",
    ),
)
