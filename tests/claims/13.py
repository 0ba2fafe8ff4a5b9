"""Claims of chapter 13."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import P
from jax.sharding import AxisType

import shardlab as sl
from claims.claim import CPU, THREE, V5E, claim, tpu

LINE = jax.make_mesh((8,), ("x",), (AxisType.Auto,))
RNG = np.random.default_rng(13)


def put(array, *spec):
    """Cut over the line."""
    return jax.device_put(np.asarray(array), jax.NamedSharding(LINE, P(*spec)))


def waves(*shape):
    """Complex random numbers."""
    return (RNG.normal(size=shape) + 1j * RNG.normal(size=shape)).astype("complex64")


BATCH = put(waves(64, 128), "x")
MANY, SIDES = put(RNG.normal(size=(16, 8, 8)).astype("f4"), "x"), put(RNG.normal(size=(16, 8)).astype("f4"), "x")
ROOT = RNG.normal(size=(64, 64)).astype("f4")
MATRIX, SIDE = put(ROOT @ ROOT.T + 64 * np.eye(64, dtype="f4"), "x"), put(RNG.normal(size=64).astype("f4"), "x")


@claim(
    "XLA for CPU gathers the batch of transforms and leaves the stack of systems. XLA for TPU leaves the batch, and "
    "gathers the whole stack",
    "With JAX 0.10 XLA for CPU nevertheless sends all signals to every device, and XLA for TPU sends nothing",
    "XLA for CPU gathers a batch of transforms and leaves a stack of inverses; XLA for TPU does the opposite",
    "XLA for GPU of JAX 0.10 gathers the batch and leaves the stack",
    targets=THREE,
    until="0.12",
)
def opposite(target):
    """All-gathers of the one on CPU, and of the other on TPU."""
    gathered = (0, MANY.nbytes) if tpu(target) else (BATCH.nbytes, 0)
    found = [sl.inspect(f, x, target=target) for f, x in ((jnp.fft.fft, BATCH), (jnp.linalg.inv, MANY))]
    assert tuple(p.payload_bytes for p in found) == gathered
    assert [p.kinds for p in found] == [{"all-gather"} if moved else set() for moved in gathered]


@claim(
    "on TPU jnp.linalg.solve gathers all of it",
    "XLA for CPU leaves a stack of systems where it is, and XLA for TPU gathers it",
    targets=THREE,
)
def stack_of_systems(target):
    """solve under jit, and in shard_map."""

    def solve(A, b):
        return jnp.linalg.solve(A + 16 * jnp.eye(8)[None], b[..., None])[..., 0]

    def manual(A, b):
        return jax.shard_map(solve, mesh=LINE, in_specs=P("x"), out_specs=P("x"))(A, b)

    assert sl.inspect(solve, MANY, SIDES, target=target).payload_bytes == (MANY.nbytes if tpu(target) else 0)
    assert sl.inspect(manual, MANY, SIDES, target=target).kinds == frozenset()


@claim(
    "XLA for TPU makes the same program without a message",
    "XLA for CPU, as in JAX 0.10.2, sends all of it nonetheless",
    targets=THREE,
    until="0.12",
)
def batch(target):
    """vmap and fft alike."""
    for f in (jnp.fft.fft, jax.vmap(jnp.fft.fft)):
        assert sl.inspect(f, BATCH, target=target).payload_bytes == (0 if tpu(target) else BATCH.nbytes)


@claim(
    "XLA for CPU and for TPU both cut products",
    "is one that XLA knows how to cut: case 1, nothing moves",
    targets=THREE,
)
def as_a_product(target):
    """The matrix of waves, whole on each device."""

    def product(x):
        j = jnp.arange(x.shape[1])
        return x @ jnp.exp(jnp.outer(j, j).astype(x.dtype) * (-2j * np.pi / x.shape[1]))

    assert sl.inspect(product, BATCH, target=target).kinds == frozenset()


@claim("In `shard_map` there is nothing to decide", "use `shard_map`, where there is nothing to decide", targets=THREE)
def manual_batch(target):
    """No message."""
    f = jax.shard_map(jnp.fft.fft, mesh=LINE, in_specs=P("x"), out_specs=P("x"))
    assert sl.inspect(f, BATCH, target=target).kinds == frozenset()


@claim("XLA, for CPU and for TPU, gets from one to the other by an all-to-all", targets=THREE)
def slab_in_two(target):
    """Two shard_maps, and nothing written between them."""
    rows = jax.shard_map(lambda b: jnp.fft.fft(b, axis=1), mesh=LINE, in_specs=P("x"), out_specs=P("x"))
    columns = jax.shard_map(lambda b: jnp.fft.fft(b, axis=0), mesh=LINE, in_specs=P(None, "x"), out_specs=P(None, "x"))
    assert sl.inspect(lambda x: columns(rows(x)), BATCH, target=target).kinds == {"all-to-all"}


@claim("Neither XLA for CPU nor XLA for TPU finds this: both gather the matrix for one factorization", targets=THREE)
def one_factorization(target):
    """At least the bytes of the matrix come to each device."""
    assert sl.inspect(jnp.linalg.cholesky, MATRIX, target=target).payload_bytes >= MATRIX.nbytes


@claim("`jnp.linalg.solve` gathered the matrix", targets=THREE)
def one_system(target):
    """The same for a system."""
    gathers = [c for c in sl.inspect(jnp.linalg.solve, MATRIX, SIDE, target=target).collectives if c.kind == "all-gather"]
    assert max(c.payload_bytes for c in gathers) >= MATRIX.nbytes


@claim(
    "XLA for TPU turns a gather as small as this one into an all-reduce, with the same payload at twice the price. For "
    "1,024 numbers it makes a gather.",
    targets=(V5E,),
)
def small_gathers(target):
    """A product that needs all of a vector, by hand and under jit, of 64 numbers and of 1,024."""

    def by_hand(A, p):
        return A @ jax.lax.all_gather(p, "x", tiled=True)

    lies = jax.NamedSharding(LINE, P("x"))
    for n, kind, times in ((64, "all-reduce", 2), (1024, "all-gather", 1)):
        held = [jax.ShapeDtypeStruct(shape, "float32", sharding=lies) for shape in ((n, n), (n,))]
        for f in (jnp.matmul, jax.shard_map(by_hand, mesh=LINE, in_specs=P("x"), out_specs=P("x"))):
            found = sl.inspect(f, *held, target=target)
            assert (found.kinds, found.payload_bytes, found.price) == ({kind}, 4 * n, times * 4 * n)


@claim(
    "On CPU, conjugate gradients under plain jit move the same bytes as your own program, if the eight "
    "devices are in a line",
    targets=(CPU,),
)
def plain_gradients(target):
    """The page's budget: 6 gathers of 256 bytes and 13 sums of one number."""

    def cg(A, b):
        def step(_, state):
            x, r, p, rr = state
            q = A @ p
            alpha = rr / jnp.vdot(p, q)
            x, r = x + alpha * p, r - alpha * q
            new = jnp.vdot(r, r)
            return x, r, r + new / rr * p, new

        return jax.lax.fori_loop(0, 6, step, (jnp.zeros_like(b), b, b, jnp.vdot(b, b)))[0]

    found = sl.inspect(cg, MATRIX, SIDE, target=target)
    assert (found.payload_bytes, sum(c.executions for c in found.collectives)) == (1588, 19)


