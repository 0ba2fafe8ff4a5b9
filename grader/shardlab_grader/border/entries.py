"""What one item's entry may look like: the fields, types, counts and sizes that the border lets through."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Callable, Mapping
from typing import Any

from shardlab.placement import Placement

Entry = dict[str, Any]
MODULE = 256 * 1024
OUTPUTS, PATH = 64, 200
DEPTH, PARTS, TEXT, KEY, WHOLE = 16, 20_000, 10_000, 200, 2**127
TYPE, MESSAGE = 100, 2000


class Refused(ValueError):
    """Bytes that break the rules; the message is a sentence without its end."""


def entry(item: Mapping[str, Any], raw: Any) -> Entry:
    """A checked copy of one item's entry.

    Args:
        item: the item in its question's manifest.
    Raises:
        Refused: a field, type, count or size is not as the manifest says.
    """
    if item["kind"] == "design":
        return _design(raw, len(item["cases"]))
    if item["kind"] == "processes":
        cases = item["cases"]
        return _single(raw, "launches", lambda given: list(map(_launch, cases, _list(given, len(cases), exactly=True))))
    several = {"calls": _call, "rules": _call, "program": _program}
    if item["kind"] not in several:
        return _single(raw, item["kind"], _placement if item["kind"] == "placement" else _value)
    field, asked = ("programs", "cases") if item["kind"] == "program" else ("calls", "calls")
    most = len(item[asked])
    return _single(raw, field, lambda entries: [several[item["kind"]](e) for e in _list(entries, most, exactly=True)])


def _design(raw: Any, most: int) -> Entry:
    match raw:
        case {"layout": layout, "programs": programs, **rest} if not rest:
            return {"layout": _value(layout), "programs": [_program(e) for e in _list(programs, most, exactly=True)]}
    return _single(raw, "programs", lambda _: _fail("a design should have the fields layout and programs"))


def _launch(case: Mapping[str, Any], raw: Any) -> Entry:
    """What the processes of one launch said."""
    devices = case["processes"] * case["devices"]
    several = case["processes"]
    return _single(raw, "processes", lambda given: [_process(e, devices) for e in _list(given, several, exactly=True)])


def _process(raw: Any, devices: int) -> Entry:
    match raw:
        case {"stopped": "time" | "peer" as why, "where": str(where), **rest} if not rest:
            return {"stopped": why, "where": said(where, MESSAGE)}
        case {"skipped": True, **rest} if not rest:
            return {"skipped": True}
    return _single(raw, "value", lambda value: _returned(_value(value), devices))


def _returned(raw: Any, devices: int) -> Any:
    """A value of limited size, in which the descriptions of arrays are looked at too."""
    match raw:
        case {"array": {"placement": placement, "held": held, **more}, **rest} if not more and not rest:
            placed = _placement(placement, devices)
            if math.prod(placed["shape"]) > PARTS:
                raise Refused(f"an array has more than {PARTS} elements")
            return {"array": {"placement": placed, "held": [_shard(shard, devices) for shard in _list(held, devices)]}}
        case dict():
            if "array" in raw:
                raise Refused("an array should have the fields placement and held")
            return {key: _returned(part, devices) for key, part in raw.items()}
        case list():
            return [_returned(part, devices) for part in raw]
    return raw


def _shard(raw: Any, devices: int) -> list[Any]:
    device, values = _list(raw, 2, exactly=True)
    if type(device) is not int or not 0 <= device < devices:
        raise Refused("a shard is on a device that is not there")
    return [device, _numbers(values)]


def _numbers(raw: Any) -> Any:
    if isinstance(raw, list):
        return [_numbers(part) for part in raw]
    return raw if isinstance(raw, int | float) else _fail("a shard holds something else than numbers")


def refused(reason: str) -> Entry:
    """The entry that stands for one that was not accepted or not written."""
    return {"error": {"type": "AnswerRefused", "message": reason}}


def said(text: str, most: int) -> str:
    """Text of a student's for our pages and terminals: cut, and without control characters."""
    plain = "".join(c if c.isprintable() or c == "\n" else "\ufffd" for c in text[: most + 1])
    return plain if len(plain) <= most else plain[: most - 3] + "..."


def _single(raw: Any, field: str, check: Callable[[Any], Any]) -> Entry:
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


def error_of(raw: Any) -> Entry:
    """An exception's type and message, cut.

    Raises:
        Refused: it has other fields.
    """
    match raw:
        case {"type": str(kind), "message": str(message), **rest} if not rest:
            return {"type": said(kind, TYPE), "message": said(message, MESSAGE)}
    raise Refused("an error should have the texts type and message")


def _placement(raw: Any, devices: int = 4096) -> Any:
    try:
        return Placement.from_json(raw, devices=devices).to_json()
    except ValueError as error:
        raise Refused(f"the placement is malformed: {said(str(error), 200)}") from error


def _call(raw: Any) -> Entry:
    return _single(raw, "value", _value)


def _program(raw: Any) -> Entry:
    match raw:
        case {"module": str(module), "outputs": outputs, **rest} if not rest:
            paths = [_text(path, PATH) for path in _list(outputs, OUTPUTS)]
            return {"module": _module(module), "outputs": paths}
    return _single(raw, "module", lambda _: _fail("a program should have the fields module and outputs"))


def _module(text: str) -> str:
    if len(text) > 4 * (MODULE // 3 + 1):
        raise Refused(
            f"the exported program has more than {MODULE // 1024} kB; constants in it should be computed or passed in"
        )
    try:
        decoded = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError) as error:
        raise Refused("the exported program is not base64") from error
    return base64.b64encode(decoded).decode()


def _value(raw: Any) -> Any:
    if _parts(raw, 0) > PARTS:
        raise Refused(f"the value has more than {PARTS} parts")
    return raw


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
            return len(_text(raw, TEXT)) and 1
        case list():
            return 1 + sum(_parts(part, depth + 1) for part in raw)
        case dict():
            return 1 + sum(_parts(part, depth + 1) for key, part in raw.items() if _text(key, KEY) is not None)
    raise Refused("the value holds a number that is too large or not finite")


def _text(raw: Any, most: int) -> str:
    if not isinstance(raw, str) or len(raw) > most:
        raise Refused(f"a text is missing or longer than {most} characters")
    if not raw.isascii() and any("\ud800" <= c <= "\udfff" for c in raw):
        raise Refused("a text holds half a character")
    return raw


def _list(raw: Any, most: int, *, exactly: bool = False) -> list[Any]:
    if not isinstance(raw, list) or len(raw) > most or (exactly and len(raw) != most):
        raise Refused(f"a list should have {'' if exactly else 'at most '}{most} entries")
    return raw


def _fail(reason: str) -> Any:
    raise Refused(reason)
