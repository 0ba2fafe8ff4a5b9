"""Values that a StableHLO program computes on its way, made outputs of it: all devices' blocks, and all rounds of a loop."""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jax.extend.mlir import ir

from shardlens.export.manual import REGION

Value = ir.Value[Any]
Front = tuple[str | int, ...]
"""Dimensions in front of a value's own, the outermost first: a mesh axis, or how many rounds a loop has."""
MOST, ROUNDS, CALLS = 2_000, 64, 500
"""Values that can be brought out; rounds of a loop whose values are; calls that are written out."""
ELEMENTS = 2**18
"""Of all rounds and blocks of one value."""
LOOP = "stablehlo.while"
_KINDS = frozenset({"f16", "bf16", "f32", "f64", "complex<f32>"})
_MADE_OF_NOTHING = frozenset({"stablehlo.constant", "stablehlo.iota", "stablehlo.broadcast_in_dim"})
"""Operations whose results are no step of a computation."""


def bring_out(main: ir.Operation, functions: Mapping[str, ir.Operation]) -> list[Front] | None:
    """Adds the values of main, of its loops and of each `jax.shard_map` to its outputs, in the order in which they run.

    Args:
        main, functions: a program, and its functions by name, which do not call themselves.
    Returns:
        What stands in front of each further output. A value of a `jax.shard_map` has a dimension for each axis that is
        mapped, so that the output holds all blocks; one of a loop has a dimension for its rounds. `None` where there are
        too many.
    """
    _write_out_calls(main, functions)
    meshes = dict(_meshes(main))
    found = list(itertools.islice(_brought(main.regions[0].blocks[0], meshes), MOST + 1))
    if len(found) > MOST:
        return None
    _return_also(main, [value for value, _ in found])
    return [front for _, front in found]


def _write_out_calls(main: ir.Operation, functions: Mapping[str, ir.Operation]) -> None:
    """Puts each called function's operations in the place of its call."""
    for _ in range(CALLS):
        call = next((op for op in _walk(main) if op.name == "func.call"), None)
        if call is None:
            return
        made = functions[ir.FlatSymbolRefAttr(call.attributes["callee"]).value].clone()
        block = made.regions[0].blocks[0]
        for argument, given in zip(block.arguments, list(call.operands)):
            argument.replace_all_uses_with(given)
        *operations, last = [op.operation for op in block.operations]
        for operation in operations:
            operation.move_before(call)
        for result, returned in zip(call.results, list(last.operands)):
            result.replace_all_uses_with(returned)
        call.erase()
        made.erase()


def _walk(operation: ir.Operation) -> Iterator[ir.Operation]:
    for block in (block for region in operation.regions for block in region.blocks):
        for inner in block.operations:
            yield inner.operation
            yield from _walk(inner.operation)


def _meshes(main: ir.Operation) -> Iterator[tuple[str, dict[str, int]]]:
    """Axes of each mesh of the module with their sizes, by its name."""
    module = main.parent
    assert module is not None
    for op in (op.operation for op in module.regions[0].blocks[0].operations):
        if op.name == "sdy.mesh":
            sizes = re.findall(r'"([^"]+)"=(\d+)', str(op.attributes["mesh"]))
            yield "@" + ir.StringAttr(op.attributes["sym_name"]).value, {name: int(size) for name, size in sizes}


def _brought(block: ir.Block, meshes: Mapping[str, Mapping[str, int]] | None) -> Iterator[tuple[Value, Front]]:
    """Values of a block with what stands in front of them; without meshes what `jax.shard_map` holds stays inside."""
    for op in [op.operation for op in block.operations]:
        if op.name == REGION:
            mesh = (meshes or {}).get(_name_of_mesh(op), {})
            yield from _of_region(op, mesh) if mesh else ()
        elif op.name == LOOP and (rounds := _rounds(op)):
            yield from _of_loop(op, rounds, meshes)
        elif op.name not in _MADE_OF_NOTHING:
            yield from ((result, ()) for result in op.results if _is_told(result))


