"""Observed answers of one question in one launch, since starting processes takes longer than what runs in them."""

from __future__ import annotations

import functools
import itertools
import json
import pathlib
import tempfile
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.processes import launching, recorded
from variants import REFERENCE, Sample


def any_answer(source: str, name: str, arguments: list[Any]) -> Any:
    """What the function `name` of this source returns; it is sent to the processes, so it uses nothing from outside."""
    namespace: dict[str, Any] = {"__name__": "launched"}
    exec(source, namespace)
    return namespace[name](*arguments)


def launches(sample: Sample, among: tuple[Sample, ...], alone: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for `recorded.launches` while one of several samples is recorded; `alone` launches it by itself."""

    def entries(function: Callable[..., Any], item: Mapping[str, Any]) -> Any:
        if _by_itself(sample):
            return alone(function, item)
        shared = _all(among, json.dumps(item, sort_keys=True))
        return shared.get(sample.name) or alone(function, item)

    return entries


@functools.cache
def _all(among: tuple[Sample, ...], manifest: str) -> dict[str, list[recorded.Entry]]:
    """The entries of every sample that the launch came to the end of, by name."""
    item = json.loads(manifest)
    samples = [sample for sample in among if not _by_itself(sample)]
    (size,) = {(case["processes"], case["devices"]) for case in item["cases"]}
    with tempfile.TemporaryDirectory(prefix="shardlab-") as made:
        calls = []
        for sample in samples:
            (parent := pathlib.Path(made) / sample.name).mkdir()
            own = recorded.run_folder(str(parent))
            source = launching.sent(sample.variables()[item["name"]]).source
            calls += [[source, item["name"], [recorded.placed(a, own) for a in c["arguments"]]] for c in item["cases"]]
        launched = launching.launch_calls(any_answer, calls, *size, seconds=len(samples) * item["seconds"])
    ended = list(map(recorded.entry, itertools.takewhile(_came_to_an_end, launched)))
    each = len(item["cases"])
    return {s.name: ended[n * each : (n + 1) * each] for n, s in enumerate(samples) if len(ended) >= (n + 1) * each}


def _by_itself(sample: Sample) -> bool:
    return sample.name == REFERENCE or sample.due.alone


def _came_to_an_end(launched: launching.Launched) -> bool:
    return all(not process.stopped and (not process.status or process.error) for process in launched.processes)
