"""Programs that differ from a StableHLO program in one operation: what a mistake in one place would have changed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
from jax.extend.mlir import ir

Change = Callable[[], None]
"""Makes the change in the module that is being walked."""
MOST = 500
"""So many calls get functions of their own."""
_REDUCTIONS = frozenset({"stablehlo.all_reduce", "stablehlo.reduce_scatter", "stablehlo.reduce"})
_REDUCERS = {
    "stablehlo.add": ("stablehlo.maximum", "sum", "maximum"),
    "stablehlo.maximum": ("stablehlo.add", "maximum", "sum"),
}
_ARITHMETIC = {
    "stablehlo.add": ("stablehlo.subtract", "addition", "a subtraction"),
    "stablehlo.subtract": ("stablehlo.add", "subtraction", "an addition"),
    "stablehlo.multiply": ("stablehlo.divide", "multiplication", "a division"),
    "stablehlo.divide": ("stablehlo.multiply", "division", "a multiplication"),
}
_ORDERED = {"stablehlo.subtract": "subtraction", "stablehlo.divide": "division"}
_COMPARISONS = {"LT": ("LE", "<", "<="), "LE": ("LT", "<=", "<"), "GT": ("GE", ">", ">="), "GE": ("GT", ">=", ">")}
_TRANSFORMS = {
    "FFT": ("IFFT", "transform", "an inverse transform"), "IFFT": ("FFT", "inverse transform", "a transform"),
}  # fmt: skip
_NARROW = frozenset({"bf16", "f16"})
_ORDER = (
    "each rounding", "rounding", "all-reduce", "devices", "other way", "permute", "transform", "comparison", "mask",
    "over a block", "of f", "i32", "",
)  # fmt: skip
_ALONE = frozenset({"stablehlo.all_reduce", "stablehlo.collective_permute"})
"""Collectives whose result has the shape of what they are given."""


def unshare(functions: Sequence[ir.Operation], walk: Callable[[ir.Operation], Iterable[ir.Operation]]) -> None:
    """Give each call in main a function of its own, so that a change in it is one change.

    Args:
        functions: those of the module.
        walk: every operation inside another one.
    """
    named = {ir.StringAttr(each.attributes["sym_name"]).value: each for each in functions}
    taken, waiting = {"main"}, [named["main"]]
    while waiting and len(taken) < MOST:
        for call in [each for each in walk(waiting.pop()) if each.name == "func.call"]:
            name = ir.FlatSymbolRefAttr(call.attributes["callee"]).value
            if name in taken:
                with ir.InsertionPoint(named[name]):
                    copy = named[name].clone().operation
                name = f"{name}_copy_{len(taken)}"
                copy.attributes["sym_name"] = ir.StringAttr.get(name, call.context)
                call.attributes["callee"] = ir.FlatSymbolRefAttr.get(name, call.context)
                named[name] = copy
            taken.add(name)
            waiting.append(named[name])


def changes(operations: Iterable[ir.Operation]) -> list[tuple[str, Change]]:
    """Each change of one of these operations, after "if": `one addition of f32[8] were a subtraction`.

    Those of collectives come first, then those of transforms, masks and arithmetic. None alters how often a loop runs.
    """
    found = [*_changes(operations)]
    groups: dict[str, list[Change]] = {}
    for words, change in found:
        groups.setdefault(words, []).append(change)
    for words, each in groups.items():
        if 1 < len(each) and words.startswith(("one ", "its ")):
            every = words.replace("one ", "each ", 1) if words.startswith("one ") else words.replace("its ", "each ", 1)
            found.append((every, partial(_all, each)))
    return sorted(found, key=lambda found: next(n for n, word in enumerate(_ORDER) if word in found[0]))


def _changes(operations: Iterable[ir.Operation]) -> Iterator[tuple[str, Change]]:
    for operation in operations:
        if operation.name in _REDUCTIONS:
            yield from _reduced(operation)
        if operation.name in _ALONE:
            yield f"one {_short(operation)} of {_shape(operation)} were left out", partial(_without, operation)
        if _inside(operation, _REDUCTIONS) or _condition(operation):
            continue
        if operation.name == "stablehlo.fft":
            yield from _transforms(operation)
        if operation.name == "stablehlo.compare" and not _of_an_index(operation):
            yield from _compared(operation)
        if operation.name == "stablehlo.select" and _of_floats(operation):
            said = f"the two values between which a mask of {_shape(operation)} chooses were exchanged"
            yield said, partial(_made, operation, operation.name, [operation.operands[n] for n in (0, 2, 1)])
        if operation.name in _ARITHMETIC and (_of_floats(operation) or _is_an_index(operation)):
            yield from _computed(operation)
        if operation.name == "stablehlo.constant":
            yield from _counted(operation)
        if operation.name == "stablehlo.convert":
            yield from _rounded(operation)
        if operation.name == "stablehlo.collective_permute":
            said = f"its collective-permute of {_shape(operation)} went the other way"
            yield said, partial(_turned, operation)


def _reduced(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    inner = operation.regions[0].blocks[0].operations[0].operation
    if inner.name in _REDUCERS:
        other, is_now, would = _REDUCERS[inner.name]
        over = "a block's entries" if operation.name == "stablehlo.reduce" else "devices"
        yield f"a {is_now} of {_shape(operation)} over {over} were a {would}", lambda: _made(inner, other, [*inner.operands])


def _transforms(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    now = _value(operation, "fft_type")
    if now in _TRANSFORMS:
        other, is_now, would = _TRANSFORMS[now]
        said = f"one {is_now} of {_shape(operation)} were {would}"
        yield said, lambda: _set(operation, "fft_type", f"#stablehlo<fft_type {other}>")


def _compared(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    now = _value(operation, "comparison_direction")
    if now in _COMPARISONS:
        other, is_now, would = _COMPARISONS[now]
        said = f"one comparison with {is_now} were one with {would}"
        yield said, lambda: _set(operation, "comparison_direction", f"#stablehlo<comparison_direction {other}>")


def _computed(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    first, second = operation.operands
    shape = _shape(operation)
    if operation.name in _ORDERED:
        said = f"the two operands of one {_ORDERED[operation.name]} of {shape} were exchanged"
        yield said, lambda: _made(operation, operation.name, [second, first])
    other, is_now, would = _ARITHMETIC[operation.name]
    yield f"one {is_now} of {shape} were {would}", lambda: _made(operation, other, [first, second])
    yield f"one {is_now} of {shape} were left out", lambda: operation.results[0].replace_all_uses_with(first)


def _without(operation: ir.Operation) -> None:
    operation.results[0].replace_all_uses_with(operation.operands[0])


def _counted(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    """A whole number that is one larger or smaller; not the one by which a loop counts."""
    kind = ir.RankedTensorType(operation.results[0].type)
    users = [use.owner.operation for use in operation.results[0].uses]
    if (
        str(kind.element_type) != "i32"
        or kind.rank
        or not users
        or any(each.name in _ARITHMETIC and _is_returned(each) for each in users)
    ):
        return
    now = int(ir.DenseIntElementsAttr(operation.attributes["value"])[0])
    for other in (now - 1, now + 1):
        said = f"the whole number {now}, perhaps an index or a number of rounds, were {other} in one place"
        yield said, partial(_set, operation, "value", f"dense<{other}> : tensor<i32>")


def _rounded(operation: ir.Operation) -> Iterator[tuple[str, Change]]:
    """A number that is made narrow and wide again."""
    kind, given = (str(ir.RankedTensorType(value.type).element_type) for value in (*operation.results, *operation.operands))
    back = [use.owner.operation for use in operation.results[0].uses]
    alike = all(e.name == operation.name and e.results[0].type == operation.operands[0].type for e in back)
    if kind in _NARROW and alike:
        yield f"one rounding of {given} to {kind} were left out", partial(_kept, operation, back)


def _kept(operation: ir.Operation, back: Iterable[ir.Operation]) -> None:
    for each in back:
        each.results[0].replace_all_uses_with(operation.operands[0])


def _turned(permute: ir.Operation) -> None:
    pairs = np.array(ir.DenseIntElementsAttr(permute.attributes["source_target_pairs"]))
    said = ", ".join(f"[{to}, {origin}]" for origin, to in pairs)
    _set(permute, "source_target_pairs", f"dense<[{said}]> : tensor<{len(pairs)}x2xi64>")


def _all(changes: Iterable[Change]) -> None:
    for change in changes:
        change()


def _made(operation: ir.Operation, name: str, operands: list[Any]) -> None:
    """Put another operation in its place."""
    with ir.Location.unknown(operation.context), ir.InsertionPoint(operation):
        made = ir.Operation.create(name, [result.type for result in operation.results], operands)
    for old, new in zip(operation.results, made.results):
        old.replace_all_uses_with(new)
    operation.erase()


def _value(operation: ir.Operation, name: str) -> str:
    """What an attribute says: of `#stablehlo<fft_type IFFT>` the last word."""
    return str(operation.attributes[name]).rstrip(">").replace("<", " ").split()[-1]


def _set(operation: ir.Operation, name: str, value: str) -> None:
    operation.attributes[name] = ir.Attribute.parse(value, operation.context)


def _short(operation: ir.Operation) -> str:
    return {"all_reduce": "all-reduce", "collective_permute": "collective-permute"}[operation.name.partition(".")[2]]


def _shape(operation: ir.Operation) -> str:
    kind = ir.RankedTensorType(operation.results[0].type)
    return f"{_named(kind)}{list(kind.shape)}"


def _named(kind: ir.RankedTensorType) -> str:
    return {"complex<f32>": "c64"}.get(str(kind.element_type), str(kind.element_type))


def _of_floats(operation: ir.Operation) -> bool:
    return _named(ir.RankedTensorType(operation.results[0].type)) in ("f32", "bf16", "f16", "c64")


def _is_an_index(operation: ir.Operation) -> bool:
    """Whether it is arithmetic of whole numbers, and does not count a loop's rounds."""
    kind = ir.RankedTensorType(operation.results[0].type)
    return str(kind.element_type) == "i32" and not _is_returned(operation) and operation.name != "stablehlo.divide"


def _is_returned(operation: ir.Operation) -> bool:
    """Whether its result is what a loop's body returns, as that of `i + 1`."""
    users = (use.owner.operation.name for result in operation.results for use in result.uses)
    return any(name in ("stablehlo.return", "func.return") for name in users)


def _of_an_index(comparison: ir.Operation) -> bool:
    """Whether it only chooses between whole numbers, as where a negative index counts from the end."""
    users = [use.owner.operation for use in comparison.results[0].uses]
    return bool(users) and all(each.name == "stablehlo.select" and not _of_floats(each) for each in users)


def _inside(operation: ir.Operation, names: frozenset[str]) -> bool:
    parent = operation.parent
    return parent is not None and parent.operation.name in names


def _condition(operation: ir.Operation) -> bool:
    """Whether it stands in the condition of a loop."""
    parent = operation.parent
    if parent is None or parent.operation.name != "stablehlo.while":
        return False
    return bool(operation.block == parent.operation.regions[0].blocks[0])
