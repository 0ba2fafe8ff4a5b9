"""`plan`: from a contraction and expressions to arrays that lie on one mesh."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh

from shardlab.errors import ShardingError
from shardlab.expressions.meshes import mesh_axes, where
from shardlab.expressions.quote import Fault, sharding_error, shown
from shardlab.expressions.resolution import axes_text, resolve, resolve_on
from shardlab.placement import Axes
from shardlab.planner.contraction import Contraction, contraction
from shardlab.planner.layouts import Layout, Names
from shardlab.planner.plans import Plan

MeshLike = Mesh | AbstractMesh | Mapping[str, int] | None
Shapes = Sequence[tuple[int, ...]]


def plan(text: str, *operands: Any, out: str | None = None, mesh: MeshLike = None, dtype: Any = None) -> Plan:
    """The textbook's ways of a contraction of sharded arrays, and what each costs one device in bytes and FLOPs.

    Several products are made from left to right, as `A @ B @ C @ D` is. What a compiler does may be something else:
    `Plan.verify` compiles.

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

    Source: scaling-book, Part 3 (Sharded Matrices and How to Multiply Them), 'Computation With Sharded Arrays'.
    """
    said, n = contraction(text), sum(isinstance(operand, str) for operand in operands)
    expressions, given = list(operands[:n]), list(operands[n:])
    if n != len(said.operands) or not all(isinstance(expression, str) for expression in expressions):
        raise ShardingError(
            "expressions-do-not-fit",
            f"{len(said.operands)} arrays are multiplied, and expressions are written for {n}.",
            where=f'"{said.text}"   ' + "   ".join(f'"{word}"' for word in operands if isinstance(word, str)),
            mend="write one expression for each array, then one shape for each.",
        )
    if len(given) == 1 and isinstance(given[0], Sequence) and any(not isinstance(size, int) for size in given[0]):
        given = list(given[0])  # all shapes in one tuple
    shapes = [tuple(int(size) for size in getattr(array, "shape", array)) for array in given]
    sizes, names = said.sizes(shapes), list(said.operands)
    if out is not None:
        names, expressions, shapes = (
            [*names, said.output],
            [*expressions, out],
            [*shapes, tuple(sizes[name] for name in said.output)],
        )
    axes, devices, own = _place(mesh)
    dtypes = (array.dtype for array in given if hasattr(array, "dtype"))
    named = str(np.dtype(dtype or next(dtypes, "float32")))
    found = layouts(said, names, expressions, shapes, named, axes, devices)
    return Plan(said, found[:n], found[n] if out is not None else None, own)


def _place(mesh: MeshLike) -> tuple[Axes | None, int, Mesh | None]:
    """Axes, devices and mesh: of what is given, or of `jax.set_mesh`, or of all devices, whose axes the expressions make."""
    if isinstance(mesh, Mapping):
        return tuple((str(name), int(size)) for name, size in mesh.items()), math.prod(mesh.values()), None
    found = where(mesh)
    if isinstance(found, (Mesh, AbstractMesh)):
        return mesh_axes(found), found.size, found if isinstance(found, Mesh) else None
    return None, len(jax.devices()), None


def layouts(
    said: Contraction,
    names: Sequence[Names],
    expressions: Sequence[str],
    shapes: Shapes,
    dtype: str,
    axes: Axes | None,
    devices: int,
) -> tuple[Layout, ...]:
    """The placement of each array, over mesh axes that all of them share.

    Raises:
        ShardingError: an expression cannot be read or does not fit, or together they fit no mesh.
    """
    texts = [_full(said, own, text) for own, text in zip(names, expressions)]
    axes = axes or _common(texts, shapes, devices)
    return tuple(_layout(own, text, shape, dtype, axes) for own, text, shape in zip(names, texts, shapes))


def _full(said: Contraction, names: Names, text: Any) -> str:
    """The whole expression of an array of which only the right side may be written; `...` stands for what is left out.

    Raises:
        ShardingError: the expression has dimensions of its own.
    """
    left = " ".join(names)
    if not isinstance(text, str):
        fault = Fault("not-text", f"an expression is text, not {type(text).__name__}", f'write it like "{left}".')
        raise sharding_error(f"<{type(text).__name__}>", [fault])
    own, arrow, right = text.rpartition("->")
    if arrow and own.split() not in (list(names), ["..."]):
        what = f"the contraction gives this array the dimensions {shown(left)}"
        mend = "name the dimensions as the contraction does, or write the right side alone."
        fault = Fault("dimensions-differ", what, mend, ((0, len(own.rstrip())),))
        raise sharding_error(text, [fault], f'in "{said.text}"')
    words = right.split()
    written = {word.rstrip("*0123456789").split("@")[0] for word in words}
    rest = " ".join(name for name in names if name not in written)
    return f"{left} -> " + (" ".join(rest if word == "..." else word for word in words) if "..." in words else right.strip())


def _common(texts: Sequence[str], shapes: Shapes, devices: int) -> Axes:
    """Axes fine enough for all expressions, each of which cuts the devices, in order, at marks of its own.

    Raises:
        ShardingError: no mesh has all the marks.
    """
    sizes = ([size for _, size in resolve(text, shape, devices).axes] for text, shape in zip(texts, shapes))
    marks = sorted({1, devices}.union(*(itertools.accumulate(own, int.__mul__) for own in sizes)))
    if any(b % a for a, b in itertools.pairwise(marks)):
        raise ShardingError(
            "no-common-mesh",
            "the expressions cut the devices in ways that no mesh has together.",
            where="   ".join(f'"{text}"' for text in texts) + f"   {devices} devices",
            mend="write the same numbers in the same order, or name the axes of a mesh with '@'.",
        )
    return tuple((f"axis{i}", b // a) for i, (a, b) in enumerate(itertools.pairwise(marks))) or (("axis0", 1),)


def _layout(names: Names, text: str, shape: tuple[int, ...], dtype: str, axes: Axes) -> Layout:
    """Mesh axes of size 1 cut nothing and are left out."""
    found = resolve_on(text, shape, axes)
    if found is None:
        what = "the axes of the mesh, in their order, do not multiply to the numbers"
        fault = Fault("numbers-off-mesh", what, f"name mesh axes with '@', like 'a@{axes[0][0]}'.")
        raise sharding_error(text, [fault], f"shape {shape}", f"mesh {axes_text(axes)}")
    kept = tuple((axis, size) for axis, size in axes if size > 1) or axes[:1]
    alone = {axis for axis, size in axes if size == 1}
    return Layout(names, shape, tuple(tuple(a for a in cut if a not in alone) for cut in found.entries), kept, dtype)
