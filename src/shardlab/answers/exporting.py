"""A program becomes data: StableHLO, exported for the mesh and the arguments of a case."""

from __future__ import annotations

import base64
import contextlib
import warnings
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import jax

from shardlab.answers.context import situation, undisturbed
from shardlab.exceptions import error
from shardlens import stablehlo

Entry = dict[str, Any]
TODO: Entry = {"todo": True}


class Todo(Exception):
    """The stub's `...` was returned."""


def exported(function: Any, item: Mapping[str, Any]) -> list[Entry]:
    """An entry for each case of an item: the program as base64 of StableHLO, or what became of it instead.

    Args:
        function: a program `function(mesh, *arrays)`.
        item: `name` and `cases`, as a manifest has them; `axes` has other names to export for some axes.
    Raises:
        TypeError: it is not a function.
    """
    if not callable(function):
        raise TypeError(f"{item['name']} is a {type(function).__name__}; it should be a function of the mesh and the arrays")
    return [_program(function, case, item.get("axes", {})) for case in item["cases"]]


def _program(function: Callable[..., Any], case: Mapping[str, Any], axes: Mapping[str, str]) -> Entry:
    try:
        mesh, specs = situation(case)
        paths: list[str] = []

        def flat(*arrays: jax.Array) -> list[Any]:
            returned = function(mesh, *arrays)
            if returned is ...:
                raise Todo
            if returned is None:
                raise TypeError("the function returned None")
            # Leaves and their paths, and not the tree: of a NamedTuple or a dataclass an export cannot write the structure
            # ("Cannot serialize PyTreeDef containing an unregistered type").
            leaves = jax.tree_util.tree_leaves_with_path(returned)
            paths[:] = [jax.tree_util.keystr(path) for path, _ in leaves]
            return [leaf for _, leaf in leaves]

        with _quiet(), undisturbed(), jax.set_mesh(mesh) if case["explicit"] else contextlib.nullcontext():
            # Else an export drops arguments that the program does not use (`module_kept_var_idx`), and the judge's would
            # not fit it.
            jitted = jax.jit(flat, keep_unused=True)
            traced = jitted.trace(*specs).jaxpr
            if given := _donated(traced):
                jitted = jax.jit(flat, keep_unused=True, donate_argnums=given)
            # CPU alone, though programs are compiled for TPUs too: an export for both has a `case` over platforms, in which
            # `all_gather` was counted twice, and by which an answer could show each platform another program.
            found = jax.export.export(jitted, platforms=["cpu"])(*specs)
        module = stablehlo.strip(found.mlir_module_serialized, axes)
        lines = stablehlo.users_lines(found.mlir_module_serialized)
        puts = {"puts": True} if not case["explicit"] and _puts(traced) else {}
        return {"module": base64.b64encode(module).decode(), "outputs": paths, "lines": lines, **puts}
    except Todo:
        return TODO
    except (Exception, SystemExit) as raised:
        return error(raised, function)


def _donated(closed: Any) -> tuple[int, ...]:
    """Positions of the arguments that the student's own `jax.jit` donates: inside of another one that has no effect."""
    places = {variable: i for i, variable in enumerate(closed.jaxpr.invars)}
    given = set()
    for equation in closed.eqns:
        donated = equation.params.get("donated_invars", ())
        given |= {places[v] for v, gone in zip(equation.invars, donated) if gone and v in places}
    return tuple(sorted(given))


def _puts(value: Any) -> bool:
    """Whether a jaxpr, or one inside it, asks `jax.device_put` for a sharding."""
    # Along Auto axes JAX lowers that to nothing on CPUs (`_common_device_put_lowering` in jax/_src/dispatch.py, 0.10), so
    # that the exported program does not show it.
    if isinstance(value, tuple | list):
        return any(map(_puts, value))
    return any(
        equation.primitive.name == "device_put"
        and any(isinstance(to, jax.sharding.Sharding) for to in equation.params["devices"])
        or any(map(_puts, equation.params.values()))
        for equation in getattr(value, "eqns", ())
    )


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    # A host callback cannot be exported; printing while debugging should not make an answer wrong.
    with (
        mock.patch.object(jax.debug, "print", lambda *args, **kwargs: None),
        mock.patch.object(jax.debug, "callback", lambda *args, **kwargs: None),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", "Some donated buffers were not usable")  # the verdict says so
        yield
