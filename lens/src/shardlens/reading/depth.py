"""How many collectives of a compiled program have to wait for one another: its longest chain of them. No JAX here."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection, Iterable, Sequence

from shardlens.reading.calls import calls
from shardlens.reading.hlo import HloArray, HloInstruction, HloModule, Shape, parse_hlo
from shardlens.reading.loops import Loops

Depth = int | tuple["Depth", ...]
"""For an array the collectives in the longest chain that it waits for; for a tuple those of its parts."""
# A loop of a billion rounds is one line of text, and somebody may write it; reading it must come to an end.
ROUNDS = 10_000
"""Of all loops of a program together, those inside of others counted each time."""
_NUMBER = re.compile(r"parameter\((\d+)\)")
_STARTS = ("async-start", "call-start")
_CALLERS = ("call", "fusion", *_STARTS)


class Unknown(Exception):
    """A loop with collectives runs nobody knows how often, or too often to be followed."""


def depth(hlo_text: str, counted: Collection[str]) -> int | None:
    """Collectives in the longest chain in which each takes what the one before it gave, loops followed round by round.

    Args:
        hlo_text: what `compiled.as_text()` returns.
        counted: names of the instructions that are counted, as `collectives.read_collectives` finds them.
    Returns:
        `None` when a loop with collectives runs an unknown number of times, or all of them more than `ROUNDS` times.
    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x: x.sum(0), x)
        >>> depth(program.hlo, {c.name for c in program.collectives})
        1
    """
    module = parse_hlo(hlo_text)
    try:
        return Chains(module, frozenset(counted), calls(hlo_text).loops).longest
    except Unknown:
        return None


class Chains:
    """Follows depths through a module, from the parameters of a computation to its root."""

    def __init__(self, module: HloModule, counted: frozenset[str], loops: Loops) -> None:
        self.module, self.counted, self.loops = module, counted, loops
        self.started: dict[tuple[str, str], int] = {}
        self.longest, self.left = 0, ROUNDS
        entry = module.computations[module.entry].values()
        self.follow(module.entry, [_spread(0, i.shape) for i in entry if i.opcode == "parameter"])

    def most(self, depths: Iterable[Depth]) -> int:
        """The depth of what waits for all of these."""
        return max((d if isinstance(d, int) else self.most(d) for d in depths), default=0)

    def event(self, i: HloInstruction, computation: str) -> bool:
        """Whether this instruction is followed: a collective."""
        return i.name in self.counted

    def ran(self, i: HloInstruction, computation: str, before: int) -> int:
        """The depth of what an event gives, for that of what it takes."""
        self.longest = max(self.longest, before + 1)
        return before + 1

    def follow(self, computation: str, given: Sequence[Depth]) -> Depth:
        """The depth of what a computation returns, for those of its parameters."""
        known: dict[str, Depth] = {}
        for i in self.module.computations[computation].values():
            operands = [known[name] for name in i.operands if name in known]
            if self.event(i, computation):
                found = _spread(self.ran(i, computation, self.most(operands)), i.shape)
            else:
                found = given[int(_number(i))] if i.opcode == "parameter" else self.value(i, operands, computation)
            known[i.name] = found
        return known[self.module.roots.get(computation, next(reversed(known)))]

    def value(self, i: HloInstruction, operands: Sequence[Depth], computation: str) -> Depth:
        """The depth of what an instruction returns."""
        if i.opcode == "tuple":
            return tuple(operands)
        if i.opcode == "get-tuple-element" and isinstance(operands[0], tuple):
            return operands[0][int(i.attribute("index"))]
        if i.opcode == "while":
            return self.loop(i, operands[0], self.rounds((computation, i.name)))
        if i.opcode == "conditional":
            return self.branches(i, operands)
        if i.opcode in ("opt-barrier", "optimization-barrier") and len(operands) == 1:
            return operands[0]
        callees = self.callees(i) if i.opcode in _CALLERS and i.name not in self.counted else []
        if len(callees) == 1:
            found = self.follow(callees[0], operands)
            return found if i.opcode not in _STARTS else _spread(self.most([found]), i.shape)
        return _spread(self.most(operands), i.shape)

    def rounds(self, loop: tuple[str, str]) -> int | None:
        """How often the body runs in the start of a loop that is next."""
        known = self.loops.get(loop)
        if known is None:
            return None
        if not isinstance(known.each, tuple):
            return known.each
        start = self.started[loop] = self.started.get(loop, -1) + 1
        return known.each[start % len(known.each)]

    def loop(self, i: HloInstruction, state: Depth, rounds: int | None) -> Depth:
        """The depths after all rounds; without collectives inside they stop growing after a few."""
        body, condition = (i.attribute(name).removeprefix("%") for name in ("body", "condition"))
        if self.counts(condition):
            raise Unknown
        for _ in itertools.count() if rounds is None else range(rounds):
            if not self.left:
                raise Unknown
            self.left -= 1
            after = self.follow(body, [state])
            if after == state:
                if self.started:  # the rounds left out would have started loops whose starts differ
                    raise Unknown
                return state
            if rounds is None and self.counts(body):
                raise Unknown
            state = after
        return state

    def counts(self, computation: str) -> bool:
        """Whether a computation, or one that it calls, has a counted instruction."""
        instructions = self.module.computations[computation].values()
        return any(self.event(i, computation) or any(map(self.counts, self.callees(i))) for i in instructions)

    def branches(self, i: HloInstruction, operands: Sequence[Depth]) -> Depth:
        """The depth of the deepest branch; none begins before it is known which is taken."""
        least = self.most(operands[:1])
        chosen = [self.follow(name, [self.raised(given, least)]) for name, given in zip(self.callees(i), operands[1:])]
        return _spread(self.most([*chosen, least]), i.shape)

    def raised(self, value: Depth, least: int) -> Depth:
        """No depth below `least`."""
        return self.most([value, least]) if isinstance(value, int) else tuple(self.raised(part, least) for part in value)

    def callees(self, i: HloInstruction) -> list[str]:
        """Names of the computations of this module that an instruction runs, in order."""
        if "=%" not in i.text and "={%" not in i.text:
            return []
        keys = ("calls", "to_apply", "branch_computations", "true_computation", "false_computation", "body", "condition")
        named = (name for key in keys for name in re.findall(r"[^\s,{}%]+", i.attribute(key)))
        return [name for name in named if name in self.module.computations]


def _number(i: HloInstruction) -> str:
    found = _NUMBER.search(i.text)
    return found[1] if found else "0"


def _spread(value: int, shape: Shape) -> Depth:
    """The same depth for each array of a shape."""
    return value if isinstance(shape, HloArray) else tuple(_spread(value, part) for part in shape)
