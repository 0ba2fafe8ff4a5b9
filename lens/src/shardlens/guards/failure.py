"""What a failed guard says: what is more than it may be, the lines that ask for it, and, where it is asked, why."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

from shardlens.programs.program import Program
from shardlens.reading.collectives import Collective
from shardlens.reasons.answer import explained, heading, why

WHY = "SHARDLENS_WHY"
"""The variable of the environment that asks a failed guard for `why`, which compiles changes and takes that much longer."""
MOST = 6
"""Collectives that a failure tells of, the largest."""
HINT = "what would be cheaper: pytest --shardlens-why, or shardlens lock --why"


class Asked(NamedTuple):
    """What a guard was called with."""

    f: Callable[..., Any]
    args: Sequence[Any]
    target: str | None
    axes: Mapping[str, int] | None
    kwargs: Mapping[str, Any]


def failure(faults: Sequence[str], program: Program, chosen: Collection[Collective], asked: Asked) -> str:
    """The message, about the collectives that are at fault; about all where none is named."""
    name = getattr(asked.f, "__name__", "the program")
    said = [f"{name} communicates more than it may:", *(f"  {fault}" for fault in faults), ""]
    f, args, target, axes, kwargs = asked
    few = sorted(chosen or program.collectives, key=lambda c: -c.payload_bytes)[:MOST]
    try:
        if os.environ.get(WHY):
            found = why(f, *args, target=target, axes=axes, **kwargs)
            return "\n".join([*said, str(found.about(chosen) if chosen else found)])
        found = explained(program, f, args, kwargs, target, axes)
        return "\n".join([*said, *([str(found.about(few)), HINT] if few else [])])
    except Exception as error:  # the failure itself must not be lost
        reason = f"why could not explain it: {type(error).__name__}: {error}"
        return "\n".join([*said, *(" ".join(heading(c)) for c in few), reason])
