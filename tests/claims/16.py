"""Claims of chapter 16."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import CPU, GPU, THREE, V5E, claim

LINE = jax.make_mesh((8,), ("x",), (AxisType.Auto,))
CUTS = {"heads": (None, "x"), "batch": ("x",), "sequence": (None, None, "x")}


def like(shape, *spec, dtype="float32"):
    """An array that is only described."""
    return jax.ShapeDtypeStruct(shape, dtype, sharding=NamedSharding(LINE, P(*spec)))


def attention(q, K, V):
    """The page's attention for one new token, with the output by heads."""
    scores = jnp.einsum("bhd,bhsd->bhs", q, K) / q.shape[-1] ** 0.5
    out = jnp.einsum("bhs,bhsd->bhd", jax.nn.softmax(scores, axis=-1), V)
    return jax.lax.with_sharding_constraint(out, NamedSharding(LINE, P(None, "x")))


def compiled(cut, target, positions=256):
    """The page's program for one cut."""
    cache = like((8, 8, positions, 16), *CUTS[cut])
    return sl.inspect(attention, like((8, 8, 16), None, "x"), cache, cache, target=target)


@claim("XLA for CPU and XLA for TPU v5e both find the three all-reduces themselves", targets=(CPU, V5E), alone=True)
def three_sums(target):
    """Of a softmax over positions that are cut."""
    kinds = [c.kind for c in compiled("sequence", target).collectives]
    assert kinds.count("all-reduce") == 3 and set(kinds) == {"all-reduce", "all-gather"}


@claim("none of the programs moves the cache", "None of these cuts has to move the cache.", targets=(CPU, V5E))
def cache_stays(target):
    """Nothing that moves is as large as a device's block of keys."""
    block = 8 * 8 * 256 * 16 * 4 // 8
    for cut in CUTS:
        assert all(c.payload_bytes < block for c in compiled(cut, target).collectives)


@claim("By heads nothing moves: queries, cache and output are cut in the same way.", targets=(CPU, V5E))
def by_heads(target):
    """There is no collective."""
    assert not compiled("heads", target).collectives


@claim("These bytes grow with the batch and the heads, and not with the positions.", targets=(CPU, V5E))
def whatever_the_length(target):
    """Four times as many positions move as many bytes."""
    for cut in CUTS:
        assert compiled(cut, target).price == compiled(cut, target, 1024).price


@claim(
    "XLA for CPU gathers all logits on every device. XLA for TPU v5e does better: it takes the largest of each part first.",
    targets=(CPU, V5E),
    alone=True,
)
def largest_by_parts(target):
    """The price of the page's top_k."""
    logits = like((16, 131_072), None, "x")
    price = sl.inspect(lambda logits: jax.lax.top_k(logits, 4), logits, target=target).price
    assert price == 16 * 131_072 * 4 if target is CPU else price < 16 * 131_072


@claim("So the program is compiled once and serves every step.")
def one_program():
    """A position is an argument, so other positions are no other program."""
    update = jax.jit(lambda K, new, at: jax.lax.dynamic_update_slice_in_dim(K, new[:, None], at, 1), donate_argnums=0)
    K = jnp.zeros((4, 64, 8))
    for at in range(5):
        K = update(K, jnp.ones((4, 8)), np.int32(at))
    assert update._cache_size() == 1


@claim(
    "a place beyond the end is moved inside or dropped, and a negative one counts from the end",
    "A place outside of an array is not an error on a device.",
)
def places_outside():
    """Of a slice, moved inside; of a scatter, dropped behind the end and counted from it before the beginning."""
    row = jnp.zeros(5)
    for start, moved, scattered in ((7, 4, None), (-1, 4, 4), (-9, 0, None)):
        found = jax.lax.dynamic_update_slice_in_dim(row, jnp.ones(1), jnp.int32(start), 0)
        assert np.flatnonzero(found).tolist() == [moved]
        found = row.at[jnp.int32(start)].set(1, mode="drop")
        assert np.flatnonzero(found).tolist() == ([] if scattered is None else [scattered])


@claim(
    "XLA for TPU v5e and XLA for GPU convert the weights as they multiply, and hold no second copy of them.",
    targets=(V5E, GPU),
)
def weights_of_one_byte(target):
    """What a product with int8 weights holds besides its arguments, beside the bytes of these weights."""

    def product(x, q, scale):
        return x @ q.astype(x.dtype) * scale[None]

    x, scale = like((16, 4096), dtype="bfloat16"), like((8192,), "x", dtype="bfloat16")
    weights = like((4096, 8192), None, "x", dtype="int8")
    assert sl.inspect(product, x, weights, scale, target=target).memory.temp < 4096 * 8192 // 8


