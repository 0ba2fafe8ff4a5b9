"""A program's collectives, memory and lines as plain JSON: what lock files keep, and differences compare."""

from __future__ import annotations

import collections
import importlib.metadata
from collections.abc import Sequence
from typing import Any

from shardlens.programs.memory import Memory
from shardlens.reading.collectives import Collective, price
from shardlens.reading.hlo import parse_hlo
from shardlens.sources import Line, name_of_file

SCHEMA = 1


def facts(listed: Sequence[Collective], memory: Memory, platform: str, target: str | None) -> dict[str, Any]:
    """What a lock file has of a program: see `shardlens.guards.lock.facts`.

    Args:
        listed: its collectives.
        memory: its memory.
        platform: "cpu", "tpu" or "gpu".
        target: what it was compiled for, where that was not the devices here.
    Example:
        >>> facts((), Memory(argument=4, output=4), "cpu", None)["memory"]["argument"]
        4
    """
    package = "libtpu" if platform == "tpu" and target else "jaxlib"  # XLA for GPU has JAX's own version
    counts = collections.Counter(map(sort, listed))
    known = all(c.executions is not None and not c.uncounted for c in listed)
    return {
        "schema": SCHEMA,
        "made_with": {
            "jax": importlib.metadata.version("jax"),
            "compiler": f"XLA for {platform.upper()}, {package} {importlib.metadata.version(package)}",
            "target": target,
        },
        "price": price(listed) if known else None,
        "collectives": [entry(each) | {"count": n} for each, n in sorted(counts.items(), key=repr)],
        "memory": {field: size for field, size in vars(memory).items() if size or field != "host"},
    }


def sort(c: Collective) -> tuple[Any, ...]:
    """All in which two collectives are the same to a lock file."""
    loops = (c.loops or (None,)) if c.executions is None else ()
    return (c.kind, c.axes, c.dtype, c.shape, None if c.uncounted else c.payload_bytes, c.executions, loops)


def entry(of: tuple[Any, ...]) -> dict[str, Any]:
    """A `sort` as a lock file has it."""
    kind, axes, dtype, shape, size, times, loops = of
    made = {"kind": kind, "axes": [*axes], "dtype": dtype, "shape": [*shape], "bytes": size, "times": times}
    return made if times is not None else made | {"loops": [*loops]}


def by_line(listed: Sequence[Collective], hlo: str) -> list[dict[str, Any]]:
    """The price of each line of Python and kind of collective, null where nobody can count it."""
    module, prices = parse_hlo(hlo), dict[tuple[str, str], int | None]()
    instructions = {name: i for inside in module.computations.values() for name, i in inside.items()}
    for c in listed:
        line = module.line(instructions[c.name]) if c.name in instructions else Line()
        key = (f"{name_of_file(line.file)}: {line.text}" if line.text else str(line) or "no line", c.kind)
        so_far, own = prices.get(key, 0), None if c.executions is None or c.uncounted else price((c,))
        prices[key] = None if so_far is None or own is None else so_far + own
    return [{"line": line, "kind": kind, "price": moves} for (line, kind), moves in prices.items()]
