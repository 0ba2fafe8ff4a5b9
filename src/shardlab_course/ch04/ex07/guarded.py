"""Chapter 4, the programs of 4.7: products over a cut dimension, whose sum each device should have whole."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from shardlab_course.shared.guarded import Guarded, Program, Situation, constrained, mapped, partly_exchanged, settled, whole
from shardlab_judge.cases import axes
from shardlens import Axes


def cheap(facts: Mapping[str, Any]) -> bool:
    """An all-reduce of the output at most."""
    sent = 2 * math.prod(facts["outputs"][0]["shape"]) * 4
    return facts["price"] is not None and facts["price"] <= sent


def _body(mesh: Any, body: Any, out: Any = (), *, check: bool = True) -> Any:
    import jax

    return mapped(mesh, body, (jax.P(None, "x"), jax.P("x", None)), jax.P(*out), check=check)


def summed(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    return _body(mesh, lambda a, b: jax.lax.psum(a @ b, "x"))(A, B)


def compiled(mesh: Any, A: Any, B: Any) -> Any:
    return constrained(mesh, A @ B)


def halves(mesh: Any, A: Any, B: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def body(a: Any, b: Any) -> Any:
        left, right = jnp.split(b, 2, axis=1)
        first = jax.lax.psum(a @ left, "x")
        # A product of the first sum keeps the two apart: XLA for CPU would put them together.
        return jnp.concatenate([first, jax.lax.psum(a @ right + 0 * first[:1, :1], "x")], axis=1)

    return _body(mesh, body)(A, B)


def in_two_steps(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    def body(a: Any, b: Any) -> Any:
        part = jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True)
        return jax.lax.all_gather(part, "x", axis=0, tiled=True, to="invarying")

    return _body(mesh, body)(A, B)


def in_a_loop(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    def body(a: Any, b: Any) -> Any:
        rows = a.reshape(4, -1, a.shape[1])
        return jax.lax.map(lambda some: jax.lax.psum(some @ b, "x"), rows).reshape(-1, b.shape[1])

    return _body(mesh, body)(A, B)


def transposed(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    return _body(mesh, lambda a, b: jax.lax.psum(b.T @ a.T, "x").T)(A, B)


def part_exchanged(mesh: Any, A: Any, B: Any) -> Any:
    return _body(mesh, lambda a, b: partly_exchanged(a @ b, "x"), check=False)(A, B)


def unsummed(mesh: Any, A: Any, B: Any) -> Any:
    return _body(mesh, lambda a, b: a @ b, check=False)(A, B)


def twice(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    return _body(mesh, lambda a, b: jax.lax.psum(jax.lax.psum(a @ b, "x"), "x"), check=False)(A, B)


def averaged(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    return _body(mesh, lambda a, b: jax.lax.pmean(a @ b, "x"))(A, B)


def gathered(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    def body(a: Any, b: Any) -> Any:
        gather = jax.lax.all_gather
        return gather(a, "x", axis=1, tiled=True, to="invarying") @ gather(b, "x", axis=0, tiled=True, to="invarying")

    return _body(mesh, body)(A, B)


def terms_gathered(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    return _body(mesh, lambda a, b: jax.lax.all_gather(a @ b, "x", to="invarying").sum(0))(A, B)


def left_cut(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    body = lambda a, b: jax.lax.psum_scatter(a @ b, "x", scatter_dimension=0, tiled=True)  # noqa: E731
    return _body(mesh, body, ("x", None))(A, B)


def columns_left_cut(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    body = lambda a, b: jax.lax.psum_scatter(a @ b, "x", scatter_dimension=1, tiled=True)  # noqa: E731
    return _body(mesh, body, (None, "x"))(A, B)


def until_settled(mesh: Any, A: Any, B: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def body(a: Any, b: Any) -> Any:
        term, parts = a @ b, jax.lax.axis_size("x")
        return settled(
            lambda total: total + jax.lax.psum(term - total / parts, "x"), jnp.zeros((a.shape[0], b.shape[1]), a.dtype)
        )

    return _body(mesh, body)(A, B)


def narrow(mesh: Any, A: Any, B: Any) -> Any:
    import jax
    import jax.numpy as jnp

    def body(a: Any, b: Any) -> Any:
        return jax.lax.psum((a @ b).astype(jnp.bfloat16), "x").astype(jnp.float32)

    return _body(mesh, body)(A, B)


def each_round(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    def body(a: Any, b: Any) -> Any:
        pieces = a.reshape(a.shape[0], 4, -1).swapaxes(0, 1), b.reshape(4, -1, b.shape[1])
        step = lambda total, ab: (total + jax.lax.psum(ab[0] @ ab[1], "x"), None)  # noqa: E731
        return jax.lax.scan(step, 0 * jax.lax.psum(a[:, :1] @ b[:1], "x"), pieces)[0]

    return _body(mesh, body)(A, B)


def another_besides(mesh: Any, A: Any, B: Any) -> Any:
    import jax

    def body(a: Any, b: Any) -> Any:
        total = jax.lax.psum(a @ b, "x")
        few = total.shape[0] // 4
        return total.at[:few].add(1e-30 * jax.lax.psum(total[:few] * a.sum(), "x"))

    return _body(mesh, body)(A, B)


def _at(
    mesh: Axes, rows: int, inner: int, columns: int, target: str | None = None, *without: str, only: str = ""
) -> Situation:
    arrays = (((rows, inner), (None, "x"), "float32"), ((inner, columns), ("x", None), "float32"))
    return Situation(mesh, arrays, target, without, (only,) if only else (), (only,) if only else ())


GUARDED = Guarded(
    programs=(
        Program("summed", True, "products of blocks, and one psum", summed, public=True),
        Program("compiled", True, "A @ B and a constraint, left to the compiler", compiled),
        Program("halves", True, "one psum for each half of the columns", halves, public=True),
        Program("in-two-steps", True, "a reduce-scatter and an all-gather, which are an all-reduce", in_two_steps,
                public=True),
        Program("in-a-loop", True, "a psum for a quarter of the rows, four times", in_a_loop),
        Program("transposed", True, "the product of the transposes, transposed", transposed),
        Program("on-one", True, "one psum along an axis of one device, which moves nothing", summed),
        Program("part-exchanged", True, "a psum of all rows but one, whose terms two devices exchange", part_exchanged),
        Program("unsummed", False, "nobody adds the terms up", unsummed, public=True),
        Program("twice", False, "the sum is summed again", twice),
        Program("averaged", False, "pmean in place of psum", averaged),
        Program("gathered", False, "both arguments are gathered first", gathered, public=True),
        Program("terms-gathered", False, "all terms are gathered, and each device adds them up", terms_gathered),
        Program("left-cut", False, "a reduce-scatter, after which each device has some rows only", left_cut, public=True),
        Program("columns-left-cut", False, "a reduce-scatter, after which each device has some columns only",
                columns_left_cut, public=True),
        Program("until-settled", False, "a psum in a loop that ends when the sum changes no more",
                until_settled, public=True),
        Program("narrow", False, "terms are added up in bfloat16", narrow, public=True),
        Program("each-round", False, "a loop of four rounds, with a psum of the whole output in each",
                each_round, public=True),
        Program("another-besides", False, "a second psum that nobody needs, of a quarter of the rows",
                another_besides, public=True),
    ),
    situations=(
        _at(axes(x=4, y=2), 8, 192, 12),
        _at(axes(x=2, y=4), 16, 256, 20, None, "terms-gathered"),  # of two devices these cost what the sum does
        _at(axes(x=8), 24, 640, 8),
        # Tiles of v5e give a part of the columns the bytes of the whole.
        # XLA for v5e makes an all-reduce of so small a reduce-scatter, and the all-gather comes on top.
        _at(axes(x=8), 16, 2048, 128, "v5e:2x4", "in-two-steps", "columns-left-cut"),
        _at(axes(x=1, y=8), 8, 64, 12, only="on-one"),
        _at(axes(x=2, y=4), 16, 256, 20, only="part-exchanged"),
    ),
    right=lambda A, B: np.asarray(A, np.float64) @ np.asarray(B, np.float64),
    rules={"V": lambda facts: facts["error"] < 1e-5, "S": whole, "H": cheap},
)  # fmt: skip