@claim("it gives every device the same few waves, as if its block were the whole spectrum")
def waves_of_a_block():
    """fftfreq of a width knows no device, and reaches to the shortest wave."""
    assert np.abs(np.fft.fftfreq(2)).max() == np.abs(np.fft.fftfreq(16)).max() == 0.5


@claim(
    "The field even has real values, as it should, because the squares are equal for $k$ and $-k$ here too. But it solves "
    "another"
)
def real_and_wrong():
    """Poisson's equation with the wavenumbers of a block of columns, on eight devices."""
    density = RNG.normal(size=(16, 64))
    rows, right, local = (2 * np.pi * np.fft.fftfreq(n) for n in (16, 64, 8))
    fields = []
    for columns in (right, np.tile(local, 8)):
        square = rows[:, None] ** 2 + columns**2
        inverse = np.where(square == 0, 0, -1 / np.where(square == 0, 1, square))
        fields.append(np.fft.ifft2(np.fft.fft2(density) * inverse))
    for field in fields:
        np.testing.assert_allclose(field.imag, 0, atol=1e-12)
    assert np.abs(fields[0] - fields[1]).max() > 0.1


@claim(
    "On x=2, y=4 it cuts the direction over y as well, permutes its pieces, and all-reduces each half of the product",
    "On x=2, y=4 XLA for CPU cuts the product over y as well, and then pays more than one gather of p",
)
def products_on_two_rows():
    """A product in a loop under plain jit, on three meshes: its price in one round against one gather's."""

    def rounds(A, p):
        return jax.lax.fori_loop(0, 6, lambda _, p: A @ p, p)

    def found(*shape):
        mesh = jax.make_mesh(shape, ("x", "y")[: len(shape)], (AxisType.Auto,) * len(shape))
        rows = jax.NamedSharding(mesh, P("x"))
        return sl.inspect(rounds, *(jax.device_put(a, rows) for a in (np.asarray(MATRIX), np.asarray(SIDE))))

    gather = 6 * SIDE.nbytes
    assert [(r.kinds, r.price) for r in (found(8), found(4, 2))] == [({"all-gather"}, gather)] * 2
    two_rows = found(2, 4)
    assert two_rows.kinds == {"collective-permute", "all-reduce"}
    assert two_rows.price > gather
    sums = [c for c in two_rows.collectives if c.kind == "all-reduce"]
    assert {c.payload_bytes for c in sums} == {SIDE.nbytes // 2}
