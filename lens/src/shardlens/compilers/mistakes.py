"""Programs that compile, and do not do what was meant: a buffer donated twice, an update in place that is lost."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any


def donated_twice(f: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """A sentence where one array is given twice and donated: JAX compiles that, and running it fails.

    Args:
        f, args, kwargs: as for `inspect`.
    """
    import jax

    if not isinstance(f, type(jax.jit(len))):
        return
    paths = jax.tree_util.tree_flatten_with_path((tuple(args), dict(kwargs)))[0]
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
            given = " and ".join(f"argument {name}" for name in names)
            yield f"{given} are one array, and it is donated: running the program fails. Give each an array of its own."


def lost_updates(f: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Iterator[str]:
    """A sentence where `f` changes a Flax NNX object in place and `jax.jit` drops the change: its update is compiled away.

    Args:
        f, args, kwargs: as for `inspect`.
    """
    import jax

    given = [*args, *kwargs.values()]
    if "flax.nnx" not in sys.modules or type(f).__module__.startswith("flax") or not any(map(_is_nnx, given)):
        return
    inner: Callable[..., Any] = getattr(f, "__wrapped__", f)
    changed: list[str] = []

    def look(args: Any, kwargs: Any) -> Any:
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

    with contextlib.suppress(Exception):  # arguments that jax.jit holds static
        jax.eval_shape(look, tuple(args), dict(kwargs))
    if changed:
        name, more = (
            getattr(f, "__name__", "the function"),
            f" and {len(changed) - 1} more arrays" if len(changed) > 1 else "",
        )
        yield (
            f"{name} changes {changed[0]}{more} in place, and under jax.jit nobody sees it: the update is not compiled."
            " Use nnx.jit, or return what has changed."
        )


def _is_nnx(x: Any) -> bool:
    return any(kind.__module__.startswith("flax.nnx") for kind in type(x).__mro__)