def by_rows(body):
    """A program that adds a row of each device."""
    return lambda rows: jax.shard_map(body, mesh=LINE, in_specs=P("x"), out_specs=P())(rows)


@claim(
    "XLA for CPU sums bfloat16 in float32 (chapter 9). XLA for TPU v5e and XLA for GPU send bfloat16.",
    targets=THREE,
)
def sums_of_bfloat16(target):
    """The dtype of an all-reduce."""
    half = by_rows(lambda row: jax.lax.psum(row[0].astype(jnp.bfloat16), "x"))
    (sums,) = sl.inspect(half, like((8, 1024), "x"), target=target).collectives
    assert sums.dtype == ("f32" if target is CPU else "bf16")


@claim("But on eight devices the gather saves nothing", targets=THREE)
def gather_of_bytes(target):
    """A gather of int8 from eight devices moves what an all-reduce in float32 does."""
    whole = by_rows(lambda row: jax.lax.psum(row[0], "x"))
    bytes_only = by_rows(lambda row: jax.lax.all_gather(row[0].astype(jnp.int8), "x", to="invarying"))
    given = like((8, 1024), "x")
    assert sl.inspect(bytes_only, given, target=target).price == sl.inspect(whole, given, target=target).price


GRID = jax.make_mesh((2, 4), ("k", "s"), (AxisType.Auto,) * 2)


def on_grid(shape, *spec):
    """An array on the mesh of two axes that is only described."""
    return jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(GRID, P(*spec)))


def few_heads(q, K, V):
    """The page's attention with two key heads, and the output by heads."""
    K, V = (cache.reshape(*cache.shape[:2], 2, -1) for cache in (K, V))
    groups = q.reshape(len(q), 2, -1, q.shape[-1])
    weights = jax.nn.softmax(jnp.einsum("bkgd,bskd->bkgs", groups, K) / q.shape[-1] ** 0.5, axis=-1)
    out = jnp.einsum("bkgs,bskd->bkgd", weights, V).reshape(q.shape)
    return jax.lax.with_sharding_constraint(out, NamedSharding(GRID, P(None, ("k", "s"))))


def moved_for(target, *spec):
    """The prices with 256 positions and with four times as many."""
    q = on_grid((8, 16, 16), None, ("k", "s"))
    caches = (on_grid((8, positions, 32), *spec) for positions in (256, 1024))
    return [sl.inspect(few_heads, q, K, K, target=target).price for K in caches]


@claim(
    "Quarters make every step gather the cache. XLA for CPU, XLA for TPU v5e and XLA for GPU all do so, and the bytes of "
    "the gather grow with the positions.",
    targets=THREE,
)
def quarters_of_heads(target):
    """The price is in proportion to the positions."""
    short, long = moved_for(target, None, None, ("k", "s"))
    assert long == 4 * short > 0


@claim(
    "If the heads are copied, nothing moves",
    "nothing is held twice, and what moves does not grow with the positions",
    targets=THREE,
)
def cures(target):
    """Of heads that several devices hold, and of positions that are cut inside a head's devices."""
    assert moved_for(target, None, None, "k") == [0, 0]
    short, long = moved_for(target, None, "s", "k")
    assert short == long


@claim(
    "XLA for CPU, XLA for TPU v5e and XLA for GPU make one all-reduce for 1-D weights and two for 2-D weights.",
    "On eight devices 2-D weights also move more bytes.",
    targets=THREE,
)
def two_dimensions(target):
    """The kinds and the price of two products with a relu between them."""
    cuts = ((), (None, ("k", "s")), (("k", "s"), None)), ((None, "k"), ("k", "s"), ("s", "k"))
    for batch in (1, 256):
        price = []
        for sums, (x, first, second) in enumerate(cuts, 1):
            mlp = jax.jit(lambda x, W1, W2: jax.nn.relu(x @ W1) @ W2, out_shardings=NamedSharding(GRID, P(*x)))
            given = on_grid((batch, 512), *x), on_grid((512, 2048), *first), on_grid((2048, 512), *second)
            program = sl.inspect(mlp, *given, target=target)
            assert [c.kind for c in program.collectives] == ["all-reduce"] * sums
            price.append(program.price)
        assert price[0] < price[1]
