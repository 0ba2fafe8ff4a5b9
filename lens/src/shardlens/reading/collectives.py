"""Which collectives a compiled program runs: one reader of HLO text, for CPU, GPU and TPU, and what they cost.

Only what runs is read: computations that `ENTRY` reaches, each asynchronous pair once, a loop's body as often as it runs.
Collectives whose every group is one device (a `psum` over a mesh axis of size 1) move nothing and are left out.
"""

from __future__ import annotations

import collections
import dataclasses
import math
import re
from collections.abc import Iterable, Mapping

from shardlens.errors import LensError
from shardlens.placement import Axes
from shardlens.reading.calls import SCATTER, calls
from shardlens.reading.groups import Groups, axes_of, device_groups, group_size, permute_pairs
from shardlens.reading.hlo import HloArray, HloInstruction, HloModule, hlo_leaves, parse_hlo
from shardlens.reading.outside import remote_copies, uncounted
from shardlens.reading.slices import DCN, kind_between, sent_for, slice_axes, slices_of

COLLECTIVE_KINDS = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-broadcast",
    "collective-permute",
    "ragged-all-to-all",
    "reduce-scatter",
)
REMOTE = "remote-copy"
"""The kind of a Pallas kernel whose copies to other devices can be counted."""
UNKNOWN = "unknown"
UNREAD = "a line that this version of shardlens does not read; see .hlo"
_GROUPED = re.compile(r"\b(?:replica_groups|source_target_pairs|channel_id|channel_handle)=")
_LIKE_ONE = re.compile(r"\b(?:all|collective|ragged)-[a-z-]+\(|reduce-scatter|replica_groups=|source_target_pairs=")
_LATER = ("-done", "-update")
_START, _DONE = '"AsyncCollectiveStart"', '"AsyncCollectiveDone"'


@dataclasses.dataclass(frozen=True)
class Collective:
    """One collective instruction of a compiled program, as one device sees it.

    Args:
        kind: HLO's name, for instance `"all-reduce"`; `"remote-copy"` for a Pallas kernel's own copies to other devices;
            `"unknown"` for what has groups or a channel but is of no such kind, and for what cannot be counted.
        shape: shape of the output on one device; of the largest one when several arrays were combined, see `arrays`.
        dtype: element type as HLO writes it, `"f32"`; of the same array.
        payload_bytes: bytes of the output on one device in one execution, all arrays together.
        operand_bytes: bytes of its inputs on one device in one execution, all arrays together.
        axes: mesh axes that its groups span; empty when its groups are not whole axes, or when no mesh was given.
        group_size: devices that talk to each other; for a permute, the most devices that its pairs connect.
        groups: device positions in mesh order, group by group; for a permute and a kernel's, (source, target) pairs; none
            between slices, where `axes` is `("dcn",)`.
        executions: how often it runs; `None` when data decides how often the loop around it runs.
        name: the instruction's name in the HLO.
        op_name: the JAX operation that it came from, where HLO says so.
        source: the user's line of that operation, `model.py:12`, where HLO says so.
        arrays: dtype and shape of each output; more than one when the compiler combined several collectives.
        uncounted: why nobody can count its bytes; empty where they are counted. Then `payload_bytes` is that of its output.
        loops: where `executions` is `None`, the rounds of each loop around it, outermost first, `None` where data decides.
    Example:
        >>> mesh = jax.make_mesh((8,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
        >>> x = jax.ShapeDtypeStruct((8, 4), "float32", sharding=jax.NamedSharding(mesh, jax.P("x")))
        >>> program = lens.inspect(lambda x: x.sum(0), x)
        >>> found = program.collectives[0]
        >>> found.kind, found.shape, found.payload_bytes, found.axes, found.group_size
        ('all-reduce', (4,), 16, ('x',), 8)
    """

    kind: str
    shape: tuple[int, ...]
    dtype: str
    payload_bytes: int
    operand_bytes: int
    axes: tuple[str, ...] = ()
    group_size: int = 1
    groups: tuple[tuple[int, ...], ...] = ()
    executions: int | None = 1
    name: str = ""
    op_name: str = ""
    source: str = ""
    arrays: tuple[tuple[str, tuple[int, ...]], ...] = ()
    uncounted: str = ""
    loops: tuple[int | None, ...] = ()


