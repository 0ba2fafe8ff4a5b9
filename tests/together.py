"""Observed answers of one question in one launch, since starting processes takes longer than what runs in them."""

from __future__ import annotations

import functools
import itertools
import json
import pathlib
import runpy
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.processes import launching, recorded

ALONE = "# alone"
"""A line of an answer that is launched by itself: one that hangs, whose end the others would have to wait for."""


def any_answer(source: str, name: str, arguments: list[Any]) -> Any:
    """What the function `name` of this source returns; it is sent to the processes, so it uses nothing from outside."""
    namespace: dict[str, Any] = {"__name__": "launched"}
    exec(source, namespace)
    return namespace[name](*arguments)


def launches(path: pathlib.Path, alone: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for `recorded.launches` while the answer in a file is recorded; `alone` launches that answer by itself."""

    def entries(function: Callable[..., Any], item: Mapping[str, Any]) -> Any:
        if path.stem == "reference" or ALONE in path.read_text().splitlines():
            return alone(function, item)
        shared = _all(path.parent, json.dumps(item, sort_keys=True))
        return shared.get(path.stem) or alone(function, item)

    return entries


@functools.cache
def _all(folder: pathlib.Path, manifest: str) -> dict[str, list[recorded.Entry]]:
    """The entries of every answer in the folder that the launch came to the end of, by name."""
    item = json.loads(manifest)
    paths = [p for p in sorted(folder.glob("*.py")) if p.stem != "reference" and ALONE not in p.read_text().splitlines()]
    (size,) = {(case["processes"], case["devices"]) for case in item["cases"]}
    with tempfile.TemporaryDirectory(prefix="shardlab-") as made:
        calls = []
        for path in paths:
            (parent := pathlib.Path(made) / path.stem).mkdir()
            own = recorded.run_folder(str(parent))
            source = launching.source_of(runpy.run_path(str(path))[item["name"]])
            calls += [[source, item["name"], [recorded.placed(a, own) for a in c["arguments"]]] for c in item["cases"]]
        launched = launching.launch_calls(any_answer, calls, *size, seconds=len(paths) * item["seconds"])
    ended = list(map(recorded.entry, itertools.takewhile(_came_to_an_end, launched)))
    each = len(item["cases"])
    return {p.stem: ended[n * each : (n + 1) * each] for n, p in enumerate(paths) if len(ended) >= (n + 1) * each}


def _came_to_an_end(launched: launching.Launched) -> bool:
    return all(not process.stopped and (not process.status or process.error) for process in launched.processes)
