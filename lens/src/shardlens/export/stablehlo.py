"""Programs as bytes: strip them, check them against what is allowed, and make them callable again.

Besides `manual` the only module that touches jaxlib's MLIR interface. Parsing hostile bytes can hang or abort a process,
so the grader calls `admit` and `rebuild` in a process that may die.
"""

from __future__ import annotations

import collections
import concurrent.futures
import dataclasses
import functools
import graphlib
import itertools
import math
import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

import jax
from jax import export
from jax.extend.mlir import ir, passmanager
from jax.extend.mlir.dialects import stablehlo
from jax.interpreters import mlir

from shardlens.export import lapack
from shardlens.export.changes import changes, unshare
from shardlens.export.manual import Written, written
from shardlens.export.values import Front, bring_out
from shardlens.sources import WRITER, Line, is_users, told, users_line

# A two-layer transformer's training step has 7 kB. Far beyond these limits lie programs that compile for longer than the
# judge waits (50,000 chained operations: over 12 s) or end its process (5,000 nested loops: SIGSEGV).
MODULE_BYTES = 256 * 1024
OPERATIONS = 20_000
DEPTH = 50
LOCATED = 4_000
TENSOR_BYTES = 64 * 2**20

# No custom calls, not even those that JAX calls stable: a made-up one of `Sharding` or of a Python callback ends the
# process by SIGSEGV or SIGABRT. No infeed, outfeed, send, recv and rng, which reach for the host.
STABLEHLO = frozenset(
    """
    abs add all_gather all_reduce all_to_all and atan2 bitcast_convert broadcast_in_dim case cbrt ceil clamp
    collective_broadcast collective_permute compare complex composite concatenate constant convert convolution cosine
    count_leading_zeros divide dot_general dynamic_slice dynamic_update_slice exponential exponential_minus_one fft
    floor gather if imag iota is_finite log log_plus_one logistic maximum minimum multiply negate not optimization_barrier or
    pad partition_id popcnt power real reduce reduce_precision reduce_scatter reduce_window remainder reshape
    return reverse round_nearest_afz round_nearest_even rsqrt scatter select select_and_scatter shift_left
    shift_right_arithmetic shift_right_logical sign sine slice sort sqrt subtract tan tanh transpose while xor
    """.split()
)
OTHERS = "builtin.module func.func func.call func.return".split()
SHARDY = "sdy.mesh sdy.manual_computation sdy.return sdy.sharding_constraint".split()
ATTRIBUTES = frozenset(
    """
    jax.buffer_donor jax.result_info jax.uses_shape_polymorphism mhlo.num_partitions mhlo.num_replicas
    mhlo.memory_kind sdy.sharding stablehlo.mesh tf.aliasing_output
    """.split()
)
DONORS = frozenset({"jax.buffer_donor", "tf.aliasing_output"})
"""What JAX writes at an argument of main that is donated."""
COMPOSITES = frozenset({"chlo.top_k", *(f"chlo.{name}" for name in "acos acosh asin asinh atanh cosh erf sinh".split())})
CALLERS = {"func.call": "callee", "stablehlo.composite": "decomposition"}
"""What names a function, and the attribute with the name."""
DTYPES = {
    "i1": "bool", "i8": "int8", "i16": "int16", "i32": "int32", "ui8": "uint8", "ui16": "uint16", "ui32": "uint32",
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "complex<f32>": "complex64",
}  # fmt: skip
ITEMSIZES = {"i64": 8, "ui64": 8, "f64": 8, "f32": 4, "i32": 4, "ui32": 4, "complex<f32>": 8, "complex<f64>": 16}


class Refused(Exception):
    """A program that may not be judged; the message says in one clause what was found in it."""


@dataclasses.dataclass(frozen=True)
class Admitted:
    """A program in canonical form: equal programs have equal `module` bytes.

    `numbered` is the same program, each operation with its number where others have their line: XLA keeps that through its
    passes. `inputs` and `outputs` are the (shape, dtype) of main's arguments and outputs; `operations` says how often each
    operation is written, those of a function once for each call of it; `donated` are positions of main's arguments;
    `written` says what stands in `jax.shard_map`.
    """

    module: bytes
    numbered: bytes
    inputs: tuple[tuple[tuple[int, ...], str], ...]
    outputs: tuple[tuple[tuple[int, ...], str], ...]
    operations: tuple[tuple[str, int], ...]
    donated: frozenset[int] = frozenset()
    written: Written = Written(False)


