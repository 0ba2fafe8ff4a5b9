"""Which computations of an HLO module call which, and how often each runs. No JAX here."""

from __future__ import annotations

import graphlib
import re
from collections.abc import Iterator

from shardlab.programs.reading.hlo import Instruction, Module, leaves, parse

SCATTER = "%all-reduce-scatter"
"""What the computation of a TPU fusion that is a reduce-scatter is called."""
_ONCE = {"fusion", "call", "conditional", "async-start", "custom-call"}
_LATER = ("-done", "-update")
_KEYS = r"\b(?:calls|to_apply|called_computations|branch_computations|true_computation|false_computation)="
_CALL = re.compile(_KEYS + r"(\{[^}]*\}|%?[^\s,{}]+)")
_NAME = re.compile(r"%?([^\s,{}%]+)")


class Calls:
    """Who calls whom.

    `runs` says how often each computation runs: 0 when `ENTRY` does not reach it, `None` when the compiler does not know.
    `fused` holds computations that fusions call; on TPU an asynchronous collective is several of them, all on one channel.
    """

    def __init__(self, module: Module) -> None:
        sites: dict[str, list[tuple[str, int | None]]] = {name: [] for name in module.computations}
        fused = set()
        for caller, instructions in module.computations.items():
            for instruction in instructions.values():
                if "=%" in instruction.text or "={%" in instruction.text:
                    called = [each for each in _callees(instruction) if each[0] in sites]
                    fused |= {callee for callee, _ in called if instruction.opcode == "fusion"}
                    for callee, times in called:
                        sites[callee].append((caller, times))
        self.fused = frozenset(fused)
        self.runs: dict[str, int | None] = {}
        for name in graphlib.TopologicalSorter({k: {c for c, _ in v} for k, v in sites.items()}).static_order():
            counts = [_times(self.runs[caller], times) for caller, times in sites[name]] + [int(name == module.entry)]
            self.runs[name] = None if None in counts else sum(c for c in counts if c is not None)


def _callees(instruction: Instruction) -> Iterator[tuple[str, int | None]]:
    """Names of the computations that `instruction` runs, and how often it runs each; none for a TPU reduce-scatter.

    An operation that is not known here, or a reduction, runs what it calls an unknown number of times.
    """
    # Without metadata: an op_name holds names that the program's author chose, and may read like an attribute.
    opcode, rest = instruction.opcode, instruction.rest.partition(", metadata=")[0]
    if opcode == "while":
        attributes = instruction.attributes
        rounds = trip_count(attributes.get("backend_config", ""))
        yield attributes["body"].removeprefix("%"), rounds
        # A condition is looked at once more than the body runs.
        yield attributes["condition"].removeprefix("%"), None if rounds is None else rounds + 1
    elif not opcode.endswith(_LATER):
        times = 1 if opcode in _ONCE or opcode.endswith("-start") else None
        called = _CALL.findall(rest)
        if not any(names.startswith(SCATTER) for names in called):
            yield from ((name, times) for names in called for name in _NAME.findall(names))


def largest(hlo_text: str) -> int:
    """Bytes of the largest array that the program has on a device at any time; what fusions make inside is never stored.

    Raises:
        ShardlabError: the text is not that of an HLO module.
    Example:
        >>> largest("ENTRY %main (x: f32[4]) -> f32[4] {\\n  ROOT %x = f32[4]{0} parameter(0)\\n}")
        16
    """
    module = parse(hlo_text)
    calls = Calls(module)
    stored = (c for name, c in module.computations.items() if calls.runs[name] != 0 and name not in calls.fused)
    return max((a.nbytes for instructions in stored for i in instructions.values() for a in leaves(i.shape)), default=0)


def trip_count(config: str) -> int | None:
    """How often a loop's body runs, from its `backend_config`; `None` when the compiler does not know."""
    found = re.search(r'"known_trip_count":\s*\{"n":\s*"(\d+)"', config.replace("\\", ""))
    return int(found[1]) if found else None


def _times(runs: int | None, times: int | None) -> int | None:
    if runs == 0 or times == 0:
        return 0
    return None if runs is None or times is None else runs * times
