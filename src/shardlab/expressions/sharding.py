"""Sharding expressions for JAX: place arrays, constrain them inside `jit`, and make the shardings that JAX asks for."""

from __future__ import annotations

import operator
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

import jax
import numpy as np
from jax.core import Tracer
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from shardlab.errors import ShardingError
from shardlab.expressions.arrays import is_array, shard
from shardlab.expressions.meshes import placing, ready, where
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import axis_spec
from shardlab.expressions.rules import Rules, place_tree

_NUMBERS = frozenset("?bBhHiIlLqQefdFD")
"""NumPy's letters of the types that JAX has too."""


def einshard(x: Any, expr_or_rules: str | Rules, mesh: Mesh | AbstractMesh | None = None) -> Any:
    """`x` on the devices, sharded as the expression says.

    A concrete array (of JAX or NumPy, of one or several processes) is placed; a traced one is constrained, or resharded
    where the mesh axes are Explicit; a `jax.ShapeDtypeStruct` comes back with the sharding.

    Args:
        x: an array, a number, or a tree of them, whose leaves are then treated alike.
        expr_or_rules: an expression; or for a tree ordered pairs of a path pattern and an expression, the first whose
            pattern (a regular expression) is found in a leaf's path, `layers/0/w`, decides. See `dry_run`.
        mesh: the mesh whose axes `@` names; the one of `jax.set_mesh` unless given. Without any, the numbers of the
            expression are for all devices, in the order of `jax.devices()`.
    Raises:
        ShardingError: an expression cannot be read or does not fit; a leaf has no rule, or a rule no leaf.
    Example:
        >>> import numpy as np
        >>> einshard(np.zeros((8, 4)), "batch d -> * batch d").sharding.is_fully_replicated
        True
    """
    if not isinstance(expr_or_rules, str):
        return place_tree(x, expr_or_rules, mesh)
    # The shortest way for what is surely an array of numbers that JAX has; `shard` looks closer at all else.
    known = x.dtype.char in _NUMBERS if type(x) is np.ndarray else isinstance(x, jax.Array) and not isinstance(x, Tracer)
    if known and (sharding := ready(expr_or_rules, x.shape, where(mesh))):
        return jax.device_put(x, sharding)
    return shard(x, expr_or_rules, mesh) if is_array(x) else place_tree(x, [("", expr_or_rules)], mesh)


def make_sharding(
    expr: str, shape_or_ndim: Sequence[int] | int | None = None, mesh: Mesh | AbstractMesh | None = None
) -> NamedSharding:
    """The sharding that an expression names, for `in_shardings`, `out_sharding` and whatever else takes one.

    Args:
        shape_or_ndim: the global shape, whose sizes are then checked, or the number of dimensions; may be left out except
            where `...` stands before a sharded dimension.
        mesh: as for `einshard`.
    Raises:
        ShardingError: the expression cannot be read or does not fit.
    Example:
        >>> make_sharding("a b -> * a b").spec
        P(None, None)
    """
    parse(expr)
    return placing(expr, _shape(shape_or_ndim), where(mesh))


def spec(expr: str, shape_or_ndim: Sequence[int] | int | None = None, mesh: Mesh | AbstractMesh | None = None) -> jax.P:
    """The `jax.P` that an expression names.

    With `@` and without a mesh, it is for any mesh that has the axes. With numbers and without a mesh, it is over the axes
    `axis0`, `axis1`, ... of `make_sharding(expr).mesh`.

    Raises:
        ShardingError: the expression cannot be read or does not fit.
    Example:
        >>> spec("batch d -> batch@(data pipe) d@model")
        P(('data', 'pipe'), 'model')
    """
    if parse(expr).named and mesh is None:
        shape = _shape(shape_or_ndim)
        return jax.P(*axis_spec(expr, len(shape) if isinstance(shape, tuple) else shape))
    return make_sharding(expr, shape_or_ndim, mesh).spec


def _shape(shape_or_ndim: Sequence[int] | int | None) -> tuple[int, ...] | int | None:
    if shape_or_ndim is None:
        return None
    try:
        if isinstance(shape_or_ndim, (str, bytes, Mapping, Set)):
            raise TypeError
        return tuple(map(_size, shape_or_ndim)) if isinstance(shape_or_ndim, Iterable) else _size(shape_or_ndim)
    except (TypeError, ValueError):
        what = "the shape must be a sequence of non-negative whole numbers, or just the number of dimensions."
        where, mend = f"shape_or_ndim={str(shape_or_ndim)[:100]}", "pass x.shape, (8, 4) or 2."
        raise ShardingError("not-a-shape", what, where=where, mend=mend) from None


def _size(n: Any) -> int:
    if isinstance(n, bool) or operator.index(n) < 0:
        raise ValueError
    return operator.index(n)
