"""Cases of the clinic: collectives, loops, gradients, memory, and kernels."""

from __future__ import annotations

from shardlab_course.clinic.case import Case

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
        cause="No output can take the place of the argument; one of the same shape, dtype and sharding would.",
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
