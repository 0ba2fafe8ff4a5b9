"""Claims of chapter 8."""

from __future__ import annotations

import subprocess
import sys

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax
from jax.sharding import AxisType, NamedSharding

import shardlab as sl
from claims.claim import THREE, claim, tpu

LINE = jax.make_mesh((8,), ("x",), (AxisType.Auto,))
CUT = P("x")
ONWARD = [(d, (d + 1) % 8) for d in range(8)]


def placed(*shape):
    """Random numbers on the ring."""
    values = np.random.default_rng(8).normal(size=shape).astype("float32")
    return jax.device_put(values, NamedSharding(LINE, CUT))


def on_each(body, out=CUT, **options):
    """A function of one block, on every device."""
    return jax.shard_map(body, mesh=LINE, in_specs=P("x"), out_specs=out, **options)


def all_added(block):
    """Whole terms travel."""
    term = total = block[0]
    for _ in range(7):
        term = lax.ppermute(term, "x", ONWARD)
        total = total + term
    return total


def chunks_added(block):
    """Sums of chunks travel, and then go round as they are."""
    d, chunks = lax.axis_index("x"), jnp.stack(jnp.split(block[0], 8))
    total = chunks[(d - 1) % 8]
    for i in range(2, 9):
        total = lax.ppermute(total, "x", ONWARD) + chunks[(d - i) % 8]
    whole = chunks.at[d].set(total)
    for i in range(1, 8):
        total = lax.ppermute(total, "x", ONWARD)
        whole = whole.at[(d - i) % 8].set(total)
    return whole.reshape(block.shape[1:])


def differ(array):
    """Elements in which each copy is unlike the first one."""
    first, *others = [np.asarray(shard.data) for shard in array.addressable_shards]
    return [int((first != other).sum()) for other in others]


EXCHANGED = """
import jax
jax.config.update("jax_num_cpu_devices", 4)
mesh = jax.make_mesh((4,), ("x",), (jax.sharding.AxisType.Auto,))
x = jax.numpy.arange(64.0).reshape(4, 16)
for split, concat in (1, 0), (-1, 0), (1, -1), (1, -2):
    body = lambda block: jax.lax.all_to_all(block, "x", split, concat, tiled=True)
    exchange = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x")))
    try:
        print(exchange(x).tolist(), flush=True)
    except Exception:
        print(None, flush=True)
"""


@claim("In JAX 0.10 a negative one raises an error, or even ends Python itself")
def negative_axes():
    """In a process of its own; a newer JAX reads them as NumPy does."""
    ran = subprocess.run([sys.executable, "-c", EXCHANGED], capture_output=True, text=True)
    right, *others = ran.stdout.splitlines()
    if jax.__version_info__ < (0, 11):
        assert ran.returncode != 0 and others == ["None"] * 2
    else:
        assert ran.returncode == 0 and [found == right for found in others] == [True, False, True]


@claim(
    "Sums of floating-point numbers depend on their order",
    "each chunk is added up once, in one order, and what goes round afterwards is copied.",
)
def copies():
    """Each device adds in its own order; sums that travel are added once."""
    terms = placed(8, 64, 16)
    rotated = on_each(all_added, P(), check_vma=False)(terms)
    assert all(np.allclose(shard.data, np.asarray(terms).sum(0), atol=1e-5) for shard in rotated.addressable_shards)
    assert min(differ(rotated)) > 100
    assert not any(differ(on_each(chunks_added, P(), check_vma=False)(terms)))
    assert not any(differ(on_each(lambda b: lax.psum(b[0], "x"), P())(terms)))


@claim("A device that is the target of no pair gets zeros")
def nobody():
    """The first device hears from nobody."""
    got = np.asarray(on_each(lambda b: lax.ppermute(b, "x", ONWARD[:-1]))(placed(8, 4)))
    assert not got[0].any()
    assert got[1:].all()


@claim(
    "To send *twice* is an error",
    "A permute is not a broadcast: at most one message from each device",
)
def twice():
    """One source with two targets is refused, and so is one target with two sources."""
    for pairs in ([(0, 1), (0, 2)], [(1, 0), (2, 0)]):
        with pytest.raises(ValueError, match="must be unique"):
            on_each(lambda b, pairs=pairs: lax.ppermute(b, "x", pairs))(placed(8, 4))


@claim(
    "A Python loop is unrolled, so the program has three permutes. A `fori_loop` has one permute that runs three times",
    targets=THREE,
)
def loops(target):
    """Three hops, both ways of writing them."""

    def unrolled(block):
        for _ in range(3):
            block = lax.ppermute(block, "x", ONWARD)
        return block

    def looped(block):
        return lax.fori_loop(0, 3, lambda i, b: lax.ppermute(b, "x", ONWARD), block)

    runs = [
        [c.executions for c in sl.inspect(on_each(f), placed(64, 16), target=target).collectives] for f in (unrolled, looped)
    ]
    assert runs == [[1, 1, 1], [3]]


