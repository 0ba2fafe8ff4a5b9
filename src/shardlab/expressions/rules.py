"""Trees of arrays sharded by a table of rules: path patterns and expressions, the first match decides."""

from __future__ import annotations

import dataclasses
import functools
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding

from shardlab.errors import ShardingError
from shardlab.expressions.arrays import is_array, shard
from shardlab.expressions.meshes import placing, where
from shardlens import Table

Rules = Sequence[tuple[str, str]] | Mapping[str, str]
COLUMNS = ("path", "shape", "expression", "shard shape", "bytes per device")
SIDES = ("left", "left", "left", "left", "right")
MOST_SHOWN = 4


@dataclasses.dataclass(frozen=True)
class Row:
    """One leaf of a dry run: its path, shape and dtype, the expression that applies, and what one device holds of it."""

    path: str
    shape: tuple[int, ...]
    dtype: str
    expression: str
    shard_shape: tuple[int, ...]
    bytes_per_device: int


@dataclasses.dataclass(frozen=True, repr=False)
class DryRun:
    """What `einshard(tree, rules)` would do; prints as a table."""

    rows: tuple[Row, ...]

    @property
    def bytes_per_device(self) -> int:
        """Bytes that one device holds of the whole tree."""
        return sum(row.bytes_per_device for row in self.rows)

    def __rich__(self) -> Table:
        totals = ("total", "", "", "", f"{self.bytes_per_device:,}")
        return Table(COLUMNS, SIDES, tuple(map(_cells, self.rows)), totals=totals)

    def __repr__(self) -> str:
        return str(self.__rich__())

    def _repr_html_(self) -> str:
        return self.__rich__().html()


def place_tree(tree: Any, rules: Rules, mesh: Mesh | AbstractMesh | None = None) -> Any:
    """The tree with every leaf sharded by the first rule whose pattern is found in its path; all or nothing."""
    leaves, treedef = _matched(tree, rules)
    for path, leaf, text in leaves:
        if not isinstance(leaf, jax.core.Tracer):
            _at(path, _sharding, leaf, text, mesh)
    return jax.tree.unflatten(treedef, [_at(path, shard, leaf, text, mesh) for path, leaf, text in leaves])


def dry_run(tree: Any, rules: str | Rules, mesh: Mesh | AbstractMesh | None = None) -> DryRun:
    """What `einshard(tree, rules, mesh)` would do, leaf by leaf; nothing is placed.

    Args:
        tree: arrays or, before any is made, `jax.ShapeDtypeStruct`s as `jax.eval_shape` returns.
    Raises:
        ShardingError: as for `einshard`.
    Example:
        >>> tree = {"w": jax.ShapeDtypeStruct((8, 4), "float32")}
        >>> dry_run(tree, [("w", "x y -> * x y")]).bytes_per_device
        128
    """
    leaves, _ = _matched(tree, [("", rules)] if isinstance(rules, str) else rules)
    return DryRun(tuple(_at(path, functools.partial(_row, path), leaf, text, mesh) for path, leaf, text in leaves))


def _matched(tree: Any, rules: Rules) -> tuple[list[tuple[str, Any, str]], Any]:
    """Path, leaf and expression of each leaf, and the tree's structure."""
    leaves, treedef = jax.tree_util.tree_flatten_with_path(tree)
    if not leaves:
        mend = "pass an array, or a tree with one; a function that returns nothing gives None."
        raise ShardingError("nothing-to-shard", "there is no array here.", where=f"x={str(tree)[:100]}", mend=mend)
    # A leaf's path as rules see it: `layers/0/w`.
    paths = [jax.tree_util.keystr(path, simple=True, separator="/") for path, _ in leaves]
    return [(path, leaf, text) for path, (_, leaf), text in zip(paths, leaves, match(paths, rules))], treedef


