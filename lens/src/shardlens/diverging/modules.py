"""Flax modules' paths as names of what they return, while a program is traced. Only its user imports Flax."""

from __future__ import annotations

import contextlib
import functools
import sys
from collections.abc import Callable, Iterator
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name

ROOT = "model"
"""The name of what the outermost module returns."""


@contextlib.contextmanager
def named_modules() -> Iterator[None]:
    """While it lasts, each call of a module of Flax names what it returns: `layers/0/attention`, or `model` at the root."""
    with contextlib.ExitStack() as lasting:
        if linen := sys.modules.get("flax.linen"):
            lasting.enter_context(linen.intercept_methods(_named_linen))
        if nnx := sys.modules.get("flax.nnx"):
            lasting.enter_context(_named_nnx(nnx))
        yield


def _named(returned: Any, path: tuple[Any, ...], opaque: type) -> Any:
    prefix = "/".join(map(str, path)) or ROOT

    def named(at: Any, leaf: Any) -> Any:
        return checkpoint_name(leaf, prefix + jax.tree_util.keystr(at)) if isinstance(leaf, jax.Array) else leaf

    return jax.tree_util.tree_map_with_path(named, returned, is_leaf=lambda each: isinstance(each, opaque))


def _named_linen(method: Callable[..., Any], args: Any, kwargs: Any, context: Any) -> Any:
    returned = method(*args, **kwargs)
    if context.method_name != "__call__":
        return returned
    return _named(returned, context.module.path, sys.modules["flax.linen"].Module)


@contextlib.contextmanager
def _named_nnx(nnx: Any) -> Iterator[None]:
    """Every `__call__` that a class of modules defines, replaced: NNX has no place at which a call can be seen."""
    calling: list[tuple[tuple[Any, ...], dict[int, tuple[tuple[Any, ...], Any]]]] = []

    def path_of(module: Any) -> tuple[tuple[Any, ...], dict[int, tuple[tuple[Any, ...], Any]]]:
        above, known = calling[-1] if calling else ((), {})
        if id(module) not in known:  # the outermost, or made again by a transformation, which is known by its caller's path
            found = {id(each): ((*above, *path), each) for path, each in nnx.iter_modules(module)}
            if calling:
                found[id(module)] = (*above, type(module).__name__), module
            known = found
        return known[id(module)][0], known

    def seen(call: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(call)
        def named(self: Any, *args: Any, **kwargs: Any) -> Any:
            here = path_of(self)
            if calling and calling[-1][0] == here[0]:  # a class that calls the one it is derived from
                return call(self, *args, **kwargs)
            calling.append(here)
            try:
                return _named(call(self, *args, **kwargs), here[0], nnx.Module)
            finally:
                calling.pop()

        return named

    usual = [(each, vars(each)["__call__"]) for each in _derived(nnx.Module) if "__call__" in vars(each)]
    for each, call in usual:
        each.__call__ = seen(call)  # type: ignore[method-assign]
    try:
        yield
    finally:
        for each, call in usual:
            each.__call__ = call  # type: ignore[method-assign]


def _derived(above: type) -> set[type]:
    return {above}.union(*map(_derived, above.__subclasses__()))
