"""What a program communicates, as JSON beside its test: one file a program, its schema in `facts`."""

from __future__ import annotations

import collections
import importlib.metadata
import json
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from shardlens.programs.inspection import inspect
from shardlens.programs.program import Program
from shardlens.reading.collectives import Collective

SCHEMA = 1
UPDATE = "pytest --shardlens-update"
_ALWAYS = ("argument", "output")
_ON_TARGETS = (*_ALWAYS, "temp", "peak")


def facts(program: Program, target: str | None) -> dict[str, Any]:
    """A program as its lock file has it, lists sorted.

    | key | holds |
    |:--|:--|
    | `schema` | 1 |
    | `made_with` | `jax` (version), `compiler` ("XLA for CPU, jaxlib 0.10.2"), `target` ("v5e:2x4" or null) |
    | `price` | bytes that one device moves, as `Program.price`; null where rounds of a loop are not known |
    | `collectives` | `kind`, `axes`, `dtype`, `shape` and `bytes` of the output, `times` that each runs (or null), `count` |
    | `memory` | bytes on a device: `argument`, `output`, `temp`, `alias`, `peak` |

    No line of a file is in it, so that it changes only with the program.
    """
    package = "libtpu" if target else "jaxlib"
    counts = collections.Counter(map(_sort, program.collectives))
    keys = ("kind", "axes", "dtype", "shape", "bytes", "times")
    known = all(c.executions is not None for c in program.collectives)
    return {
        "schema": SCHEMA,
        "made_with": {
            "jax": importlib.metadata.version("jax"),
            "compiler": f"XLA for {program.platform.upper()}, {package} {importlib.metadata.version(package)}",
            "target": target,
        },
        "price": program.price if known else None,
        "collectives": [
            dict(zip(keys, json.loads(json.dumps(sort)))) | {"count": n} for sort, n in sorted(counts.items(), key=repr)
        ],
        "memory": dict(vars(program.memory)),
    }


def locked(
    path: Path,
    f: Callable[..., Any],
    *args: Any,
    target: str | None = None,
    axes: Mapping[str, int] | None = None,
    update: bool = False,
    **kwargs: Any,
) -> bool:
    """Whether a program communicates less than its lock file says, so that the file could be renewed.

    Args:
        path: the lock file.
        f, args, target, axes, kwargs: as for `inspect`.
        update: write the file.
    Raises:
        AssertionError: there is no lock file, or the program communicates more or needs more memory than it says; with
            another compiler or JAX too, and then the message names both.
    Example:
        >>> import pathlib, tempfile
        >>> x = jax.ShapeDtypeStruct((4,), "float32")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     file = pathlib.Path(folder) / "step.json"
        ...     locked(file, lambda x: x + 1, x, update=True), locked(file, lambda x: x + 1, x)
        (False, False)
    """  # fmt: skip
    __tracebackhide__ = True
    program = inspect(f, *args, target=target, axes=axes, **kwargs)
    now = facts(program, target)
    if update:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(now, indent=1) + "\n")
        return False
    if not path.exists():
        raise AssertionError(f"there is no {path.name} yet: {UPDATE} writes it.")
    before = json.loads(path.read_text())
    if before.get("schema") != SCHEMA:
        raise AssertionError(f"{path.name} has schema {before.get('schema')}, this version writes {SCHEMA}: {UPDATE}.")
    faults = list(_grown(before, now))
    if faults:
        held = {json.dumps({k: v for k, v in one.items() if k != "count"}) for one in before["collectives"]}
        fresh = [c for c in program.collectives if json.dumps(_json(c)) not in held]
        raise AssertionError(explained([*faults, *_other(before, now, path)], fresh, f, args, target, axes, kwargs))
    return bool(before != now)


def explained(
    faults: Sequence[str],
    chosen: Collection[Collective],
    f: Callable[..., Any],
    args: Sequence[Any],
    target: str | None,
    axes: Mapping[str, int] | None,
    kwargs: Mapping[str, Any],
) -> str:
    """What a failed test says: what is more than it may be, and why `chosen` collectives are there."""
    from shardlens.reasons.answer import why

    said = [f"{getattr(f, '__name__', 'the program')} communicates more than it may:", *(f"  {fault}" for fault in faults)]
    try:
        found = why(f, *args, target=target, axes=axes, **kwargs)
        return "\n".join([*said, "", str(found.about(chosen) if chosen else found)])
    except Exception as error:  # the failure itself must not be lost
        return "\n".join([*said, "", f"why could not explain it: {type(error).__name__}: {error}"])


def _grown(before: Mapping[str, Any], now: Mapping[str, Any]) -> Iterator[str]:
    """What is more than it was, a sentence each."""
    if now["price"] is not None and (before["price"] is None or now["price"] > before["price"]):
        yield f"one device moves {now['price']:,} bytes; {_number(before['price'])} are locked"
    if now["price"] is None and before["price"] is not None:
        yield f"a collective is in a loop whose number of rounds is not known; {before['price']:,} bytes are locked"
    had, has = _kinds(before), _kinds(now)
    for (kind, axes), count in has.items():
        if count > had[kind, axes]:
            yield f"{count} {kind} over {axes or 'groups'}; {had[kind, axes]} locked"
    for field in _ON_TARGETS if now["made_with"]["target"] else _ALWAYS:
        if now["memory"][field] > before["memory"][field]:
            yield f"memory, {field}: {now['memory'][field]:,} bytes a device; {before['memory'][field]:,} are locked"


def _other(before: Mapping[str, Any], now: Mapping[str, Any], path: Path) -> Iterator[str]:
    here, there = (", ".join(filter(None, made.values())) for made in (now["made_with"], before["made_with"]))
    if here != there:
        yield f"{path.name} was made with {there}; this is {here}, which may be the reason"
    yield f"if it is meant: {UPDATE}"


def _kinds(facts: Mapping[str, Any]) -> collections.Counter[tuple[str, str]]:
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for one in facts["collectives"]:
        counts[one["kind"], ", ".join(one["axes"])] += one["count"]
    return counts


def _sort(c: Collective) -> tuple[Any, ...]:
    return (c.kind, c.axes, c.dtype, c.shape, c.payload_bytes, c.executions)


def _json(c: Collective) -> dict[str, Any]:
    kind, axes, dtype, shape, size, times = _sort(c)
    return {"kind": kind, "axes": [*axes], "dtype": dtype, "shape": [*shape], "bytes": size, "times": times}


def _number(value: int | None) -> str:
    return "an unknown number of" if value is None else f"{value:,}"
