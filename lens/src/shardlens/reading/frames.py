"""Runs of computations and of loops: their whole numbers, followed as far as they do not depend on data. No JAX here."""

from __future__ import annotations

import re
from collections.abc import Iterator

from shardlens.reading.hlo import HloArray, HloInstruction, HloModule
from shardlens.reading.integers import (
    COMPARE,
    SAME,
    Given,
    Moved,
    Test,
    Value,
    agreed,
    between,
    calculated,
    fits,
    is_number,
    part,
    wrapped,
)

# Loops whose rounds have no formula are followed round by round.
FOLLOWED = 20_000
_NAMES = re.compile(r"[^\s,{}%]+")
_BODIES = ("calls", "to_apply", "called_computations")
_BRANCHES = ("branch_computations", "true_computation", "false_computation")
# Text order puts a value before its use, but a chain of scalars may be as long as the program.
_DEEPEST, BUDGET = 150, 200_000


class Numbers:
    """The numbers of one module; `left` is how many more instructions may be looked at before it gives up."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self.left, self.depth = BUDGET, 0
        self._called: dict[HloInstruction, tuple[str, ...]] = {}

    def called(self, i: HloInstruction) -> tuple[str, ...]:
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
            found = self._known[name] = wrapped(i, self._value(i))
        finally:
            numbers.depth -= 1
        return found

    def enter(self, i: HloInstruction, computation: str) -> Frame:
        """The run of a computation that takes what the instruction takes."""
        return Frame(self.numbers, computation, lambda k: self._operand(i, k))

    def branches(self, i: HloInstruction) -> list[Frame]:
        """The runs that a conditional chooses from."""
        return [
            Frame(self.numbers, name, lambda _, k=k: self._operand(i, k + 1))  # type: ignore[misc]
            for k, name in enumerate(self.numbers.called(i))
        ]

    def loop(self, i: HloInstruction) -> Loop:
        """The loop that a `while` is."""
        if i.name not in self.loops:
            self.loops[i.name] = Loop(self, i)
        return self.loops[i.name]

    def _operand(self, i: HloInstruction, k: int) -> Value:
        return self.value(i.operands[k]) if k < len(i.operands) else None

    def _value(self, i: HloInstruction) -> Value:
        opcode, shape = i.opcode, i.shape
        if isinstance(shape, HloArray) and not is_number(shape):
            return None
        if opcode == "parameter":
            return self.given(int(between(i)))
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
            return agreed([frame.root for frame in self.branches(i)])
        if opcode in ("fusion", "call"):
            called = self.numbers.called(i)
            return self.enter(i, called[0]).root if len(called) == 1 else None
        if isinstance(shape, HloArray):
            return calculated(i, lambda k: self._operand(i, k))
        return self._operand(i, 0) if opcode in SAME else None


class Loop:
    """A `while` in one run of the computation around it."""

    def __init__(self, around: Frame, i: HloInstruction) -> None:
        numbers = around.numbers
        self.around, self.i = around, i
        self.body, self.condition = (i.attribute(name).removeprefix("%") for name in ("body", "condition"))
        self._given: Given = lambda k: part(around.value(i.operands[0]), k)
        self._state: Given = lambda k: Moved(k) if self._is_part(k) else None
        self._round = Frame(numbers, self.body, _whole(self._state))
        self._numbers = numbers
        self._last: dict[int, Value] = {}
        self.rounds = self._rounds()

    def after(self, k: int) -> Value:
        """A part of the state when the loop has ended."""
        step = self._step(k)
        if step == 0 or self.rounds == 0:
            return self._given(k)
        if self.rounds is None:
            return None
        if step is None:
            return self._followed(k)
        first = self._given(k)
        return first + step * self.rounds if isinstance(first, int) else None

    def typical(self) -> Frame:
        """A round of which only that is known which is so in each."""

        def fixed(k: int) -> Value:
            return self._given(k) if self._step(k) == 0 else None

        return Frame(self._numbers, self.body, _whole(fixed))

    def _followed(self, k: int) -> Value:
        """The same for a part that has no formula."""
        shape = self.i.shape[k] if self._is_part(k) and isinstance(self.i.shape, tuple) else None
        if not isinstance(shape, HloArray) or not is_number(shape) or not isinstance(self._given(k), int):
            return None
        if k not in self._last and self._counted(also=k) != self.rounds:
            return None
        return self._last.get(k)

    def each(self, asked: set[int] | None = None) -> Iterator[Frame]:
        """Rounds one after the other, with the numbers that each begins with; parts that are `asked` for are followed."""
        state = self._given
        asked = set() if asked is None else asked
        for _ in range(FOLLOWED):
            given = _noted(state, asked)
            again = Frame(self._numbers, self.condition, _whole(given)).root
            if again != 1:
                self._last = {k: state(k) for k in asked} if again == 0 else {}
                return
            frame = Frame(self._numbers, self.body, _whole(given))
            yield frame
            state = _held(frame, asked)

    def _is_part(self, k: int) -> bool:
        shape = self.i.shape
        return isinstance(shape, tuple) and k < len(shape) and isinstance(shape[k], HloArray)

    def _step(self, k: int) -> int | None:
        """What each round adds to a part of the state; `None` where it is not always the same."""
        after = part(self._round.root, k)
        return after.by if isinstance(after, Moved) and after.part == k else None

    def _rounds(self) -> int | None:
        if (said := trip_count(self.i.attribute("backend_config"))) is not None:
            return said
        test = Frame(self._numbers, self.condition, _whole(self._state)).root
        if isinstance(test, int):
            return None if test else 0
        found = self._solved(test) if isinstance(test, Test) else None
        return self._counted() if found is None else found

    def _solved(self, test: Test) -> int | None:
        """The first round in which a comparison of two lines is false."""
        left, right = self._line(test.left), self._line(test.right)
        if left is None or right is None:
            return None
        rounds = first_false(left[0] - right[0], left[1] - right[1], test.compare)
        sides = (test.left, left), (test.right, right)
        moved = [(side, line) for side, line in sides if isinstance(side, Moved)]
        ends = rounds is not None and all(self._stays(side.part, line[0] + line[1] * rounds) for side, line in moved)
        return rounds if ends else None

    def _line(self, side: int | Moved) -> tuple[int, int] | None:
        """A side of a comparison by rounds: its value in the first one, and what each adds."""
        if isinstance(side, int):
            return side, 0
        first, step = self._given(side.part), self._step(side.part)
        return (first + side.by, step) if isinstance(first, int) and step is not None else None

    def _stays(self, k: int, value: int) -> bool:
        """Whether a counter can be that large."""
        shape = self.i.shape[k] if isinstance(self.i.shape, tuple) else None
        return isinstance(shape, HloArray) and fits(value, shape)

    def _counted(self, also: int | None = None) -> int | None:
        """Rounds counted one by one; `None` when it is not known after one whether there is another."""
        count = sum(1 for _ in self.each(set() if also is None else {also}))
        return count if self._last else None


def trip_count(config: str) -> int | None:
    """How often a loop's body runs, from its `backend_config`; `None` when the compiler does not say."""
    found = re.search(r'"known_trip_count":\s*\{"n":\s*"(\d+)"', config.replace("\\", ""))
    return int(found[1]) if found else None


