"""Judging expressions as text: read here, and compared by the index maps and the programs that they give."""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding

from shardlab.errors import ShardlabError
from shardlab.expressions.parsing import parse
from shardlab.expressions.resolution import Resolution, resolve, resolve_on
from shardlab.placement import Axes, Placement, place
from shardlab.programs.program import Program, read_program
from shardlab_judge.expression_items import ExpressionItem, LayoutItem, RulesItem, Shape, Situation, Tree
from shardlab_judge.findings import Entry, Judged, asked, explained, raised, short
from shardlab_judge.placements import judge_placement
from shardlab_judge.programs import describe
from shardlab_judge.question import Case, Input, Item, Miss, Observed
from shardlab_judge.verdict import Finding

LONGEST = 200
ITEMSIZE = 4


def judge_expression(item: ExpressionItem, got: Any) -> Judged:
    """Full points where the expression puts every slice where the target has it."""
    try:
        if not isinstance(got, str):
            parse(got)
        placement = placed(got, item.target.shape, item.axes, item.devices)
    except ShardlabError as error:
        return {}, [_unread(item, error)]
    share, findings = judge_placement(item, placement)
    return share, [dataclasses.replace(finding, where=f'"{got}"') for finding in findings]


def judge_rules(item: RulesItem, trees: Sequence[Tree], entries: Sequence[Entry]) -> Judged:
    """Full points for each letter where it holds in every tree; the first finding of each letter."""
    findings: dict[str, Finding] = {}
    for tree, entry in zip(trees, entries, strict=True):
        for finding in _tree_findings(item, tree, entry):
            if not finding.letter:
                return {}, [dataclasses.replace(finding, letter=next(iter(item.points)))]
            findings.setdefault(finding.letter, finding)
    return {letter: 1.0 for letter in item.points if letter not in findings}, list(findings.values())


def judge_layout(item: LayoutItem, cases: Sequence[Situation], got: Any) -> Judged:
    """Full points for each letter where it holds in every situation; the first finding of each letter."""
    names = list(item.reference)
    if not isinstance(got, Mapping) or set(got) != set(names):
        letter, said = next(iter(item.points)), short(repr(got))
        return {}, [Finding(item.name, letter, f"{item.name} has other entries.", f"a dict with {names}", said)]
    findings: dict[str, Finding] = {}
    for case in cases:
        try:
            observed = compiled(item, case, tuple(got[name] for name in names))
        except ShardlabError as error:
            return {}, [dataclasses.replace(_unread(item, error), where=case.title)]
        wanted = compiled(item, case, tuple(item.reference.values()))
        for finding in (f for f in _layout_findings(item, observed, wanted) if f.letter in item.points):
            placed_here = dataclasses.replace(finding, where=case.title)
            findings.setdefault(finding.letter, explained(placed_here, _when(item, observed)))
    return {letter: 1.0 for letter in item.points if letter not in findings}, list(findings.values())


def resolved(text: Any, shape: Shape, axes: Axes | None, devices: int) -> Resolution:
    """What an untrusted expression, or a spec as a list, means for a shape.

    Raises:
        ShardlabError: it is too long, cannot be read, or does not fit.
    """
    if isinstance(text, list):
        return _of_spec(text, shape, axes)
    if isinstance(text, str) and len(text) > LONGEST:
        raise ShardlabError(
            "expression-too-long", f"the expression has {len(text)} characters.", where=text[:40] + "...",
            mend=f"write at most {LONGEST}.",
        )  # fmt: skip
    found = None if axes is None else resolve_on(text, shape, axes)
    return found or resolve(text, shape, devices if axes is None else math.prod(n for _, n in axes))


def _of_spec(entries: list[Any], shape: Shape, axes: Axes | None) -> Resolution:
    spec = tuple(tuple(entry) if isinstance(entry, list) else entry for entry in entries)
    names = [name for entry in spec for name in (entry if isinstance(entry, tuple) else (entry,))]
    try:
        if axes is None or not all(name is None or isinstance(name, str) for name in names):
            raise ValueError("its entries should be mesh axes, tuples of them, or None")
        place(shape, axes, spec)
    except ValueError as error:
        raise ShardlabError(
            "spec-does-not-fit", f"{error}.", where=short(f"P({', '.join(map(repr, spec))})"),
            mend="name each mesh axis at most once in a spec, for a size that it divides.",
        ) from error  # fmt: skip
    return Resolution(axes, (*spec, *[None] * (len(shape) - len(spec))))


