"""How an answer is typed, by what is asked for; each form tells whether what was typed is right."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Sequence
from typing import Any

NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
SLICE = re.compile(r"(\d*)\s*:\s*(\d*)")


@dataclasses.dataclass(frozen=True)
class Number:
    """A count or a factor; a unit and commas between thousands may stand in it."""

    key: float
    example = "100"

    def right(self, typed: Any) -> bool:
        """Whether it is the key.

        Raises:
            ValueError: it is not one number.
        """
        (found,) = NUMBER.findall(str(typed))
        return float(found.replace(",", "")) == self.key


@dataclasses.dataclass(frozen=True)
class Slices:
    """A slice of each dimension of an array of this shape, as text or as Python's slices; `:` is all of a dimension."""

    key: Sequence[Sequence[int]]
    shape: Sequence[int]

    @property
    def example(self) -> str:
        """As long as the key, and hardly the key."""
        return f'"{", ".join(["1:3"] * len(self.shape))}"'

    def right(self, typed: Any) -> bool:
        """Whether they are the key's.

        Raises:
            ValueError: there is not one slice for each dimension.
        """
        parts = typed if isinstance(typed, tuple | list) else [typed]
        text = ", ".join(_written(part) for part in parts)
        ends = [(int(start or 0), stop) for start, stop in SLICE.findall(text)]
        found = [[start, int(stop or n)] for (start, stop), n in zip(ends, self.shape, strict=True)]
        return found == [list(one) for one in self.key]


@dataclasses.dataclass(frozen=True)
class Devices:
    """Numbers of devices, or `"all"`, of this many."""

    key: Sequence[int]
    count: int
    example = '"0, 3", or "all"'

    def right(self, typed: Any) -> bool:
        """Whether they are the key's.

        Raises:
            ValueError: no device is named.
        """
        every = re.search(r"\b(all|every)\b", str(typed))
        found = {*range(self.count)} if every else {int(one) for one in re.findall(r"\d+", str(typed))}
        if not found:
            raise ValueError(typed)
        return found == {*self.key}


Form = Number | Slices | Devices


def _written(part: Any) -> str:
    if isinstance(part, slice):
        return ":".join("" if end is None else str(end) for end in (part.start, part.stop))
    return ":".join(map(str, part)) if isinstance(part, tuple | list) else str(part)
