"""What a program communicates, as JSON beside its test: one file a program, its schema in `programs.figures.facts`."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from shardlens.compilers.topology import in_slices
from shardlens.guards.amounts import grown
from shardlens.guards.difference import read_figures
from shardlens.guards.failure import Asked, failure
from shardlens.programs.figures import as_row, facts, sort_of
from shardlens.programs.inspection import inspect

UPDATE = "pytest --shardlens-update"
AGAIN = f"{UPDATE}, or shardlens lock --update"
_ALWAYS = ("argument", "output")
_ON_TARGETS = (*_ALWAYS, "temp", "peak")


def locked(
    path: Path,
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    update: bool = False,
    num_slices: int = 1,
    **kwargs: Any,
) -> bool:
    """Whether a program communicates less than its lock file says, so that the file could be renewed.

    Args:
        path: the lock file.
        f, args, target, axes, num_slices, kwargs: as for `inspect`.
        update: write the file.
    Raises:
        AssertionError: there is no lock file, or the program communicates more or needs more memory than it says; with
            another compiler or JAX too, and then the message names both.
        LensError: the file holds something else, or what another version wrote.
    Example:
        >>> import pathlib, tempfile
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "step.json"
        ...     locked(file, lambda x: x + 1, x, update=True), locked(file, lambda x: x + 1, x)
        (False, False)
    """  # fmt: skip
    __tracebackhide__ = True
    target = in_slices(target, num_slices)
    asked = Asked(f, args, target, axes, kwargs)
    program = inspect(f, *args, target=target, axes=axes, **kwargs)
    now = facts(program, target)
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(now, indent=1) + "\n")
        return False
    if not path.exists():
        raise AssertionError(f"there is no {path.name} yet: {UPDATE} writes it.")
    before = read_figures(path, AGAIN)
    faults = [*([program.too_large] if program.refused else []), *_grown(before, now)]
    if faults:
        held = {json.dumps({k: v for k, v in one.items() if k != "count"}) for one in before["collectives"]}
        fresh = [c for c in program.collectives if json.dumps(as_row(sort_of(c))) not in held]
        raise AssertionError(failure([*faults, *_other(before, now, path)], program, fresh, asked))
    return bool(before != now)


def _grown(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What is more than it was, a sentence each."""
    if None not in (now["price"], before["price"]) and now["price"] > before["price"]:
        yield f"one device moves {now['price']:,} bytes; {before['price']:,} are locked"
    if now["price"] is None and before["price"] is not None:
        yield f"not all that it moves can be counted; {before['price']:,} bytes are locked"
    yield from grown(before, now)
    same = before["made_with"]["target"] == now["made_with"]["target"] is not None
    for field in _ON_TARGETS if same else _ALWAYS:
        if now["memory"][field] > before["memory"][field]:
            yield f"memory, {field}: {now['memory'][field]:,} bytes a device; {before['memory'][field]:,} are locked"


def _other(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> Iterator[str]:
    here, there = (", ".join(filter(None, made.values())) for made in (now["made_with"], before["made_with"]))
    if here != there:
        yield f"{path.name} was made with {there}; this is {here}, which may be the reason"
    yield f"if this is intended: {AGAIN}"
