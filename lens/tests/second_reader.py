"""A second reading of compiled programs, to hold the first against: from XLA's serialised module, by other rules.

The first reader takes text apart, tells loops by a formula and asynchronous gathers by their chain. This one walks through
the module as a machine would: it goes through each loop round by round with the whole numbers that it knows, and calls an
all-gather in a fusion a new one unless its operand has come out of another fusion that gathers it. It uses nothing of
`shardlens`.

Source: XLA's `hlo.proto` and `xla_data.proto` for the numbers of fields.
"""

from __future__ import annotations

import collections
import dataclasses
import itertools
import math
import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
from jaxlib import _hlo

BITS = {1: 8, 2: 8, 3: 16, 4: 32, 5: 64, 6: 8, 7: 16, 8: 32, 9: 64, 10: 16, 11: 32, 12: 64, 15: 64, 16: 16, 18: 128}
BITS |= {19: 8, 20: 8, 21: 4, 22: 4, 23: 8, 24: 8, 25: 8, 26: 2, 27: 2, 28: 8, 29: 8, 32: 4, 33: 8}
TUPLE, INTEGERS, SIGNED = 13, (1, 2, 3, 4, 5, 6, 7, 8, 9), (2, 3, 4, 5)
NAMES = {
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
}
COMPARE = {"EQ": operator.eq, "NE": operator.ne, "LT": operator.lt, "LE": operator.le, "GT": operator.gt, "GE": operator.ge}
MOST_ROUNDS = 5_000


def fields(data: bytes) -> Iterator[tuple[int, Any]]:
    """Numbers and values of a message's fields, in order."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = (8, at) if key & 7 == 1 else (4, at) if key & 7 == 5 else varint(data, at)
            value, at = data[at : at + size], at + size
        yield key >> 3, value


def varint(data: bytes, at: int) -> tuple[int, int]:
    """A whole number, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def one(data: bytes, number: int, otherwise: Any = 0) -> Any:
    """The last value of a field."""
    return next((value for n, value in reversed([*fields(data)]) if n == number), otherwise)


def many(data: bytes, number: int) -> list[int]:
    """The whole numbers of a repeated field, packed or not."""
    found: list[int] = []
    for n, value in fields(data):
        if n == number and isinstance(value, int):
            found.append(value)
        elif n == number:
            at = 0
            while at < len(value):
                each, at = varint(value, at)
                found.append(each)
    return found


