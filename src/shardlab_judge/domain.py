"""What may be answered at all: which words, numbers, lists and entries; in one spelling for all chapters."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from shardlab_judge.findings import shown
from shardlab_judge.responses import WHOLE


class Outside(ValueError):
    """A value that cannot be an answer; the message is a sentence without its end."""


@dataclasses.dataclass(frozen=True)
class Reading:
    """An answer in the key's spelling, without what cannot be one.

    Args:
        value: `None` if there is nothing; a dict has the entries that are answered.
        faults: a sentence for what cannot be an answer.
        open: entries that are not answered.
    """

    value: Any
    faults: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True)
class Domain:
    """What a value may be; whatever is set may be.

    Args:
        words: texts, however their letters, and blanks, hyphens and underscores between them, are written, or left out.
        pattern: other texts, a regular expression and one of them as example.
        text: whether any text.
        number: whether a number.
        truth: whether True or False.
        listed: what a list may hold; one of its words may then be written without the list, and "none" for an empty one.
        length: of the list, if only one is possible.
        entries: a dict with these keys.
    """

    words: tuple[str, ...] = ()
    pattern: tuple[str, str] = ("", "")
    text: bool = False
    number: bool = False
    truth: bool = False
    listed: Domain | None = None
    length: int | None = None
    entries: Mapping[str, Domain] | None = None

    @property
    def form(self) -> str:
        """What is asked for, in words."""
        forms = (
            f"one of {', '.join(self.words)}" if self.words else "",
            f"a string such as {self.pattern[1]}" if self.pattern[0] else "",
            "a string" if self.text else "",
            "a number" if self.number else "",
            "True or False" if self.truth else "",
            self._list_form(),
            f"a dict with the keys {', '.join(self.entries)}" if self.entries else "",
        )
        return ", or ".join(filter(None, forms)) or "nothing"

    def _list_form(self) -> str:
        if self.listed is None:
            return ""
        inside = "numbers" if self.listed.number else ", ".join(self.listed.words) or "texts"
        return f"a list of {inside}" if self.length is None else f"a list of {self.length} {inside}"

    def reading(self, value: Any) -> Reading:
        """What plain JSON says here; of a dict every entry by itself."""
        if not isinstance(value, dict) or self.entries is None:
            return self._whole(value)
        found = {key: inside.reading(value.get(key)) for key, inside in self.entries.items()}
        faulty: dict[str, list[str]] = {}
        for key, one in found.items():
            for fault in one.faults:
                faulty.setdefault(fault, []).append(key)
        faults = [f"{', '.join(keys)}: {fault}" for fault, keys in faulty.items()]
        if strange := [key for key in value if key not in self.entries]:
            names = ", ".join(shown(key, 40) for key in strange)
            faults.append(f"there is no entry {names}; the entries are {', '.join(self.entries)}")
        read = {key: one.value for key, one in found.items() if one.value is not None}
        return Reading(read, tuple(faults), tuple(key for key in self.entries if value.get(key) is None))

    def _whole(self, value: Any) -> Reading:
        try:
            return Reading(None if value is None else self.read(value))
        except Outside as outside:
            return Reading(None, (str(outside),))

    def read(self, value: Any) -> Any:
        """A value that is no dict, in the key's spelling.

        Raises:
            Outside: it cannot be an answer.
        """
        match value:
            case bool() if self.truth:
                return value
            case int() | float() if self.number and not isinstance(value, bool) and abs(value) < WHOLE:
                return value
            case str() if (text := self._text(value)) is not None:
                return text
            case list() if self.listed is not None and self.length in (None, len(value)):
                return [self.listed.read(part) for part in value]
        raise Outside(f"{shown(value, 60)} is not {self.form}{self._meant(value)}")

    def _text(self, value: str) -> Any:
        known = next((word for word in self.words if _letters(word) == _letters(value)), None) or self._inflected(value)
        if known is not None or self.text or (self.pattern[0] and re.fullmatch(self.pattern[0], value)):
            return value if known is None else known
        if self.listed is None or not self.listed.words or self.length is not None:
            return None
        alone = self.listed._text(value)
        return [alone] if alone is not None else [] if _letters(value) == "none" else None

    def _inflected(self, value: str) -> str | None:
        """The one word of which this is another form: of `hangs` also `hang` and `hanging`."""
        alike = [word for word in self.words if _stem(word) and _stem(word) == _stem(value)]
        return alike[0] if len(alike) == 1 else None

    def _meant(self, value: Any) -> str:
        if isinstance(value, int | float) and not isinstance(value, bool) and shown(value) in self.words:
            return f': write it as a string, "{value}"'
        if isinstance(value, str) and self.number and re.fullmatch(r"\s*-?[\d.]+(/\d+)?\s*", value):
            return ": write it without quotation marks"
        return ""


def domain_of(examples: Iterable[Any], words: tuple[str, ...] = (), members: tuple[str, ...] = (),
              pattern: tuple[str, str] = ("", ""), length: int | None = None) -> Domain:  # fmt: skip
    """The domain in which all these values lie.

    Args:
        words: what a text may be.
        members: what a text in a list may be.
        pattern: other texts, where they are no member of a list.
        length: of a list.
    """

    def of(value: Any) -> Domain:
        match value:
            case bool():
                return Domain(truth=True)
            case int() | float():
                return Domain(number=True)
            case Mapping():
                return Domain(entries=_together({key: of(part) for key, part in value.items()}))
            case list() | tuple() | frozenset():
                member = Domain(words=members, text=not members)
                inside = [member if isinstance(part, str) else of(part) for part in value]
                return Domain(listed=_union(inside or [member]), length=length)
        return Domain(words, pattern, text=not (words or pattern[0]))

    return _union([of(value) for value in examples])


def _together(entries: Mapping[str, Domain]) -> dict[str, Domain]:
    """Entries that are texts or lists may each be what the others are: what differs among them is what is asked."""
    mixed = [one for one in entries.values() if not (one.number or one.truth or one.entries)]
    shared = _union(mixed)
    return {key: shared if any(one is part for part in mixed) else one for key, one in entries.items()}


def _union(domains: list[Domain]) -> Domain:
    listed = [one.listed for one in domains if one.listed is not None]
    entries = [one.entries for one in domains if one.entries is not None]
    keys = dict.fromkeys(key for each in entries for key in each)
    return Domain(
        tuple(dict.fromkeys(word for one in domains for word in one.words)),
        next((one.pattern for one in domains if one.pattern[0]), ("", "")),
        any(one.text for one in domains),
        any(one.number for one in domains),
        any(one.truth for one in domains),
        _union(listed) if listed else None,
        next((one.length for one in domains if one.length is not None), None),
        {key: _union([each[key] for each in entries if key in each]) for key in keys} if entries else None,
    )


def _stem(text: str) -> str:
    """Its letters without an ending; nothing of what is short, or is no word."""
    letters = _letters(text)
    stem = re.sub(r"(?:ing|ed|es|s|e)$", "", letters) if letters.replace("-", "").isalpha() else ""
    return stem if len(stem) >= 4 else ""


def _letters(text: str) -> str:
    # Between letters only: the hyphen of "-1" is a sign.
    return re.sub(r"(?<=[^\W\d_])[\s_-]+(?=[^\W\d_])", "", text.strip().strip("'\".").casefold())