def read_collectives(hlo_text: str, mesh_axes: tuple[tuple[str, int], ...] | None = None) -> tuple[Collective, ...]:
    """The collectives that a compiled program runs, in the order of its text.

    Every branch of a conditional counts. On TPU a fusion that calls `%all-reduce-scatter` is a reduce-scatter.

    Args:
        hlo_text: what `compiled.as_text()` returns.
        mesh_axes: names and sizes of the mesh whose devices, in mesh order, the program was compiled for.
    Raises:
        LensError: the text is not that of an HLO module.
    Example:
        >>> read_collectives("ENTRY %main (x: f32[4]) -> f32[4] {\\n  ROOT %x = f32[4]{0} parameter(0)\\n}")
        ()
    """
    module, called = parse_hlo(hlo_text), calls(hlo_text)
    repeated = _repeated(module, called.fused)
    mesh_axes = mesh_axes and slice_axes(mesh_axes, hlo_text)
    found = []
    for name, instructions in module.computations.items():
        for instruction in instructions.values() if called.runs[name] != 0 else ():
            if not _may_be_one(instruction.text) or (name, instruction.name) in repeated:
                continue
            made = _collective(module, name, instruction, mesh_axes, called.runs[name])
            if made is not None and made.executions is None:
                made = dataclasses.replace(made, loops=called.around[name])
            # `psum` over an axis of size 1 stays in the text as a collective of single devices.
            if made is not None and (made.group_size > 1 or made.kind == UNKNOWN):
                found.append(made)
    lost = (line for line in module.unread if _LIKE_ONE.search(line))
    return (
        *found,
        *(Collective(UNKNOWN, (), "token", 0, 0, executions=None, name=line[:120], uncounted=UNREAD) for line in lost),
    )


def sites(hlo_text: str) -> frozenset[str]:
    """Names of the instructions that begin the program's collectives: of those in a fusion or an `async-start`, its name.

    Raises:
        LensError: the text is not that of an HLO module.
    """
    module = parse_hlo(hlo_text)
    names = {c.name.split(" ")[0] for c in read_collectives(hlo_text)}
    inside = {name for name, c in module.computations.items() if not names.isdisjoint(c)}
    lines = (i for c in module.computations.values() for i in c.values() if "calls=%" in i.text)
    return frozenset(names | {i.name for i in lines if i.attribute("calls").removeprefix("%") in inside})


def chain(module: HloModule, fusion: HloInstruction) -> tuple[object, ...] | None:
    """What an asynchronous collective in a TPU's fusion has in common with its other halves; `None` for other fusions."""
    inside = module.computations.get(fusion.attribute("calls").removeprefix("%"), {})
    return next((_identity(i) for i in inside.values() if i.opcode in COLLECTIVE_KINDS and "chain_id" in i.text), None)


def total_bytes(collectives: Iterable[Collective]) -> int:
    """Payload bytes of all executions, on one device.

    Raises:
        LensError: a collective runs an unknown number of times, or its bytes cannot be counted.
    Example:
        >>> gather = lens.Collective("all-gather", (8,), "f32", 32, 8, ("x",), 4)
        >>> total_bytes([gather, gather])
        64
    """
    return sum(c.payload_bytes * _known(c) for c in collectives)


def price(collectives: Iterable[Collective]) -> int:
    """Bytes that one device moves: the larger of operand and output, times executions, an all-reduce counted twice.

    An all-reduce is a reduce-scatter and an all-gather, hence twice. The larger side makes a reduce-scatter, whose output is
    small, cost as much as the all-gather that undoes it. What a device keeps of its own is not subtracted: among `n` devices
    `(n - 1) / n` of that moves, among two a half.

    Raises:
        LensError: a collective runs an unknown number of times, or its bytes cannot be counted.
    Example:
        >>> gather = Collective("all-gather", (8,), "f32", payload_bytes=32, operand_bytes=8)
        >>> price([gather, dataclasses.replace(gather, kind="all-reduce", operand_bytes=32)])
        96
    """
    return sum(max(c.payload_bytes, c.operand_bytes) * _known(c) * (2 if c.kind == "all-reduce" else 1) for c in collectives)


