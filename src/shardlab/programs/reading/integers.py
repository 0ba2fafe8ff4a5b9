"""Whole numbers of an HLO module, followed as far as they do not depend on data: what loops count with. No JAX here."""

from __future__ import annotations

import dataclasses
import operator
import re
from collections.abc import Callable
from typing import TYPE_CHECKING

from shardlab.programs.reading.hlo import Array, Instruction, Module, Shape

if TYPE_CHECKING:
    from shardlab.programs.reading.loops import Loop


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
_SAME = {"copy", "bitcast", "reshape", "broadcast", "convert", "opt-barrier", "optimization-barrier", "transpose"}
_INTEGER = re.compile(r"[su](\d+)$")
_LITERAL = re.compile(r"[{\s]*(-?\d+|true|false)[}\s]*$")
_NAMES = re.compile(r"[^\s,{}%]+")
_BODIES = ("calls", "to_apply", "called_computations")
_BRANCHES = ("branch_computations", "true_computation", "false_computation")
# Text order puts a value before its use, but a chain of scalars may be as long as the program.
_DEEPEST, BUDGET = 150, 200_000


class Numbers:
    """The numbers of one module; `left` is how many more instructions may be looked at before it gives up."""

    def __init__(self, module: Module) -> None:
        self.module = module
        self.left, self.depth = BUDGET, 0
        self._called: dict[Instruction, tuple[str, ...]] = {}

    def called(self, i: Instruction) -> tuple[str, ...]:
        """Names of the computations that an instruction takes its value from; a loop's are its own affair."""
        found = self._called.get(i)
        if found is None:
            keys = _BRANCHES if i.opcode == "conditional" else _BODIES
            names = [name for key in keys for name in _NAMES.findall(i.attribute(key))]
            found = self._called[i] = tuple(name for name in names if name in self.module.computations)
        return found


class Frame:
    """One run of a computation: the values of its instructions for those of its parameters, worked out when asked for."""

    def __init__(self, numbers: Numbers, computation: str, given: Given) -> None:
        self.numbers, self.computation, self.given = numbers, computation, given
        self.instructions = numbers.module.computations.get(computation, {})
        self.loops: dict[str, Loop] = {}
        self._known: dict[str, Value] = {}

    @property
    def root(self) -> Value:
        """What it returns."""
        name = self.numbers.module.roots.get(self.computation)
        return self.value(name if name else next(reversed(self.instructions), ""))

    def value(self, name: str) -> Value:
        """The value of an instruction."""
        if name in self._known:
            return self._known[name]
        numbers, i = self.numbers, self.instructions.get(name)
        numbers.left -= 1
        if i is None or numbers.left < 0 or numbers.depth > _DEEPEST:
            return None
        numbers.depth += 1
        try:
            found = self._known[name] = _wrapped(i, self._value(i))
        finally:
            numbers.depth -= 1
        return found

    def enter(self, i: Instruction, computation: str) -> Frame:
        """The run of a computation that takes what the instruction takes."""
        return Frame(self.numbers, computation, lambda k: self._operand(i, k))

    def branches(self, i: Instruction) -> list[Frame]:
        """The runs that a conditional chooses from."""
        return [
            Frame(self.numbers, name, lambda _, k=k: self._operand(i, k + 1))  # type: ignore[misc]
            for k, name in enumerate(self.numbers.called(i))
        ]

    def loop(self, i: Instruction) -> Loop:
        """The loop that a `while` is."""
        from shardlab.programs.reading.loops import Loop

        if i.name not in self.loops:
            self.loops[i.name] = Loop(self, i)
        return self.loops[i.name]

    def _operand(self, i: Instruction, k: int) -> Value:
        return self.value(i.operands[k]) if k < len(i.operands) else None

    def _value(self, i: Instruction) -> Value:
        opcode, shape = i.opcode, i.shape
        if isinstance(shape, Array) and not is_number(shape):
            return None
        if opcode == "parameter":
            return self.given(int(_between(i)))
        if opcode == "tuple":
            return lambda k: self._operand(i, k)
        if opcode == "get-tuple-element":
            return part(self._operand(i, 0), int(i.attribute("index")))
        if opcode == "copy-start":
            return lambda k: self._operand(i, 0) if k < 2 else None
        if opcode == "copy-done":
            return part(self._operand(i, 0), 0)
        if opcode == "while":
            return self.loop(i).after
        if opcode == "conditional":
            return _agreed([frame.root for frame in self.branches(i)])
        if opcode in ("fusion", "call"):
            called = self.numbers.called(i)
            return self.enter(i, called[0]).root if len(called) == 1 else None
        return self._calculated(i) if isinstance(shape, Array) else self._operand(i, 0) if opcode in _SAME else None

    def _calculated(self, i: Instruction) -> Value:
        """The value of arithmetic on numbers."""
        opcode = i.opcode
        if opcode == "constant":
            found = _LITERAL.match(_between(i))
            return (
                {"true": 1, "false": 0}.get(found[1]) if found and found[1][0] in "tf" else int(found[1]) if found else None
            )
        if opcode in _SAME:
            value = self._operand(i, 0)
            # A counter made narrower begins again at nought.
            narrow = opcode == "convert" and isinstance(i.shape, Array) and i.shape.dtype not in ("s32", "s64")
            return None if narrow and not isinstance(value, int) else value
        if opcode == "select":
            chosen = self._operand(i, 0)
            return self._operand(i, 1 if chosen else 2) if isinstance(chosen, int) else None
        if opcode == "clamp":
            return _clamped(*(self._operand(i, k) for k in range(3)))
        if opcode in _BINARY or opcode == "compare":
            return _paired(i, self._operand(i, 0), self._operand(i, 1))
        if opcode == "not" or opcode in _UNARY:
            return _alone(i, self._operand(i, 0))
        return None


