"""What is asked of a program in one case, computed in two ways that share no code. Needs JAX, and runs the program."""

from __future__ import annotations

import base64
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shardlab_course.chapters import question
from shardlab_course.viva.changes import changes
from shardlab_judge.cases import Case, Observed
from shardlab_judge.findings import describe
from shardlab_judge.inputs import hidden_inputs
from shardlab_judge.items.program import ProgramItem
from shardlab_judge.measuring import Measured, measure, run
from shardlab_judge.rights import rights
from shardlens import LensError

CALL = re.compile(r"= (.+?) (all-gather|all-reduce|reduce-scatter|all-to-all|collective-permute)\((.*)")
ARRAY = re.compile(r"\b(pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")
NAMED = re.compile(r"%?([\w.-]+) = (pred|[a-z]+(\d+)\w*)\[([\d,]*)\]")
DOT = re.compile(r"%?([\w.-]+) = [^=]*? dot\((?:[^%)]* )?%?([\w.-]+),[^\n]*?lhs_contracting_dims=\{([\d,]*)\}")
LISTED = re.compile(r"replica_groups=\{\{([\d,]+)\}")
FOLDED = re.compile(r"replica_groups=\[\d+,(\d+)\]")
ON_AXES = re.compile(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}")
"""As JAX 0.12 writes them: `mesh['x'=4,'y'=2] {'x'}`; of a part of an axis, `{'x':(1)2}`."""
NOT_COUNTED = (" while(", " conditional(", "-start(", " custom-call(")
"""With these in it a program is not counted in the second way."""


def examined(program: Mapping[str, Any], seed: int) -> dict[str, Any]:
    """`{"facts": ...}` of `{"question", "item", "change", "module"}`, or `{"refused": text}`.

    `change` is the number of the case among the item's `changes`, `module` is base64.
    """
    try:
        item: Any = next(one for one in question(program["question"]).items if one.name == program["item"])
        case = changes(item)[program["change"]].case
        return {"facts": facts(item, case, base64.b64decode(program["module"]), seed)}
    except Exception as error:
        return {"refused": f"{type(error).__name__}: {error}"[:300]}


def facts(item: ProgramItem, case: Case, module: bytes, seed: int) -> dict[str, Any]:
    """The facts of an exported program by name: a pair, one for each way; a way that cannot tell says `None`.

    `bytes` are those that a device moves, as `shardlens.price` counts them, `flops` a device's, all of them and those of its
    matrix products, `memory` the bytes of its arguments and outputs. `slices` says what each device has of the first output,
    `copies` how many have the same, and `wrong` on which devices a value is. Beside them: `moves` in words, the `shape` of
    the first output, and what a wrong one is `instead`.

    Raises:
        shardlens.stablehlo.Refused, jax.errors.JaxRuntimeError: it is not allowed, or does not compile or run here.
    """
    made = measure(module, case)
    first, second = (run(made, hidden_inputs(case, s), s) for s in (seed, seed + 1))
    placed = {str(d): [list(s) for s in index] for d, index in first.placements[0].shards}
    held = {str(d): _ends(index, first.placements[0].shape) for d, index, _ in first.shards[0]}
    return {
        "bytes": (_price(first), counted(first.hlo)),
        "flops": (first.flops, products(first.hlo)),
        "memory": (first.memory, _held(made, first)),
        "slices": (placed, held),
        "copies": (first.placements[0].copies, _copies(first)),
        "wrong": (_wrong(item, first), _wrong(item, second)),
        "moves": describe(first.collectives) if first.collectives else "nothing",
        "shape": list(first.placements[0].shape),
        "instead": _instead(item, first),
    }


def counted(hlo: str) -> int | None:
    """Bytes that a device moves, from the outputs of collectives and the sizes of their groups alone."""
    if any(word in hlo for word in NOT_COUNTED):
        return None
    return sum(_moved(*found.groups()) for found in CALL.finditer(hlo))


def _moved(outputs: str, kind: str, rest: str) -> int:
    size = sum(_bytes(*array.groups()) for array in ARRAY.finditer(outputs))
    return size * {"all-reduce": 2, "reduce-scatter": _group(rest)}.get(kind, 1)


