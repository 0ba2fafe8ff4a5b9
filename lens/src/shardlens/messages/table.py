"""The rows of the table, read from the TOML files beside this module when the first of them is asked for."""

from __future__ import annotations

import dataclasses
import functools
import re
from typing import Any

FILES = ("placing", "mapping", "explicit", "compiling", "running", "tracing", "old")


@dataclasses.dataclass(frozen=True)
class Message:
    """One row: how a message is known, and what is to be said of it.

    Args:
        name: kebab-case id, the anchor of its entry on a page.
        means: what has happened, one sentence without a stop.
        mistake: the likeliest reason; `\\1` stands for what the first group of `words` found.
        cure: what to do.
        code: the cure as code.
        types: names of the exception's type, one of which it has; empty for what is no exception, or may be any.
        words: regular expressions, one of which is found in the type and the text, its white space made single spaces.
        unless: a regular expression that is not found there; empty if there is none.
        file: the one it is read from, which is the part of the table.
    Example:
        >>> next(row for row in known_messages() if row.name == "axis-twice").types
        ('ValueError', 'DuplicateSpecError')
    """

    name: str
    means: str
    mistake: str
    cure: str
    code: str
    types: tuple[str, ...]
    words: tuple[str, ...]
    unless: str = ""
    file: str = ""

    def found(self, kind: str, text: str) -> re.Match[str] | None:
        """Where the row's words are in a text; `None` if they are not there, or the exception has another type.

        Args:
            kind: the name of the exception's type; empty where it is not known.
            text: as `recognise` makes it.
        """
        if self.types and kind and kind not in self.types:
            return None
        if self.types and not kind and all(not words or words.startswith(r"\A") for words in self.words):
            return None  # words that know a message only together with its type
        if self.unless and _compiled(self.unless).search(text):
            return None
        return next((match for words in self.words if (match := _compiled(words).search(text))), None)


@functools.cache
def known_messages() -> tuple[Message, ...]:
    """All rows, in the order of the files.

    Example:
        >>> [row.name for row in known_messages() if "UnboundLocalError" in row.types]
        ['not-defined']
    """
    return tuple(_row(name, row, file) for file in FILES for name, row in _read(file).items())


def _read(file: str) -> dict[str, Any]:
    # Imported here: `import shardlens` and `inspect` read no table.
    import tomllib
    from importlib import resources

    return tomllib.loads(resources.files(__package__).joinpath(f"{file}.toml").read_text(encoding="utf-8"))


def _row(name: str, row: dict[str, Any], file: str) -> Message:
    words = row["words"] if isinstance(row["words"], list) else [row["words"]]
    types = tuple(filter(None, row.get("types", "").split("|")))
    return Message(
        name, row["means"], row["mistake"], row["cure"], row["code"], types, tuple(words), row.get("unless", ""), file
    )


_compiled = functools.cache(functools.partial(re.compile, flags=re.DOTALL))
