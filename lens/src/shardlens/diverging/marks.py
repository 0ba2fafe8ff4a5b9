"""Names of values: how a program gives them, and how their cotangents get them while a program is traced here."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import jax
from jax.ad_checkpoint import checkpoint_name
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

COTANGENT = "cotangent of "
_naming = jax.make_user_context(False)


def name(tree: Any, prefix: str) -> Any:
    """The same pytree, each array with a name that `diverge` finds: the prefix and its path.

    Names change neither values nor what is compiled. An array alone gets the prefix.

    Example:
        >>> layer = name({"up": jax.numpy.ones(3)}, "layer")
        >>> jax.make_jaxpr(lambda x: name((x, x), "pair"))(1.0).eqns[1].params["name"]
        'pair[1]'
    """
    return jax.tree_util.tree_map_with_path(lambda path, x: checkpoint_name(x, prefix + jax.tree_util.keystr(path)), tree)


@functools.cache
def name_primitive() -> Any:
    """The primitive that `checkpoint_name` binds, which JAX hands out nowhere."""
    return jax.make_jaxpr(lambda x: checkpoint_name(x, ""))(0.0).eqns[0].primitive


@contextlib.contextmanager
def named_cotangents() -> Iterator[None]:
    """While it lasts, derivatives of named values are traced with names too; what JAX has traced before is traced anew."""
    of_names = name_primitive()
    usual = ad.primitive_jvps[of_names]

    def rule(primals: Any, tangents: Any, *, name: str) -> Any:
        out, tangent = usual(primals, tangents, name=name)
        return out, tangent if type(tangent) is ad.Zero else mark_primitive().bind(tangent, name=name, backward=False)

    ad.primitive_jvps[of_names] = rule
    try:
        with _naming(True):
            yield
    finally:
        ad.primitive_jvps[of_names] = usual


@functools.cache
def mark_primitive() -> Any:
    """An identity whose transpose is itself, marked as backward."""
    mark = Primitive("named_derivative")
    mark.def_impl(lambda x, **_: x)
    mark.def_abstract_eval(lambda x, **_: x)
    mlir.register_lowering(mark, lambda _, x, **__: [x])
    batching.defvectorized(mark)
    ad.deflinear2(mark, lambda cotangent, x, *, name, backward: [mark.bind(cotangent, name=name, backward=not backward)])
    return mark
