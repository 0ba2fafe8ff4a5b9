"""Which devices talk to each other in a collective: how HLO writes groups, and the mesh axes they span. No JAX, no NumPy.

So that a browser reads programs with this code, too.
"""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Sequence

from shardlens.errors import LensError
from shardlens.placement import Axes

Groups = tuple[tuple[int, ...], ...]

_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?$")
_MESH = re.compile(r"mesh\[([^]]*)\](.*)\{(.*)\}$")
_PART = re.compile(r"'?(?P<axis>[^':]+)'?(?::\((?P<before>\d+)\)(?P<size>\d+))?$")


@functools.lru_cache(maxsize=256)
def device_groups(text: str, devices: int) -> Groups:
    """The groups that `replica_groups` names, in any of HLO's three spellings; `{}` is one group of all devices.

    Raises:
        LensError: the text is none of the three.
    Example:
        >>> device_groups("[2,2]<=[2,2]T(1,0)", 4)
        ((0, 2), (1, 3))
        >>> device_groups("mesh['a'=2,'b'=2] {'a'}", 4)
        ((0, 2), (1, 3))
    """
    # XLA's iota form: ids 0, 1, 2, ... in this shape, transposed, then cut into rows, each a group.
    if iota := _IOTA.match(text):
        return _rows(_iota(_whole(iota[3]), _whole(iota[4] or "")), int(iota[2]))
    if mesh := _MESH.match(text):
        return _mesh_groups(mesh[1], mesh[2], mesh[3])
    if text not in ("{}", "") and not text.startswith("{{"):
        raise LensError(
            "unread-groups",
            "these replica groups are written in a form that shardlens does not read.",
            where=f"replica_groups={text}",
            mend="compile with the pinned JAX, or report the text as a bug.",
        )
    return permute_pairs(text) or (tuple(range(devices)),)


def permute_pairs(text: str) -> Groups:
    """The braces inside braces, as numbers: `{{0,1},{1,0}}` becomes `((0, 1), (1, 0))`."""
    return tuple(_whole(group) for group in re.findall(r"\{([\d,]+)\}", text))


@functools.lru_cache(maxsize=256)
def group_size(groups: Groups, *, pairs: bool) -> int:
    """Devices in the largest group; with `pairs`, in the largest set of devices that pairs connect."""
    if not pairs:
        return max(map(len, groups), default=1)
    member = {device: {device} for pair in groups for device in pair}
    for source, target in groups:
        joined = member[source] | member[target]
        member.update(dict.fromkeys(joined, joined))
    return max(map(len, member.values()), default=1)


@functools.lru_cache(maxsize=256)
def axes_of(groups: Groups, mesh_axes: Axes, *, pairs: bool) -> tuple[str, ...]:
    """The mesh axes that `groups` span, slowest first; empty when no set of whole axes gives these groups.

    For `pairs`, the axes along which some source and its target differ.
    """
    sizes = tuple(size for _, size in mesh_axes)
    # HLO numbers partitions by their place in the mesh, whatever ids the devices there have.
    if max(max(group) for group in groups) >= math.prod(sizes):
        return ()
    if pairs:
        places = list(itertools.product(*map(range, sizes)))
        moved = {k for a, b in groups for k, (i, j) in enumerate(zip(places[a], places[b])) if i != j}
        return tuple(name for k, (name, _) in enumerate(mesh_axes) if k in moved)
    wanted = {frozenset(group) for group in groups}
    # An axis of size 1 changes no group, so that nobody can tell whether it was meant.
    long = [i for i, size in enumerate(sizes) if size > 1]
    for chosen in itertools.chain.from_iterable(itertools.combinations(long, n) for n in range(1, len(long) + 1)):
        if wanted == {frozenset(row) for row in _along(range(math.prod(sizes)), sizes, chosen)}:
            return tuple(mesh_axes[i][0] for i in chosen)
    return ()


def _along(ids: Sequence[int], sizes: Sequence[int], chosen: tuple[int, ...]) -> Groups:
    """Ids that lie in an array of these sizes, grouped along the chosen dimensions, the first of them slowest."""
    others = [i for i in range(len(sizes)) if i not in chosen]
    turned = [ids[at] for at in _iota(sizes, (*others, *chosen))]
    return _rows(turned, math.prod(sizes[i] for i in chosen))


def _iota(sizes: Sequence[int], order: Sequence[int] = ()) -> list[int]:
    """0, 1, 2, ... in an array of these sizes, read with its dimensions in another order."""
    strides = [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
    order = order or range(len(sizes))
    steps = [range(0, sizes[i] * strides[i], strides[i]) if sizes[i] else () for i in order]
    return list(map(sum, itertools.product(*steps)))


def _mesh_groups(mesh: str, order: str, chosen: str) -> Groups:
    """Groups along axes, or along parts `'a':(before)size` of axes, of the mesh that the HLO itself names."""
    sizes = {name.strip("'\""): int(size) for name, size in re.findall(r"([^,=]+)=(\d+)", mesh)}
    picked = [part for entry in chosen.split(",") if (part := _PART.match(entry.strip()))]
    spans = [(p["axis"], int(p["before"] or 1), int(p["before"] or 1) * int(p["size"] or sizes[p["axis"]])) for p in picked]
    parts = []
    for name, size in sizes.items():
        edges = {1, size, *(edge for other, *ends in spans if other == name for edge in ends)}
        parts += [(name, start, stop) for start, stop in itertools.pairwise(sorted(edges))]
    shape = tuple(stop // start for _, start, stop in parts)
    within = [[i for i, (name, start, _) in enumerate(parts) if name == axis and a <= start < b] for axis, a, b in spans]
    return _along(_order(order, math.prod(shape)), shape, tuple(itertools.chain(*within)))


def _order(text: str, devices: int) -> Sequence[int]:
    """Device ids in mesh order, from `device_ids=([2,4]T(1,0))` or `device_ids=(0,2,1,3)`; ascending without."""
    if "device_ids" not in text:
        return range(devices)
    if iota := re.search(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", text):
        return _iota(_whole(iota[1]), _whole(iota[2] or ""))
    return _whole(text.partition("(")[2].partition(")")[0])


def _rows(ids: Sequence[int], width: int) -> Groups:
    return tuple(tuple(ids[start : start + width]) for start in range(0, len(ids), width))


def _whole(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n)