def strip(module: bytes, axes: Mapping[str, str] = MappingProxyType({})) -> bytes:
    """The same program without file names, lines, or names of variables; what leaves the writer's process.

    Args:
        module: the program.
        axes: other names for axes of its meshes.
    """
    with _context() as context:
        parsed = _parse(module, context)
        if axes:
            text = re.sub(r'"([^"\n]*)"', lambda found: f'"{axes.get(found[1], found[1])}"', str(parsed))
            parsed = ir.Module.parse(text, context)
        return _canonical_bytes(parsed)


def users_lines(module: bytes) -> dict[str, list[int]]:
    """Which of the stripped program's operations, by number, each of the user's lines wrote: `line 3 of model.py: a @ b`.

    Operations are numbered from 0 as `_walk` meets them. Nothing for a program of more than `LOCATED` operations, or
    one that is nested too deep: it is the judge who refuses that.
    """
    lines: dict[Line, list[int]] = collections.defaultdict(list)
    with _context() as context:
        parsed = _parse(module, context)
        passmanager.PassManager.parse("builtin.module(symbol-dce)").run(parsed.operation)  # as stripping does
        try:
            operations = [*itertools.islice(_walk(parsed.operation), LOCATED + 1)]
        except Refused:
            return {}
        for number, operation in enumerate(operations if len(operations) <= LOCATED else ()):
            line = users_line(_frames(operation.location))
            if is_users(line.file):
                lines[line].append(number)
    return {told(line): numbers for line, numbers in lines.items() if line.file}


def _frames(location: Any) -> Iterator[Line]:
    """The lines of a location, innermost first."""
    rest = [location]
    while rest:
        match rest.pop():
            case ir.NameLoc() as named:
                rest.append(named.child_loc)
            case ir.CallSiteLoc() as call:
                rest += call.caller, call.callee
            case ir.FileLineColLoc() as line:
                yield Line(line.filename, line.start_line)


@functools.cache
def _context() -> ir.Context:
    """One for all that is stripped: to make a context takes longer than to use it."""
    return mlir.make_ir_context()


def _new_context() -> ir.Context:
    """One in which nothing was read: JAX 0.12 gives each thread the same one ten times over, so it is made in a thread."""
    with concurrent.futures.ThreadPoolExecutor(1) as thread:
        return thread.submit(mlir.make_ir_context).result()


def admit(module: bytes, devices: int, targets: frozenset[str] = frozenset()) -> Admitted:
    """The canonical form of a program for `devices` devices, every operation and attribute looked at.

    Args:
        module: the program.
        devices: how many devices it must be for.
        targets: names of `shardlens.export.lapack` that it may call.
    Raises:
        Refused: the bytes are too many, no program, for another number of devices, or hold something that is not allowed.
    """
    if len(module) > MODULE_BYTES:
        raise Refused(f"it is {len(module)} bytes long, but only {MODULE_BYTES} are allowed")
    with _new_context() as context:
        parsed = _parse(module, context)
        _check_module(parsed, devices)
        _check_operations(parsed, targets)
        counts = _counted(parsed, _check_calls(parsed))
        inputs, outputs = _signature(parsed)
        donated = _donated(_main(parsed))
        functions = {_text(f.attributes, "sym_name"): f for f in _functions(parsed)}
        found = written(_main(parsed), functions)
        canonical = _canonical_bytes(parsed)  # the last: writing it turns the module's operations into VHLO
        numbered = _numbered(canonical, context)
    return Admitted(canonical, numbered, inputs, outputs, tuple(sorted(counts.items())), donated, found)


