"""What the book's first page says of compilers, on each of them."""

from __future__ import annotations

import importlib.util
import pathlib

import jax
import pytest

import shardlab as sl

WORDS = " ".join((pathlib.Path(__file__).parents[1] / "jupyter_book" / "intro.md").read_text().split())
AUTO = jax.sharding.AxisType.Auto
needs_libtpu = pytest.mark.skipif(importlib.util.find_spec("libtpu") is None, reason="libtpu is not installed (extra: tpu)")


def programs(target: str | None) -> list[sl.Program]:
    """The page's function, and the same without its first line."""
    mesh = jax.make_mesh((8,), ("x",), axis_types=(AUTO,))
    shapes = ((64, 32), jax.P("x", None)), ((32, 16), jax.P())
    inputs = [jax.ShapeDtypeStruct(shape, "float32", sharding=jax.NamedSharding(mesh, spec)) for shape, spec in shapes]

    def careful(a: jax.Array, b: jax.Array) -> jax.Array:
        return jax.lax.with_sharding_constraint(a, jax.NamedSharding(mesh, jax.P())) @ b

    return [sl.inspect(f, *inputs, target=target) for f in (careful, lambda a, b: a @ b)]


def test_without_the_line_nothing_moves() -> None:
    """And each device does an eighth of the work, as XLA for CPU compiles it."""
    assert "nothing moves, and each device does an eighth of the work. XLA for CPU compiled this page's program" in WORDS
    careful, plain = programs(None)
    assert (careful.kinds, careful.price, plain.price) == ({"all-gather"}, 64 * 32 * 4, 0)
    assert careful.flops is not None and plain.flops == careful.flops / 8


@needs_libtpu
def test_on_a_tpu_half_as_many_bytes() -> None:
    """At its default precision XLA for TPU v5e gathers in bfloat16."""
    assert (
        "XLA for TPU v5e gathers too, but half as many bytes, because at its default precision it multiplies in bfloat16"
        in WORDS
    )
    careful, plain = programs("v5e:2x4")
    assert (careful.kinds, careful.price, plain.price) == ({"all-gather"}, 64 * 32 * 2, 0)
    assert [c.dtype for c in careful.collectives] == ["bf16"]