@claim(
    "XLA for v5e makes the same collectives from the cells in this chapter, with one exception",
    "XLA for GPU makes the same collectives without this exception.",
    targets=THREE,
    alone=True,
)
def same_collectives(target):
    """Each of the seven, once; the reduce-scatter large enough."""
    bodies = {
        "all-reduce": lambda b: lax.psum(b, "x"),
        "all-gather": lambda b: lax.all_gather(b, "x", tiled=True),
        "reduce-scatter": lambda b: lax.psum_scatter(b, "x", scatter_dimension=1, tiled=True),
        "all-to-all": lambda b: lax.all_to_all(b, "x", split_axis=1, concat_axis=0, tiled=True),
        "collective-permute": lambda b: lax.ppermute(b, "x", ONWARD),
    }
    array = jax.ShapeDtypeStruct((4096, 256), "float32", sharding=NamedSharding(LINE, P("x")))
    for kind, body in bodies.items():
        out = P() if kind == "all-reduce" else P("x")
        assert sl.inspect(on_each(body, out), array, target=target).kinds == {kind}
    for body in (lambda b: lax.pmean(b, "x"), lambda b: lax.pmax(b, "x")):
        assert sl.inspect(on_each(body, P()), array, target=target).kinds == {"all-reduce"}


@claim(
    'XLA for v5e turns a reduce-scatter of {{ f"{V:,}" }} bytes into an all-reduce',
    "For terms of shape `[512, 256]`, XLA for v5e keeps the reduce-scatter.",
    targets=THREE,
    alone=True,
)
def small_scatter(target):
    """4,096 bytes, and 128 times as many."""
    scatter = on_each(lambda b: lax.psum_scatter(b[0], "x", tiled=True))
    for rows, width, small in ((64, 16, True), (512, 256, False)):
        terms = jax.ShapeDtypeStruct((8, rows, width), "float32", sharding=NamedSharding(LINE, P("x")))
        wanted = "all-reduce" if small and tpu(target) else "reduce-scatter"
        assert sl.inspect(scatter, terms, target=target).kinds == {wanted}


@claim(
    "On eight v5p chips, 2 by 2 by 2, XLA turns a reduce-scatter over all eight into an all-reduce at that size too.",
    targets=("v5p:2x2x2",),
    alone=True,
)
def scatter_on_a_torus(target):
    """4,096 bytes, 128 times as many, and 2,048 times."""
    scatter = on_each(lambda b: lax.psum_scatter(b[0], "x", tiled=True))
    for rows, width in ((64, 16), (512, 256), (4096, 512)):
        terms = jax.ShapeDtypeStruct((8, rows, width), "float32", sharding=NamedSharding(LINE, P("x")))
        assert sl.inspect(scatter, terms, target=target).kinds == {"all-reduce"}


@claim("That moves as many bytes as the ring, and no message waits for another.", targets=THREE)
def straight(target):
    """Seven permutes, none behind another."""

    def body(block):
        far = range(1, 8)
        return jnp.concatenate([block, *(lax.ppermute(block, "x", [(d, (d + k) % 8) for d in range(8)]) for k in far)])

    program = sl.inspect(on_each(body), placed(64, 16), target=target)
    assert (len(program.collectives), program.depth, program.price) == (7, 1, 7 * 512)


@claim("a gather and then a scatter gives n times the block")
def transposes():
    """They are transposes, not inverses, tiled or not."""
    x = placed(64, 16)
    for tiled in (False, True):

        def there_and_back(block, tiled=tiled):
            return lax.psum_scatter(lax.all_gather(block, "x", tiled=tiled), "x", tiled=tiled)

        assert np.allclose(on_each(there_and_back)(x), 8 * np.asarray(x), atol=1e-4)


@claim("What comes out of a `ppermute` *varies* from device to device, as far as types go")
def varying():
    """Equal copies, and a type that does not know it."""
    seen = []

    def body(block):
        seen.append(str(jax.typeof(lax.ppermute(lax.pcast(jnp.ones(3), "x", to="varying"), "x", ONWARD) * 2)))
        return block

    on_each(body)(placed(8, 4))
    assert "{V:x}" in seen[0]


@claim(
    "A change between the two specs under jit compiles to the same collective, for CPU and for TPU.",
    "changes no value and no index of the global array, only who holds what.",
    targets=THREE,
)
def turned(target):
    """Tokens to heads, asked for and written."""
    heads = NamedSharding(LINE, P(None, "x"))
    x = placed(16, 16, 3)
    to_heads = on_each(lambda b: lax.all_to_all(b, "x", split_axis=1, concat_axis=0, tiled=True), P(None, "x"))
    assert np.array_equal(to_heads(x), x)
    for f in (to_heads, lambda a: lax.with_sharding_constraint(a, heads)):
        program = sl.inspect(f, x, target=target)
        assert program.kinds == {"all-to-all"}
        assert program.price == x.nbytes // 8


@claim("So there the two halves cost half as much again as one `psum`.", targets=THREE)
def halves(target):
    """A small sum as a reduce-scatter and a gather."""

    def two_halves(block):
        return lax.all_gather(lax.psum_scatter(block[0], "x", tiled=True), "x", tiled=True, to="invarying")

    terms = placed(8, 64, 16)
    size = terms[0].nbytes
    two = sl.inspect(on_each(two_halves, P()), terms, target=target)
    one = sl.inspect(on_each(lambda block: lax.psum(block[0], "x"), P()), terms, target=target)
    assert (one.price, two.price) == (2 * size, 3 * size if tpu(target) else 2 * size)