def first_false(first: int, step: int, compare: str) -> int | None:
    """The first round in which `first + step * round` does not compare with zero; `None` if there is none.

    Example:
        >>> first_false(-10, 3, "LT"), first_false(10, -3, "GT"), first_false(6, -3, "NE"), first_false(-1, 0, "LT")
        (4, 4, 2, None)
    """
    if not COMPARE[compare](first, 0):
        return 0
    if compare == "EQ":
        return 1 if step else None
    if compare == "NE":
        return -first // step if step and first % step == 0 and -first // step > 0 else None
    if compare in ("GT", "GE"):
        first, step, compare = -first, -step, {"GT": "LT", "GE": "LE"}[compare]
    return (-first + (compare == "LE") + step - 1) // step if step > 0 else None


def _whole(state: Given) -> Given:
    """The parameters of a computation that takes only this tuple."""
    return lambda _: state


def _noted(state: Given, asked: set[int]) -> Given:
    def given(k: int) -> Value:
        asked.add(k)
        return state(k)

    return given


def _held(frame: Frame, asked: set[int]) -> Given:
    """The state after a round; what was asked for once is worked out in each, since later it would be a long way back."""
    root = frame.root
    known: dict[int, Value] = {}
    before = -1
    while before < len(asked):
        before = len(asked)
        known |= {k: part(root, k) for k in [*asked] if k not in known}
    return lambda k: known[k] if k in known else part(root, k)