def _is_told(value: Value) -> bool:
    if not isinstance(value.type, ir.RankedTensorType):
        return False
    return str(ir.RankedTensorType(value.type).element_type) in _KINDS and _size(value) <= ELEMENTS


def _size(value: Value) -> int:
    return math.prod(ir.RankedTensorType(value.type).shape)


def _of_region(region: ir.Operation, mesh: Mapping[str, int]) -> Iterator[tuple[Value, Front]]:
    """A `jax.shard_map`'s values, whose blocks get a dimension of size 1 for each axis, so that an output holds all."""
    axes = _manual_axes(region)
    mapped = {axis: size for axis, size in mesh.items() if axis in axes}
    found = list(itertools.islice(_brought(region.regions[0].blocks[0], None), MOST + 1))
    made = _widened(region, [value for value, _ in found], mapped, "{}" if len(mapped) == len(mesh) else "{?}")
    yield from ((value, (*mapped, *front)) for value, (_, front) in zip(made, found))


def _manual_axes(region: ir.Operation) -> set[str]:
    return set(re.findall(r'"([^"]+)"', str(region.attributes["manual_axes"])))


def _widened(region: ir.Operation, values: Sequence[Value], mesh: Mapping[str, int], inner: str) -> Sequence[Value]:
    """The region made again, with these as outputs; what it returned before is used as before."""
    block = region.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    front, wholes, blocks = len(mesh), [], []
    with ir.Location.unknown(region.context), ir.InsertionPoint(last):
        for value in values:
            kind = ir.RankedTensorType(value.type)
            blocks.append(_reshaped(value, [1] * front + list(kind.shape)))
            wholes.append(ir.RankedTensorType.get([*mesh.values(), *kind.shape], kind.element_type))
        ir.Operation.create("sdy.return", [], [*last.operands, *blocks])
    last.erase()
    name = _name_of_mesh(region)
    cut = ", ".join(f'{{"{axis}"}}' for axis in mesh)
    told = [f"<{name}, [{', '.join([cut, *[inner] * len(ir.RankedTensorType(v.type).shape)])}]>" for v in values]
    before = str(region.attributes["out_shardings"])
    kept = before[before.index("<[") + 2 : before.rindex("]>")]
    after = f"#sdy.sharding_per_value<[{', '.join(filter(None, [kept, *told]))}]>"
    given = _attributes(region) | {"out_shardings": ir.Attribute.parse(after, region.context)}
    return _made_again(region, list(region.operands), given, wholes)[-len(wholes) :] if wholes else ()


def _rounds(loop: ir.Operation) -> int:
    """How many rounds a loop that counts from 0 to a constant has at most; 0 where it is another or has too many."""
    last = [op.operation for op in loop.regions[0].blocks[0].operations][-1].operands[0]
    if isinstance(last, ir.BlockArgument):
        return 0
    compare = ir.OpResult(last).owner.operation
    limit = compare.operands[1] if compare.name == "stablehlo.compare" else last
    source = None if isinstance(limit, ir.BlockArgument) else ir.OpResult(limit).owner.operation
    if source is None or source.name != "stablehlo.constant":
        return 0
    found = re.match(r"dense<(\d+)>", str(source.attributes["value"]))
    return int(found[1]) if found and int(found[1]) <= ROUNDS else 0