def placed(text: Any, shape: Shape, axes: Axes | None, devices: int) -> Placement:
    """The placement that an untrusted expression names.

    Raises:
        ShardlabError: as for `resolved`.
    """
    found = resolved(text, shape, axes, devices)
    return place(shape, found.axes, found.spec)


def compiled(item: LayoutItem, case: Situation, texts: tuple[Any, ...]) -> Observed:
    """What the item's function costs for arguments that are placed by these expressions; nothing runs.

    Raises:
        ShardlabError: as for `resolved`.
    """
    pairs = zip(texts, case.shapes, strict=True)
    found = tuple(resolved(text, shape, case.axes, case.devices) for text, (_, shape) in pairs)
    return _measured(item.function, case, found)


@functools.lru_cache(maxsize=512)
def _measured(function: Callable[..., Any], case: Situation, found: tuple[Resolution, ...]) -> Observed:
    axes = case.axes or max((resolution.axes for resolution in found), key=len)
    try:
        program = _program(function, case, found, axes)
    except ValueError:  # JAX names the output on one argument's mesh, which may be too coarse for it
        program = _program(function, case, _on_one_mesh(found), axes)
    inputs = tuple(Input(shape, resolution.spec) for (_, shape), resolution in zip(case.shapes, found))
    return Observed(
        Case(axes, inputs), placements=program.output_placements, collectives=program.collectives,
        flops=program.flops, memory=program.memory.argument + program.memory.output,
    )  # fmt: skip


def _program(function: Callable[..., Any], case: Situation, found: tuple[Resolution, ...], axes: Axes) -> Program:
    specs = []
    for (_, shape), resolution in zip(case.shapes, found):
        names, sizes = zip(*resolution.axes)
        devices = np.array(jax.devices()[: math.prod(sizes)]).reshape(sizes)
        mesh = Mesh(devices, names, axis_types=(AxisType.Auto,) * len(names))
        specs.append(jax.ShapeDtypeStruct(shape, "float32", sharding=NamedSharding(mesh, jax.P(*resolution.spec))))
    return read_program(jax.jit(function, keep_unused=True).lower(*specs).compile(), axes)


