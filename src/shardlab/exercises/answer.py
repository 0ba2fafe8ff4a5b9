"""The student's side: an answer becomes data. What a manifest asks for is looked up, called or exported, not judged."""

from __future__ import annotations

import base64
import contextlib
import copy
import functools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from unittest import mock

import jax
import numpy as np

from shardlab.expressions.rules import match
from shardlab.placement import placement_of
from shardlab.programs import stablehlo
from shardlab.situation import situation

Entry = dict[str, Any]
TODO: Entry = {"todo": True}
MISSING: Entry = {"missing": True}
MESSAGE = 2000


class Todo(Exception):
    """The stub's `...` was returned."""


def record(manifest: Mapping[str, Any], namespace: Mapping[str, Any], predictions: Mapping[str, Any]) -> dict[str, Any]:
    """One question's answer as JSON.

    Args:
        manifest: `Question.manifest(seed)`.
        namespace: the student's variables.
        predictions: what `sl.predict` was given for this question, by item.
    """
    variable = manifest["variable"]
    source: Any = namespace
    if variable is not None:
        source = namespace.get(variable, {})
        if source is ...:
            source = dict.fromkeys((item["name"] for item in manifest["items"]), ...)
        if not isinstance(source, Mapping):
            what = f"{variable} is a {type(source).__name__}; it should be a dict with an entry for each part"
            return {"items": {item["name"]: _error(TypeError(what)) for item in manifest["items"]}}
    entries = {}
    for item in manifest["items"]:
        given = predictions if item.get("predicted") else source
        entries[item["name"]] = _entry(item, given[item["name"]]) if item["name"] in given else MISSING
    return {"items": entries}


def plain(value: Any) -> Any:
    """`value` as JSON can hold it: arrays, tuples, specs become lists, sets sorted lists, NumPy scalars numbers, `...` null.

    Raises:
        TypeError: `value` holds something else, or a number that is not finite.
    """
    if value is ... or value is None:
        return None
    if isinstance(value, bool | int | str):
        return value
    if isinstance(value, np.generic | np.ndarray | jax.Array):
        return plain(np.asarray(value).tolist())
    if isinstance(value, float):
        if not math.isfinite(value):
            raise TypeError(f"{value} is not a finite number")
        return value
    if isinstance(value, list | tuple | jax.P):
        return [plain(v) for v in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    raise TypeError(f"{type(value).__name__} is not a number, a text, a list or a dict of these")


def _entry(item: Mapping[str, Any], value: Any) -> Entry:
    if value is ...:
        return TODO
    try:
        match item["kind"]:
            case "placement":
                return {"placement": placement_of(value, tuple(item["shape"])).to_json()}
            case "value":
                return {"value": plain(value)} if not _unfinished(value) else TODO
            case "calls":
                return {"calls": [_call(value, arguments) for arguments in item["calls"]]}
            case "rules":
                return {"calls": [_call(functools.partial(_chosen, value), arguments) for arguments in item["calls"]]}
            case "program":
                return {"programs": _programs(value, item)}
    except Exception as error:
        return _error(error)
    raise ValueError(f"unknown kind of item: {item['kind']}")


def _unfinished(value: Any) -> bool:
    parts = list(value.values()) if isinstance(value, Mapping) else []
    return bool(parts) and all(part is ... or part is None for part in parts)


def _call(function: Callable[..., Any], arguments: list[Any]) -> Entry:
    try:
        returned = function(*copy.deepcopy(arguments))
        return TODO if returned is ... else {"value": plain(returned)}
    except Exception as error:
        return _error(error)


def _chosen(rules: Any, paths: list[str]) -> list[str]:
    """The expression that a table of rules gives each path: patterns are matched here, and never by the judge."""
    return match(paths, rules)


def _programs(function: Callable[..., Any], item: Mapping[str, Any]) -> list[Entry]:
    if not callable(function):
        raise TypeError(f"{item['name']} is a {type(function).__name__}; it should be a function of the mesh and the arrays")
    return [_program(function, case) for case in item["cases"]]


def _program(function: Callable[..., Any], case: Mapping[str, Any]) -> Entry:
    try:
        mesh, specs = situation(case)
        paths: list[str] = []

        def flat(*arrays: jax.Array) -> list[Any]:
            returned = function(mesh, *arrays)
            if returned is ...:
                raise Todo
            leaves = jax.tree_util.tree_leaves_with_path(returned)
            paths[:] = [jax.tree_util.keystr(path) for path, _ in leaves]
            return [leaf for _, leaf in leaves]

        with _quiet_debug(), jax.set_mesh(mesh) if case["explicit"] else contextlib.nullcontext():
            exported = jax.export.export(jax.jit(flat, keep_unused=True), platforms=["cpu"])(*specs)
        module = stablehlo.strip(exported.mlir_module_serialized)
        return {"module": base64.b64encode(module).decode(), "outputs": paths}
    except Todo:
        return TODO
    except Exception as error:
        return _error(error)


@contextlib.contextmanager
def _quiet_debug() -> Iterator[None]:
    # A host callback cannot be exported; printing while debugging should not make an answer wrong.
    def nothing(*args: Any, **kwargs: Any) -> None:
        return None

    with mock.patch.object(jax.debug, "print", nothing), mock.patch.object(jax.debug, "callback", nothing):
        yield


def _error(error: BaseException) -> Entry:
    return {"error": {"type": type(error).__name__, "message": str(error)[:MESSAGE]}}
