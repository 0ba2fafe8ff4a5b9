"""How often loops run: formulas, loops whose source is known, compiled here and for a TPU, and what data decides."""

import importlib.util
import itertools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

from shardlens.programs.inspection import inspect
from shardlens.reading.calls import calls
from shardlens.reading.frames import first_false
from shardlens.reading.integers import COMPARE

X = jax.ShapeDtypeStruct((8, 128), "float32")
TARGETS = (
    "cpu",
    pytest.param("v5e:2x4", marks=pytest.mark.skipif(not importlib.util.find_spec("libtpu"), reason="no libtpu")),
)
Loop = Callable[[jax.Array], Any]


def work(_: Any, x: jax.Array) -> jax.Array:
    return jnp.sin(x)


def until(first: int, goes_on: Callable[[Any], Any], then: Callable[[Any], Any], dtype: str = "int32") -> Loop:
    """A `while_loop` with a counter."""

    def f(x: jax.Array) -> Any:
        start = (jnp.asarray(first, dtype), x)
        return lax.while_loop(lambda s: goes_on(s[0]), lambda s: (then(s[0]), jnp.sin(s[1])), start)

    return f


def triangle(x: jax.Array) -> jax.Array:
    return lax.fori_loop(0, 5, lambda i, x: lax.fori_loop(i, 7, work, x), x)


def bound_from_first_loop(x: jax.Array) -> jax.Array:
    n, x = lax.fori_loop(0, 4, lambda i, s: (s[0] + i, jnp.sin(s[1])), (jnp.int32(0), x))
    return lax.fori_loop(0, n, lambda _, x: jnp.cos(x), x)


def passed_through(x: jax.Array) -> jax.Array:
    """The bound lies in the state of both loops."""

    def outer(_: Any, s: Any) -> Any:
        n, x = s
        return n, lax.while_loop(lambda t: t[0] < t[1], lambda t: (t[0] + 1, t[1], jnp.sin(t[2])), (jnp.int32(0), n, x))[2]

    return lax.fori_loop(0, 3, outer, (jnp.int32(9), x))[1]


def rotated(x: jax.Array) -> Any:
    """Two counters that change places in each round."""
    start = (jnp.int32(0), jnp.int32(100), x)
    return lax.while_loop(lambda s: s[0] + s[1] < 130, lambda s: (s[1] + 1, s[0] + 2, jnp.sin(s[2])), start)


def scanned(**options: Any) -> Loop:
    """A scan of twelve rounds that keeps each round's value."""
    return lambda x: lax.scan(lambda x, w: (jnp.sin(x) * w, jnp.sum(x)), x, jnp.arange(12, dtype=x.dtype), **options)


def many(x: jax.Array) -> jax.Array:
    return lax.fori_loop(0, 1_000_000, work, x)


