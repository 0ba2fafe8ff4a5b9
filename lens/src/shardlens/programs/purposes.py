"""What a collective is for, and the leaf of the arguments that it moves. No JAX here."""

from __future__ import annotations

import functools
import re

from shardlens.reading.hlo import HloInstruction, HloModule, hlo_leaves, parse_hlo
from shardlens.reading.names import operations

NO_LEAF = "no argument's leaf"
_INDEX = re.compile(r"\[\d+\]|(?<=\.)\d+\b")
_CALLED = re.compile(r"\b(?:calls|body|condition|to_apply)=%?([^\s,{}]+)")
_PARAMETER = re.compile(r"\bparameter\((\d+)\)")
_MOVES = ("all-gather", "bitcast", "convert", "copy", "dynamic-slice", "reshape", "slice", "transpose")


class Flow:
    """Where the arrays of a program come from."""

    def __init__(self, hlo: str) -> None:
        self.module = parse_hlo(hlo) if "ENTRY" in hlo else HloModule("", {}, 1, {})
        self.home = {name: inside for inside, each in self.module.computations.items() for name in each}
        self.callers: dict[str, tuple[str, HloInstruction]] = {}
        for inside, each in self.module.computations.items():
            for i in each.values():
                for callee in _CALLED.findall(i.rest.partition(", metadata=")[0]) if "=%" in i.rest else ():
                    self.callers[callee] = inside, i
        self.differentiated = "transpose(" in hlo
        self.late = functools.cache(self._late)

    def purpose(self, name: str, op_name: str) -> str:
        """Of a collective: "backward" or "forward" where it is differentiated; "optimizer" after gradients; else "data".

        Of one that XLA made of several, those of all.
        """
        return " + ".join(dict.fromkeys(self._purpose(name, each) for each in operations(op_name)))

    def _purpose(self, name: str, op_name: str) -> str:
        if "transpose(" in op_name:
            return "backward"
        if "jvp(" in op_name or not self.differentiated:
            return "forward"
        return "optimizer" if self._after(name) else "data"

    def leaf(self, name: str) -> str:
        """The path of the leaf that a collective moves as it was given, numbers of layers as `*`."""
        made = self._instruction(name)
        found = self._origin(self.home[name], made.operands[0]) if made and made.operands else ""
        return _INDEX.sub(lambda m: "[*]" if m[0].startswith("[") else "*", found) or NO_LEAF

    def _instruction(self, name: str) -> HloInstruction | None:
        return self.module.computations[self.home[name]][name] if name in self.home else None

    def _after(self, name: str) -> bool:
        """Whether gradients are in what an instruction takes, or in what the loop around it does."""
        inside = self.home.get(name, "")
        while inside:
            if name in self.late(inside):
                return True
            inside, caller = self.callers.get(inside, ("", None))
            name = caller.name if caller else ""
        return False

    def _late(self, computation: str) -> frozenset[str]:
        """The instructions of a computation that take a gradient, or what was made of one."""
        late: set[str] = set()
        for i in self.module.computations[computation].values():
            if "transpose(" in i.op_name or not late.isdisjoint(i.operands):
                late.add(i.name)
        return frozenset(late)

    def _origin(self, inside: str, name: str) -> str:
        """The path of the leaf that an array is, whole or a part of it, converted or not; empty for anything else."""
        siblings = self.module.computations[inside]
        i = siblings.get(name)
        if i is None:
            return ""
        if i.opcode == "parameter":
            return i.op_name.replace("\\'", "'") if inside == self.module.entry else self._given(inside, i)
        if i.opcode == "get-tuple-element":
            return self._part(inside, siblings[i.operands[0]], int(i.attribute("index")))
        arrays = [o for o in i.operands if o in siblings and any(a.shape for a in hlo_leaves(siblings[o].shape))]
        return self._origin(inside, arrays[0]) if self._moves(i) and len(arrays) == 1 else ""

    def _moves(self, i: HloInstruction) -> bool:
        """Whether it gives what it takes, or a part; a fusion, where each array in it does."""
        if i.opcode == "fusion":
            inner = self.module.computations.get(i.attribute("calls").removeprefix("%"), {}).values()
            arrays = (each for each in inner if any(a.shape for a in hlo_leaves(each.shape)))
            return all(each.opcode in ("parameter", "tuple", *_MOVES) or "custom-call" in each.opcode for each in arrays)
        return i.opcode.removesuffix("-start").removesuffix("-done") in _MOVES

    def _given(self, inside: str, parameter: HloInstruction) -> str:
        """The same for what a fusion is given."""
        outside, caller = self.callers.get(inside, ("", None))
        number = _PARAMETER.search(parameter.text)
        fused = caller is not None and caller.opcode in ("fusion", "call") and number is not None
        return self._origin(outside, caller.operands[int(number[1])]) if fused and caller and number else ""

    def _part(self, inside: str, whole: HloInstruction, k: int) -> str:
        """The same for an element of a tuple: of a loop's state, what the loop was given."""
        if whole.opcode == "parameter" and inside in self.callers:
            inside, whole = self.callers[inside]
        if whole.opcode == "while":
            if not self._stays(whole.attribute("body").removeprefix("%"), k):
                return ""
            whole = self.module.computations[inside][whole.operands[0]]
        return self._origin(inside, whole.operands[k]) if whole.opcode == "tuple" else ""

    def _stays(self, body: str, k: int) -> bool:
        """Whether a loop hands a part of its state on as it was."""
        each = self.module.computations[body]
        root = each[self.module.roots[body]]
        kept = each.get(root.operands[k]) if root.opcode == "tuple" else None
        same = kept is not None and kept.opcode == "get-tuple-element" and each[kept.operands[0]].opcode == "parameter"
        return bool(same and kept and kept.attribute("index") == str(k))
