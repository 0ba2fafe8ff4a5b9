"""Claims of chapter 11."""

from __future__ import annotations

import json
import re
import warnings
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.ad_checkpoint import checkpoint_name
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, THREE, V5E, claim
from shardlab import records
from shardlab_course.chapters import QUESTIONS, folder
from shardlab_judge.references import References

MESH = jax.make_mesh((8,), ("data",), (AxisType.Auto,))
ROWS, CUT = P("data", None), P(None, "data", None)
LAYERS, WIDTH, BATCH = 4, 512, 1024


def given(*shape, spec=None):
    """An array that is only described, cut by rows unless a spec says otherwise."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(MESH, ROWS if spec is None else spec))


def lie(array, spec):
    """A constraint."""
    return jax.lax.with_sharding_constraint(array, NamedSharding(MESH, spec))


def runs(program, kind):
    """How often collectives of a kind run."""
    return sum(c.executions for c in program.collectives if c.kind == kind)


def one_layer(w, x):
    """A layer whose weight is gathered."""
    return jnp.tanh(x @ jax.lax.all_gather(w, "data", tiled=True))


def on_each(body):
    """A function of slices, on every device."""
    return jax.shard_map(body, mesh=MESH, in_specs=ROWS, out_specs=ROWS)


@claim(
    "The transpose of an all-gather, without to='invarying', is a reduce-scatter: each slice gets contributions "
    "back from n devices",
    "Nobody wrote the reduce-scatter.",
    targets=THREE,
    alone=True,
)
def transposed(target):
    """The gradient by a slice."""
    f = on_each(jax.grad(lambda w, x: jnp.sum(one_layer(w, x) ** 2)))
    assert sl.inspect(f, given(WIDTH, WIDTH), given(BATCH, WIDTH), target=target).kinds == {"all-gather", "reduce-scatter"}


@claim("In the exercise's first case that moves about twice as much; shard_map with psum_scatter avoids this")
def tied():
    """What the reference of 11.2 moves in five steps, beside a reduce-scatter and an all-gather of both weights in each."""
    question = QUESTIONS["11.2"]
    kept = json.loads((folder(11) / "references.json").read_text())
    cost = References(kept["programs"], {}).cost("11.2", "train", question.items[0].cases[0])
    by_hand = 5 * 2 * 4 * (24 * 16 + 16 * 16)
    assert 2 < cost.price / by_hand < 2.2


def scanned(wrap, weights=CUT, slopes=CUT):
    """The gradient of layers that are scanned."""

    def layer(x, w):
        return jnp.tanh(x @ lie(w, P())), None

    def loss(weights, x):
        return jnp.mean(jax.lax.scan(wrap(layer), x, weights)[0] ** 2)

    def gradient(weights, x):
        return lie(jax.grad(loss)(weights, x), slopes)

    return gradient, given(LAYERS, WIDTH, WIDTH, spec=weights), given(BATCH, WIDTH)


@claim(
    "XLA for v5e and for GPU find it. XLA for CPU sums everything for everybody and cuts afterwards",
    "For arrays of this size XLA for v5e and for GPU find this, and XLA for CPU does not.",
    targets=THREE,
    alone=True,
)
def gradients_cut(target):
    """Whole weights, gradients cut."""
    f, *arrays = scanned(lambda f: f, weights=P())
    program = sl.inspect(f, *arrays, target=target)
    kind = "reduce-scatter" if target else "all-reduce"
    assert runs(program, kind) == LAYERS
    assert program.kinds == {kind}


@claim(
    "in the scanned step above the two gathers are in two loops, forward and backward, and the CPU listing shows both.",
    targets=THREE,
)
def gathered_in_loops(target):
    """Once a layer, or twice with a checkpoint."""
    for wrap, times in ((lambda f: f, 1), (jax.checkpoint, 2)):
        f, *arrays = scanned(wrap)
        assert runs(sl.inspect(f, *arrays, target=target), "all-gather") == times * LAYERS


@claim("keep what saves the most arithmetic for its bytes", "So keep products first.", targets=THREE)
def policies(target):
    """Products that are kept cost memory and save FLOPs; weights are gathered again with both policies."""
    products = partial(jax.checkpoint, policy=jax.checkpoint_policies.dots_saveable, prevent_cse=False)
    programs = []
    for wrap in (jax.checkpoint, products):
        f, *arrays = scanned(wrap)
        programs.append(sl.inspect(f, *arrays, target=target))
    inputs, kept = programs
    assert runs(inputs, "all-gather") == runs(kept, "all-gather") == 2 * LAYERS
    assert inputs.flops > 1.2 * kept.flops
    if target:
        assert inputs.memory.peak < kept.memory.peak


def deep(wrap):
    """The gradients of four layers, each of which gathers its weight."""

    def body(x, *slices):
        def loss(slices):
            out = x
            for w in slices:
                out = wrap(one_layer)(w, out)
            return jax.lax.pmean(jnp.mean(out**2), "data")

        return jax.grad(loss)(slices)

    return on_each(body), given(BATCH, WIDTH), *[given(WIDTH, WIDTH)] * 4


@claim(
    "XLA for CPU drops the barriers and merges what is equal (in JAX 0.12 it does not).",
    "XLA for TPU and for GPU respect the barriers.",
    targets=THREE,
)
def barriers(target):
    """Bytes that are gathered, without a checkpoint and with one. Gathers cannot be counted: XLA for GPU joins some."""
    programs = (sl.inspect(*deep(wrap), target=target) for wrap in (lambda f: f, jax.checkpoint))
    plain, again = (sum(c.payload_bytes for c in p.collectives if c.kind == "all-gather") for p in programs)
    merged = target is None and jax.__version__.startswith("0.10")
    assert plain > 0 and again == plain * (1 if merged else 2)


@claim("Without a barrier XLA merges equal gathers, for CPU, TPU and GPU.", targets=THREE)
def merged(target):
    """A gather written twice without a barrier."""

    def body(w, x):
        first, second = (jax.lax.all_gather(w, "data", tiled=True) for _ in range(2))
        return jnp.tanh(jnp.tanh(x @ first) @ second)

    assert runs(sl.inspect(on_each(body), given(WIDTH, WIDTH), given(BATCH, WIDTH), target=target), "all-gather") == 1


@claim(
    "XLA for v5e multiplies float32 matrices in bfloat16 and rounds them once, before the loop",
    targets=(V5E,),
)
def rounded(target):
    """A bfloat16 array with the shape of all weights."""
    f, *arrays = scanned(lambda f: f, weights=P())
    assert f"bf16[{LAYERS},{WIDTH},{WIDTH}]" in sl.inspect(f, *arrays, target=target).hlo


@claim(
    "In stages 1 and 2 one all-gather brings together what `lie` has cut, here the change of the weights, and each device "
    "subtracts the whole change from its copy.",
    targets=(CPU, V5E),
)
def gathered_change(target):
    """What is gathered is a quotient, the change."""

    def step(weights, m, v):
        return lie(weights - lie(m / (jnp.sqrt(v) + 1e-8), CUT), P())

    held = [given(LAYERS, WIDTH, WIDTH, spec=spec) for spec in (P(), CUT, CUT)]
    text = sl.inspect(step, *held, target=target).hlo
    (operand,) = set(re.findall(r" all-gather\(%?([\w.-]+)\)", text))
    (line,) = [line for line in text.splitlines() if re.match(rf"\s+%?{re.escape(operand)} = ", line)]
    assert f"f32[{LAYERS},{WIDTH // 8},{WIDTH}]" in line and '/div"' in line


def twice_as_many(a):
    """As many bytes in twice as many elements."""
    return jnp.concatenate([a, a]).astype("bfloat16")


def adam(weight, m, v, slope):
    """Three arrays and their successors, and a gradient."""
    m, v = 0.9 * m + 0.1 * slope, 0.999 * v + 0.001 * slope**2
    return weight - 0.01 * m / (jnp.sqrt(v) + 1e-4), m, v


@claim(
    "Donated arrays are matched to outputs by shape and dtype, or by size, not by meaning",
    "it leaves all donated arrays to XLA, which may use each of them for any output with the same number of bytes",
    "together with the weight and its state, it is left over here, without a warning.",
    "A donated array with no such output stays as it is.",
)
def donated():
    """What is deleted, and that nobody warns."""

    def deleted(*given_away):
        arrays = [jax.device_put(np.full((64, 8), i, "float32"), NamedSharding(MESH, ROWS)) for i in range(1, 5)]
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            jax.jit(adam, donate_argnums=given_away)(*arrays)
        return [array.is_deleted() for array in arrays]

    def taken(f):
        array = jax.device_put(np.full((64, 8), 2, "float32"), NamedSharding(MESH, ROWS))
        jax.jit(f, donate_argnums=0)(array)
        return array.is_deleted()

    assert taken(lambda a: (a * 2).reshape(8, 64)) and taken(lambda a: (a * 2).astype("int32"))
    assert taken(twice_as_many)
    assert not taken(lambda a: a[:8] * 2)
    assert deleted(3) == [False, False, False, True]
    assert deleted(0, 1, 2, 3) == deleted(0, 1, 2) == [True, True, True, False]


@claim(
    "On one device, or where `out_shardings` say how outputs are cut, JAX looks for an output of the same "
    "shape and dtype for each donated array. If there is none, but an output has the same number of elements, "
    "JAX leaves the donated array to XLA. Otherwise JAX warns. Here, on a mesh and without "
    "`out_shardings`, it leaves all donated arrays to XLA"
)
def who_looks():
    """What the exported program says of a donated argument that has its output, of one that has none, and who warns."""

    def exported(*arrays):
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", "Some donated buffers were not usable")
            return jax.jit(lambda a, b: (2 * a, b.reshape(8, 64)), donate_argnums=(0, 1)).lower(*arrays).as_text()

    alone = exported(np.ones((64, 8), "float32"), np.ones((16, 32), "float32"))
    assert alone.count("tf.aliasing_output = 0") == alone.count("jax.buffer_donor = true") == 1
    meshed = exported(given(64, 8), given(16, 32))
    assert meshed.count("jax.buffer_donor = true") == 2 and "tf.aliasing_output" not in meshed

    def donors(array, f=twice_as_many, **placed):
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            text = jax.jit(f, donate_argnums=0, **placed).lower(array).as_text()
        warned = any("donated buffers were not usable" in str(warning.message) for warning in said)
        return text.count("tf.aliasing_output"), text.count("jax.buffer_donor"), warned

    placed = {"out_shardings": NamedSharding(MESH, ROWS)}
    assert donors(np.ones((64, 8), "float32")) == donors(given(64, 8), **placed) == (0, 0, True)
    assert donors(given(64, 8)) == (0, 1, False)
    assert donors(given(64, 8), lambda a: 2 * a, **placed) == (1, 0, False)


@claim("A `jax.jit` inside another one donates nothing", targets=THREE)
def inside(target):
    """Bytes of outputs that lie in the arguments' place."""
    gives = jax.jit(lambda a: 0.5 * a, donate_argnums=0)
    alone = sl.inspect(gives, given(1024, 256), target=target).memory
    nested = sl.inspect(jax.jit(lambda a: gives(a)), given(1024, 256), target=target).memory
    assert alone.alias == 4 * 1024 * 256 // 8
    assert nested.alias == 0


