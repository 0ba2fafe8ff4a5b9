"""Which products could run beside a collective: programs whose graph is known, on the CPU backend."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax
from jax.sharding import AxisType, NamedSharding

from shardlab.programs.program import Program, inspect
from shardlab.programs.reading.overlap import overlaps
from shardlab_judge.cases import Case, Observed

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
