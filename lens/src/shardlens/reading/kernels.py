"""What a Pallas kernel for TPUs sends to other devices, from the kernel's own program, which is followed device by device.

The compiled text holds that program as MLIR, which jaxlib reads. Where there is no jaxlib, or where data decides, nothing
is known.
"""

from __future__ import annotations

import base64
import functools
import itertools
import operator
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

Sent = Mapping[tuple[int, int], int]
"""Bytes by source and target, as places in the mesh."""
STEPS = 2**18
"""Operations of a kernel that are followed at most, on all devices together."""


class _Unknown(Exception):
    """Data decides what is sent, or the program has an operation that is not followed."""


def _unsigned(way: Callable[[int, int], int]) -> Callable[[int, int], int]:
    """An operation that reads its bits as numbers without a sign."""

    def of(a: int, b: int) -> int:
        if min(a, b) < 0:
            raise _Unknown
        return way(a, b)

    return of


_COMPARE = (operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge)
_WHOLE: dict[str, Callable[[int, int], int]] = {
    "arith.addi": operator.add,
    "arith.subi": operator.sub,
    "arith.muli": operator.mul,
    "arith.andi": operator.and_,
    "arith.ori": operator.or_,
    "arith.xori": operator.xor,
    # Both round towards zero.
    "arith.divsi": lambda a, b: int(a / b),
    "arith.remsi": lambda a, b: a - b * int(a / b),
    "arith.divui": _unsigned(operator.floordiv),
    "arith.remui": _unsigned(operator.mod),
    "arith.minsi": min,
    "arith.maxsi": max,
}
_SAME = ("arith.extui", "arith.extsi", "arith.trunci", "arith.index_cast")
_REMOTE = "tpu.enqueue_dma"


@functools.lru_cache(maxsize=64)
def sent(body: str, devices: int) -> Sent | None:
    """Bytes that each device sends to each other one in a run of a kernel; `None` where nobody can say.

    Args:
        body: of the kernel's `custom_call_config`, MLIR in base 64.
        devices: of the program.
    """
    try:
        from jaxlib.mlir import ir
        from jaxlib.mosaic.python import tpu
    except ImportError:
        return None
    with ir.Context() as context:
        context.allow_unregistered_dialects = True
        tpu.register_dialect(context)
        try:
            module = ir.Module.parse(base64.b64decode(body))
            (kernel,) = (each for each in module.body.operations if _remote(each))
            followed = _Kernel(kernel.operation)
            for device in range(devices):
                followed.run(device)
        except (_Unknown, ValueError, ir.MLIRError, ZeroDivisionError):
            return None
        return followed.sent


def _name(op: Any) -> str:
    return str(op.operation.name).removeprefix("stable_mosaic.")


def _inside(op: Any) -> Iterator[Any]:
    """The operation, and all in its regions."""
    yield op
    for region in op.operation.regions:
        for block in region:
            for each in block:
                yield from _inside(each)


def _remote(op: Any) -> bool:
    """Whether it, or an operation inside, sends to another device, or calls what is not followed."""
    return any(_name(each) in ("func.call", "scf.while") or _target(each) is not None for each in _inside(op))


def _target(op: Any) -> Any:
    """The operand of a copy that names another device; `None` for anything else."""
    if _name(op) != _REMOTE:
        return None
    counts = [*op.operation.attributes["operandSegmentSizes"]]
    return op.operation.operands[sum(counts[:4])] if counts[4] else None


class _Kernel:
    """A kernel that is run without its arrays: whole numbers that are known, and copies to other devices."""

    def __init__(self, function: Any) -> None:
        self.block, self.sent, self.steps = function.regions[0].blocks[0], Counter[tuple[int, int]](), 0
        attributes = function.attributes
        self.grid = [*attributes["iteration_bounds"]] if "iteration_bounds" in attributes else []

    def run(self, device: int) -> None:
        """All rounds of the grid on one device."""
        self.device = device
        if any(bound < 0 for bound in self.grid):
            raise _Unknown
        for place in itertools.product(*map(range, self.grid)):
            self._block(self.block, dict(zip(self.block.arguments, place)))

    def _block(self, block: Any, known: dict[Any, int | None]) -> list[int | None]:
        """What a block gives on: the operands of its last operation."""
        for op in block:
            self.steps += 1
            if self.steps > STEPS:
                raise _Unknown
            given = [known.get(value) for value in op.operation.operands]
            if _name(op) in ("scf.yield", "func.return", "tpu.yield"):
                return given
            if (target := _target(op)) is not None:
                self._send(known.get(target), op.operation.operands[0].type)
            results = self._results(op, given, known)
            known.update(zip(op.operation.results, results))
        return []

    def _send(self, target: int | None, source: Any) -> None:
        from jaxlib.mlir import ir

        if target is None or not (array := ir.MemRefType(source)).has_static_shape:
            raise _Unknown
        if target != self.device:
            element: Any = array.element_type
            size = functools.reduce(operator.mul, array.shape, 1) * element.width // 8
            self.sent[self.device, target] += size

    def _results(self, op: Any, given: Sequence[int | None], known: dict[Any, int | None]) -> Sequence[int | None]:
        name, attributes = _name(op), op.operation.attributes
        if name == "tpu.device_id":
            return [self.device]
        if name == "arith.constant":
            return [getattr(attributes["value"], "value", None)]
        if op.operation.regions:
            return self._regions(op, given, known)
        values = [value for value in given if value is not None]
        if len(values) < len(given) or not values:
            return []
        a, *more = values
        if name == "arith.cmpi" and (way := attributes["predicate"].value) < len(_COMPARE):
            return [int(_COMPARE[way](a, more[0]))]
        if name == "arith.select":
            return [more[0] if a else more[1]]
        whole = _WHOLE.get(name)
        return [whole(a, more[0])] if whole else [a] if name in _SAME else []

    def _regions(self, op: Any, given: Sequence[int | None], known: dict[Any, int | None]) -> Sequence[int | None]:
        """Branches and loops; what nothing is known of is passed over, where nothing in it is sent."""
        name, regions = _name(op), op.operation.regions
        if name == "scf.if" and given[0] is not None:
            chosen = regions[0] if given[0] else regions[1]
            return self._block(chosen.blocks[0], known) if len(chosen.blocks) else []
        if name == "scf.for" and _remote(op) and None not in given[:3]:
            state, block = given[3:], regions[0].blocks[0]
            for i in range(*given[:3]):  # type: ignore[arg-type]
                state = self._block(block, known | dict(zip(block.arguments, (i, *state))))
            return state
        if name == "tpu.region":
            return self._block(regions[0].blocks[0], known)
        if _remote(op):
            raise _Unknown
        return []