def rebuild(admitted: Admitted, specs: tuple[jax.ShapeDtypeStruct, ...]) -> Any:
    """A function of the question's arrays that runs the admitted program and returns a list.

    Args:
        admitted: the program.
        specs: the question's arguments with their shardings; they, and not the module, say what the program is given.
    Raises:
        Refused: the program's arguments are not the question's.
    """
    expected = tuple((tuple(s.shape), str(s.dtype)) for s in specs)
    if admitted.inputs != expected:
        raise Refused(f"it takes {_types(admitted.inputs)} instead of {_types(expected)}")
    avals = tuple(jax.core.ShapedArray(shape, jax.numpy.dtype(dtype)) for shape, dtype in admitted.outputs)
    nothing = (None,) * len(avals)
    shardings: Any = tuple(jax.NamedSharding(s.sharding.mesh.abstract_mesh, s.sharding.spec) for s in specs)
    # Only the MLIR is the writer's. All else that an `Exported` says (avals, shardings, devices, kept arguments) would be a
    # claim, so it is made here, from the question's arrays; the underscored fields have no public way in (JAX 0.10).
    exported = dataclasses.replace(
        _stub(specs[0].sharding.mesh),
        mlir_module_serialized=admitted.numbered,
        in_avals=tuple(map(jax.typeof, specs)),
        in_tree=jax.tree.structure((specs, {})),
        _in_named_shardings=shardings,
        in_shardings_hlo=(None,) * len(specs),
        module_kept_var_idx=tuple(range(len(specs))),
        out_avals=avals,
        out_tree=jax.tree.structure([0] * len(avals)),
        _out_named_shardings=nothing,
        out_shardings_hlo=nothing,
    )
    return exported.call


def with_values(admitted: Admitted, devices: int, targets: frozenset[str] = frozenset()) -> tuple[Admitted, list[Front]]:
    """The same program, which also returns the values that it computes on its way.

    Args:
        admitted: the program.
        devices, targets: as for `admit`.
    Returns:
        The program, and for each further output what stands in front of the value's own dimensions, the outermost first:
        the name of a mesh axis, along which the devices' blocks lie, or how many rounds a loop has.
    Raises:
        Refused: they are too many, or too large.
    """
    with _new_context() as context:
        parsed = _parse(admitted.module, context)
        functions = {_text(f.attributes, "sym_name"): f for f in _functions(parsed)}
        if (fronts := bring_out(_main(parsed), functions)) is None:
            raise Refused("it computes too many values")
        module = _canonical_bytes(parsed)
    return admit(module, devices, targets), fronts


def with_one_change(
    admitted: Admitted, devices: int, targets: frozenset[str] = frozenset()
) -> Iterator[tuple[str, Admitted]]:
    """The programs that differ from this one in one operation, and the change in words, after "if".

    Args:
        admitted: the program.
        devices, targets: as for `admit`.
    Example: `("one addition of f32[8] were a subtraction", ...)`.
    """
    for number in itertools.count():
        with _new_context() as context:
            parsed = _parse(admitted.module, context)
            unshare(_functions(parsed), _walk)
            found = changes(_walk(parsed.operation))
            if number == len(found):
                return
            words, change = found[number]
            try:
                change()
                module = _canonical_bytes(parsed)
                made = admit(module, devices, targets)
            except (Refused, ir.MLIRError):
                continue
        yield words, made


def _numbered(module: bytes, context: ir.Context) -> bytes:
    parsed = _parse(module, context)
    for number, operation in enumerate(_walk(parsed.operation)):
        place = ir.Location.name("student", ir.Location.file(WRITER, number, 1))
        operation.location = ir.Location.name("student", place)
    return _serialized(parsed)


@functools.cache
def _stub(mesh: jax.sharding.Mesh) -> export.Exported:
    """An export of any program on this mesh: to export one for each signature takes longer than to lower it."""
    spec = jax.ShapeDtypeStruct((), "float32", sharding=jax.NamedSharding(mesh, jax.P()))
    return export.export(jax.jit(lambda x: [x]), platforms=["cpu"])(spec)


def _parse(module: bytes, context: ir.Context) -> ir.Module:
    try:
        return stablehlo.deserialize_portable_artifact(context, module)
    except Exception as error:
        raise Refused("it is not a StableHLO program") from error


