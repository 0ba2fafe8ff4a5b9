"""Claims of chapter 15."""

from __future__ import annotations

import json
import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType

import shardlab as sl
from claims.claim import CPU, THREE, claim
from shardlab_course.ch15.ex06.designs import family
from shardlab_course.chapters import folder

LINE = jax.make_mesh((8,), ("data",), (AxisType.Auto,))
RNG = np.random.default_rng(15)


def put(array, *spec):
    """On the line."""
    return jax.device_put(np.asarray(array), jax.NamedSharding(LINE, P(*spec)))


def random(*shape):
    """Normal numbers."""
    return RNG.normal(size=shape).astype("f4")


@claim(
    "a weight that is cut by rows along `data`, as the batch is, may get its gradient *whole* from XLA, for CPU, TPU and "
    "GPU",
    targets=THREE,
)
def gradient_of_a_cut_weight(target):
    """Rows of the weight and rows of the batch over one axis: the slope's spec is empty."""

    def slope(w, x):
        return jax.grad(lambda w: jnp.mean(jnp.tanh(x @ w) ** 2))(w)

    found = sl.inspect(slope, put(random(48, 96), "data"), put(random(64, 48), "data"), target=target)
    assert [tuple(lies.spec) for lies in found.output_placements] == [()]


@claim(
    "moments made this way under jit are whole",
    "A constant has no operands to get a cut from. Zeros that are returned unchanged have no other use",
    targets=THREE,
)
def unplaced_zeros(target):
    """Zeros like a weight that is cut."""
    found = sl.inspect(lambda w: (jnp.zeros_like(w), 2 * w), put(random(48, 96), "data"), target=target)
    assert [tuple(lies.spec) for lies in found.output_placements] == [(), ("data",)]


@claim('`P("data")` means the first dimension, whichever it is', "Only the bytes differ", targets=THREE)
def swapped_and_constrained(target):
    """The demonstration: bytes with one spec and none with the other."""
    clip = put(random(32, 24, 16), "data")

    def smooth(spec):
        def f(x):
            late = jax.lax.with_sharding_constraint(x.swapaxes(0, 1), jax.NamedSharding(LINE, spec))
            return jnp.cumsum(late, axis=0).swapaxes(0, 1)

        return sl.inspect(f, clip, target=target)

    assert smooth(P("data")).payload_bytes > 0
    assert smooth(P(None, "data")).kinds == frozenset()


@claim("A product with one_hot reads the whole table, an index reads rows", targets=(CPU,))
def one_hot_and_index(target):
    """Columns of the table cut, rows of the output wanted."""
    table, ids = put(random(256, 16), None, "data"), put(RNG.integers(0, 256, 64), "data")
    rows = jax.NamedSharding(LINE, P("data", None))

    def hot(table, ids):
        return jax.lax.with_sharding_constraint(jax.nn.one_hot(ids, 256) @ table, rows)

    def index(table, ids):
        return jax.lax.with_sharding_constraint(jnp.take(table, ids, axis=0), rows)

    whole, some = (sl.inspect(f, table, ids, target=target).price for f in (hot, index))
    assert whole >= table.nbytes > some


@claim(
    "and XLA for CPU sums in each; XLA for TPU sees that each round only adds, and sums once, after the loop",
    "Under jit alone the carry is one array for all devices, and XLA for CPU sums it at once",
    targets=THREE,
)
def sums_in_a_loop(target):
    """Counts that a loop carries, under jit alone and with a psum in each of its 24 rounds."""

    def counted(labels, add):
        def step(total, now):
            return total + add(jnp.sum(now[:, None] == jnp.arange(100)[None], axis=0)), None

        return jax.lax.scan(step, jnp.zeros(100, jnp.int32), labels)[0]

    def plain(labels):
        return counted(labels, lambda terms: terms)

    def body(labels):
        return counted(labels, lambda terms: jax.lax.psum(terms, "data"))

    labels = put(RNG.integers(0, 100, (24, 64)).astype("int32"), None, "data")
    manual = jax.shard_map(body, mesh=LINE, in_specs=P(None, "data"), out_specs=P())
    for f in (plain, manual):
        found = sl.inspect(f, labels, target=target).collectives
        assert [(c.kind, c.executions) for c in found] == [("all-reduce", 1 if target else 24)]


@claim("The line is the front of thirteen designs of ours")
def designs_of_the_front():
    """As many are measured, and the fronts that are kept consist of some of them."""
    designs = family()
    assert len(designs) == 13
    kept = json.loads((folder(15) / "ex06" / "fronts.json").read_text())
    assert all(set(front) <= set(designs) for fronts in kept.values() for front in fronts.values())


@claim("In `shard_map` every array is a block, and its shape is the block's")
def shape_of_a_block():
    """Inside, an eighth of the rows."""
    seen = []

    def body(x):
        seen.append(x.shape)
        return x

    jax.shard_map(body, mesh=LINE, in_specs=P("data"), out_specs=P("data"))(put(random(64, 3), "data"))
    assert seen == [(8, 3)]


@claim(
    "about 1.25 times the device's tokens if an expert's share of them is large, and more where rounding up to a "
    "whole place counts, as for 64 experts and 24 tokens",
    "and as many experts as devices, it costs more even on two",
)
def places():
    """Places for one expert a device, and tokens that a gather brings, and a scatter takes back."""

    def sent(tokens, experts):
        return experts * math.ceil(1.25 * tokens / experts)

    assert abs(sent(2400, 8) / 2400 - 1.25) < 0.01
    assert sent(24, 64) / 24 > 2
    assert all(2 * n * 24 > 2 * sent(24, n) for n in range(2, 65))


@claim("The transpose of a permute is the permute backwards", "`ppermute` gives it zeros", targets=THREE)
def pipeline_backwards(target):
    """One permute forward gives one in the gradient, the other way; stage 0 receives zeros."""
    ahead = [(s, s + 1) for s in range(7)]

    def hop(x):
        return jax.shard_map(
            lambda b: jax.lax.ppermute(b, "data", ahead), mesh=LINE, in_specs=P("data"), out_specs=P("data")
        )(x)

    x = put(random(8, 4), "data")
    assert not np.asarray(hop(x))[0].any()
    slope = jax.grad(lambda x: (hop(x) * jnp.arange(8.0)[:, None]).sum())(x)
    assert np.array_equal(np.asarray(slope)[:, 0], [1, 2, 3, 4, 5, 6, 7, 0])
    found = sl.inspect(jax.grad(lambda x: (hop(x) ** 2).sum()), x, target=target)
    assert [c.kind for c in found.collectives] == ["collective-permute"] * 2