@claim("the gather's own result has no name, so the policy keeps it", "it ignores the names and keeps everything",
       "A policy that refuses a name given to the gathered weight does not help")  # fmt: skip
def named_and_kept():
    """Backward: a gather for no policy of names; the name again where it was refused, and not where JAX's own policy did."""

    def all_but_full(operation, *_, **how):
        return not (operation.name == "name" and how["name"] == "full")

    def layer(w, x):
        full = jax.lax.all_gather(w, "data", tiled=True)
        return jnp.tanh(x @ checkpoint_name(full, "full"))

    def backward(policy):
        body = jax.grad(lambda w, x: jax.checkpoint(layer, policy=policy)(w, x).sum(), argnums=(0, 1))
        mapped = jax.shard_map(body, mesh=MESH, in_specs=ROWS, out_specs=ROWS)
        text = str(jax.make_jaxpr(mapped)(given(16, 24), given(32, 16)))
        again = text[text.index("differentiated=True") :]
        return text.count("all_gather["), again.count("name[name=full")

    assert backward(all_but_full) == (1, 1)
    assert backward(jax.checkpoint_policies.save_anything_except_these_names("full")) == (1, 0)
    assert backward(jax.checkpoint_policies.nothing_saveable)[0] == 2


def wide_step(slopes, samples=8192):
    """The chapter's step that does not fit, with its gradients where `slopes` says, and its arguments."""
    stack, cut = (10, 16384, 16384), NamedSharding(MESH, CUT)

    def layer(x, w):
        return jnp.tanh(x @ lie(w, P())), None

    def step(W, m, v, X, Y):
        g = lie(jax.grad(lambda W: jnp.mean((jax.lax.scan(layer, X, W)[0] - Y) ** 2))(W), slopes)
        m, v = lie(0.9 * m + 0.1 * g, CUT), lie(0.999 * v + 0.001 * g**2, CUT)
        return lie(W - lie(0.01 * m / (jnp.sqrt(v) + 1e-8), CUT), CUT), m, v

    return step, *[jax.ShapeDtypeStruct(stack, "float32", sharding=cut)] * 3, *[given(samples, stack[1])] * 2


