"""What a sandbox may hand out for an item: the fields, types, counts and sizes that all kinds have alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from shardlab_judge.question import Response
from shardlens import Placement

DEPTH, PARTS, TEXT, KEY, WHOLE = 16, 20_000, 10_000, 200, 2**127
TYPE, MESSAGE, LINE, LINES, WIDTH, OPERATIONS = 100, 2000, 1500, 12, 160, 4_000


class Refused(ValueError):
    """Bytes that break the rules; the message is a sentence without its end."""


def single(raw: Any, field: str, check: Callable[[Any], Any]) -> Response:
    """What is in this one field, checked, or in its place what says why nothing is: an exception, `...`, no such variable.

    Raises:
        Refused: there are other fields.
    """
    match raw:
        case {"error": error, **rest} if not rest:
            return {"error": error_of(error)}
        case {"todo": True, **rest} if not rest:
            return {"todo": True}
        case {"missing": True, **rest} if not rest:
            return {"missing": True}
        case dict() if set(raw) == {field}:
            return {field: check(raw[field])}
    raise Refused(f"an entry should have the one field {field}")


def cases(asked: Mapping[str, Any], raw: Any, fields: tuple[str, str], check: Callable[[Any], Any]) -> Response:
    """A response with a list of responses, one for each case that the manifest has.

    Args:
        fields: where the cases stand in the manifest, and where the list stands in the response.
    Raises:
        Refused: there are other fields, or more or fewer.
    """
    many = len(asked[fields[0]])
    return single(raw, fields[1], lambda given: [check(part) for part in listed(given, many, exactly=True)])


def error_of(raw: Any) -> dict[str, str]:
    """An exception's type and message, and the line that it came from, cut; recordings made before have no line.

    Raises:
        Refused: it has other fields.
    """
    match raw:
        case {"type": str(kind), "message": str(message), **rest} if not set(rest) - {"line"}:
            cut = {"type": said(kind, TYPE), "message": said(message, MESSAGE)}
            return {**cut, "line": _few(said(text(rest["line"], 4 * LINE), LINE))} if rest else cut
    raise Refused("an error should have the texts type and message")


def lines(raw: Any) -> dict[str, list[int]]:
    """Lines of a student's own code, each with numbers of operations.

    Raises:
        Refused: it is something else, or more than a program has.
    """
    if not isinstance(raw, dict) or len(raw) > OPERATIONS:
        raise Refused(f"lines should be a table of at most {OPERATIONS}")
    for numbers in raw.values():
        if not all(type(number) is int and 0 <= number < OPERATIONS for number in listed(numbers, OPERATIONS)):
            raise Refused("lines should list the numbers of operations")
    return {said(text(line, MESSAGE), WIDTH): numbers for line, numbers in raw.items()}


def _few(told: str) -> str:
    lines = told.split("\n")
    return "\n".join([*lines[:LINES], "..."] if len(lines) > LINES else lines)


def said(text: str, most: int) -> str:
    """Text of a student's for our pages and terminals: cut, and without control characters."""
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text[: most + 1])
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def placement(raw: Any, devices: int = 4096) -> Any:
    """A placement on no more than `devices`.

    Raises:
        Refused: it is none.
    """
    try:
        found = Placement.from_json(raw, devices=devices)
    except ValueError as error:
        raise Refused(f"the placement is malformed: {said(str(error), 200)}") from error
    if not found.shards:
        raise Refused("the placement is on no device")
    return found.to_json()


def value(raw: Any) -> Any:
    """A value of limited size and depth.

    Raises:
        Refused: it is larger, or no plain JSON.
    """
    if _parts(raw, 0) > PARTS:
        raise Refused(f"the value has more than {PARTS} parts")
    return raw


def text(raw: Any, most: int) -> str:
    """A text of at most so many characters.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(raw, str) or len(raw) > most:
        raise Refused(f"a string is missing or longer than {most} characters")
    if not raw.isascii() and any("\ud800" <= c <= "\udfff" for c in raw):
        raise Refused("a string holds one half of a surrogate pair")
    return raw


def listed(raw: Any, most: int, *, exactly: bool = False) -> list[Any]:
    """A list of at most, or of exactly, so many.

    Raises:
        Refused: it is something else.
    """
    if not isinstance(raw, list) or len(raw) > most or (exactly and len(raw) != most):
        raise Refused(f"a list should have {'' if exactly else 'at most '}{most} entries")
    return raw


def fail(reason: str) -> Any:
    """Where an expression has to refuse.

    Raises:
        Refused: always.
    """
    raise Refused(reason)


def _parts(raw: Any, depth: int) -> int:
    if depth > DEPTH:
        raise Refused(f"the value is nested more than {DEPTH} deep")
    match raw:
        case None | bool():
            return 1
        case int() if abs(raw) < WHOLE:
            return 1
        case float() if math.isfinite(raw):
            return 1
        case str():
            return len(text(raw, TEXT)) and 1
        case list():
            return 1 + sum(_parts(part, depth + 1) for part in raw)
        case dict():
            return 1 + sum(_parts(part, depth + 1) for key, part in raw.items() if text(key, KEY) is not None)
    raise Refused("the value holds a number that is too large or not finite")
