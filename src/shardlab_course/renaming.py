"""Texts, answers and manifests with other names for mesh axes.

A renaming exchanges names, so that doing it twice changes nothing. In texts it finds a name where only an axis can be meant:
in quotes, after "over" or "@", before "=4", as the subscript of a capital letter.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Iterable, Mapping
from typing import Any

from shardlens import Placement

BEFORE = "over|Over|along|Along|axis|axes"
MORE = "names?|Names?|omits?|when|When|let|its"
"""What comes before a name of one letter, or one that is no other word of the course."""
ORDINARY = ("data", "model")
NO_AXIS = ("vector ", "row of ", "plane ", "Return ", "that ")
"""What comes before a name in backquotes that is an array's."""
AS_THEY_ARE = ("module", "outputs")
"""Fields of an entry in which nothing is to be renamed: a program was exported with the course's names."""


@dataclasses.dataclass(frozen=True)
class Renaming:
    """Exchanges the course's names of axes, the keys of `names`, with others."""

    names: Mapping[str, str]

    @functools.cached_property
    def both(self) -> Mapping[str, str]:
        """What becomes of each name, either way."""
        return {**self.names, **{other: name for name, other in self.names.items()}}

    def text(self, text: str) -> str:
        """A text in which each axis has its other name."""
        if not self.names:
            return text
        if text in self.both:
            return self.both[text]
        return self._places.sub(self._replaced, text)

    def value(self, raw: Any) -> Any:
        """Plain JSON in which each text, keys too, has the other names."""
        match raw:
            case str():
                return self.text(raw)
            case list() | tuple():
                return [self.value(part) for part in raw]
            case Mapping():
                return {self.text(k): v if k in AS_THEY_ARE else self.value(v) for k, v in raw.items()}
        return raw

    def placement(self, where: Placement) -> Placement:
        """A placement whose mesh and spec have the other names."""
        return Placement.from_json(self.value(where.to_json())) if self.names else where

    def asked(self, item: Mapping[str, Any]) -> dict[str, Any]:
        """An item of a manifest whose cases, or calls, have the other names, and which says what to export them as."""
        return {key: self.value(part) if key in ("cases", "calls") else part for key, part in item.items()} | {
            "axes": dict(self.both)
        }

    def _replaced(self, found: re.Match[str]) -> str:
        if found["listed"]:
            return found["before"] + self._words.sub(lambda word: self.both[word[0]], found["listed"])
        other = self.both[found[0]]
        return f"{{{other}}}" if found["bare"] else other

    @functools.cached_property
    def _words(self) -> re.Pattern[str]:
        return re.compile(rf"\b(?:{_any(self.both)})\b")

    @functools.cached_property
    def _places(self) -> re.Pattern[str]:
        """Where a text can only mean an axis."""
        name = rf"(?:{_any(self.both)})\b"
        alone = (
            rf"(?<='){name}(?=')|(?<=\"){name}(?=\")",
            rf"\b{name}(?==\d)|\b{name}(?= axis\b)",
            rf"(?<=@){name}|(?<=[URV]:){name}",
            rf"(?<=[A-Z]_\{{){name}(?=\}})|(?P<bare>(?<=[A-Z]_){name})",
            "".join(f"(?<!{words}`)" for words in NO_AXIS) + rf"(?<=`){name}(?=`)(?!` is a )",
        )
        return re.compile("|".join((self._after_a_word, *alone)))

    @property
    def _after_a_word(self) -> str:
        """One name, or several, after a word that only an axis follows; of `@(bay hall)` both."""
        own = _any(name for name in self.both if name not in ORDINARY)
        one = rf"`?(?:{_any(self.both)})\b`?"
        several = rf"{one}(?:(?:, and |, | and | or ){one})*"
        before = rf"\b(?:{BEFORE})\s+|\b(?:{MORE})\s+(?=`?(?:{own})\b)|(?:@|[URV]:)\((?=[\w ,]+\))"
        return rf"(?P<before>{before})(?P<listed>(?<=[@:]\(){one}(?:[ ,]\w+)*|{several})"


def _any(names: Iterable[str]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True)) or r"(?!)"