@claim(
    "they take an eighth. The all-reduce becomes a reduce-scatter, so this change also sends less.",
    targets=(V5E,),
    alone=True,
)
def gradients_make_it_fit(target):
    """Cut gradients fit, as in the record, and move less than the record of the program that does not fit."""
    program, whole = sl.inspect(*wide_step(CUT), target=target), large("first")
    assert not program.refused and program.kinds == {"all-gather", "reduce-scatter"}
    assert whole.kinds == {"all-gather", "all-reduce"} and program.price < whole.price
    assert program.memory.main == large("c").memory.main


@claim("XLA's `G` is $2^{30}$ bytes", targets=(V5E,), alone=True)
def gibibytes(target):
    """More than 15.75e9 bytes fit, and 15.75 times 2**30 do not."""
    for count, fits in ((16_500_000_000, True), (17_000_000_000, False)):
        rows = count // (2 * 4 * 1024)  # of a device, once as its argument and once as its output
        program = sl.inspect(lambda x: x + 1, given(8 * rows, 1024), target=target)
        assert program.memory.main == pytest.approx(count, rel=1e-3) and bool(program.refused) is not fits
        assert fits or "exceeds available HBM (15.75G)" in program.refused


def large(name):
    """A record of the step that does not fit, or of one of the four changes."""
    return records.read(records.FOLDER / f"11-large-{name}.json", V5E)


