"""Which products could run beside a collective: programs whose graph is known, on the CPU backend."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding

from shardlab_judge.cases import Case, Observed
from shardlens.programs.inspection import inspect
from shardlens.programs.program import Program
from shardlens.reading.overlap import longest_overlap, overlaps

P = jax.P
N = 8
OUT = P(None, "x")
ONE = 2 * 6 * 16 * 10
"""FLOPs of a device's own block (6 rows of 16) times its columns (10)."""


def hop(x: jax.Array) -> jax.Array:
    """Every block to the device before."""
    return lax.ppermute(x, "x", [(d, (d - 1) % N) for d in range(N)])


def gathered(x, w):
    return lax.all_gather(x, "x", axis=0, tiled=True) @ w


def ring(x, w):
    out = [x @ w]
    for _ in range(N - 1):
        x = hop(x)
        out.append(x @ w)
    return jnp.concatenate(out)


def looped(x, w):
    def step(x, _):
        return hop(x), x @ w

    x, out = lax.scan(step, x, None, length=N - 1)
    return jnp.concatenate([*out, x @ w])


def buffered(x, w):
    came = [x]
    for _ in range(N - 1):
        came.append(hop(came[-1]))
    return jnp.concatenate(came) @ w


def scattered(x, w):
    return hop(x @ w)


def apart(x, w):
    return hop(x), x @ w


def read(body, out=OUT) -> Program:
    """The compiled program of a body, for 48 rows of 16 and 80 columns."""
    line = jax.make_mesh((N,), ("x",), axis_types=(AxisType.Auto,))
    specs = P("x", None), P(None, "x")
    args = [jax.ShapeDtypeStruct(s, "float32", sharding=NamedSharding(line, p)) for s, p in zip(((48, 16), (16, 80)), specs)]
    return inspect(jax.shard_map(body, mesh=line, in_specs=specs, out_specs=out), *args)


@pytest.mark.parametrize(
    ("body", "out", "wanted"),
    [
        (gathered, P(None, "x"), [(0, 0, N * ONE)]),
        (ring, P(None, "x"), [(0, (i + 1) * ONE, (N - 1 - i) * ONE) for i in range(N - 1)]),
        (looped, P(None, "x"), [(0, (i + 1) * ONE, (N - 1 - i) * ONE) for i in range(N - 1)]),
        (buffered, P(None, "x"), [(0, 0, N * ONE)] * (N - 1)),
        (scattered, P("x", None), [(ONE, 0, 0)]),
        (apart, (P("x", None), P("x", None)), [(0, ONE, 0)]),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_products_around_each_run(body, out, wanted) -> None:
    """Before, beside and after each run of a collective stand the products that its program says."""
    found = read(body, out).overlaps
    assert found is not None
    assert [(o.before, o.beside, o.after) for o in found] == wanted


def test_unknown_rounds() -> None:
    """Where nobody knows how often a loop runs, nobody knows what overlaps."""

    def body(x, w):
        return lax.while_loop(lambda x: jnp.sum(lax.psum(x, "x")) < 9, hop, x) @ w

    program = read(body)
    assert overlaps(program.hlo, {c.name for c in program.collectives}) is None


@pytest.mark.parametrize(("body", "least"), [(ring, ONE), (buffered, 0), (gathered, 0)])
def test_judge_sees_the_least(body, least) -> None:
    """`Observed.beside` is that of the collective that has the fewest."""
    program = read(body)
    case = Case((("x", N),), ())
    assert Observed(case, collectives=program.collectives, hlo=program.hlo).beside == least


def test_nothing_moves() -> None:
    """Without collectives there is nothing to be beside of."""
    assert read(lambda x, w: w + 1).overlaps == ()
    assert Observed(Case((("x", N),), ())).beside == 0


def multiplied(x, w):
    """`ring`, with each product as a sum of multiplied numbers."""
    out = []
    for k in range(N):
        out.append(jnp.sum(x[:, :, None] * w[None], axis=1))
        x = hop(x) if k < N - 1 else x
    return jnp.concatenate(out)


def convolved(x, w):
    """`ring`, with each product as a convolution."""
    out = []
    for k in range(N):
        out.append(lax.conv_general_dilated(x[None], w[None], (1,), "VALID", dimension_numbers=("NWC", "WIO", "NWC"))[0])
        x = hop(x) if k < N - 1 else x
    return jnp.concatenate(out)


def by_rows(x, w):
    """`ring`, with each product made row by row in a loop."""
    out = []
    for k in range(N):
        out.append(lax.map(lambda row: jnp.sum(row[:, None] * w, axis=0), x))
        x = hop(x) if k < N - 1 else x
    return jnp.concatenate(out)


def summed_after_all(x, w):
    came = [x]
    for _ in range(N - 1):
        came.append(hop(came[-1]))
    return jnp.sum(jnp.concatenate(lax.optimization_barrier(came))[:, :, None] * w[None], axis=1)


def tiny_beside(x, w):
    return summed_after_all(x, w) + 0 * (x[:2, :2] @ w[:2, :2])[0, 0]


@pytest.mark.thorough(after=4)
@pytest.mark.parametrize(
    ("body", "least", "time"),
    [
        (ring, ONE, N),
        (looped, ONE, N),
        (multiplied, ONE, N),
        (convolved, ONE, N),
        (by_rows, ONE, N),
        (buffered, 0, 2 * N - 1),
        (summed_after_all, 0, 2 * N - 1),
        (tiny_beside, 2 * 2 * 2 * 2, 2 * N - 1),
        (gathered, 0, N + 1),
    ],
)
def test_arithmetic_counts_however_it_is_written(body, least: int, time: int) -> None:
    """What runs beside each hop, and how long all takes where a hop takes as long as the product of one block."""
    program = read(body)
    names = [c.name for c in program.collectives]
    found = overlaps(program.hlo, names)
    assert found is not None
    assert least <= min(o.beside for o in found) < least + ONE / 4
    lasts = longest_overlap(program.hlo, dict.fromkeys(names, float(ONE)))
    assert lasts is not None
    assert time * ONE <= lasts < (time + 0.25) * ONE


def test_unknown_rounds_take_unknown_time() -> None:
    """Nobody knows how long a loop lasts that runs nobody knows how often, or has too many operations to follow."""

    def often(x, w):
        return lax.fori_loop(0, 5000, lambda _, y: jnp.sin(y), hop(x)) @ w

    program = read(often)
    assert longest_overlap(program.hlo, {c.name: 1.0 for c in program.collectives}) is None
