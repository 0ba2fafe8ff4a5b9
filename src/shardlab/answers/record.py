"""The student's side: an answer becomes data. What a manifest asks for is looked up, called or exported, not judged."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.answers.exporting import TODO, Entry, exported
from shardlab.answers.own import alone
from shardlab.as_json import as_json
from shardlab.exceptions import error
from shardlab.expressions.rules import match
from shardlens import placement_of, setting

MISSING: Entry = {"missing": True}


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
            return {"items": {item["name"]: error(TypeError(what)) for item in manifest["items"]}}
    entries = {}
    for item in manifest["items"]:
        given = _sent(item) or (predictions if item.get("predicted") else source)
        absent = _misspelt(manifest, source) if given is source else MISSING
        entries[item["name"]] = _entry(item, given[item["name"]]) if item["name"] in given else absent
    return {"items": entries}


def _misspelt(manifest: Mapping[str, Any], source: Mapping[str, Any]) -> Entry:
    """What is said of an entry that is not there: nothing, unless others stand in the dict that nobody asked for."""
    asked = {item["name"] for item in manifest["items"]}
    other = [repr(name) for name in source if name not in asked] if manifest["variable"] is not None else []
    return error(LookupError(f"no such entry in {manifest['variable']}, which has {', '.join(other)}")) if other else MISSING


def _entry(item: Mapping[str, Any], value: Any) -> Entry:
    if value is ...:
        return TODO
    if item["kind"] not in RECORDERS:
        raise ValueError(f"unknown kind of item: {item['kind']}")
    try:
        with setting("jax_traceback_filtering", "off"):  # JAX's own frames know which axes there were
            return RECORDERS[item["kind"]](value, item)
    except (Exception, SystemExit) as raised:
        return error(raised)


def _placement(given: Any, item: Mapping[str, Any]) -> Entry:
    return {"placement": placement_of(given, tuple(item["shape"])).to_json()}


def _value(given: Any, item: Mapping[str, Any]) -> Entry:
    return TODO if _unfinished(given) else {"value": as_json(given)}


def _calls(given: Any, item: Mapping[str, Any]) -> Entry:
    apart = item.get("alone", item.get("kind") == "calls")
    return {"calls": [_call(given, arguments, apart) for arguments in item["calls"]]}


def _rules(given: Any, item: Mapping[str, Any]) -> Entry:
    """The expression that a table gives each path: patterns are matched here, and never by the judge."""
    return _calls(lambda paths: match(paths, given), item)


def _programs(given: Any, item: Mapping[str, Any]) -> Entry:
    return {"programs": exported(given, item)}


def _launches(given: Any, item: Mapping[str, Any]) -> Entry:
    """What several processes said; the function's text where the manifest has no cases, for they are started elsewhere."""
    from shardlab.processes import recorded

    return {"launches": recorded.launches(given, item)} if "cases" in item else recorded.text(given, item)


def _sent(item: Mapping[str, Any]) -> dict[str, Any]:
    """The item's function by its name, where it is not a variable: it came as text, with the manifest."""
    if "sent" not in item:
        return {}
    from shardlab.processes.launching import Sent

    return {item["name"]: Sent(**item["sent"])}


def _design(given: Any, item: Mapping[str, Any]) -> Entry:
    """A layout, and the program exported with its arguments there."""
    if not isinstance(given, Mapping) or set(given) != {"layout", "step"}:
        raise TypeError(f"{item['name']} should be a dict with the keys layout and step")
    layout, arrays = given["layout"], item["arrays"]
    if layout is ... or given["step"] is ... or _unfinished(layout):
        return TODO
    if not isinstance(layout, Mapping) or set(layout) != set(arrays):
        raise TypeError(f"layout should be a dict with a jax.P for each of {', '.join(arrays)}")
    specs = {name: as_json(layout[name]) for name in arrays}
    cases = []
    for case in item["cases"]:
        inputs = [{**asked, "spec": specs[name]} for name, asked in zip(arrays, case["inputs"], strict=True)]
        cases.append({**case, "inputs": inputs})
    return {"layout": specs, "programs": exported(given["step"], {**item, "name": "step", "cases": cases})}


def is_open(value: Any) -> bool:
    """Whether nothing is predicted yet: `...`, or a dict of nothing else."""
    return value is ... or (isinstance(value, dict) and bool(value) and all(v is ... for v in value.values()))


def _unfinished(value: Any) -> bool:
    parts = list(value.values()) if isinstance(value, Mapping) else []
    return bool(parts) and all(part is ... or part is None for part in parts)


def _call(function: Callable[..., Any], arguments: list[Any], apart: bool) -> Entry:
    try:
        # Functions may change the lists that they are given, and later calls must not see it.
        given = copy.deepcopy(arguments)
        returned = alone(function, given) if apart else function(*given)
        return TODO if returned is ... else {"value": as_json(returned)}
    except (Exception, SystemExit) as raised:
        return error(raised, function)


RECORDERS: dict[str, Callable[[Any, Mapping[str, Any]], Entry]] = {
    "placement": _placement,
    "value": _value,
    "calls": _calls,
    "rules": _rules,
    "program": _programs,
    "processes": _launches,
    "design": _design,
}
"""How an answer becomes data, by the kind of item; a kind whose manifest names another one is recorded as that."""
