"""Claims of chapter 9."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim, tpu

LINE = jax.make_mesh((8,), ("model",), (AxisType.Auto,))
T, D, F = 256, 1024, 4096
COLUMNS, ROWS, WHOLE = P(None, "model"), P("model", None), P()


def given(shape, spec, dtype="float32"):
    """An array that is only described."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(LINE, spec))


def mlp(x, first, second):
    """The block."""
    return jax.nn.relu(x @ first) @ second


def pair(first, second, target, tokens=T, model=D, hidden=F):
    """The block, compiled with its weights cut like this."""
    arrays = given((tokens, model), WHOLE), given((model, hidden), first), given((hidden, model), second)
    return sl.inspect(mlp, *arrays, target=target)


@claim(
    "For these arrays XLA for TPU v5e and for GPU use the same kinds of collectives as XLA for CPU, in all six rows.",
    targets=THREE,
)
def six_pairs(target):
    """The table, on all three, for the page's sizes and for larger arrays of the same proportions."""
    found = {
        (COLUMNS, ROWS): {"all-reduce"},
        (COLUMNS, COLUMNS): {"all-gather"},
        (ROWS, ROWS): {"all-to-all", "all-reduce"},
        (ROWS, COLUMNS): {"all-reduce"},
        (COLUMNS, WHOLE): {"all-reduce"},
        (WHOLE, WHOLE): set(),
    }
    for (first, second), kinds in found.items():
        assert pair(first, second, target).kinds == pair(first, second, target, 16, 32, 128).kinds == kinds


@claim(
    "With many more tokens all three compilers gather $W_1$ in *rows, columns*, and where $D$ is as large as $F$, they "
    "gather the hidden layer in *columns, whole*.",
    "While D is smaller than F, leaving W2 whole moves the same bytes on one axis",
    targets=THREE,
)
def other_sizes(target):
    """The first weight is gathered for many tokens; the hidden layer where it is no wider than the model."""
    size = 2 if tpu(target) else 4
    many, narrow = pair(ROWS, COLUMNS, target, 1024, 32, 128), pair(COLUMNS, WHOLE, target, 256, 64, 64)
    assert many.kinds == narrow.kinds == {"all-gather"}
    assert (many.price, narrow.price) == (size * 32 * 128, size * 256 * 64)
    assert pair(COLUMNS, WHOLE, target, 64, 32, 40).price == pair(COLUMNS, ROWS, target, 64, 32, 40).price


@claim(
    "*Columns, whole* moves the same bytes as the best pair.",
    "leaving W2 whole moves the same bytes on one axis, because a device may take its rows from a copy",
    targets=THREE,
)
def second_whole(target):
    """As many bytes moved, and more held."""
    best, whole = pair(COLUMNS, ROWS, target), pair(COLUMNS, WHOLE, target)
    assert best.price == whole.price == 2 * 4 * T * D
    assert whole.memory.argument > best.memory.argument + 4 * D * F // 2


@claim(
    "With both weights by columns the hidden layer must be gathered, and it is F / D times as wide: 4 times the payload on "
    "CPU. XLA for TPU rounds the hidden layer to bfloat16 before it sends it, as its products do by default, so it gathers "
    "half as many bytes.",
    targets=THREE,
)
def rounded(target):
    """The payload of the gather beside that of the best pair."""
    factor = pair(COLUMNS, COLUMNS, target).payload_bytes / pair(COLUMNS, ROWS, target).payload_bytes
    assert factor == (2 if tpu(target) else 4)


@claim("With positive inputs relu does nothing. Everything else is linear, so the sum may stand anywhere.")
def sums_of_ones():
    """The wrong place for a sum is right on ones, and wrong on random numbers."""

    def attempt(x, first, second):
        def body(x, first, second):
            return jax.lax.psum(jax.nn.relu(x @ first) @ second, "model")

        return jax.shard_map(body, mesh=LINE, in_specs=(COLUMNS, ROWS, WHOLE), out_specs=WHOLE)(x, first, second)

    rng = np.random.default_rng(9)
    drawn = [rng.normal(size=shape).astype("float32") for shape in ((16, 32), (32, 64), (64, 32))]
    positive = [abs(a) for a in drawn]
    assert np.allclose(attempt(*positive), mlp(*positive), rtol=1e-4)
    assert not np.allclose(attempt(*drawn), mlp(*drawn), atol=0.5)