def part(value: Value, k: int) -> Value:
    """A part of a tuple."""
    return value(k) if callable(value) else None


def fits(value: int, shape: Array) -> bool:
    """Whether a number is one of a type's."""
    return _wrap(value, shape.dtype) == value


def _paired(i: Instruction, a: Value, b: Value) -> Value:
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
        decides = int(i.opcode == "or") if isinstance(i.shape, Array) and i.shape.dtype == "pred" else None
        return decides if decides is not None and decides in (a, b) else _other(a, b, decides)
    return None


def _of_two(i: Instruction, a: int, b: int) -> int | None:
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


def _alone(i: Instruction, a: Value) -> Value:
    if i.opcode == "not" and isinstance(a, Test):
        return Test(a.left, a.right, _OTHERWISE[a.compare])
    if not isinstance(a, int):
        return None
    if i.opcode == "not":
        return int(not a) if isinstance(i.shape, Array) and i.shape.dtype == "pred" else ~a
    return _UNARY[i.opcode](a)


def _agreed(values: list[Value]) -> Value:
    """What all branches return: the same number, or tuples, part by part."""
    if values and all(callable(value) for value in values):
        return lambda k: _agreed([part(value, k) for value in values])
    return values[0] if values and all(value == values[0] for value in values) else None


def is_number(shape: Array) -> bool:
    """Whether this is the type of one whole number, or of one truth value."""
    whole = shape.dtype == "pred" or _INTEGER.match(shape.dtype)
    return bool(whole) and all(size == 1 for size in shape.shape)


def _wrapped(i: Instruction, value: Value) -> Value:
    """A number as its type holds it."""
    return _wrap(value, i.shape.dtype) if isinstance(value, int) and isinstance(i.shape, Array) else value


def _wrap(value: int, dtype: str) -> int:
    found = _INTEGER.match(dtype)
    if not found:
        return int(bool(value))
    size = 1 << int(found[1])
    rest = value % size
    return rest - size if dtype[0] == "s" and rest >= size // 2 else rest


def _bits(shape: Shape) -> int:
    found = _INTEGER.match(shape.dtype) if isinstance(shape, Array) else None
    return int(found[1]) if found else 1


def _between(i: Instruction) -> str:
    """The text between the brackets of a constant or a parameter."""
    _, _, start, end = i._parts
    return i.text[start : end - 1]