def crossing(collectives: Iterable[Collective], mesh_axes: Axes, axis: str) -> tuple[Collective, ...]:
    """Those collectives in which devices talk that lie at different places along `axis`.

    A group of all devices crosses each axis; groups that are not whole axes are looked at device by device.

    Example:
        >>> rows = Collective("all-reduce", (4,), "f32", 16, 16, groups=((0, 1), (2, 3)))
        >>> crossing([rows], (("host", 2), ("local", 2)), "host")
        ()
    """
    names, sizes = zip(*mesh_axes)
    inner = math.prod(sizes[names.index(axis) + 1 :])
    size = sizes[names.index(axis)]
    return tuple(
        c for c in collectives if not c.groups or any(len({device // inner % size for device in g}) > 1 for g in c.groups)
    )


def _known(collective: Collective) -> int:
    if collective.uncounted:
        raise LensError(
            "uncounted-bytes",
            f"the bytes of {collective.name} cannot be counted: it is {collective.uncounted}.",
            where=f"{collective.dtype}{list(collective.shape)}   {collective.source or collective.op_name or 'no source'}",
            mend="count them by hand, and set a limit on the rest of the program.",
        )
    if collective.executions is None:
        # XLA calls most of them by their kind, with a number from the second on.
        kind = "" if collective.name.startswith(collective.kind) else f"{collective.kind} "
        raise LensError(
            "unknown-rounds",
            f"the {kind}{collective.name} is in a loop whose number of rounds depends on data.",
            where=f"{collective.dtype}{list(collective.shape)}   {collective.op_name or 'no source in the HLO'}",
            mend="use lax.scan, or lax.fori_loop with fixed bounds.",
        )
    return collective.executions


def _may_be_one(text: str) -> bool:
    """Whether a line is worth taking apart; most of a large program is not."""
    return (
        "all-" in text
        or "collective-" in text
        or "reduce-scatter" in text
        or "replica_groups" in text
        or "source_target_pairs" in text
        or "channel_" in text
        or "custom_call_target" in text
    )


def _collective(
    module: HloModule, computation: str, instruction: HloInstruction, mesh_axes: Axes | None, runs: int | None
) -> Collective | None:
    """The collective that `instruction` starts, if it is one; something unknown, if it has groups or a channel."""
    if kind := kind_between(instruction):
        return _between(module, computation, instruction, kind, runs)
    if (copies := remote_copies(module, instruction)) is not None:
        return _kernel(module, instruction, mesh_axes, runs, copies)
    kind, source = instruction.opcode.removesuffix("-start"), instruction
    why = uncounted(module, instruction)
    if scatter := _scatter_fusion(module, instruction):
        kind, source = "reduce-scatter", scatter
    elif kind not in COLLECTIVE_KINDS and not _is_unknown(instruction) and not why:
        return None
    elif kind in COLLECTIVE_KINDS and "calls=" in instruction.rest:
        return None
    known, pairs = kind in COLLECTIVE_KINDS, kind == "collective-permute"
    groups: Groups = ()
    if known:
        text = source.attribute("source_target_pairs" if pairs else "replica_groups")
        groups = permute_pairs(text) if pairs else device_groups(text, module.devices)
    outputs, operands = _arrays(module, computation, instruction, kind)
    largest = max(outputs, key=lambda array: array.nbytes, default=HloArray("token", ()))
    return Collective(
        kind if known else UNKNOWN,
        largest.shape,
        largest.dtype,
        sum(a.nbytes for a in outputs),
        sum(a.nbytes for a in operands),
        axes_of(groups, mesh_axes, pairs=pairs) if mesh_axes and groups else (),
        group_size(groups, pairs=pairs),
        groups,
        runs,
        instruction.name if known else f"{instruction.name} ({instruction.opcode})",
        instruction.op_name,
        str(module.line(instruction)),
        tuple((a.dtype, a.shape) for a in outputs),
        uncounted=why or ("" if known else UNREAD),
    )


def _between(module: HloModule, computation: str, i: HloInstruction, kind: str, runs: int | None) -> Collective:
    """What goes between slices: the taking half of a message, and what its other half sends."""
    given = sent_for(i, module.computations[computation])
    taken = [a for a in hlo_leaves(i.shape[0] if isinstance(i.shape, tuple) else i.shape) if a.dtype != "token"]
    known, largest = kind in COLLECTIVE_KINDS, max(taken, key=lambda array: array.nbytes)
    return Collective(
        kind if known else UNKNOWN,
        largest.shape,
        largest.dtype,
        sum(a.nbytes for a in taken),
        sum(a.nbytes for a in hlo_leaves(given.shape)) if given else 0,
        (DCN,),
        slices_of(i),
        executions=runs,
        name=i.name,
        op_name=i.op_name,
        source=str(module.line(i)),
        arrays=tuple((a.dtype, a.shape) for a in taken),
        uncounted="" if known else f"{UNREAD}: {kind}",
    )


def _kernel(
    module: HloModule, i: HloInstruction, mesh_axes: Axes | None, runs: int | None, copies: Mapping[tuple[int, int], int]
) -> Collective | None:
    """The copies that a Pallas kernel sends, all together: bytes of the devices that send and that take most."""
    out, into = collections.Counter[int](), collections.Counter[int]()
    for (source, target), size in copies.items():
        out[source] += size
        into[target] += size
    pairs, largest = tuple(copies), max(hlo_leaves(i.shape), key=lambda array: array.nbytes, default=HloArray("token", ()))
    return Collective(
        REMOTE,
        largest.shape,
        largest.dtype,
        max(into.values(), default=0),
        max(out.values(), default=0),
        axes_of(pairs, mesh_axes, pairs=True) if mesh_axes and pairs else (),
        group_size(pairs, pairs=True) if pairs else 1,
        pairs,
        runs,
        i.name,
        i.op_name,
        str(module.line(i)),
        tuple((a.dtype, a.shape) for a in hlo_leaves(i.shape)),
    )


def _arrays(
    module: HloModule, computation: str, instruction: HloInstruction, kind: str
) -> tuple[list[HloArray], list[HloArray]]:
    """What comes out and what goes in; the start of a pair names both, and a ragged exchange where its output is to be."""
    pair = kind in COLLECTIVE_KINDS and instruction.is_pair  # of the two only the second is what arrives
    siblings = module.computations[computation]
    operands = [a for name in instruction.operands if name in siblings for a in hlo_leaves(siblings[name].shape)]
    outputs = hlo_leaves(instruction.shape[1] if pair and isinstance(instruction.shape, tuple) else instruction.shape)
    return list(outputs), operands[:1] if kind == "ragged-all-to-all" else operands


def _is_unknown(instruction: HloInstruction) -> bool:
    """Whether it has groups or a channel, though it is of no known kind, no second half and no message to the host."""
    if instruction.opcode.endswith(_LATER) or "calls=" in instruction.rest or "is_host_transfer=true" in instruction.rest:
        return False
    return bool(_GROUPED.search(instruction.rest))


def _repeated(module: HloModule, fused: frozenset[str]) -> set[tuple[str, str]]:
    """Collectives of TPU fusions that are the same one again, by computation and name.

    An asynchronous all-gather stands in the computations of its start, of each piece of work beside it, and of its done;
    its start runs it. `chain_id` is what they have in common: `shard_map` gives all collectives of a program one channel.
    """
    chained = [
        (name, i)
        for name in module.computations
        if name in fused
        for i in module.computations[name].values()
        if _may_be_one(i.text) and i.opcode in COLLECTIVE_KINDS and _is_half(module, name, i)
    ]
    begun = {_identity(i) for name, i in chained if _feeds(module, name, i, _START)}
    again = set()
    for name, i in chained:
        if not _feeds(module, name, i, _START):
            if _identity(i) in begun:
                again.add((name, i.name))
            begun.add(_identity(i))
    return again


def _identity(i: HloInstruction) -> tuple[object, ...]:
    """What tells one asynchronous collective from another, wherever it is repeated."""
    attributes = (i.attribute(name) for name in ("channel_id", "replica_groups", "source_target_pairs", "dimensions"))
    return i.opcode, i.shape, i.attribute("frontend_attributes"), *attributes


def _is_half(module: HloModule, computation: str, i: HloInstruction) -> bool:
    return "chain_id" in i.text or any(_feeds(module, computation, i, target) for target in (_START, _DONE))


def _feeds(module: HloModule, computation: str, i: HloInstruction, target: str) -> bool:
    """Whether a custom call of this computation takes what the collective gives."""
    return any(target in other.text and i.name in other.operands for other in module.computations[computation].values())


def _scatter_fusion(module: HloModule, instruction: HloInstruction) -> HloInstruction | None:
    """The all-reduce inside a TPU fusion that is a reduce-scatter."""
    if SCATTER not in instruction.rest or instruction.opcode != "fusion":
        return None
    callee = instruction.attributes.get("calls", "")
    inside = module.computations[callee.removeprefix("%")].values() if callee.startswith(SCATTER) else ()
    return next((i for i in inside if i.opcode == "all-reduce"), None)
