"""How often loops run: from what the compiler says, or from the numbers that a loop counts with. No JAX here.

XLA for CPU writes the rounds of many loops down, XLA for TPU writes none. Then start, step and bound of what is counted are
followed through the module, wherever they are constants of the program; `None` is left where data decides.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator

from shardlab.programs.reading.hlo import Array, Instruction, Module
from shardlab.programs.reading.integers import COMPARE, Frame, Given, Moved, Numbers, Test, Value, fits, is_number, part

# Loops whose rounds have no formula are followed round by round.
_FOLLOWED = 20_000
Loops = dict[tuple[str, str], "Rounds"]


@dataclasses.dataclass(frozen=True)
class Rounds:
    """Of one `while` in a whole run of the program.

    Args:
        starts: how often it is begun.
        rounds: how often its body runs, all starts together.
        each: rounds of one start; where starts differ, of each one in order.
    """

    starts: int | None
    rounds: int | None
    each: int | tuple[int, ...] | None


class Loop:
    """A `while` in one run of the computation around it."""

    def __init__(self, around: Frame, i: Instruction) -> None:
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
        if not isinstance(shape, Array) or not is_number(shape) or not isinstance(self._given(k), int):
            return None
        if k not in self._last and self._counted(also=k) != self.rounds:
            return None
        return self._last.get(k)

    def each(self, asked: set[int] | None = None) -> Iterator[Frame]:
        """Rounds one after the other, with the numbers that each begins with; parts that are `asked` for are followed."""
        state = self._given
        asked = set() if asked is None else asked
        for _ in range(_FOLLOWED):
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
        return isinstance(shape, tuple) and k < len(shape) and isinstance(shape[k], Array)

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
        return isinstance(shape, Array) and fits(value, shape)

    def _counted(self, also: int | None = None) -> int | None:
        """Rounds counted one by one; `None` when it is not known after one whether there is another."""
        count = sum(1 for _ in self.each(set() if also is None else {also}))
        return count if self._last else None


class Tally:
    """Starts and rounds of each loop that a module runs, by computation and name."""

    def __init__(self, module: Module) -> None:
        self._numbers = Numbers(module)
        self._with_loops = _with_loops(module, self._numbers)
        entry = Frame(self._numbers, module.entry, lambda k: None)
        self.loops = self._of(entry) if module.entry in self._with_loops else {}

    def _of(self, frame: Frame) -> Loops:
        """The loops of one run of a computation."""
        found: Loops = {}
        for i in self._with_loops[frame.computation]:
            if i.opcode != "while":
                inside = frame.branches(i) if i.opcode == "conditional" else self._called(frame, i)
                for each in inside:
                    if each.computation in self._with_loops:
                        _add(found, self._of(each))
                continue
            loop = frame.loop(i)
            _add(found, {(frame.computation, i.name): Rounds(1, loop.rounds, loop.rounds)})
            if loop.body in self._with_loops:
                _add(found, self._inside(loop))
            if loop.condition in self._with_loops:
                _add(found, self._unknown(loop.condition))
        return found

    def _called(self, frame: Frame, i: Instruction) -> list[Frame]:
        return [frame.enter(i, name) for name in self._numbers.called(i)]

    def _inside(self, loop: Loop) -> Loops:
        """The loops in a loop's body, all its rounds together."""
        typical = self._of(loop.typical())
        if loop.rounds and any(each.rounds is None for each in typical.values()):
            total: Loops = {}
            followed = 0
            for frame in loop.each():
                one = self._of(frame)
                if any(each.rounds is None for each in one.values()):
                    break
                _add(total, one)
                followed += 1
            if followed == loop.rounds:
                return total
        return {key: _times(each, loop.rounds) for key, each in typical.items()}

    def _unknown(self, computation: str) -> Loops:
        inside = self._of(Frame(self._numbers, computation, lambda k: None))
        return {key: Rounds(None, None, each.each) for key, each in inside.items()}


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


def _add(total: Loops, more: Loops) -> None:
    for key, b in more.items():
        a = total.get(key)
        total[key] = Rounds(_sum(a.starts, b.starts), _sum(a.rounds, b.rounds), _one_by_one(a, b)) if a else b


def _times(one: Rounds, times: int | None) -> Rounds:
    return Rounds(product(one.starts, times), product(one.rounds, times), one.each)


def _one_by_one(a: Rounds, b: Rounds) -> int | tuple[int, ...] | None:
    """Rounds of the starts of both, those of `a` first."""
    if a.each == b.each and not isinstance(a.each, tuple):
        return a.each
    both = _listed(a), _listed(b)
    return None if None in both else tuple(each for listed in both for each in listed or ())


def _listed(one: Rounds) -> tuple[int, ...] | None:
    if isinstance(one.each, int) and one.starts is not None and one.starts <= _FOLLOWED:
        return (one.each,) * one.starts
    return one.each if isinstance(one.each, tuple) else None


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def product(a: int | None, b: int | None) -> int | None:
    """Of two counts of which one may not be known; nothing is run nought times."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b


def _with_loops(module: Module, numbers: Numbers) -> dict[str, list[Instruction]]:
    """By computation, the loops in it and what calls a computation with loops; only computations that have one."""
    # Most programs have none, and need not be taken apart for it.
    if not any(" while(" in i.text for c in module.computations.values() for i in c.values()):
        return {}
    calling = {name: [i for i in c.values() if "=%" in i.text or "={%" in i.text] for name, c in module.computations.items()}
    found = {name for name, c in calling.items() if any(i.opcode == "while" for i in c)}
    callers: dict[str, set[str]] = {}
    for name, c in calling.items() if found else ():
        for i in c:
            for callee in numbers.called(i):
                callers.setdefault(callee, set()).add(name)
    # A while's body and condition are reached through it, and it is in `found`.
    reached = [*found]
    while reached:
        for caller in callers.get(reached.pop(), set()) - found:
            found.add(caller)
            reached.append(caller)

    def leads(i: Instruction) -> bool:
        return i.opcode == "while" or any(name in found for name in numbers.called(i))

    return {name: [i for i in calling[name] if leads(i)] for name in module.computations if name in found}
