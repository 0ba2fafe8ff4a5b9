"""Programs that compile, and do not do what was meant: a buffer donated twice, an update in place that is lost."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator
from typing import Any

from shardlens.compilers.callables import Handed


def donated_twice(given: Handed) -> Iterator[str]:
    """A sentence where one array is given twice and donated: JAX compiles that, and running it fails."""
    import jax

    f, args, kwargs = given.f, given.args, given.kwargs
    if not isinstance(f, type(jax.jit(len))):
        return
    paths = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
    places: dict[int, list[str]] = {}
    for path, leaf in paths:
        if isinstance(leaf, jax.Array):
            places.setdefault(id(leaf), []).append(jax.tree_util.keystr(path[1:]))
    shared = [names for names in places.values() if len(names) > 1]
    if not shared:
        return
    infos = jax.tree_util.tree_flatten_with_path(f.trace(*args, **kwargs).args_info)[0]
    donated = {jax.tree_util.keystr(path[1:]) for path, info in infos if info.donated}
    for names in shared:
        if donated.intersection(names):
            both = " and ".join(f"argument {name}" for name in names)
            yield f"{both} are one array, and it is donated: running the program fails. Give each an array of its own."


def lost_updates(given: Handed) -> Iterator[str]:
    """A sentence where `f` changes a Flax NNX object in place and `jax.jit` drops that change, and the update with it."""
    import jax

    f = given.f
    if "flax.nnx" not in sys.modules or type(f).__module__.startswith("flax") or given.staged:
        return
    if not any(map(_is_nnx, jax.tree.leaves((given.args, given.kwargs), is_leaf=_is_nnx))):
        return
    inner: Callable[..., Any] = getattr(f, "__wrapped__", f)
    changed: list[str] = []
    leaves, tree = jax.tree.flatten((given.args, given.kwargs))
    arrays = {n: leaf for n, leaf in enumerate(leaves) if hasattr(leaf, "shape") and hasattr(leaf, "dtype")}

    def look(arrays: dict[int, Any]) -> Any:
        args, kwargs = jax.tree.unflatten(tree, [arrays.get(n, leaf) for n, leaf in enumerate(leaves)])
        before = jax.tree_util.tree_flatten_with_path((args, kwargs))[0]
        out = inner(*args, **kwargs)
        after = dict(jax.tree_util.tree_flatten_with_path((args, kwargs))[0])
        returned = {id(leaf) for leaf in jax.tree.leaves(out)}
        changed.extend(
            jax.tree_util.keystr(path[1:])
            for path, leaf in before
            if (now := after.get(path)) is not leaf and id(now) not in returned
        )
        return jax.tree.leaves(out)

    with contextlib.suppress(Exception):  # the compiler takes more than NNX does: an object that two arguments share
        jax.eval_shape(look, arrays)
    if changed:
        name, more = (
            getattr(f, "__name__", "the function"),
            f" and {len(changed) - 1} more arrays" if len(changed) > 1 else "",
        )
        yield (
            f"{name} changes {changed[0]}{more} in place, but jax.jit does not see it: the update is not compiled."
            " Use nnx.jit, or return what has changed."
        )


def _is_nnx(x: Any) -> bool:
    return any(kind.__module__.startswith("flax.nnx") for kind in type(x).__mro__)