KNOWN: dict[str, tuple[Loop, list[int]]] = {
    "scan": (scanned(), [12]),
    "scan backwards": (scanned(reverse=True), [12]),
    "scan unrolled by three": (scanned(unroll=3), [4]),
    "scan of a remainder": (scanned(unroll=5), [2]),
    "fori_loop": (lambda x: lax.fori_loop(2, 9, work, x), [7]),
    "a million rounds": (many, [1_000_000]),
    "bound that is traced": (lambda x: lax.fori_loop(0, jnp.int32(3) * 4 + x.shape[0], work, x), [20]),
    "downwards by three": (until(20, lambda i: i > 2, lambda i: i - 3), [6]),
    "up to and with": (until(1, lambda i: i <= 10, lambda i: i + 4), [3]),
    "until equal": (until(12, lambda i: i != 0, lambda i: i - 3), [4]),
    "not": (until(0, lambda i: ~(i >= 6), lambda i: i + 1), [6]),
    "both of two": (until(0, lambda i: (i < 9) & (i * i < 30), lambda i: i + 1), [6]),
    "doubled": (until(1, lambda i: i < 1000, lambda i: i * 2), [10]),
    "Collatz": (until(27, lambda i: i != 1, lambda i: jnp.where(i % 2 == 0, i // 2, 3 * i + 1)), [111]),
    "towards zero": (until(-40, lambda i: i < 0, lambda i: lax.div(i, 3)), [4]),
    "a remainder below zero": (until(-20, lambda i: i < 0, lambda i: lax.rem(i, 7) + 5), [2]),
    "eight bits": (until(0, lambda i: i < 100, lambda i: i + 1, "uint8"), [100]),
    "unsigned": (until(3, lambda i: i < 40, lambda i: i + 5, "uint32"), [8]),
    "counters that change places": (rotated, [10]),
    "nested": (lambda x: lax.fori_loop(0, 3, lambda _, x: lax.fori_loop(0, 5, work, x), x), [3, 15]),
    "triangle": (triangle, [5, 7 + 6 + 5 + 4 + 3]),
    "bound from a loop": (bound_from_first_loop, [4, 6]),
    "bound in the state": (passed_through, [3, 27]),
    "vmap": (lambda x: jax.vmap(lambda row: lax.fori_loop(0, 6, work, row))(x), [6]),
    "gradient": (jax.grad(lambda x: jnp.sum(lax.scan(lambda x, _: (jnp.sin(x), None), x, None, length=11)[0])), [11, 11]),
    "map": (lambda x: lax.map(jnp.sum, x), [8]),
}
UNKNOWN: dict[str, Loop] = {
    "until small": lambda x: lax.while_loop(lambda x: jnp.sum(x) > 1, lambda x: x * 0.5, x),
    "bound from data": lambda x: lax.fori_loop(0, jnp.sum(x).astype(int), work, x),
    "at most, or until small": lambda x: lax.while_loop(
        lambda s: (s[0] < 50) & (jnp.sum(s[1]) > 1), lambda s: (s[0] + 1, s[1] * 0.5), (0, x)
    ),
}


def text_of(f: Loop, target: str) -> str:
    """The compiled text of one device's program."""
    if target == "cpu":
        return jax.jit(f).lower(X).compile().as_text()
    from shardlens.compilers.topology import devices

    one = jax.sharding.SingleDeviceSharding(devices(target)[0])
    with jax.default_device(devices(target)[0]):
        return jax.jit(f).lower(jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=one)).compile().as_text()


@pytest.mark.thorough(after=6)
@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", KNOWN)
def test_rounds(name: str, target: str) -> None:
    """Each loop that the compiler has left runs as often as the source says; those that it wrote out are none."""
    f, rounds = KNOWN[name]
    found = [loop.rounds for loop in calls(text_of(f, target)).loops.values()]
    assert None not in found and (sorted(found) == rounds or (written_out(found, rounds))), found


def written_out(found: list[Any], rounds: list[int]) -> bool:
    """Whether the compiler wrote inner loops out, or went over two or more rounds in one, and left others as they are."""
    return all(any(many % each == 0 for many in rounds) for each in found if each)


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("name", UNKNOWN)
def test_data_decides(name: str, target: str) -> None:
    """Nothing is guessed where data decides."""
    assert [loop.rounds for loop in calls(text_of(UNKNOWN[name], target)).loops.values()] == [None]


@pytest.mark.parametrize("compare", COMPARE)
def test_formula(compare: str) -> None:
    """The formula says what counting says."""
    for first, step in itertools.product(range(-9, 10), range(-4, 5)):
        counted = next((n for n in range(50) if not COMPARE[compare](first + step * n, 0)), None)
        assert first_false(first, step, compare) == counted, (first, step)


@pytest.mark.thorough
def test_a_loop_and_the_same_written_out() -> None:
    """A scan of layers costs the FLOPs of the same layers one after the other."""
    weights = jax.ShapeDtypeStruct((6, 128, 128), "float32")

    def layer(x: jax.Array, w: jax.Array) -> tuple[jax.Array, None]:
        return jnp.maximum(x @ w, 0), None

    def whole(ws: jax.Array, x: jax.Array, unroll: int) -> jax.Array:
        return lax.scan(layer, x, ws, unroll=unroll)[0]

    looped, written = (inspect(lambda w, x, n=n: whole(w, x, n), weights, X) for n in (1, 6))
    assert looped.flops == pytest.approx(written.flops, rel=1e-3) and looped.flops > 6 * 2 * 8 * 128 * 128
    assert looped.cost("v5e").compute == pytest.approx(written.cost("v5e").compute, rel=1e-3)
    assert looped.cost("v5e").bound == written.cost("v5e").bound


def test_unknown_flops_are_said() -> None:
    """Where data decides, FLOPs are not known, the table says so, and the model counts one round and says so."""
    program = inspect(UNKNOWN["until small"], X)
    assert program.flops is None and "FLOPs a device: ?" in str(program)
    assert program.cost("v5e").flops == program.least_flops > 0
    assert "its FLOPs count once" in str(program.cost("v5e"))


@pytest.mark.parametrize("outer, depth", [(40, 4000), (200, None)])
def test_rounds_inside_of_rounds_are_followed_together(outer: int, depth: int | None) -> None:
    """Loops in loops multiply, so one number bounds the rounds of all; above it the depth is unknown."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))

    def summed(_: Any, x: jax.Array) -> jax.Array:
        return lax.psum(x, "x")

    def nested(x: jax.Array) -> jax.Array:
        return lax.fori_loop(0, outer, lambda _, x: lax.fori_loop(0, 100, summed, x), x)

    f = jax.shard_map(nested, mesh=mesh, in_specs=jax.P("x"), out_specs=jax.P("x"), check_vma=False)
    assert inspect(f, jax.ShapeDtypeStruct((8,), "float32")).depth == depth