def _canonical_bytes(module: ir.Module) -> bytes:
    # No canonicalize and no cse, though more programs would then be equal: they change how many operations there are (two
    # equal products become one), and these are judged.
    passmanager.PassManager.parse("builtin.module(strip-debuginfo,symbol-dce)").run(module.operation)
    attributes = module.operation.attributes
    if "sym_name" in attributes:
        del attributes["sym_name"]
    for function in _functions(module):
        for name in ("arg_attrs", "res_attrs"):
            if name in function.attributes:
                function.attributes[name] = ir.ArrayAttr.get([_without_names(a) for a in _entries(function, name)])
    return _serialized(module)


def _serialized(module: ir.Module) -> bytes:
    # The version that `jax.export` itself asks for.
    version = stablehlo.get_version_from_compatibility_requirement(stablehlo.StablehloCompatibilityRequirement.WEEK_4)
    return stablehlo.serialize_portable_artifact(module, version, True)


def _without_names(attributes: Any) -> ir.DictAttr:
    return ir.DictAttr.get({entry.name: entry.attr for entry in attributes if entry.name != "jax.result_info"})


def _entries(operation: ir.Operation, group: str) -> list[Any]:
    """One dictionary of attributes for each argument, or for each output."""
    return list(ir.ArrayAttr(operation.attributes[group]))


def _functions(module: ir.Module) -> list[ir.Operation]:
    return [op.operation for op in module.body if op.operation.name == "func.func"]


def _walk(operation: ir.Operation, depth: int = 0) -> Iterator[ir.Operation]:
    if depth > DEPTH:
        raise Refused(f"its regions are nested more than {DEPTH} deep")
    yield operation
    for region in operation.regions:
        for block in region.blocks:
            for inner in block.operations:
                yield from _walk(inner.operation, depth + 1)


def _check_operations(module: ir.Module, targets: frozenset[str]) -> None:
    for number, operation in enumerate(_walk(module.operation)):
        if number > OPERATIONS:
            raise Refused(f"it has more than {OPERATIONS} operations")
        name = operation.name
        dialect, _, short = name.partition(".")
        calls = short == "custom_call" and _text(operation.attributes, "call_target_name") in targets and _fits(operation)
        if name not in (*OTHERS, *SHARDY) and not calls and not (dialect == "stablehlo" and short in STABLEHLO):
            raise Refused(f"it uses {_named(operation)}, which is not allowed here")
        if short == "composite" and _text(operation.attributes, "name") not in COMPOSITES:
            raise Refused(f"it uses the composite {_text(operation.attributes, 'name')}, which is not allowed here")
        _check_attributes(operation, ATTRIBUTES | lapack.ATTRIBUTES if calls else ATTRIBUTES)
        for value in operation.results:
            _check_size(value.type)


def _counted(module: ir.Module, calls: dict[str, dict[str, int]]) -> collections.Counter[str]:
    """How often each operation stands in the program, with every function written out where it is called."""
    times = collections.Counter({"main": 1})
    for name in reversed(list(graphlib.TopologicalSorter(calls).static_order())):
        for callee, number in calls[name].items():
            times[callee] += times[name] * number
    counts: collections.Counter[str] = collections.Counter()
    for top in module.body:
        number = times[_text(top.operation.attributes, "sym_name")] if top.operation.name == "func.func" else 1
        for operation in _walk(top.operation):
            counts[operation.name] += number
    return counts


def _donated(main: ir.Operation) -> frozenset[int]:
    """Positions of the arguments that main's caller gives away."""
    attributes = _entries(main, "arg_attrs") if "arg_attrs" in main.attributes else []
    return frozenset(i for i, given in enumerate(attributes) if any(entry.name in DONORS for entry in given))


def _named(operation: ir.Operation) -> str:
    target = _text(operation.attributes, "call_target_name")
    return f"{operation.name} ({target})" if target else operation.name


def _text(attributes: Any, name: str) -> str:
    return ir.StringAttr(attributes[name]).value if name in attributes else ""


def _fits(call: ir.Operation) -> bool:
    names = [entry if isinstance(entry, str) else entry.name for entry in call.attributes]
    texts = {name: str(call.attributes[name]) for name in names}
    operands, results = ([_array(value.type) for value in values] for values in (call.operands, call.results))
    return lapack.fits(_text(call.attributes, "call_target_name"), operands, results, texts)