def _bytes(dtype: str, bits: str | None, shape: str) -> int:
    return (1 if dtype == "pred" else int(bits or 0) // 8) * math.prod(int(n) for n in shape.split(",") if n)


def _group(rest: str) -> int:
    if folded := FOLDED.search(rest):
        return int(folded[1])
    if axes := ON_AXES.search(rest):
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", axes[1]))
        return math.prod(int(part or sizes[axis]) for axis, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", axes[2]))
    listed = LISTED.search(rest)
    return len(listed[1].split(",")) if listed else 1


def _price(seen: Observed) -> int | None:
    try:
        return seen.price
    except LensError:
        return None


def products(hlo: str) -> float | None:
    """FLOPs of a device's matrix products, from the shapes in their lines alone."""
    if any(word in hlo for word in NOT_COUNTED):
        return None
    shapes = {name: [int(n) for n in shape.split(",") if n] for name, _, _, shape in NAMED.findall(hlo)}
    found = 0.0
    for output, operand, summed in DOT.findall(hlo):
        if operand not in shapes:
            return None
        found += 2.0 * math.prod(shapes[output]) * math.prod(shapes[operand][int(d)] for d in summed.split(",") if d)
    return found


def _held(made: Measured, seen: Observed) -> int | None:
    # Of several outputs XLA counts a table too, of where each one lies, which nobody would.
    if seen.reused or len(seen.shards) > 1:
        return None
    given = sum(math.prod(s.sharding.shard_shape(s.shape)) * np.dtype(s.dtype).itemsize for s in made.specs)
    return given + sum(blocks[0][2].nbytes for blocks in seen.shards)


def _ends(index: tuple[slice, ...], shape: tuple[int, ...]) -> list[list[int]]:
    return [[s.start or 0, n if s.stop is None else s.stop] for s, n in zip(index, shape)]


def _copies(seen: Observed) -> int:
    """Of the element at the origin."""
    return sum(all((s.start or 0) == 0 for s in index) for _, index, _ in seen.shards[0])


def _wrong(item: ProgramItem, seen: Observed) -> list[int] | None:
    """Devices that hold a wrong value; `None` where more than one output is right."""
    if item.oracle is None:
        return None
    pairs = zip(seen.values, rights(item, seen))
    held = [(device, block, right[index]) for blocks, right in pairs for device, index, block in blocks]
    return sorted({device for device, block, due in held if not _close(block, due, item.rtol, item.near(seen))})


def _close(block: np.ndarray, due: np.ndarray, rtol: float = 1e-4, atol: float = 1e-4) -> bool:
    return block.shape == due.shape and np.allclose(block, due, rtol, atol)


def _instead(item: ProgramItem, seen: Observed) -> str:
    """What a wrong first output is, where that is one of two things."""
    if item.oracle is None or not _wrong(item, seen):
        return ""
    right = rights(item, seen)[0]
    blocks = seen.values[0]
    for name, _ in seen.case.axes:
        if _adds_up(blocks, right, seen, name):
            return f"a term of the sum over {name}: the right values come out when the devices along {name} are added up"
    block, index = blocks[0][2], blocks[0][1]
    due = right[index]
    at = np.unravel_index(np.argmax(np.abs(due)), due.shape) if due.size else ()
    factor = float(block[at] / due[at]) if block.shape == due.shape and due.size and due[at] else 0.0
    same = all(_close(b, factor * right[i]) for _, i, b in blocks)
    return f"{factor:.4g} times the right values" if factor and same else ""


def _adds_up(blocks: Sequence[Any], right: np.ndarray, seen: Observed, axis: str) -> bool:
    names, sizes = zip(*seen.case.axes)
    along = names.index(axis)
    stacked = np.stack([block for _, _, block in blocks])
    total = stacked.reshape(*sizes, *stacked.shape[1:]).sum(along, keepdims=True)
    sums = np.broadcast_to(total, (*sizes, *stacked.shape[1:])).reshape(stacked.shape)
    return all(_close(s, right[i]) for s, (_, i, _) in zip(sums, blocks))