@dataclasses.dataclass(frozen=True)
class Form:
    """A type: its number, sizes, and parts of a tuple."""

    kind: int
    sizes: tuple[int, ...]
    parts: tuple[Form, ...]

    @property
    def nbytes(self) -> int:
        """Bytes of all arrays."""
        if self.kind == TUPLE:
            return sum(part.nbytes for part in self.parts)
        return -(-BITS.get(self.kind, 0) * math.prod(self.sizes) // 8)


def form(data: bytes) -> Form:
    """The type that a `ShapeProto` describes."""
    parts = tuple(form(value) for n, value in fields(data) if n == 4)
    return Form(one(data, 2), tuple(many(data, 3)), parts)


class Line:
    """An instruction."""

    def __init__(self, data: bytes) -> None:
        # Each field once; those that repeat are read from `data`.
        last = dict(fields(data))
        self.name, self.opcode = last[1].decode(), last[2].decode()
        self.form, self.data, self.last = form(last.get(3, b"")), data, last
        self.id, self.operands, self.called = last.get(35, 0), many(data, 36), many(data, 38)

    @property
    def number(self) -> int | None:
        """The value of a constant whole number."""
        if self.form.kind not in INTEGERS or math.prod(self.form.sizes) != 1:
            return None
        literal = self.last[8]
        for n, value in fields(literal):
            if n in (4, 5, 6, 7):
                raw = varint(value, 0)[0] if isinstance(value, bytes) else value
                return raw - 2**64 if raw >= 2**63 else raw
            if n in (2, 3, 15) and isinstance(value, bytes):
                return int.from_bytes(value[:1], "little", signed=n == 15)
        return 0


class Room:
    """A computation: its instructions in the order of the module, by id, and the root's id."""

    def __init__(self, data: bytes) -> None:
        self.name = one(data, 1, b"").decode()
        lines = [Line(value) for n, value in fields(data) if n == 2]
        self.lines = {line.id: line for line in lines}
        self.root = one(data, 6)
        self.users = collections.defaultdict(list)
        for line in lines:
            for operand in line.operands:
                self.users[operand].append(line)


@dataclasses.dataclass(frozen=True)
class Seen:
    """A collective of the program: what it is, between whom, its bytes, and where it is begun outside of fusions."""

    kind: str
    name: str
    site: str
    into: int
    out: int
    groups: frozenset[tuple[int, ...]]


@dataclasses.dataclass
class Reading:
    """What was found: runs of each collective (`None`: data decides), and the longest chain of them (`None`: likewise)."""

    runs: dict[Seen, int | None]
    depth: int | None


Value = tuple[Any, int]
"""A whole number, a list of parts or nothing; and how many collectives it has waited for."""


class Walk:
    """A run of a module, of which only whole numbers are known."""

    def __init__(self, text: str, devices: int) -> None:
        data = _hlo.hlo_module_from_text(text).as_serialized_hlo_module_proto()
        rooms = [(one(value, 5), Room(value)) for n, value in fields(data) if n == 3]
        self.rooms, self.devices = dict(rooms), devices
        self.runs: dict[Seen, int | None] = {}
        self.longest, self.unknown, self.lost = 0, 0, False
        self.callers: dict[int, list[tuple[Room, Line]]] = collections.defaultdict(list)
        for room in self.rooms.values():
            for line in room.lines.values():
                for called in line.called:
                    self.callers[called].append((room, line))
        entry = self.rooms[one(data, 6)]
        self.room(entry, [(None, 0)] * len(entry.lines))

    @property
    def reading(self) -> Reading:
        """What was found."""
        return Reading(self.runs, None if self.lost else self.longest)

    def room(self, room: Room, given: list[Value]) -> Value:
        """The value that a computation returns."""
        known: dict[int, Value] = {}
        for line in ordered(room):
            operands = [known[each] for each in line.operands]
            waited = max((value[1] for value in operands), default=0)
            known[line.id] = self.line(room, line, operands, waited, given)
        return known[room.root]

    def line(self, room: Room, line: Line, operands: list[Value], waited: int, given: list[Value]) -> Value:
        """The value of an instruction."""
        if seen := self.collective(room, line):
            return None, self.counted(seen, waited)
        opcode = line.opcode
        if opcode == "parameter":
            return given[line.last.get(9, 0)]
        if opcode == "tuple":
            return operands, waited
        if opcode == "get-tuple-element":
            whole = operands[0][0]
            return whole[line.last.get(13, 0)] if isinstance(whole, list) else (None, waited)
        if opcode == "while":
            return self.loop(line, operands[0])
        if opcode == "conditional":
            return self.branches(line, operands)
        if opcode in ("fusion", "call", "async-start") and line.called:
            value, after = self.room(self.rooms[line.called[0]], operands)
            return (value, after) if opcode != "async-start" else (None, max(deepest((value, after)), waited))
        if opcode == "copy-start":
            return [operands[0], operands[0], (None, waited)], waited
        if opcode in ("copy-done", "opt-barrier"):
            value = operands[0][0]
            return value[0] if opcode == "copy-done" and isinstance(value, list) else operands[0]
        return arithmetic(line, [value for value, _ in operands]), max(map(deepest, operands), default=0)

    def counted(self, seen: Seen, waited: int) -> int:
        """One run of a collective more; how many have been waited for after it."""
        before = self.runs.get(seen, 0)
        self.runs[seen] = None if self.unknown or before is None else before + 1
        self.lost = self.lost or bool(self.unknown)
        self.longest = max(self.longest, waited + 1)
        return waited + 1

    def loop(self, line: Line, state: Value) -> Value:
        """The state after all rounds; after one, where it is not known whether there is another."""
        body, condition = (self.rooms[each] for each in line.called[:2])
        for _ in range(MOST_ROUNDS):
            again, after = self.room(condition, [state])
            if again == 0:
                return state
            if again is None:
                self.unknown += 1
                self.room(condition, [state])
                state = self.room(body, [state])
                self.unknown -= 1
                return unknown(state, line.form)
            state = self.room(body, [state])
        raise AssertionError(f"{line.name} runs more than {MOST_ROUNDS} rounds")

    def branches(self, line: Line, operands: list[Value]) -> Value:
        """The value of all branches: each runs, and what one waits for they all do."""
        least = max(operands[0][1], 0)
        values = [self.room(self.rooms[each], [raised(v, least)]) for each, v in zip(line.called, operands[1:])]
        return unknown((None, max([least, *map(deepest, values)])), line.form)

    def collective(self, room: Room, line: Line) -> Seen | None:
        """The collective that a line begins, if it does."""
        kind, source = line.opcode.removesuffix("-start"), line
        inside = self.rooms[line.called[0]] if line.opcode == "fusion" else None
        scatter = sliced(inside) if inside else None
        if scatter:
            kind, source = "reduce-scatter", scatter
        elif kind not in NAMES or (fused := self.fusion_of(room)) and sliced(room) is line:
            return None
        elif fused and self.again(*fused, room, line):
            return None
        groups = self.groups(source)
        if max(map(len, groups), default=1) == 1:
            return None
        site = self.fusion_of(room) or self.caller(room, "async-start")
        into, out = self.nbytes(room, line, kind)
        return Seen(kind, line.name, site[1].name if site else line.name, into, out, frozenset(groups))

    def fusion_of(self, room: Room) -> tuple[Room, Line] | None:
        """The fusion that calls this computation, and where it stands."""
        return self.caller(room, "fusion")

    def caller(self, room: Room, opcode: str) -> tuple[Room, Line] | None:
        """The first instruction of this kind that calls a computation, and where it stands."""
        called = next((number for number, each in self.rooms.items() if each is room), None)
        return next(((r, each) for r, each in self.callers[called] if each.opcode == opcode), None)

    def nbytes(self, room: Room, line: Line, kind: str) -> tuple[int, int]:
        """Bytes in and out."""
        operands = [room.lines[each].form for each in line.operands]
        if kind == "ragged-all-to-all":
            operands = operands[:1]
        out = line.form
        # All starts but that of an all-reduce return operand and output, in this order.
        if line.opcode.endswith("-start") and kind != "all-reduce" and out.kind == TUPLE:
            out = out.parts[1]
        return sum(each.nbytes for each in operands), out.nbytes

    def again(self, around: Room, fusion: Line, room: Room, line: Line) -> bool:
        """Whether what is gathered has come out of a fusion that already gathers it."""
        operand = room.lines[line.operands[0]]
        while operand.opcode in ("bitcast", "copy", "get-tuple-element") and operand.operands:
            operand = room.lines[operand.operands[0]]
        if operand.opcode != "parameter":
            return False
        start = around.lines[fusion.operands[operand.last.get(9, 0)]]
        return self.from_gather(around, start, line, set())

    def from_gather(self, room: Room, line: Line, gather: Line, seen: set[tuple[str, int]]) -> bool:
        """Whether a value is the operand that a fusion has handed on, through tuples and loops on the way."""
        index = None
        while line.opcode in ("get-tuple-element", "bitcast"):
            index = line.last.get(13, 0) if line.opcode == "get-tuple-element" else index
            line = room.lines[line.operands[0]]
        if (room.name, line.id) in seen or index is None:
            return False
        seen = seen | {(room.name, line.id)}
        if line.opcode == "fusion":
            inside = self.rooms[line.called[0]]
            return any(each.opcode == gather.opcode and each.form == gather.form for each in inside.lines.values())
        if line.opcode == "tuple":
            return self.from_gather(room, room.lines[line.operands[index]], gather, seen)
        if line.opcode == "while":
            return self.from_element(room, line, index, gather, seen)
        if line.opcode == "parameter":
            number = next(n for n, each in self.rooms.items() if each is room)
            callers = [(r, each) for r, each in self.callers[number] if each.opcode == "while"]
            return any(self.from_element(r, each, index, gather, seen) for r, each in callers)
        return False

    def from_element(self, room: Room, loop: Line, index: int, gather: Line, seen: set[tuple[str, int]]) -> bool:
        """The same for a part of what a loop begins with."""
        state = room.lines[loop.operands[0]]
        if state.opcode != "tuple":
            return False
        return self.from_gather(room, room.lines[state.operands[index]], gather, seen)

    def groups(self, line: Line) -> list[tuple[int, ...]]:
        """The groups of devices; the pairs of a permute, joined where they meet."""
        if line.opcode.startswith("collective-permute"):
            pairs = [(one(value, 1), one(value, 2)) for n, value in fields(line.data) if n == 52]
            return pairs
        if 93 in line.last:
            return mesh_groups(line.last[93])
        if 92 in line.last:
            rows, ids = one(line.last[92], 1), many(line.last[92], 3)
            table = np.arange(math.prod(ids)).reshape(ids).transpose(many(line.last[92], 4))
            return [tuple(map(int, row)) for row in table.reshape(rows, -1)]
        listed = [many(value, 1) for n, value in fields(line.last.get(87, b"")) if n == 1]
        listed = listed or [many(value, 1) for n, value in fields(line.data) if n == 49]
        return [tuple(each) for each in listed] or [tuple(range(self.devices))]


def sliced(room: Room) -> Line | None:
    """The all-reduce of a computation of which each device takes a part: nothing else is made of its outputs."""
    for line in room.lines.values():
        if line.opcode != "all-reduce":
            continue
        users = [*room.users[line.id]]
        while any(user.opcode in ("get-tuple-element", "bitcast", "reshape") for user in users):
            through = [u for u in users if u.opcode in ("get-tuple-element", "bitcast", "reshape")]
            users = [u for u in users if u not in through] + list(itertools.chain(*(room.users[u.id] for u in through)))
        if users and all(user.opcode == "dynamic-slice" for user in users):
            return line
    return None


def mesh_groups(data: bytes) -> list[tuple[int, ...]]:
    """Groups along axes of the mesh that the module names, or along parts of an axis."""
    mesh = one(data, 1, b"")
    sizes = [one(value, 2) for n, value in fields(mesh) if n == 1]
    ids = np.arange(math.prod(sizes))
    if listed := many(mesh, 2):
        ids = np.array(listed)
    elif iota := one(mesh, 3, b""):
        ids = ids.reshape(many(iota, 1)).transpose(many(iota, 2)).ravel()
    coordinates = np.array(np.unravel_index(np.arange(ids.size), sizes))
    keys = coordinates.copy()
    for n, value in fields(data):
        if n == 2:
            axis, sub = one(value, 1), one(value, 2, b"")
            # Part of an axis: `before` parts of it, each of `size` neighbours, and what is within stays.
            before, size = (one(sub, 1, 1), one(sub, 2, 1)) if sub else (1, sizes[axis])
            inner = sizes[axis] // before // size
            at = keys[axis]
            keys[axis] = at // (size * inner) * (size * inner) + at % inner
    found = collections.defaultdict(list)
    for device, key in zip(ids, keys.T):
        found[tuple(key)].append(int(device))
    return [tuple(sorted(group)) for group in found.values()]


def ordered(room: Room) -> list[Line]:
    """Instructions so that each comes after its operands."""
    done: dict[int, Line] = {}
    waiting = [*room.lines.values()]
    while waiting:
        ready = []
        for line in waiting:
            if all(each in done for each in line.operands):
                done[line.id] = line
            else:
                ready.append(line)
        waiting = ready
    return [*done.values()]


def deepest(value: Value) -> int:
    """How many collectives a value, or any part of it, has waited for."""
    inner, waited = value
    return max([waited, *map(deepest, inner)]) if isinstance(inner, list) else waited


def raised(value: Value, least: int) -> Value:
    """A value that has waited for as many at least."""
    inner, waited = value
    return ([raised(each, least) for each in inner] if isinstance(inner, list) else inner), max(waited, least)


def unknown(value: Value, made: Form) -> Value:
    """A value of which only is known what it has waited for."""
    waited = deepest(value)
    return ([unknown((None, waited), each) for each in made.parts] if made.kind == TUPLE else None), waited


def arithmetic(line: Line, values: list[Any]) -> int | None:
    """A whole number of one element, where it follows from others."""
    opcode, made = line.opcode, line.form
    if made.kind not in INTEGERS or math.prod(made.sizes) != 1:
        return None
    if opcode == "constant":
        return line.number
    if opcode == "compare" and all(isinstance(each, int) for each in values):
        return int(COMPARE[line.last[63].decode()](*values))
    if opcode == "and" and 0 in values and made.kind == 1:
        return 0
    if opcode == "or" and 1 in values and made.kind == 1:
        return 1
    if opcode == "select" and isinstance(values[0], int):
        return values[1] if values[0] else values[2]
    if not values or not all(isinstance(each, int) for each in values):
        return None
    return wrapped(opcode, values, made.kind)


def wrapped(opcode: str, values: list[int], kind: int) -> int | None:
    """The same in the machine's numbers of that many bits."""
    done: dict[str, Any] = {
        "add": lambda a, b: a + b, "subtract": lambda a, b: a - b, "multiply": lambda a, b: a * b, "maximum": max,
        "minimum": min, "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b,
        "divide": lambda a, b: int(a / b) if b else None, "remainder": lambda a, b: int(math.fmod(a, b)) if b else None,
        "shift-left": lambda a, b: a << b, "shift-right-arithmetic": lambda a, b: a >> b,
        "shift-right-logical": lambda a, b: (a % 2 ** BITS[kind]) >> b,
        "negate": lambda a: -a, "abs": abs, "not": lambda a: 1 - a if kind == 1 else ~a,
        "clamp": lambda low, a, high: min(max(a, low), high), "sign": lambda a: (a > 0) - (a < 0),
    }  # fmt: skip
    same = ("copy", "bitcast", "reshape", "broadcast", "convert", "transpose")
    value = values[0] if opcode in same else done[opcode](*values) if opcode in done else None
    if value is None or kind == 1:
        return value if value is None else int(bool(value))
    bits = BITS[kind]
    value %= 2**bits
    return value - 2**bits if kind in SIGNED and value >= 2 ** (bits - 1) else value


def second_reading(text: str, devices: int) -> Reading:
    """Collectives of a compiled program's text, how often each runs, and the longest chain of them."""
    return Walk(text, devices).reading