@claim("Explicit mode knows the difference, and it rejects relu of a term")
def terms_refused():
    """A nonlinearity of an unreduced array."""
    typed = jax.make_mesh((8,), ("model",), (AxisType.Explicit,))
    with jax.set_mesh(typed):
        x = jax.device_put(jnp.ones((16, 32)), NamedSharding(typed, COLUMNS))
        weight = jax.device_put(jnp.ones((32, 64)), NamedSharding(typed, ROWS))
        terms = jnp.dot(x, weight, out_sharding=P(None, None, unreduced={"model"}))
        with pytest.raises(Exception, match="unreduced"):
            jax.nn.relu(terms)


def sequence(x, first, second):
    """Tokens cut outside, and the rest left to XLA."""
    return jax.lax.with_sharding_constraint(x + mlp(x, first, second), NamedSharding(LINE, ROWS))


@claim(
    "It does not make a reduce-scatter unasked.",
    "There is no gather and no reduction by name. For the first product XLA passes tokens round a ring",
    "XLA for GPU makes the program of the textbooks: one all-gather and one reduce-scatter.",
    targets=THREE,
)
def asked(target):
    """CPU gathers and all-reduces; v5e makes a ring; GPU gathers and scatters."""
    kinds = sl.inspect(
        sequence,
        given((2048, 4096), ROWS, "bfloat16"),
        given((4096, 16384), COLUMNS, "bfloat16"),
        given((16384, 4096), ROWS, "bfloat16"),
        target=target,
    ).kinds
    ring, scattered = {"collective-permute"}, {"all-gather", "reduce-scatter"}
    assert kinds == {CPU: {"all-gather", "all-reduce"}, V5E: ring, GPU: scattered}.get(target, ring)


@claim(
    'XLA for v5e and for GPU turn `psum(a, "model") + psum(b, "model")` into one all-reduce of $a + b$, where XLA for CPU '
    "sends both.",
    targets=THREE,
)
def two_sums(target):
    """The bytes of one array, or of two."""

    def body(x, first, second):
        return jax.lax.psum(x @ first, "model") + jax.lax.psum(x @ second, "model")

    f = jax.shard_map(body, mesh=LINE, in_specs=(COLUMNS, ROWS, ROWS), out_specs=WHOLE)
    program = sl.inspect(f, given((T, F), COLUMNS), given((F, D), ROWS), given((F, D), ROWS), target=target)
    assert program.price == 2 * 4 * T * D * (1 if target else 2)


@claim(
    "XLA for v5p does so at every size that was tried on a mesh of eight chips. There the two halves cost more than the "
    "whole.",
    targets=("v5p:2x2x2",),
)
def sums_on_v5p(target):
    """The block with tokens cut: an all-gather and an all-reduce, for half as much again as the all-reduce alone."""

    def body(x, first, second):
        hidden = jax.nn.relu(jax.lax.all_gather(x, "model", tiled=True) @ first)
        return x + jax.lax.psum_scatter(hidden @ second, "model", tiled=True)

    f = jax.shard_map(body, mesh=LINE, in_specs=(ROWS, COLUMNS, ROWS), out_specs=ROWS)
    for tokens, model, hidden in ((16, 32, 128), (1024, 1024, 4096), (2048, 4096, 16384)):
        shapes = (((tokens, model), ROWS), ((model, hidden), COLUMNS), ((hidden, model), ROWS))
        program = sl.inspect(f, *(given(shape, spec, "bfloat16") for shape, spec in shapes), target=target)
        assert program.kinds == {"all-gather", "all-reduce"}
        assert program.price == 3 * 2 * tokens * model


