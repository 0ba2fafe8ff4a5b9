"""Which computations of an HLO module call which, and how often each runs. No JAX here."""

from __future__ import annotations

import functools
import graphlib
import re
from collections.abc import Iterator

from shardlens.reading.hlo import HloInstruction, HloModule, hlo_leaves, parse_hlo
from shardlens.reading.loops import Tally, product

SCATTER = "%all-reduce-scatter"
"""What the computation of a TPU fusion that is a reduce-scatter is called."""
_ONCE = {"fusion", "call", "conditional", "async-start", "custom-call"}
_LATER = ("-done", "-update")
_KEYS = r"\b(?:calls|to_apply|called_computations|branch_computations|true_computation|false_computation)="
_CALL = re.compile(_KEYS + r"(\{[^}]*\}|%?[^\s,{}]+)")
_NAME = re.compile(r"%?([^\s,{}%]+)")


class Calls:
    """Who calls whom.

    `runs` says how often each computation runs: 0 when `ENTRY` does not reach it, `None` when data decides.
    `fused` holds computations that fusions call; on TPU an asynchronous collective is several of them. `chosen` holds those
    that run if a conditional takes their branch. `loops` holds the rounds of each `while`, by computation and name. `around`
    holds the rounds of the loops around each computation, outermost first, by its deepest caller.
    """

    def __init__(self, module: HloModule) -> None:
        self.loops, self._module = Tally(module).loops, module
        sites: dict[str, list[tuple[str, int | None]]] = {name: [] for name in module.computations}
        rounds: dict[str, list[tuple[str, int | None]]] = {name: [] for name in module.computations}
        fused, chosen = set(), set()
        for caller, instructions in module.computations.items():
            for instruction in instructions.values():
                if "=%" not in instruction.text and "={%" not in instruction.text:
                    continue
                if instruction.opcode == "while":
                    for callee, times in self._rounds(caller, instruction):
                        if callee in rounds:
                            rounds[callee].append((caller, times))
                else:
                    called = [each for each in _callees(instruction) if each[0] in sites]
                    fused |= {callee for callee, _ in called if instruction.opcode == "fusion"}
                    chosen |= {callee for callee, _ in called if instruction.opcode == "conditional"}
                    for callee, times in called:
                        sites[callee].append((caller, times))
        self.fused = frozenset(fused)
        self.runs: dict[str, int | None] = {}
        self.around: dict[str, tuple[int | None, ...]] = {}
        callers = {name: {c for c, _ in (*sites[name], *rounds[name])} for name in module.computations}
        for name in graphlib.TopologicalSorter(callers).static_order():
            counts = [product(self.runs[caller], times) for caller, times in sites[name]] + [int(name == module.entry)]
            # Rounds are those of a whole run already; what nobody runs has none.
            counts += [times if self.runs[caller] != 0 else 0 for caller, times in rounds[name]]
            self.runs[name] = None if None in counts else sum(c for c in counts if c is not None)
            nests = [self.around[caller] for caller, _ in sites[name]]
            nests += [(*self.around[caller], self._each(caller, name)) for caller, _ in rounds[name]]
            self.around[name] = max(nests, key=lambda nest: (len(nest), nest.count(None)), default=())
            chosen |= {name} if callers[name] & chosen else set()
        self.chosen = frozenset(chosen)

    def _each(self, caller: str, callee: str) -> int | None:
        """Rounds of one start of the loop in `caller` whose body or condition is `callee`; `None` where starts differ."""
        loops = (i for i in self._module.computations[caller].values() if i.opcode == "while" and f"%{callee}" in i.rest)
        each = [found.each for i in loops if (found := self.loops.get((caller, i.name)))]
        return each[0] if len(each) == 1 and isinstance(each[0], int) else None

    def _rounds(self, caller: str, loop: HloInstruction) -> Iterator[tuple[str, int | None]]:
        """How often a loop's body and its condition run in all; the condition is looked at once more in each start."""
        found = self.loops.get((caller, loop.name))
        starts, rounds = (found.starts, found.rounds) if found else (None, None)
        yield loop.attribute("body").removeprefix("%"), rounds
        yield loop.attribute("condition").removeprefix("%"), None if rounds is None or starts is None else rounds + starts


@functools.lru_cache(maxsize=2)
def calls(text: str) -> Calls:
    """Who calls whom in the module that `compiled.as_text()` printed."""
    return Calls(parse_hlo(text))


def _callees(instruction: HloInstruction) -> Iterator[tuple[str, int | None]]:
    """Names of the computations that `instruction` runs, and how often it runs each; none for a TPU reduce-scatter.

    An operation that is not known here, or a reduction, runs what it calls an unknown number of times.
    """
    # Without metadata: an op_name holds names that the program's author chose, and may read like an attribute.
    opcode, rest = instruction.opcode, instruction.rest.partition(", metadata=")[0]
    if not opcode.endswith(_LATER):
        times = 1 if opcode in _ONCE or opcode.endswith("-start") else None
        called = _CALL.findall(rest)
        if not any(names.startswith(SCATTER) for names in called):
            yield from ((name, times) for names in called for name in _NAME.findall(names))


def largest_array(hlo_text: str) -> int:
    """Bytes of the largest array that the program has on a device at any time; what fusions make inside is never stored.

    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> largest_array("ENTRY %main (x: f32[4]) -> f32[4] {\\n  ROOT %x = f32[4]{0} parameter(0)\\n}")
        16
    """
    module, found = parse_hlo(hlo_text), calls(hlo_text)
    stored = (c for name, c in module.computations.items() if found.runs[name] != 0 and name not in found.fused)
    return max((a.nbytes for instructions in stored for i in instructions.values() for a in hlo_leaves(i.shape)), default=0)
