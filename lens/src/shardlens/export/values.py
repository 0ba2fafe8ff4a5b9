"""Values that a StableHLO program computes on its way, made outputs of it: of a `jax.shard_map` all devices' blocks."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from jax.extend.mlir import ir

from shardlens.export.manual import REGION

Value = ir.Value[Any]
MOST = 200
"""So many values are brought out, the first ones."""
_KINDS = frozenset({"f16", "bf16", "f32", "f64", "complex<f32>"})
_MADE_OF_NOTHING = frozenset({"stablehlo.constant", "stablehlo.iota", "stablehlo.broadcast_in_dim"})
"""Operations whose results are no step of a computation."""


def bring_out(main: ir.Operation) -> tuple[str, ...] | None:
    """Adds the values of main's `jax.shard_map`s to its outputs, or main's own values if it has none.

    A block gets dimensions of size 1 in front, one for each axis that is mapped, so that the output holds all blocks.

    Returns:
        Those axes, the slowest first; `None`, and nothing is changed, where there are several regions with other axes.
    """
    block = main.regions[0].blocks[0]
    regions = [op.operation for op in block.operations if op.operation.name == REGION]
    if not regions:
        _return_also(main, _values(block))
        return ()
    manual = {frozenset(_manual_axes(region)) for region in regions}
    if len(manual) > 1 or (mesh := _mesh(main)) is None:
        return None
    mapped = {axis: size for axis, size in mesh.items() if axis in next(iter(manual))}
    inner = "{}" if len(mapped) == len(mesh) else "{?}"
    _return_also(main, [value for region in regions for value in _widened(region, mapped, inner)])
    return tuple(mapped)


def _values(block: ir.Block) -> Sequence[Value]:
    found = [
        result
        for op in block.operations
        if op.operation.name not in _MADE_OF_NOTHING and op.operation.name != REGION
        for result in op.operation.results
        if isinstance(result.type, ir.RankedTensorType) and str(ir.RankedTensorType(result.type).element_type) in _KINDS
    ]
    return found[:MOST]


def _mesh(main: ir.Operation) -> dict[str, int] | None:
    """Axes of the module's only mesh with their sizes."""
    module = main.parent
    assert module is not None
    meshes = [op.operation for op in module.regions[0].blocks[0].operations if op.operation.name == "sdy.mesh"]
    text = str(meshes[0].attributes["mesh"]) if len(meshes) == 1 else ""
    return {name: int(size) for name, size in re.findall(r'"([^"]+)"=(\d+)', text)} or None


def _manual_axes(region: ir.Operation) -> set[str]:
    return set(re.findall(r'"([^"]+)"', str(region.attributes["manual_axes"])))


def _widened(region: ir.Operation, mesh: dict[str, int], inner: str) -> Sequence[Value]:
    """The region made again, with its values as outputs; what it returned before is used as before."""
    block = region.regions[0].blocks[0]
    values, last = _values(block), block.operations[len(block.operations) - 1].operation
    front, wholes, blocks = len(mesh), [], []
    with ir.Location.unknown(region.context), ir.InsertionPoint(last):
        for value in values:
            kind = ir.RankedTensorType(value.type)
            local = ir.RankedTensorType.get([1] * front + list(kind.shape), kind.element_type)
            blocks.append(ir.Operation.create("stablehlo.reshape", [local], [value]).result)
            wholes.append(ir.RankedTensorType.get([*mesh.values(), *kind.shape], kind.element_type))
        ir.Operation.create("sdy.return", [], [*last.operands, *blocks])
    last.erase()
    name = _name_of_mesh(region)
    cut = ", ".join(f'{{"{axis}"}}' for axis in mesh)
    told = [f"<{name}, [{', '.join([cut, *[inner] * len(ir.RankedTensorType(v.type).shape)])}]>" for v in values]
    before = str(region.attributes["out_shardings"])
    kept = before[before.index("<[") + 2 : before.rindex("]>")]
    after = f"#sdy.sharding_per_value<[{', '.join(filter(None, [kept, *told]))}]>"
    names = [entry if isinstance(entry, str) else entry.name for entry in region.attributes]
    given = {name: region.attributes[name] for name in names}
    given["out_shardings"] = ir.Attribute.parse(after, region.context)
    with ir.Location.unknown(region.context), ir.InsertionPoint(region):
        types = [result.type for result in region.results] + wholes
        made = ir.Operation.create(region.name, types, list(region.operands), given, regions=1)
    block.append_to(made.regions[0])
    for old, new in zip(region.results, made.results):
        old.replace_all_uses_with(new)
    count = len(region.results)
    region.erase()
    return list(made.results)[count:]


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
