"""Whole numbers of an HLO module, and the arithmetic on them, with parts of a loop's state left open. No JAX here."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable

from shardlens.reading.hlo import HloArray, HloInstruction, Shape


@dataclasses.dataclass(frozen=True)
class Moved:
    """A part of a loop's state as it was when the round began, and `by` more."""

    part: int
    by: int = 0


@dataclasses.dataclass(frozen=True)
class Test:
    """A comparison in which parts of a loop's state take part."""

    left: int | Moved
    right: int | Moved
    compare: str


Value = int | Moved | Test | Callable[[int], "Value"] | None
"""A number; a tuple, as a function that gives its parts; `None` for what data decides, and for what is no whole number."""
Given = Callable[[int], Value]

COMPARE: dict[str, Callable[[int, int], bool]] = {
    "EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge,
}  # fmt: skip
_OTHERWISE = {"EQ": "NE", "NE": "EQ", "LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT"}
_BINARY: dict[str, Callable[[int, int], int]] = {
    "add": operator.add, "subtract": operator.sub, "multiply": operator.mul, "maximum": max, "minimum": min,
    "and": operator.and_, "or": operator.or_, "xor": operator.xor,
    # HLO's division goes towards zero, and its remainder has the sign of the dividend.
    "divide": lambda a, b: abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1),
    "remainder": lambda a, b: abs(a) % abs(b) * (-1 if a < 0 else 1),
    "shift-left": operator.lshift, "shift-right-arithmetic": operator.rshift, "shift-right-logical": operator.rshift,
}  # fmt: skip
_UNARY: dict[str, Callable[[int], int]] = {"negate": operator.neg, "abs": abs, "sign": lambda a: (a > 0) - (a < 0)}
SAME = {"copy", "bitcast", "reshape", "broadcast", "convert", "opt-barrier", "optimization-barrier", "transpose"}
_INTEGER = re.compile(r"[su](\d+)$")
_LITERAL = re.compile(r"[{\s]*(-?\d+|true|false)[}\s]*$")


def calculated(i: HloInstruction, operand: Given) -> Value:
    """The value of arithmetic on numbers, from those of its operands."""
    opcode = i.opcode
    if opcode == "constant":
        found = _LITERAL.match(between(i))
        return {"true": 1, "false": 0}.get(found[1]) if found and found[1][0] in "tf" else int(found[1]) if found else None
    if opcode in SAME:
        value = operand(0)
        # A counter made narrower begins again at nought.
        narrow = opcode == "convert" and isinstance(i.shape, HloArray) and i.shape.dtype not in ("s32", "s64")
        return None if narrow and not isinstance(value, int) else value
    if opcode == "select":
        chosen = operand(0)
        return operand(1 if chosen else 2) if isinstance(chosen, int) else None
    if opcode == "clamp":
        return _clamped(*(operand(k) for k in range(3)))
    if opcode in _BINARY or opcode == "compare":
        return _paired(i, operand(0), operand(1))
    if opcode == "not" or opcode in _UNARY:
        return _alone(i, operand(0))
    return None


def part(value: Value, k: int) -> Value:
    """A part of a tuple."""
    return value(k) if callable(value) else None


def fits(value: int, shape: HloArray) -> bool:
    """Whether a number is one of a type's."""
    return _wrap(value, shape.dtype) == value


def _paired(i: HloInstruction, a: Value, b: Value) -> Value:
    if i.opcode == "compare":
        if not isinstance(a, (int, Moved)) or not isinstance(b, (int, Moved)):
            return None
        how = i.attribute("direction")
        return int(COMPARE[how](a, b)) if isinstance(a, int) and isinstance(b, int) else Test(a, b, how)
    if isinstance(a, int) and isinstance(b, int):
        return _of_two(i, a, b)
    if isinstance(a, Moved) and isinstance(b, int) and i.opcode in ("add", "subtract"):
        return Moved(a.part, a.by + (b if i.opcode == "add" else -b))
    if isinstance(a, int) and isinstance(b, Moved) and i.opcode == "add":
        return Moved(b.part, b.by + a)
    if i.opcode in ("and", "or"):
        # What decides alone decides whatever the other is.
        decides = int(i.opcode == "or") if isinstance(i.shape, HloArray) and i.shape.dtype == "pred" else None
        return decides if decides is not None and decides in (a, b) else _other(a, b, decides)
    return None


def _of_two(i: HloInstruction, a: int, b: int) -> int | None:
    if i.opcode in ("divide", "remainder") and b == 0:
        return None
    if i.opcode.startswith("shift"):
        bits = _bits(i.shape)
        if not 0 <= b < bits:
            return None
        a = a % (1 << bits) if i.opcode == "shift-right-logical" else a
    return _BINARY[i.opcode](a, b)


def _other(a: Value, b: Value, decides: int | None) -> Value:
    """The side that decides when the other one is the value that does not."""
    if decides is None:
        return None
    return a if b == 1 - decides else b if a == 1 - decides else None


def _clamped(low: Value, x: Value, high: Value) -> int | None:
    return min(max(x, low), high) if isinstance(low, int) and isinstance(x, int) and isinstance(high, int) else None


def _alone(i: HloInstruction, a: Value) -> Value:
    if i.opcode == "not" and isinstance(a, Test):
        return Test(a.left, a.right, _OTHERWISE[a.compare])
    if not isinstance(a, int):
        return None
    if i.opcode == "not":
        return int(not a) if isinstance(i.shape, HloArray) and i.shape.dtype == "pred" else ~a
    return _UNARY[i.opcode](a)


def agreed(values: list[Value]) -> Value:
    """What all branches return: the same number, or tuples, part by part."""
    if values and all(callable(value) for value in values):
        return lambda k: agreed([part(value, k) for value in values])
    return values[0] if values and all(value == values[0] for value in values) else None


def is_number(shape: HloArray) -> bool:
    """Whether this is the type of one whole number, or of one truth value."""
    whole = shape.dtype == "pred" or _INTEGER.match(shape.dtype)
    return bool(whole) and all(size == 1 for size in shape.shape)


def wrapped(i: HloInstruction, value: Value) -> Value:
    """A number as its type holds it."""
    return _wrap(value, i.shape.dtype) if isinstance(value, int) and isinstance(i.shape, HloArray) else value


def _wrap(value: int, dtype: str) -> int:
    found = _INTEGER.match(dtype)
    if not found:
        return int(bool(value))
    size = 1 << int(found[1])
    rest = value % size
    return rest - size if dtype[0] == "s" and rest >= size // 2 else rest


def _bits(shape: Shape) -> int:
    found = _INTEGER.match(shape.dtype) if isinstance(shape, HloArray) else None
    return int(found[1]) if found else 1


def between(i: HloInstruction) -> str:
    """The text between the brackets of a constant or a parameter."""
    _, _, start, end = i._parts
    return i.text[start : end - 1]
