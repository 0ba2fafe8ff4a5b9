"""A function's launches as an answer: what each process returned or raised, or where it was when the time was over."""

from __future__ import annotations

import ast
import dataclasses
import itertools
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.exceptions import MESSAGE
from shardlab.processes.launched import Launched, Process
from shardlab.processes.launching import Sent, launch_calls, sent

Entry = dict[str, Any]
FOLDER = "{folder}"
"""In an argument that is text: an empty folder that all launches of one item share."""


def text(given: Any, item: Mapping[str, Any]) -> Entry:
    """A function as it is sent to processes that are started elsewhere: `{"sent": {...}}`, or `{"todo": True}` of a stub.

    Raises:
        TypeError: it is not a function.
        ShardlabError: it cannot be sent to other processes.
    """
    function = _sent(given, item)
    return {"todo": True} if _is_stub(function.source) else {"sent": dataclasses.asdict(function)}


def launches(given: Callable[..., Any] | Sent, item: Mapping[str, Any]) -> list[Entry]:
    """The entry of every situation of an item's manifest: `{"processes": [...]}`, or `{"todo": True}`.

    Situations with as many processes and devices share one launch, for that takes longer than what runs in it.

    Raises:
        TypeError: it is not a function.
        ShardlabError: it cannot be sent to other processes.
    """
    function = _sent(given, item)
    if _is_stub(function.source):
        return [{"todo": True}] * len(item["cases"])
    with tempfile.TemporaryDirectory(prefix="shardlab-") as folder:
        return _in_folder(function, item, run_folder(folder))


def _sent(given: Any, item: Mapping[str, Any]) -> Sent:
    if not isinstance(given, Sent) and not callable(given):
        raise TypeError(f"{item['name']} is a {type(given).__name__}; it should be a function that each process runs")
    return given if isinstance(given, Sent) else sent(given)


def run_folder(parent: str) -> pathlib.Path:
    """A new folder in another one, so that names which only begin with its own lie in that other one, and go with it."""
    folder = pathlib.Path(parent).resolve() / "run"
    folder.mkdir()
    return folder


def _in_folder(function: Sent, item: Mapping[str, Any], folder: pathlib.Path) -> list[Entry]:
    entries: dict[int, Entry] = {}
    places = sorted(range(len(item["cases"])), key=lambda n: _size(item["cases"][n]))
    for (processes, devices), group in itertools.groupby(places, lambda n: _size(item["cases"][n])):
        numbers = list(group)
        calls = [[placed(a, folder) for a in item["cases"][n]["arguments"]] for n in numbers]
        launched = launch_calls(function, calls, processes, devices, item["seconds"])
        entries |= {n: entry(one) for n, one in zip(numbers, launched)}
        entries |= {n: {"processes": [{"skipped": True}] * processes} for n in numbers[len(launched) :]}
    return [entries[n] for n in range(len(places))]


def placed(argument: Any, folder: pathlib.Path) -> Any:
    """The argument, with the folder in it where it asks for one."""
    return argument.replace(FOLDER, str(folder)) if isinstance(argument, str) else argument


def _size(case: Mapping[str, Any]) -> tuple[int, int]:
    return case["processes"], case["devices"]


def _is_stub(source: str) -> bool:
    """Whether the last thing that it does is to return `...`."""
    body = getattr(ast.parse(source).body[0], "body", [None])
    match body[-1]:
        case ast.Return(value=ast.Constant(value=value)) | ast.Expr(value=ast.Constant(value=value)):
            return value is ...
    return False


def entry(launched: Launched) -> Entry:
    """What all processes said of one situation."""
    if any(process.todo for process in launched.processes):
        return {"todo": True}
    return {"processes": [_process(process) for process in launched.processes]}


def _process(process: Process) -> Entry:
    if process.stopped:
        return {"stopped": process.stopped, "where": process.where}
    if process.error:
        return {"error": process.error}
    if process.status and process.returned is None:
        last = process.output.strip()[-MESSAGE // 2 :]
        return {"error": {"type": "ProcessEnded", "message": f"exit status {process.status}\n{last}"}}
    return {"value": process.returned}
