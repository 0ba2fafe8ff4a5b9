"""Programs compiled and run: what they cost, and what every device holds afterwards."""

from __future__ import annotations

import dataclasses
import functools
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np

from shardlab.answers.context import situation
from shardlab_judge.cases import Case, Observed
from shardlab_judge.inputs import other_numbers
from shardlens import Axes, Placement, lapack, own_lines, placed_of, read_program, stablehlo

QUICK: dict[str, str | int] = {"xla_backend_optimization_level": "0", "xla_cpu_parallel_codegen_split_count": 1}
"""Compiling costs a quarter of what it does otherwise, and collectives, sizes and their order are the same: LLVM's level and
its number of pieces come after all of XLA's own passes. Without fusion emitters other loops are fused, and other temporaries
planned, which no verdict reads. What runs here is small."""
if jax.__version_info__ < (0, 11):  # JAX 0.12 refuses an option that it does not know
    QUICK["xla_cpu_use_fusion_emitters"] = False
BARRIERS: dict[str, str | int] = QUICK | {"xla_disable_hlo_passes": "cse_barrier_expander"}
"""XLA for CPU of JAX 0.10 removes barriers before it plans memory. It makes early what `jax.checkpoint` makes again, and it
merges what a checkpoint sends again with what was sent before."""


@dataclasses.dataclass(frozen=True)
class Measured:
    """A compiled program of one case: how to run it, and what was read from it."""

    call: Any
    specs: tuple[jax.ShapeDtypeStruct, ...]
    observed: Observed


@functools.lru_cache(maxsize=512)
def measure(module: bytes, case: Case) -> Measured:
    """The program compiled for the case's inputs on simulated devices.

    Raises:
        stablehlo.Refused: the program is not allowed, or does not fit the case.
    """
    specs, count, targets = _asked(case)
    admitted = stablehlo.admit(module, count, targets)
    if case.lapack:
        lapack.ready()
    call = stablehlo.rebuild(admitted, specs)
    # Calling an exported program forgets what its module donates.
    donating = jax.jit(call, donate_argnums=tuple(sorted(admitted.donated)))
    with own_lines():
        lowered = _lowered(donating, specs)
        compiled = lowered.compile(compiler_options=QUICK)
    program = read_program(compiled, case.axes, ())  # where outputs lie is read off the arrays, in `run`
    memory = program.memory.argument + program.memory.output - program.memory.alias
    observed = Observed(
        case,
        operations=admitted.operations,
        collectives=program.collectives,
        flops=program.flops,
        memory=memory,
        reused=program.memory.alias,
        donated=admitted.donated,
        depth=program.depth,
        hlo=program.hlo,
        written=admitted.written,
        replan=lambda: read_program(lowered.compile(compiler_options=BARRIERS), case.axes, ()),
    )
    return Measured(compiled, specs, observed)


def _asked(case: Case) -> tuple[tuple[jax.ShapeDtypeStruct, ...], int, frozenset[str]]:
    """The case's inputs without values, how many devices they are on, and the functions that its programs may call."""
    specs = situation(case.to_json())[1]
    return specs, len(specs[0].sharding.device_set), lapack.TARGETS if case.lapack else frozenset()


@dataclasses.dataclass(frozen=True)
class Inside:
    """A value that a program computes on its way.

    Args:
        axes: of the mesh, over which it comes in blocks.
        rounds: `[rounds, axes..., block...]`; one round outside of loops.
    """

    axes: Axes
    rounds: np.ndarray


def values_inside(module: bytes, case: Case, inputs: tuple[np.ndarray, ...]) -> list[Inside]:
    """What the program computes on its way, in order.

    Raises:
        stablehlo.Refused: its values cannot be brought out.
    """
    specs, count, targets = _asked(case)
    admitted = stablehlo.admit(module, count, targets)
    opened, fronts = stablehlo.with_values(admitted, count, targets)
    compiled = _lowered(jax.jit(stablehlo.rebuild(opened, specs)), specs).compile(compiler_options=QUICK)
    outputs = compiled(*(jax.device_put(x, spec.sharding) for x, spec in zip(inputs, specs)))
    values = map(np.asarray, outputs[len(admitted.outputs) :])
    return [_inside(value, front, dict(case.axes)) for value, front in zip(values, fronts, strict=True)]