@claim("Which one makes the program fit", "The other three remedies are good ones, but not for this program.")
def one_change_fits():
    """The third, as XLA for v5e said when the records were made."""
    assert [name for name in ("first", *"abcd") if not large(name).refused] == [QUESTIONS["11.7"].items[0].key] == ["c"]
    assert "available HBM (15.75G)" in large("first").refused


@claim("A change can move the peak to another moment, so it may save less than the arrays that it removes.")
def peak_moves():
    """Without the new outputs the program needs less, but not less by all of them."""
    first, given_away = large("first").memory, large("a").memory
    assert 0 < first.main - given_away.main < first.output - (given_away.output - given_away.alias)


@claim(
    "the gradients, which `whole` asks for on every device",
    "A checkpoint drops the gathered weights, which are in bfloat16 and half as large as the gradients.",
    "Half of the batch halves the activations, which are small here.",
)
def largest_arrays():
    """By their sizes in the table of the record: ten whole weights in float32, and ten in bfloat16; activations are less."""
    full = large("first")
    said = str(full.occupied())
    sizes = sorted((int(each.replace(",", "")) for each in re.findall(r"(?m)^\S+ +([\d,]+)  ", said)), reverse=True)
    assert sizes[:2] == [4 * 10 * 16384**2, 2 * 10 * 16384**2] and sizes[2] == full.memory.argument
    assert sizes.count(4 * 10 * 1024 * 16384) == 2, "activations, on a device 1024 rows of each layer"
