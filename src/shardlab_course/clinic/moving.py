"""Cases of the clinic: collectives, loops, gradients, memory, and kernels."""

from __future__ import annotations

from shardlab_course.clinic.case import Case

CASES = (
    Case(
        name="full-rematerialization",
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
        name="promised-copies",
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
        exercise="11.7",
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
        name="kernel-needs-shard-map",
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
