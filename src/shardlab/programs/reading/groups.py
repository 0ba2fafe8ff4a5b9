"""Which devices talk to each other in a collective: how HLO writes groups, and the mesh axes they span. No JAX here."""

from __future__ import annotations

import functools
import itertools
import math
import re

import numpy as np

from shardlab.errors import ShardlabError
from shardlab.placement import Axes

Groups = tuple[tuple[int, ...], ...]

_IOTA = re.compile(r"\[(\d+),(\d+)\]<=\[([\d,]+)\](?:T\(([\d,]+)\))?$")
_MESH = re.compile(r"mesh\[([^]]*)\](.*)\{(.*)\}$")
_PART = re.compile(r"'?(?P<axis>[^':]+)'?(?::\((?P<before>\d+)\)(?P<size>\d+))?$")


@functools.lru_cache(maxsize=256)
def device_groups(text: str, devices: int) -> Groups:
    """The groups that `replica_groups` names, in any of HLO's three spellings; `{}` is one group of all devices.

    Raises:
        ShardlabError: the text is none of the three.
    Example:
        >>> device_groups("[2,2]<=[2,2]T(1,0)", 4)
        ((0, 2), (1, 3))
        >>> device_groups("mesh['a'=2,'b'=2] {'a'}", 4)
        ((0, 2), (1, 3))
    """
    # XLA's iota form: ids 0, 1, 2, ... in this shape, transposed, then cut into rows, each a group.
    if iota := _IOTA.match(text):
        ids = np.arange(math.prod(_whole(iota[3]))).reshape(_whole(iota[3]))
        ids = ids.transpose(_whole(iota[4])) if iota[4] else ids
        return _rows(ids.reshape(_whole(f"{iota[1]},{iota[2]}")))
    if mesh := _MESH.match(text):
        return _mesh_groups(mesh[1], mesh[2], mesh[3])
    if text not in ("{}", "") and not text.startswith("{{"):
        raise ShardlabError(
            "unread-groups",
            "these replica groups are written in a way that shardlab does not read.",
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
    positions = np.arange(math.prod(sizes)).reshape(sizes)
    if max(max(group) for group in groups) >= positions.size:
        return ()
    if pairs:
        source, target = (np.stack(np.unravel_index(side, sizes)) for side in zip(*groups))
        return tuple(name for (name, _), moved in zip(mesh_axes, (source != target).any(axis=1)) if moved)
    wanted = {frozenset(group) for group in groups}
    # An axis of size 1 changes no group, so that nobody can tell whether it was meant.
    long = [i for i, size in enumerate(sizes) if size > 1]
    for chosen in itertools.chain.from_iterable(itertools.combinations(long, n) for n in range(1, len(long) + 1)):
        if wanted == {frozenset(row) for row in _along(positions, chosen)}:
            return tuple(mesh_axes[i][0] for i in chosen)
    return ()


def _along(positions: np.ndarray, chosen: tuple[int, ...]) -> Groups:
    """Positions grouped along the chosen dimensions, the first of them slowest."""
    others = [i for i in range(positions.ndim) if i not in chosen]
    width = math.prod(positions.shape[i] for i in chosen)
    return _rows(positions.transpose(*others, *chosen).reshape(-1, width))


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
    return _along(_order(order, math.prod(shape)).reshape(shape), tuple(itertools.chain(*within)))


def _order(text: str, devices: int) -> np.ndarray:
    """Device ids in mesh order, from `device_ids=([2,4]T(1,0))` or `device_ids=(0,2,1,3)`; ascending without."""
    ids = np.arange(devices)
    if "device_ids" not in text:
        return ids
    if iota := re.search(r"\[([\d,]+)\](?:T\(([\d,]+)\))?", text):
        ids = ids.reshape(_whole(iota[1]))
        return (ids.transpose(_whole(iota[2])) if iota[2] else ids).ravel()
    return np.array(_whole(text.partition("(")[2].partition(")")[0]))


def _rows(table: np.ndarray) -> Groups:
    return tuple(tuple(int(n) for n in row) for row in table)


def _whole(text: str) -> tuple[int, ...]:
    return tuple(int(n) for n in text.split(",") if n)
