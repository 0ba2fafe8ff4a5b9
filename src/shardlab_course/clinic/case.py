"""One case of the clinic: how its message reads, and what is to be known of it."""

from __future__ import annotations

import dataclasses
import re

from shardlens import Message, known_messages

PRELUDE = """\
import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

x = np.arange(32, dtype=np.float32).reshape(8, 4)
mesh = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Auto,) * 2)
typed = jax.make_mesh((4, 2), ("data", "model"), axis_types=(AxisType.Explicit,) * 2)
"""
"""What every program of the clinic begins with."""


@dataclasses.dataclass(frozen=True)
class Case:
    """A message that a page of the book shows, with a program that provokes it.

    Args:
        name: of its row in the lens's table of messages.
        exercise: the one that trains it, as `"7.3"`.
        page: the book's page, and the heading's anchor.
        program: goes on after `PRELUDE`, and writes the message on eight CPU devices.
        thread: path on GitHub of a thread by people who met it; empty for what is old.
        asked: how people put it who have no message; a text that says so is known by it.
    """

    name: str
    exercise: str
    page: str
    program: str
    thread: str = ""
    asked: tuple[str, ...] = ()

    def words(self, text: str) -> str:
        """The words of `text` in which people ask for it; empty if they are not there."""
        found = (re.search(rf"(?i)\b{re.escape(words)}\b", text) for words in self.asked)
        return next((match[0] for match in found if match), "")

    @property
    def row(self) -> Message:
        """What the lens's table says of it."""
        return next(row for row in known_messages() if row.name == self.name)


@dataclasses.dataclass(frozen=True)
class Old:
    """A way to write that is no longer the way, and what to write today. Both programs go on after `PRELUDE`.

    Args:
        case: the name of its case.
        api: as people call it.
        says: what JAX says of it today, part of what `old` writes; empty where it says nothing.
        old: ends in an error, or binds `out`.
        new: binds `out`, the same values.
        value: a NumPy expression for them.
        newer: what JAX says since 0.12, where that is something else.
    """

    case: str
    api: str
    says: str
    old: str
    new: str
    value: str
    newer: str = ""