def _on_one_mesh(found: tuple[Resolution, ...]) -> tuple[Resolution, ...]:
    """The same slices over axes that all share: each axis becomes the steps between its ends.

    Where no common steps exist, or all have one mesh already, nothing changes.
    """
    ends = sorted({end for resolution in found for end in _ends(resolution.axes)})
    if len({resolution.axes for resolution in found}) == 1 or any(b % a for a, b in itertools.pairwise(ends)):
        return found
    axes = tuple((f"axis{i}", b // a) for i, (a, b) in enumerate(itertools.pairwise(ends)))
    return tuple(Resolution(axes, tuple(_refined(entry, r.axes, ends) for entry in r.spec)) for r in found)


def _ends(axes: Axes) -> list[int]:
    return list(itertools.accumulate((size for _, size in axes), operator.mul, initial=1))


def _refined(entry: Any, axes: Axes, ends: Sequence[int]) -> tuple[str, ...] | None:
    """The fine axes that make up the coarse ones of a spec's entry."""
    if entry is None:
        return None
    spans = dict(zip((name for name, _ in axes), itertools.pairwise(_ends(axes))))
    coarse = [spans[name] for name in ((entry,) if isinstance(entry, str) else entry)]
    return tuple(f"axis{i}" for first, last in coarse for i in range(ends.index(first), ends.index(last)))


def _layout_findings(item: LayoutItem, observed: Observed, wanted: Observed) -> Iterator[Finding]:
    moved = f"{observed.price} B a device: {describe(observed.collectives)}"
    if not all(map(Placement.same_as, observed.placements, wanted.placements)):
        yield Finding(item.name, "S", "The output lies elsewhere.", _shard(wanted), _shard(observed))
    if observed.price > wanted.price:
        yield Finding(item.name, "H", "More bytes move than need to.", f"at most {wanted.price} B a device", moved)
    if observed.memory > wanted.memory:
        what = "Arguments and outputs take more memory than they need to."
        yield Finding(item.name, "M", what, f"at most {wanted.memory} B a device", f"{observed.memory} B a device")
    if observed.flops > 1.01 * wanted.flops:
        what = "Each device does more arithmetic than it needs to."
        yield Finding(item.name, "F", what, f"at most {wanted.flops:.0f} FLOPs", f"{observed.flops:.0f} FLOPs")


def _shard(observed: Observed) -> str:
    return ", ".join(f"shards {list(p.shard_shape)} of {list(p.shape)}" for p in observed.placements)


def _when(item: Item, observed: Observed) -> Miss | None:
    return next((miss for miss in item.misses if miss.when is not None and miss.when(observed)), None)


def _tree_findings(item: RulesItem, tree: Tree, entry: Entry) -> list[Finding]:
    """The findings in one tree; one without a letter costs all points."""
    if "value" not in entry:
        error = entry.get("error", {"type": "", "message": "still `...`"})
        return [dataclasses.replace(raised(item, error, "The table does not fit the tree.", _title(tree)), letter="")]
    texts = entry["value"]
    if not isinstance(texts, list) or len(texts) != len(tree.leaves):
        return [Finding(item.name, "", f"{item.name} is no table.", asked(item), short(repr(texts)))]
    wanted = {path: place(shape, tree.axes, item.wanted(path)) for path, shape in tree.leaves}
    got: dict[str, Placement] = {}
    for (path, shape), text in zip(tree.leaves, texts):
        try:
            got[path] = placed(text, shape, tree.axes, 0)
        except ShardlabError as error:
            return [dataclasses.replace(_unread(item, error), letter="", where=f"{path}   {_title(tree)}")]
    cuts = {path: _cuts(placement) for path, placement in got.items()}
    miss = next((m for m in item.misses if m.like is not None and m.like(cuts)), None)
    return [explained(finding, miss) for finding in _misplaced(item, tree, wanted, got)]


def _misplaced(
    item: RulesItem, tree: Tree, wanted: Mapping[str, Placement], got: Mapping[str, Placement]
) -> Iterator[Finding]:
    wrong = [path for path in wanted if not got[path].same_as(wanted[path])]
    if wrong and "S" in item.points:
        first = wrong[0]
        shown = dataclasses.replace(wanted[first], axes=None, spec=None)
        what = f"{len(wrong)} of {len(wanted)} leaves lie elsewhere, the first is {first}."
        shards = f"shards {list(wanted[first].shard_shape)}", f"shards {list(got[first].shard_shape)}"
        pictures = (shown, got[first]) if len(shown.shape) == 2 else None
        yield Finding(item.name, "S", what, *shards, where=_title(tree), pictures=pictures)
    held, most = _bytes(got), _bytes(wanted)
    if held > most and "M" in item.points:
        what = "A device holds more than it needs to."
        yield Finding(item.name, "M", what, f"at most {most:,} B", f"{held:,} B", where=_title(tree))


def _cuts(placement: Placement) -> tuple[int, ...]:
    return tuple(n // s for n, s in zip(placement.shape, placement.shard_shape))


def _bytes(placements: Mapping[str, Placement]) -> int:
    return sum(ITEMSIZE * math.prod(placement.shard_shape) for placement in placements.values())


def _title(tree: Tree) -> str:
    return f"{len(tree.leaves)} leaves on the mesh ({', '.join(f'{name}={size}' for name, size in tree.axes)})"


def _unread(item: Item, error: ShardlabError) -> Finding:
    """The finding for an expression that cannot be read or does not fit: the expression with carets, and how to mend it."""
    found = raised(item, {"type": type(error).__name__, "message": str(error)}, f"{item.name}: {error.what}")
    return dataclasses.replace(found, expected="", got=error.where, cause=found.cause or error.mend.replace("\n", " "))
