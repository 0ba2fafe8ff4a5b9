"""What a program moves by kind and mesh axes, from its facts: what lock files and differences compare. No JAX here."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

Facts = Mapping[str, Any]


@dataclasses.dataclass(frozen=True)
class Moved:
    """Collectives of one kind over the same mesh axes, on one device.

    Args:
        count: how many.
        dtypes: their element types.
        bytes: those of the outputs, times their executions.
        bytes_a_round: those in loops whose number of rounds depends on data, of one round of these.
        uncounted: how many have bytes that cannot be counted.

    Example:
        >>> print(Moved(2, ("f32",), 8192)), print(Moved())
        2 f32, 8,192
        -
        (None, None)
    """

    count: int = 0
    dtypes: tuple[str, ...] = ()
    bytes: int = 0
    bytes_a_round: int = 0
    uncounted: int = 0

    def __str__(self) -> str:
        a_round = f" + {self.bytes_a_round:,} a round" if self.bytes_a_round else ""
        unknown = f" + {self.uncounted} x ?" if self.uncounted else ""
        return f"{self.count} {'+'.join(self.dtypes)}, {self.bytes:,}{a_round}{unknown}" if self.count else "-"


def moved(facts: Facts) -> dict[str, Moved]:
    """By kind and mesh axes, as a table names them; what is in loops of unknown rounds inside of such loops is apart.

    Example:
        >>> one = {"kind": "all-reduce", "axes": ["x"], "dtype": "f32", "bytes": 4, "count": 1}
        >>> one |= {"times": None, "loops": [None, 8]}
        >>> print(moved({"collectives": [one]})["all-reduce over x"])
        1 f32, 0 + 32 a round
    """
    found: dict[str, Moved] = {}
    for one in facts["collectives"]:
        key = f"{one['kind']} over {', '.join(one['axes']) or '-'}"
        loops = one.get("loops", ())
        if (depth := loops.count(None)) > 1:
            key += f", {depth} such loops deep"
        so_far, size = found.get(key, Moved()), (one["bytes"] or 0) * one["count"]
        rounds = math.prod(each for each in loops if each is not None)
        found[key] = Moved(
            so_far.count + one["count"],
            tuple(dict.fromkeys((*so_far.dtypes, one["dtype"]))),
            so_far.bytes + size * (one["times"] or 0),
            so_far.bytes_a_round + size * rounds * (one["times"] is None),
            so_far.uncounted + one["count"] * (one["bytes"] is None),
        )
    return found


def grown(before: Facts, now: Facts) -> list[str]:
    """What moves more than it did, a sentence for each kind and axes: more collectives, more bytes, or bytes nobody counts.

    Example:
        >>> one = {"kind": "all-reduce", "axes": ["x"], "dtype": "f32", "bytes": 4, "times": 1, "count": 1}
        >>> grown({"collectives": [one]}, {"collectives": [one | {"bytes": 8}]})
        ['all-reduce over x: 8 bytes of outputs; 4 are locked']
    """
    had, said = moved(before), []
    for key, has in moved(now).items():
        was = had.get(key, Moved())
        if has.count > was.count:
            kind, _, rest = key.partition(" ")
            said.append(f"{has.count} {kind} {'over groups' if rest == 'over -' else rest}; {was.count} locked")
        if not was.count:
            continue
        if has.bytes > was.bytes:
            said.append(f"{key}: {has.bytes:,} bytes of outputs; {was.bytes:,} are locked")
        if has.bytes_a_round > was.bytes_a_round:
            more = f"{has.bytes_a_round:,} bytes of outputs in a round of a loop whose number of rounds depends on data"
            said.append(f"{key}: {more}; {was.bytes_a_round:,} are locked")
        if has.uncounted > was.uncounted:
            said.append(f"{key}: {has.uncounted} with bytes that cannot be counted; {was.uncounted} locked")
    return said