def _array(kind: ir.Type) -> lapack.Array:
    return (tuple(kind.shape), str(kind.element_type)) if isinstance(kind, ir.RankedTensorType) else ((), str(kind))


def _check_attributes(operation: ir.Operation, allowed: frozenset[str]) -> None:
    names = [entry if isinstance(entry, str) else entry.name for entry in operation.attributes]
    for group in ("arg_attrs", "res_attrs"):
        if group in operation.attributes:
            names += [entry.name for attributes in _entries(operation, group) for entry in attributes]
    for name in names:
        if "." in name and name not in allowed:
            raise Refused(f"it carries the attribute {name}, which is not allowed here")


def _check_size(kind: ir.Type) -> None:
    if isinstance(kind, ir.RankedTensorType):
        if not kind.has_static_shape:
            raise Refused("it has an array whose shape is not fixed")
        size = math.prod(kind.shape) * ITEMSIZES.get(str(kind.element_type), 4)
        if size > TENSOR_BYTES:
            raise Refused(f"it makes an array of {size} bytes, but only {TENSOR_BYTES} are allowed")


def _check_module(module: ir.Module, devices: int) -> None:
    attributes = module.operation.attributes
    found = ir.IntegerAttr(attributes["mhlo.num_partitions"]).value if "mhlo.num_partitions" in attributes else 1
    if found != devices:
        raise Refused(f"it was made for {found} devices, but the question's mesh has {devices}")
    if len(_functions(module)) > 1000:
        raise Refused("it has more than 1000 functions")
    shapes = {_mesh_shape(op.operation) for op in module.body if op.operation.name == "sdy.mesh"} - {()}
    # With two mesh shapes JAX compiles to IndivisibleError what the exported program compiles to something else.
    if len(shapes) > 1:
        raise Refused(f"it uses meshes of {len(shapes)} shapes; use the mesh that your function is given")


def _mesh_shape(operation: ir.Operation) -> tuple[int, ...]:
    text = str(operation.attributes["mesh"])
    inside = text[text.find("[") + 1 : text.find("]")]
    return tuple(int(part.rsplit("=", 1)[1]) for part in inside.split(",") if "=" in part)


def _check_calls(module: ir.Module) -> dict[str, dict[str, int]]:
    """For each function those that it calls, and how often; a composite calls its decomposition."""
    calls: dict[str, dict[str, int]] = {}
    for function in _functions(module):
        name = _text(function.attributes, "sym_name")
        calls[name] = dict(collections.Counter(_called(op) for op in _walk(function) if op.name in CALLERS))
    if "main" not in calls:
        raise Refused("it has no main function")
    depths: dict[str, int] = {}
    for _ in range(DEPTH):
        ready = {n for n, called in calls.items() if n not in depths and called.keys() <= set(depths)}
        depths.update(dict.fromkeys(ready, len(depths)))
    if set(depths) != set(calls):
        raise Refused(f"its functions call themselves, or one another more than {DEPTH} deep")
    return calls


def _called(operation: ir.Operation) -> str:
    return str(ir.FlatSymbolRefAttr(operation.attributes[CALLERS[operation.name]]).value)


def _main(module: ir.Module) -> ir.Operation:
    return next(f for f in _functions(module) if _text(f.attributes, "sym_name") == "main")


def _signature(module: ir.Module) -> tuple[Any, Any]:
    kind = ir.FunctionType(ir.TypeAttr(_main(module).attributes["function_type"]).value)
    return tuple(map(_aval, kind.inputs)), tuple(map(_aval, kind.results))


def _aval(kind: ir.Type) -> tuple[tuple[int, ...], str]:
    if not isinstance(kind, ir.RankedTensorType) or str(kind.element_type) not in DTYPES:
        raise Refused(f"main takes or returns {kind}, which is not an array that is judged here")
    return tuple(kind.shape), DTYPES[str(kind.element_type)]


def _types(signature: tuple[tuple[tuple[int, ...], str], ...]) -> str:
    return ", ".join(f"{dtype}{list(shape)}" for shape, dtype in signature) or "no arrays"