@claim(
    "XLA for CPU first sums each of the three over devices, and then adds the three sums.",
    "XLA for TPU and for GPU find this order by themselves.",
    targets=THREE,
)
def three_products(target):
    """The gradient of what went into three products."""

    def loss(x, *weights):
        return sum(((x @ w) ** 2).sum() for w in weights)

    weights = [given((D, F), COLUMNS)] * 3
    program = sl.inspect(jax.grad(loss), given((T, D), WHOLE), *weights, target=target)
    assert program.price == 2 * 4 * T * D * (1 if target else 3)


@claim(
    "Another right answer draws one mask for the whole array outside shard_map, under jit. Then XLA, for CPU and for TPU, "
    "lets each device make its own part of the mask.",
    targets=THREE,
)
def masks(target):
    """Nothing moves, and a device does a part of the work."""

    def drop(seed, hidden):
        return jnp.where(jax.random.bernoulli(jax.random.key(seed), 0.75, hidden.shape), hidden / 0.75, 0)

    cut, whole = (sl.inspect(drop, jnp.int32(3), given((64, 512), spec), target=target) for spec in (COLUMNS, WHOLE))
    assert cut.kinds == frozenset()
    assert cut.flops < whole.flops / 7


@claim("Then the numbers depend on the key alone and not on the mesh, and each device makes its own part", targets=THREE)
def initialised(target):
    """Equal numbers on 8 and 4 devices, up to rounding; nothing moves, and each does an eighth."""

    def init(key):
        return jax.random.normal(key, (256, 512))

    four = jax.make_mesh((4,), ("model",), (AxisType.Auto,), devices=jax.devices()[:4])
    key = jax.random.key(0)
    cut = jax.jit(init, out_shardings=NamedSharding(LINE, COLUMNS))
    np.testing.assert_allclose(cut(key), jax.jit(init, out_shardings=NamedSharding(four, COLUMNS))(key), rtol=0, atol=1e-5)
    program = sl.inspect(cut, key, target=target)
    whole = sl.inspect(jax.jit(init, out_shardings=NamedSharding(LINE, WHOLE)), key, target=target)
    assert program.kinds == frozenset()
    assert program.flops < whole.flops / 7


@claim(
    "with 8 devices and 2 key heads. Then only 4 devices get query heads of the group whose key head they hold",
)
def repeated_first():
    """The query head of device (kv, rep) when `rep` is the slower axis."""
    assert sum((rep * 2 + kv) * 2 // 8 == kv for kv in range(2) for rep in range(4)) == 4


@claim("sixteen are slower than eight", r"n - 1 < \frac{2 F W}{C}")
def degrees():
    """The model's times for TPU v5p."""
    chip = sl.chip("v5p")

    def times(n):
        return (
            4 * 2048 * 4096 * 16384 / n / chip.flops,
            2 * 2048 * 4096 / chip.link_bandwidth * (n - 1) / n,
        )

    assert max(times(16)) > max(times(8))
    for n in range(2, 64):
        assert (times(n)[1] < times(n)[0]) == (n - 1 < 2 * 16384 * chip.link_bandwidth / chip.flops)
    assert sum(times(1)) / sum(times(4)) < 3


@claim("XLA for CPU sums bfloat16 in float32, and XLA for v5e and for GPU do not", targets=THREE, alone=True)
def sums_of_bfloat16(target):
    """The dtype of what is sent, and the bytes."""
    shapes = (((T, D), WHOLE), ((D, F), COLUMNS), ((F, D), ROWS))
    found = sl.inspect(mlp, *(given(shape, spec, "bfloat16") for shape, spec in shapes), target=target)
    assert found.kinds == {"all-reduce"}
    sent = ("bf16", 2) if target else ("f32", 4)
    assert ({c.dtype for c in found.collectives}, found.price) == ({sent[0]}, 2 * sent[1] * T * D)
