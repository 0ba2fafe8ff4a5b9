"""A program as plain JSON, by `figures.schema.json`: its facts, as a lock file has them, and what else is compared."""

from __future__ import annotations

import collections
import dataclasses
import importlib.metadata
from typing import Any, Protocol

from shardlens.costs.cost import Costed, cost
from shardlens.reading.alive import temporaries
from shardlens.reading.collectives import Collective, price
from shardlens.reading.hlo import parse_hlo
from shardlens.reading.outside import HostCall
from shardlens.sources import Line, name_of_file

SCHEMA = 1


class Told(Costed, Protocol):
    """What plain JSON has of a program beside what costs; `Program` has it."""

    @property
    def warnings(self) -> tuple[str, ...]:
        """What JAX and XLA warned of."""

    @property
    def refused(self) -> str:
        """The compiler's words where the program does not fit."""

    @property
    def price(self) -> int:
        """Bytes that one device moves."""

    @property
    def largest(self) -> int:
        """Bytes of the largest array on one device."""

    @property
    def host_calls(self) -> tuple[HostCall, ...]:
        """What a device sends to its host and takes from it."""

    @property
    def devices(self) -> int:
        """How many it was compiled for."""

    @property
    def depth(self) -> int | None:
        """Collectives that wait for one another."""


def facts(program: Told, target: str | None) -> dict[str, Any]:
    """A program as its lock file has it, lists sorted.

    | key | holds |
    |:--|:--|
    | `schema` | 1 |
    | `made_with` | `jax` (version), `compiler` ("XLA for CPU, jaxlib 0.10.2"), `target` ("v5e:2x4" or null) |
    | `price` | bytes that one device moves, as `Program.price`; null where they cannot be counted |
    | `collectives` | `kind`, `axes`, `dtype`, `shape` and `bytes` of the output, `times` that each runs, `count` |
    | `memory` | bytes on a device: `argument`, `output`, `temp`, `alias`, `peak`, and `host`, if its host has some |

    `bytes` are null where nobody can count them. Where data decides how often a collective runs, `times` is null, and
    `loops` has the rounds of each loop around it, from outside, null where data decides. No line of a file is in it, so
    that it changes only with the program.
    """
    package = "libtpu" if program.platform == "tpu" and target else "jaxlib"  # XLA for GPU has JAX's own version
    counts = collections.Counter(map(sort_of, program.collectives))
    known = all(c.executions is not None and not c.uncounted for c in program.collectives)
    return {
        "schema": SCHEMA,
        "made_with": {
            "jax": importlib.metadata.version("jax"),
            "compiler": f"XLA for {program.platform.upper()}, {package} {importlib.metadata.version(package)}",
            "target": target,
        },
        "price": program.price if known else None,
        "collectives": [as_row(sort) | {"count": n} for sort, n in sorted(counts.items(), key=repr)],
        "memory": {field: size for field, size in vars(program.memory).items() if size or field != "host"},
    }


def figures(program: Told, target: str | None) -> dict[str, Any]:
    """What `Program.to_json` gives: the facts of a lock file, and what else is compared.

    | key | holds |
    |:--|:--|
    | `flops`, `largest` | FLOPs, and the bytes of the largest array |
    | `lines` | of each line of Python and kind of collective the `price`, null where nobody can count it |
    | `seconds` | by the model of the target: `communication`, `lower`, `upper`; null without a target |
    | `host` | calls of the host: bytes `out` and `into`, `executions`, `source` |
    | `devices`, `depth`, `outputs`, `warnings`, `refused` | of the program, as in `Program` |
    | `peak` | the temporary arrays at the peak: `name`, `computation`, `bytes`, `made`, `dies` |
    """
    taken = cost(program, target) if target else None
    seconds = {key: getattr(taken, key) for key in ("communication", "lower", "upper")} if taken else None
    lines, outputs = _by_line(program), [placement.to_json() for placement in program.output_placements]
    more: dict[str, Any] = {"flops": program.flops, "largest": program.largest, "lines": lines, "seconds": seconds}
    more |= {"host": [dataclasses.asdict(call) for call in program.host_calls], "devices": program.devices}
    more |= {"depth": program.depth, "warnings": [*program.warnings], "outputs": outputs, "refused": program.refused}
    more |= {"peak": [dataclasses.asdict(buffer) for buffer in temporaries(program.hlo).buffers]}
    return facts(program, target) | more


def _by_line(program: Told) -> list[dict[str, Any]]:
    module, prices = parse_hlo(program.hlo), dict[tuple[str, str], int | None]()
    instructions = {name: i for inside in module.computations.values() for name, i in inside.items()}
    for c in program.collectives:
        line = module.line(instructions[c.name]) if c.name in instructions else Line()
        key = (f"{name_of_file(line.file)}: {line.text}" if line.text else str(line) or "no line", c.kind)
        so_far, own = prices.get(key, 0), None if c.executions is None or c.uncounted else price((c,))
        prices[key] = None if so_far is None or own is None else so_far + own
    return [{"line": line, "kind": kind, "price": moves} for (line, kind), moves in prices.items()]


def sort_of(c: Collective) -> tuple[Any, ...]:
    """What equal collectives have in common."""
    loops = (c.loops or (None,)) if c.executions is None else ()
    return (c.kind, c.axes, c.dtype, c.shape, None if c.uncounted else c.payload_bytes, c.executions, loops)


def as_row(sort: tuple[Any, ...]) -> dict[str, Any]:
    """The same as a lock file has it."""
    kind, axes, dtype, shape, size, times, loops = sort
    made = {"kind": kind, "axes": [*axes], "dtype": dtype, "shape": [*shape], "bytes": size, "times": times}
    return made if times is not None else made | {"loops": [*loops]}
