"""Where two programs that should compute the same part: the first value that is wrong, and what it is instead."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from shardlens.compilers.callables import need_arrays, need_function
from shardlens.diverging.comparison import Comparison, First
from shardlens.diverging.numbers import FloatArray, comparable
from shardlens.diverging.record import OUTPUT, NamedValues, Traced
from shardlens.diverging.sums import too_large
from shardlens.errors import LensError
from shardlens.tables import Table, Tabled, read_bytes

FETCH = "256 MB"
LONG = 12
"""Rows of a table that has one by class below it if there are more."""
CLASSES = ("class", "values", "apart", "first apart", "of its own")


@dataclasses.dataclass(frozen=True, repr=False)
class Divergence(Tabled):
    """Two programs side by side: a row for each name in the plain program's order, and the first that differs.

    Args:
        rows: cells of the table.
        first: where they differ; `None` if they nowhere do.
        notes: what was not compared, and what is a guess.
        classes: cells of the table `by_class`, which a long table has below it.
    Example:
        >>> made = diverge(lambda x: lens.name(x * 2, "y") + 1, lambda x: lens.name(x * 6, "y") + 1, np.ones(3, np.float32))
        >>> made.first.name, made.first.instead
        ('y', '3 times the plain value')
    """

    rows: tuple[tuple[str, ...], ...]
    first: First | None
    notes: tuple[str, ...]
    classes: tuple[tuple[str, ...], ...] = ()

    @property
    def by_class(self) -> Table:
        """A row for each class of values: how many there are, how many differ, the first of these, the largest error.

        Classes are gradients and activations, by the first part of their names with numbers as `*`; what an argument has
        become, as a step's parameters; and other outputs.
        """
        return Table(CLASSES, ("left", "right", "right", "left", "right"), self.classes)

    def _table(self) -> Table:
        columns = ("", "name", "value", "what the blocks are", "error", "of its own", "rounding")
        sides = ("left", "left", "left", "left", "right", "right", "right")
        said = str(self.first) if self.first else "no value differs from the plain one by more than rounding"
        units = "errors in rounding units of the largest element; rounding: the largest own error that it explains"
        after = self.by_class if len(self.rows) > LONG else None
        return Table(columns, sides, self.rows, (units, *self.notes, *said.splitlines()), after=after)


def diverge(plain: Any, parallel: Any, *args: Any, fetch: int | str = FETCH) -> Divergence:
    """Runs two programs on the same input, and says which named value is the first that is not the same.

    A value in a `shard_map` is compared block by block, as what it is of the plain value: cut, a copy, or a term of a sum.
    Each value is compared with what the plain program makes of the parallel program's values before it, so that an error
    that grew from earlier ones is no new fault. What rounding explains is measured: the plain program also runs with the
    result of each operation moved by a unit of rounding.

    Args:
        plain, parallel: functions, or the `NamedValues` that `record` made of one. Values have their names from
            `jax.ad_checkpoint.checkpoint_name` or `lens.name`. What a module of Flax returns has the module's path as its
            name, and derivatives of named values are named too. Where the programs have no name in common, matrix products
            are compared in order, which is a guess.
        args: arguments of both, arrays. The plain program gets them without their shardings.
        fetch: bytes, or "256 MB". A floating-point value of which a program would give more is not fetched: the devices
            make sums of its neighbouring elements, so many that these fit, and the sums are compared. Both have to be
            functions.
    Raises:
        LensError: an argument is no array, or nothing can be compared.
    Example:
        >>> x = np.arange(6, dtype=np.float32)
        >>> double = lambda x: lens.name(x * 2, "double")
        >>> diverge(lambda x: double(x).sum(), lambda x: double(x)[::-1].sum(), x).first is None
        True
    """
    for f in (plain, parallel):
        if not isinstance(f, NamedValues):
            need_function(f)
    need_arrays(args, {}, led=False)
    _need_arrays(args)
    given = (jax.tree.map(_whole, args), args)
    sides = [
        f if isinstance(f, NamedValues) else Traced(f, given[n], shaken=n == 0) for n, f in enumerate((plain, parallel))
    ]
    names = [{site.name for site in f.sites} if isinstance(f, Traced) else {tap.name for tap in f.taps} for f in sides]
    notes: tuple[str, ...] = ()
    if not names[0] & names[1] - {OUTPUT} and all(isinstance(f, Traced) for f in sides):
        sides = [Traced(f, given[n], shaken=n == 0, guess=True) for n, f in enumerate((plain, parallel))]
        notes = ("The programs have no name in common: products are compared in order, which is a guess.",)
    if isinstance(sides[0], Traced) and isinstance(sides[1], Traced):
        groups = too_large((sides[0].held, sides[1].held), read_bytes(fetch))
        sides[0].sum_up(groups)
        sides[1].sum_up(groups)
    theirs = sides[1] if isinstance(sides[1], NamedValues) else sides[1].recorded(sides[1].run(), ())
    found = Comparison(sides[0], theirs, dict(_named_arguments(plain, args, read_bytes(fetch))))
    return Divergence(tuple(found.rows), found.first, (*notes, *found.notes), tuple(found.classes))


def _need_arrays(args: Any) -> None:
    for path, leaf in jax.tree_util.tree_leaves_with_path(args):
        if isinstance(leaf, jax.ShapeDtypeStruct):
            what = f"the argument args{jax.tree_util.keystr(path)} is a shape without numbers."
            raise LensError("no-numbers", what, where=str(leaf), mend="give arrays: the programs are run.")


def _whole(leaf: Any) -> Any:
    """An argument without its sharding."""
    if not isinstance(leaf, jax.Array) or len(leaf.devices()) == 1:
        return leaf
    if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key):
        return jax.random.wrap_key_data(jnp.asarray(np.asarray(jax.random.key_data(leaf))), impl=jax.random.key_impl(leaf))
    return jnp.asarray(np.asarray(leaf))


def _named_arguments(plain: Any, args: Any, most: int) -> Iterator[tuple[str, FloatArray]]:
    try:
        names = [*inspect.signature(plain).parameters]
    except (TypeError, ValueError):  # stored values, or a function that says nothing of its parameters
        names = []
    for path, leaf in jax.tree_util.tree_leaves_with_path(args):
        first, kind = path[0].idx, jax.typeof(leaf)
        if not jnp.issubdtype(kind.dtype, jax.dtypes.prng_key) and kind.size * kind.dtype.itemsize <= most:
            name = names[first] if first < len(names) else str(first)
            yield f"argument {name}{jax.tree_util.keystr(path[1:])}", comparable(leaf)[None]


def assert_same_values(plain: Any, parallel: Any, *args: Any, fetch: int | str = FETCH) -> Divergence:
    """Fails where `diverge` names a value; the message is its table and its sentence.

    Args:
        plain, parallel, args, fetch: as for `diverge`.
    Raises:
        AssertionError: two values differ by more than rounding explains.
    Example:
        >>> len(assert_same_values(jax.numpy.sin, jax.jit(jax.numpy.sin), np.ones(3, np.float32)).rows)
        1
    """
    __tracebackhide__ = True
    found = diverge(plain, parallel, *args, fetch=fetch)
    if found.first:
        raise AssertionError(str(found))
    return found
