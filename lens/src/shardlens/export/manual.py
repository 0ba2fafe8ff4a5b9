"""What a StableHLO program leaves to the compiler: what stands outside of `jax.shard_map`, dead code aside."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from jax.extend.mlir import ir
from jax.extend.mlir.dialects import stablehlo

from shardlens.reading.hlo import parse_hlo

REGION = "sdy.manual_computation"
_MOVES = frozenset({"all-gather", "all-to-all", "collective-permute"})
_PRODUCTS = frozenset(f"stablehlo.{kind}" for kind in ("convolution", "dot_general", "fft", "reduce_window"))


@dataclasses.dataclass(frozen=True)
class Written:
    """What of a program its outputs need.

    Args:
        regions: whether any part of it is written with `jax.shard_map`.
        channels: those of collectives that are written; the compiler's own have others.
        products: products that stand outside of `jax.shard_map`, by operation.
        placed: whether what it returns is then asked for elsewhere in so many words, as by `jax.reshard`.
    """

    regions: bool
    channels: frozenset[int] = frozenset()
    products: frozenset[str] = frozenset()
    placed: bool = False

    def moves_all(self, hlo_text: str, kinds: Mapping[str, str]) -> bool:
        """Whether what moves in the compiled program is written, all or all but what a sharding asks for in so many words.

        Args:
            hlo_text: what `compiled.as_text()` returns.
            kinds: the kind of each collective, by its name there.
        """
        # The compiler gives each of its own a channel that no written one has; JAX 0.10 gives written ones channel 1.
        found = {name: channel for name, channel in _channels(hlo_text).items() if name in kinds}
        others = {kinds[name] for name, channel in found.items() if channel not in self.channels}
        return not others or (bool(self.channels) and self.placed and others <= _MOVES)


def written(main: ir.Operation, functions: Mapping[str, ir.Operation]) -> Written:
    """What there is of a program whose functions, by name, do not call themselves."""
    live = _Live(main, functions)
    inside = {op for op in live.operations if _within(op) or _function(op) not in live.outside}
    handles = (op.attributes["channel_handle"] for op in live.operations if "channel_handle" in op.attributes)
    largest = max((_size(v) for v in (*_arguments(main), *_returned(main))), default=0)
    return Written(
        any(op.name == REGION for op in live.operations),
        frozenset(stablehlo.ChannelHandle(handle).handle for handle in handles),
        frozenset(op.name for op in live.operations - inside if op.name in _PRODUCTS or _spread_out(op, largest)),
        any(_placed_anew(op) for op in live.operations - inside),
    )


class _Live:
    """The operations that a program's outputs need: from what is returned back to what it is made from."""

    def __init__(self, main: ir.Operation, functions: Mapping[str, ir.Operation]) -> None:
        self.functions = functions
        self.operations: set[ir.Operation] = set()
        self.calls: dict[str, set[ir.Operation]] = {}
        self._waiting = _returned(main)
        seen = set(self._waiting)
        while self._waiting:
            for value in self._needed(self._waiting.pop()):
                if value not in seen:
                    seen.add(value)
                    self._waiting.append(value)
        self.outside = self._outside("main")

    def _needed(self, value: Any) -> Iterable[Any]:
        """The values that this one is made from."""
        if isinstance(value, ir.BlockArgument):
            return self._given(value)
        operation = ir.OpResult(value).owner.operation
        self.operations.add(operation)
        if operation.name == "func.call":
            callee = ir.FlatSymbolRefAttr(operation.attributes["callee"]).value
            new = operation not in self.calls.setdefault(callee, set())
            self.calls[callee].add(operation)
            returned = _returned(self.functions[callee])[ir.OpResult(value).result_number]
            # Arguments that another call was asked for are wanted of this one too; asking once more for all is harmless.
            return [returned, *(operation.operands if new and len(self.calls[callee]) > 1 else ())]
        if operation.name == REGION:
            return [_returned(operation)[ir.OpResult(value).result_number]]
        return self._all(operation)

    def _given(self, argument: Any) -> Iterable[Any]:
        """What an argument of a function or of a region stands for; a loop's were all asked for with the loop."""
        owner, number = argument.owner.owner.operation, argument.arg_number
        if owner.name == REGION:
            return [owner.operands[number]]
        if owner.name == "func.func":
            name = ir.StringAttr(owner.attributes["sym_name"]).value
            return [call.operands[number] for call in self.calls.get(name, ())]
        return []

    def _all(self, operation: ir.Operation) -> Iterator[Any]:
        """Everything that an operation takes, itself and in its regions."""
        yield from operation.operands
        for inner in _inner(operation):
            self.operations.add(inner)
            if inner.name == "func.call":
                callee = ir.FlatSymbolRefAttr(inner.attributes["callee"]).value
                self.calls.setdefault(callee, set()).add(inner)
                yield from _returned(self.functions[callee])
            yield from inner.operands

    def _outside(self, name: str) -> set[str]:
        """The functions that run outside of `jax.shard_map`, from this one on."""
        found = {name}
        for callee, calls in self.calls.items():
            if callee not in found and any(_function(call) == name and not _within(call) for call in calls):
                found |= self._outside(callee)
        return found


def _inner(operation: ir.Operation) -> Iterator[ir.Operation]:
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield inner.operation
                yield from _inner(inner.operation)


def _within(operation: ir.Operation) -> bool:
    """Whether it stands in a region of `jax.shard_map`."""
    parent = operation.parent
    while parent is not None and parent.name != "func.func":
        if parent.name == REGION:
            return True
        parent = parent.parent
    return False


def _function(operation: ir.Operation) -> str:
    """Name of the function that it stands in."""
    parent = operation.parent
    if operation.name == "func.func" or parent is None:
        return str(ir.StringAttr(operation.attributes["sym_name"]).value)
    return _function(parent)


def _arguments(function: ir.Operation) -> list[Any]:
    return list(function.regions[0].blocks[0].arguments)


def _returned(operation: ir.Operation) -> list[Any]:
    """What a function or a region returns."""
    *_, last = operation.regions[0].blocks[0].operations
    return list(last.operation.operands)


def _spread_out(operation: ir.Operation, largest: int) -> bool:
    """Whether it multiplies into something larger than all that the program takes and gives, as multiply-and-sum does."""
    return operation.name == "stablehlo.multiply" and any(_size(v) > largest for v in operation.results)


def _placed_anew(operation: ir.Operation) -> bool:
    """Whether it asks for another sharding of what `jax.shard_map` returns."""
    if operation.name != "sdy.sharding_constraint" or isinstance(operation.operands[0], ir.BlockArgument):
        return False
    source = ir.OpResult(operation.operands[0]).owner.operation
    wanted = str(operation.attributes["sharding"]).removeprefix("#sdy.sharding")
    return source.name == REGION and wanted not in str(source.attributes["out_shardings"])


def _size(value: Any) -> int:
    return math.prod(value.type.shape) if isinstance(value.type, ir.RankedTensorType) else 0


def _channels(hlo_text: str) -> dict[str, int]:
    """The channel of each instruction that has one, by name."""
    instructions = (found for inside in parse_hlo(hlo_text).computations.values() for found in inside.values())
    return {i.name: int(channel) for i in instructions if (channel := i.attribute("channel_id"))}