def _of_loop(
    loop: ir.Operation, rounds: int, meshes: Mapping[str, Mapping[str, int]] | None
) -> Iterator[tuple[Value, Front]]:
    """A loop's values: it carries an array for each, into which a round writes one row, and counts its rounds."""
    test, block = (region.blocks[0] for region in loop.regions)
    inside = itertools.islice(_brought(block, meshes), MOST + 1)
    found = [(value, front) for value, front in inside if rounds * _size(value) <= ELEMENTS]
    last = block.operations[len(block.operations) - 1].operation
    with ir.Location.unknown(loop.context):
        whole = ir.IntegerType.get_signless(32)
        types = [ir.RankedTensorType.get([], whole)]
        for value, _ in found:
            kind = ir.RankedTensorType(value.type)
            types.append(ir.RankedTensorType.get([rounds, *kind.shape], kind.element_type))
        with ir.InsertionPoint(loop):
            start = [_filled(kind, 0) for kind in types]
        for kind in types:
            test.add_argument(kind, ir.Location.unknown())
        number, *held = [block.add_argument(kind, ir.Location.unknown()) for kind in types]
        with ir.InsertionPoint(last):
            nothing = _filled(types[0], 0)
            rows = [_written(into, value, number, nothing) for into, (value, _) in zip(held, found)]
            next_one = ir.Operation.create("stablehlo.add", [types[0]], [number, _filled(types[0], 1)]).result
            ir.Operation.create(last.name, [], [*last.operands, next_one, *rows])
        last.erase()
    count = len(loop.results)
    made = _made_again(loop, [*loop.operands, *start], _attributes(loop), types)
    yield from ((value, (rounds, *front)) for value, (_, front) in zip(made[count + 1 :], found))
    yield from ((value, ()) for value in made[:count] if _is_told(value))


def _written(into: Value, value: Value, number: Value, nothing: Value) -> Value:
    kind = ir.RankedTensorType(value.type)
    row = _reshaped(value, [1, *kind.shape])
    place = [number, *[nothing] * len(kind.shape)]
    return ir.Operation.create("stablehlo.dynamic_update_slice", [into.type], [into, row, *place]).result


def _reshaped(value: Value, shape: Sequence[int]) -> Value:
    kind = ir.RankedTensorType.get(list(shape), ir.RankedTensorType(value.type).element_type)
    return ir.Operation.create("stablehlo.reshape", [kind], [value]).result


def _filled(kind: Any, number: int) -> Value:
    element = kind.element_type
    one = ir.IntegerAttr.get(element, number) if isinstance(element, ir.IntegerType) else ir.FloatAttr.get(element, number)
    given: dict[str, ir.Attribute] = {"value": ir.DenseElementsAttr.get_splat(kind, one)}
    return ir.Operation.create("stablehlo.constant", [kind], [], given).result


def _made_again(
    operation: ir.Operation, operands: Sequence[Value], attributes: Mapping[str, Any], more: Sequence[Any]
) -> Sequence[Value]:
    """The results of the same operation with other operands and further results; its regions move."""
    types = [*(result.type for result in operation.results), *more]
    blocks = [region.blocks[0] for region in operation.regions]
    with ir.Location.unknown(operation.context), ir.InsertionPoint(operation):
        made = ir.Operation.create(operation.name, types, operands, dict(attributes), regions=len(blocks))
    for block, region in zip(blocks, made.regions):
        block.append_to(region)
    for old, new in zip(operation.results, made.results):
        old.replace_all_uses_with(new)
    operation.erase()
    return list(made.results)


def _attributes(operation: ir.Operation) -> dict[str, Any]:
    names = [entry if isinstance(entry, str) else entry.name for entry in operation.attributes]
    return {name: operation.attributes[name] for name in names}


def _name_of_mesh(region: ir.Operation) -> str:
    found = re.search(r"@[\w.$-]+", f"{region.attributes['out_shardings']} {region.attributes['in_shardings']}")
    return found[0] if found else "@mesh"


def _return_also(main: ir.Operation, values: Sequence[Value]) -> None:
    block = main.regions[0].blocks[0]
    last = block.operations[len(block.operations) - 1].operation
    with ir.Location.unknown(main.context), ir.InsertionPoint(last):
        ir.Operation.create("func.return", [], [*last.operands, *values])
    last.erase()
    kind = ir.FunctionType(ir.TypeAttr(main.attributes["function_type"]).value)
    types = [*kind.results, *(value.type for value in values)]
    with main.context:
        main.attributes["function_type"] = ir.TypeAttr.get(ir.FunctionType.get(kind.inputs, types))
        if "res_attrs" in main.attributes:
            held = list(ir.ArrayAttr(main.attributes["res_attrs"]))
            main.attributes["res_attrs"] = ir.ArrayAttr.get([*held, *[ir.DictAttr.get({})] * len(values)])