def match(paths: Sequence[str], rules: Rules) -> list[str]:
    """The expression of each path.

    Raises:
        ShardingError: a pattern cannot be read, a path has no rule, or a rule decides nothing.
    """
    pairs = list(rules.items()) if isinstance(rules, Mapping) else list(rules) if isinstance(rules, Sequence) else [rules]
    patterns = [_pattern(rule) for rule in pairs]
    chosen = [next((i for i, pattern in enumerate(patterns) if pattern.search(path)), None) for path in paths]
    faults = [*_unmatched(paths, chosen), *_unused(paths, patterns, chosen)]
    if faults:
        reference, what, where_, mend = (list(part) for part in zip(*faults))
        raise ShardingError(reference[0], "; ".join(what) + ".", where="\n".join(where_), mend="\n".join(mend))
    return [pairs[i][1] for i in chosen if i is not None]


def _pattern(rule: Any) -> re.Pattern[str]:
    try:
        pattern, text = rule
        if not (isinstance(pattern, str) and isinstance(text, str)):
            raise TypeError(f"this is {type(pattern).__name__} and {type(text).__name__}")
        return re.compile(pattern)
    except (TypeError, ValueError, re.error, OverflowError, RecursionError) as error:
        raise ShardingError(
            "rule-unreadable",
            f"a rule is a pair of a regular expression and a sharding expression ({error}).",
            where=repr(rule)[:100],
            mend='write rules like [("w1", "x y -> x y*"), (".*", "... -> * ...")].',
        ) from None


def _unmatched(paths: Sequence[str], chosen: Sequence[int | None]) -> Iterator[tuple[str, str, str, str]]:
    left = [path for path, i in zip(paths, chosen) if i is None]
    if left:
        what = f"{len(left)} lea{'f has' if len(left) == 1 else 'ves have'} no rule"
        mend = 'add a rule for each leaf, or a last rule for all others: (".*", "... -> * ...") holds copies.'
        yield "leaf-without-rule", what, "leaves: " + _some(left), mend


def _unused(
    paths: Sequence[str], patterns: Sequence[re.Pattern[str]], chosen: Sequence[int | None]
) -> Iterator[tuple[str, str, str, str]]:
    unused = [i for i in range(len(patterns)) if i not in chosen]
    if not unused:
        return
    shadowed = [i for i in unused if any(patterns[i].search(path) for path in paths)]
    what = f"{len(unused)} rule{'s are' if len(unused) > 1 else ' is'} never used"
    mend = "move it up: an earlier rule takes its leaves." if shadowed else "compare it with the paths, or leave it out."
    tried = "" if shadowed else "   paths: " + _some(paths)
    yield "rule-never-used", what, "rules: " + _some([repr(patterns[i].pattern) for i in unused]) + tried, mend


def _some(words: Sequence[str]) -> str:
    return ", ".join(words[:MOST_SHOWN]) + (f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else "")


def _at(path: str, f: Callable[..., Any], leaf: Any, text: str, mesh: Any) -> Any:
    """`f` of one leaf; a mistake says which."""
    try:
        if is_array(leaf):
            return f(leaf, text, mesh)
    except ShardingError as error:
        raise error.within(f"at {path}" if path else "") from None
    raise ShardingError(
        "leaf-not-array",
        f"a {type(leaf).__name__}{f' of dtype {leaf.dtype}' if isinstance(leaf, np.ndarray) else ''} cannot be sharded.",
        where=f'"{text}"   at {path or "the top"}',
        mend="pass arrays, numbers or jax.ShapeDtypeStruct as the leaves of a tree.",
    )


def _sharding(leaf: Any, text: str, mesh: Mesh | AbstractMesh | None) -> NamedSharding:
    return placing(text, tuple(np.shape(leaf)), where(mesh))


def _row(path: str, leaf: Any, text: str, mesh: Any) -> Row:
    shape = tuple(np.shape(leaf))
    held = _sharding(leaf, text, mesh).shard_shape(shape)
    dtype = jax.typeof(leaf).dtype if not isinstance(leaf, jax.ShapeDtypeStruct) else leaf.dtype
    return Row(path, shape, str(dtype), text, held, math.prod(held) * dtype.itemsize)


def _cells(row: Row) -> tuple[str, ...]:
    dims = f"{row.dtype}[{','.join(map(str, row.shape))}]"
    return (row.path, dims, row.expression, f"[{','.join(map(str, row.shard_shape))}]", f"{row.bytes_per_device:,}")
