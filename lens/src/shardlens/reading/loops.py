"""How often loops run: from what the compiler says, or from the numbers that a loop counts with. No JAX here.

XLA for CPU writes the rounds of many loops down, XLA for TPU writes none. Then start, step and bound of what is counted are
followed through the module, wherever they are constants of the program; `None` is left where data decides.
"""

from __future__ import annotations

import dataclasses

from shardlens.reading.frames import FOLLOWED, Frame, Loop, Numbers
from shardlens.reading.hlo import HloInstruction, HloModule

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


class Tally:
    """Starts and rounds of each loop that a module runs, by computation and name."""

    def __init__(self, module: HloModule) -> None:
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

    def _called(self, frame: Frame, i: HloInstruction) -> list[Frame]:
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
    if isinstance(one.each, int) and one.starts is not None and one.starts <= FOLLOWED:
        return (one.each,) * one.starts
    return one.each if isinstance(one.each, tuple) else None


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b


def product(a: int | None, b: int | None) -> int | None:
    """Of two counts of which one may not be known; nothing is run nought times."""
    if a == 0 or b == 0:
        return 0
    return None if a is None or b is None else a * b


def _with_loops(module: HloModule, numbers: Numbers) -> dict[str, list[HloInstruction]]:
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

    def leads(i: HloInstruction) -> bool:
        return i.opcode == "while" or any(name in found for name in numbers.called(i))

    return {name: [i for i in calling[name] if leads(i)] for name in module.computations if name in found}
