"""`plan`: which collectives a contraction of sharded arrays needs, before anything runs."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from shardlab.errors import ShardingError
from shardlab.planner.chain import Chain
from shardlab.planner.contraction import Contraction, contraction
from shardlab.planner.operands import MeshLike, Place, layouts, place_of
from shardlab.planner.plans import Plan

NARROW = ("bfloat16", "float16")


def plan(text: str, *operands: Any, out: str | None = None, mesh: MeshLike = None, dtype: Any = None) -> Plan:
    """What a contraction of sharded arrays sends, computes and holds on one device, known before anything runs.

    Several products are made from left to right, as `A @ B @ C @ D` is.

    Args:
        text: dimensions of the arrays and of their product, `"b x, x y -> b y"`.
        operands: an expression for each array, of which the right side is enough (`"x* y"`), then a shape for each: tuples,
            or arrays and `jax.ShapeDtypeStruct`s, whose shapes are taken.
        out: an expression for the product; where it comes out by itself unless given.
        mesh: a mesh, or names and sizes of axes, `{"data": 4, "model": 2}`; as for `einshard` unless given.
        dtype: of all arrays; float32 unless they have one.
    Raises:
        ShardingError: the contraction or an expression cannot be read, or they do not fit the shapes.
    Example:
        >>> p = plan("b x, x y -> b y", "* b x", "x y", (8, 4), (4, 2), mesh={"data": 1})
        >>> p.payload_bytes, p.flops
        (0, 128.0)
    """
    said = contraction(text)
    expressions = [operand for operand in operands if isinstance(operand, str)]
    given = operands[len(expressions) :]
    _need_expressions(said, operands, expressions)
    shapes, dtypes = _shapes(given)
    return make(said, expressions, shapes, out, place_of(mesh), np.dtype(dtype or next(iter(dtypes), "float32")))


def make(
    said: Contraction, expressions: Sequence[str], shapes: Sequence[Sequence[int]], out: str | None, place: Place, dtype: Any
) -> Plan:
    """The plan of what has been read."""
    sizes = said.sizes(shapes)
    names, texts, all_shapes = list(said.operands), list(expressions), list(shapes)
    if out is not None:
        names, texts, all_shapes = [*names, said.output], [*texts, out], [*all_shapes, [sizes[n] for n in said.output]]
    found = layouts(said, names, texts, all_shapes, place)
    output = found[-1] if out is not None else None
    return planned(Chain(said, found[: len(shapes)], output, str(dtype), dtype.itemsize), place.mesh)


def planned(chain: Chain, mesh: Any = None) -> Plan:
    """The plan of a chain."""
    promoted = chain.dtype in NARROW
    sent = dataclasses.replace(chain, dtype="float32", itemsize=4) if promoted else chain
    return Plan(chain, chain.textbook(), sent.compiler(), mesh, promoted)


def _need_expressions(said: Contraction, operands: Sequence[Any], expressions: Sequence[str]) -> None:
    n = len(said.operands)
    if len(expressions) != n or any(isinstance(operand, str) for operand in operands[len(expressions) :]):
        raise ShardingError(
            "expressions-do-not-fit", f"{n} arrays are multiplied, and expressions are written for {len(expressions)}.",
            where=f'"{said.text}"   ' + "   ".join(f'"{text}"' for text in expressions),
            mend="write one expression for each array, then one shape for each.",
        )  # fmt: skip


def _shapes(given: Sequence[Any]) -> tuple[list[tuple[int, ...]], list[Any]]:
    """Shapes one by one or together in one tuple, and the dtypes of those that have one."""
    if len(given) == 1 and isinstance(given[0], Sequence) and any(not isinstance(n, int) for n in given[0]):
        given = given[0]
    return [tuple(int(n) for n in getattr(x, "shape", x)) for x in given], [x.dtype for x in given if hasattr(x, "dtype")]