def _inside(value: np.ndarray, front: Sequence[str | int], sizes: Mapping[str, int]) -> Inside:
    rounds = [n for n, entry in enumerate(front) if isinstance(entry, int)]
    axes = [n for n, entry in enumerate(front) if isinstance(entry, str)]
    moved = value.transpose([*rounds, *axes, *range(len(front), value.ndim)])
    named = tuple((str(front[n]), sizes[str(front[n])]) for n in axes)
    return Inside(named, moved.reshape(-1, *moved.shape[len(rounds) :]))


def with_one_change(module: bytes, case: Case, inputs: tuple[np.ndarray, ...]) -> Iterator[tuple[str, Observed]]:
    """What programs would give that differ from this one in one operation, and the difference in words, after "if".

    Raises:
        stablehlo.Refused: the program is not allowed.
    """
    specs, count, targets = _asked(case)
    for words, changed in stablehlo.with_one_change(stablehlo.admit(module, count, targets), count, targets):
        try:
            compiled = _lowered(jax.jit(stablehlo.rebuild(changed, specs)), specs).compile(compiler_options=QUICK)
            made = run(Measured(compiled, specs, Observed(case)), inputs)
        except jax.errors.JaxRuntimeError:  # XLA has no maximum of complex numbers
            continue
        yield words, made


def _lowered(jitted: Any, specs: tuple[jax.ShapeDtypeStruct, ...]) -> Any:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some donated buffers were not usable")  # the verdict says so
        lowered = jitted.lower(*specs)
    _attribute_arguments(lowered)
    return lowered


def _attribute_arguments(lowered: Any) -> None:
    """Give what JAX puts before each argument of an exported program the line of the one operation that takes it.

    XLA of JAX 0.12 ascribes what it moves of an argument to what stands before it, where that of 0.10 names the constraint
    that asks for it. Of an argument that several operations take it cannot be told which asked, and nothing is changed.
    """
    functions = {each.attributes["sym_name"].value: each for each in _functions(lowered.compiler_ir("stablehlo"))}
    for operation in functions["main"].regions[0].blocks[0].operations:
        constraint = operation.operation
        if constraint.name == "sdy.sharding_constraint" and (taker := _taker(constraint.results[0], functions)):
            constraint.location = taker.location


def _functions(module: Any) -> list[Any]:
    return [each.operation for each in module.body.operations if each.operation.name == "func.func"]


def _taker(value: Any, functions: Mapping[str, Any]) -> Any:
    """The one operation that takes a value, in the function that it is handed to; nothing where there are more."""
    uses = list(value.uses)
    if len(uses) != 1:
        return None
    operation, place = uses[0].owner.operation, uses[0].operand_number
    if operation.name != "func.call":
        return operation
    return _taker(functions[operation.attributes["callee"].value].regions[0].blocks[0].arguments[place], functions)


def run(measured: Measured, inputs: tuple[np.ndarray, ...], seed: int | None = None) -> Observed:
    """What was measured, completed by the outputs for these inputs; `seed` chooses the numbers of a second run."""
    given = measured.observed.donated
    # On CPU an array may be its NumPy array's memory, and what is donated is written to.
    arrays = [
        jax.device_put(x.copy() if i in given else x, spec.sharding)
        for i, (x, spec) in enumerate(zip(inputs, measured.specs))
    ]
    outputs = jax.block_until_ready(measured.call(*arrays))
    case = measured.observed.case
    placed = [placed_of(x.sharding, x.shape, case.axes) for x in outputs]
    placements = tuple(dataclasses.replace(where, dtype=str(x.dtype)) for (where, _), x in zip(placed, outputs))
    return dataclasses.replace(
        measured.observed,
        inputs=inputs,
        placements=placements,
        terms=tuple(over for _, over in placed),
        shards=tuple(_blocks(x, where) for x, where in zip(outputs, placements)),
        rerun=lambda: run(measured, other_numbers(inputs, seed), seed),
        on=lambda others: run(measured, others, seed),
    )


def _blocks(x: jax.Array, where: Placement) -> tuple[tuple[int, tuple[slice, ...], np.ndarray], ...]:
    """What each device holds; JAX gives no index where the blocks are terms of a sum."""
    held = {s.device.id: np.asarray(s.data) for s in x.addressable_shards}
    return tuple((device, tuple(slice(*s) for s in index), held[device]) for device, index in where.shards)
