"""Why an expression does not fit an array or a mesh: ranks, sizes that do not divide, mesh axes that are not there."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterator, Mapping, Sequence

from shardlab.expressions.counts import nearest, parts
from shardlab.expressions.pattern import Pattern
from shardlab.expressions.quote import Fault, Span, either, shown
from shardlens import Axes


def mesh_missing(pattern: Pattern) -> Fault:
    """Mesh axes are named where there is no mesh."""
    what = "the expression names mesh axes, but there is no mesh"
    spans = tuple(element.span for element in pattern.right if element.axes)
    return Fault("mesh-missing", what, "pass mesh=..., or work inside `with jax.set_mesh(mesh):`.", spans)


def rank_fault(pattern: Pattern, rank: int | None) -> Fault:
    """The names are more or fewer than the dimensions, or `...` stands for a number that is not known."""
    spans, n = tuple(e.span for e in pattern.left), len(pattern.names)
    names = f"the expression names {n} dimension{'s' * (n != 1)}"
    if rank is None:
        what = "'...' comes before a sharded dimension, but the rank is not known"
        return Fault("rank-unknown", what, "pass the shape or the number of dimensions.", spans)
    if pattern.elided is not None:
        mend = f"name at most {rank}: '...' stands for the dimensions without a name."
        return Fault("rank-does-not-fit", f"{names} in addition to '...', but the array has {rank}", mend, spans)
    mend = "name every dimension, or write '...' on both sides for those that stay whole."
    return Fault("rank-does-not-fit", f"{names}, but the array has {rank}", mend, spans)


def part_faults(pattern: Pattern, extents: Mapping[str, int], counts: Sequence[int], devices: int) -> list[Fault]:
    """Numbers that do not divide the sizes of their dimensions."""
    cut = parts(pattern.right, counts)
    wrong = [name for name, n in extents.items() if n % cut[name]]
    others = either(nearest(pattern, devices, extents)) if wrong else ""
    return [
        Fault(
            "parts-do-not-divide",
            f"{cut[name]} parts do not divide dimension {shown(name)} of size {extents[name]}",
            f"make {shown(name)} a multiple of {cut[name]}, or write {others}.",
            _spans(pattern, name),
        )
        for name in wrong
    ]


def axis_faults(pattern: Pattern, known: Sequence[str] | None = None) -> Iterator[Fault]:
    """Axes that a mesh with the axes `known` does not have, and axes used twice."""
    used = set[str]()
    for element in pattern.right:
        for axis in element.axes:
            if known is not None and axis not in known:
                close = difflib.get_close_matches(axis, known, 1) or known
                mend = f"write {either([shown(name) for name in close])}: the mesh has that axis."
                yield Fault("axis-unknown", f"there is no mesh axis {shown(axis)}", mend, (element.span,))
            elif axis in used:
                mend = f"shard one dimension over {shown(axis)}: an axis cuts an array once."
                yield Fault("axis-twice", f"mesh axis {shown(axis)} is used twice", mend, (element.span,))
            used.add(axis)


def axis_size_faults(pattern: Pattern, extents: Mapping[str, int], axes: Axes) -> Iterator[Fault]:
    """Mesh axes whose sizes do not divide the dimensions that they are to cut."""
    size = dict(axes)
    used = {axis for element in pattern.right for axis in element.axes}
    for name, n in extents.items():
        over = [axis for element in pattern.right if element.name == name for axis in element.axes]
        count = math.prod(size[axis] for axis in over)
        if n % count == 0:
            continue
        fits = (f"shard it over {shown(a)} (size {s})" for a, s in axes if s > 1 and n % s == 0 and a not in used)
        mend = f"make {shown(name)} a multiple of {count}, or {next(fits, 'leave it unsharded')}."
        what = f"{_axes_text(over, size)} not divide dimension {shown(name)} of size {n}"
        yield Fault("axis-does-not-divide", what, mend, _spans(pattern, name))


def _axes_text(over: Sequence[str], size: Mapping[str, int]) -> str:
    if len(over) == 1:
        return f"mesh axis {shown(over[0])} of size {size[over[0]]} does"
    sizes = " * ".join(str(size[axis]) for axis in over)
    return f"mesh axes {', '.join(map(shown, over))} ({sizes} = {math.prod(size[axis] for axis in over)} parts) do"


def _spans(pattern: Pattern, name: str) -> tuple[Span, ...]:
    return tuple(element.span for element in pattern.right if element.name == name)
